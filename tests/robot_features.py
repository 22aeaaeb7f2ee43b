"""Small robots, one for every feature that a robot can have."""

from helpers import DATA
from lissom.describe import Robot

OLD_FE = str(DATA / "fe" / "solid-arm-0.1.npz")
SECTION = {"shape": "rectangle", "y": 0.02, "z": 0.01}


def beam(name="a", at=None, **more):
    """A beam of 0.4 m on a revolute joint."""
    shape = {
        "path": [[0, 0, 0], [0.4, 0, 0]],
        "section": SECTION,
        "material": "aluminium",
        "elements": 2,
        **more.pop("beam", {}),
    }
    joint = {"type": "revolute", "axis": [0, 1, 0], **more.pop("joint", {})}
    if at is not None:
        joint["origin"] = {"xyz": at}
    return {"name": name, "joint": joint, "beam": shape, **more}


def rigid(name="a", mass=1.0, at=None, joint=None, **more):
    """A rigid link with its centre off its joint."""
    joint = {"type": "revolute", "axis": [0, 1, 0], **(joint or {})}
    if at is not None:
        joint["origin"] = {"xyz": at}
    return {
        "name": name,
        "joint": joint,
        "rigid": {"mass": mass, "com": [0.1, 0, 0], **more},
    }


END = [0.4, 0, 0]
BENT = [[0, 0, 0], [0.3, 0, 0], [0.3, 0, 0.2]]
THIN = {"shape": "rectangle", "y": 0.01, "z": 0.01}
FEATURES = {
    "beam": {"links": [beam()]},
    "lumped": {"links": [beam(beam={"mass": "lumped"})]},
    "lumped-points": {"links": [beam(beam={"mass": "lumped-points"})]},
    "timoshenko": {"links": [beam(beam={"theory": "timoshenko"})]},
    "masses": {"links": [beam(masses=[{"node": 1, "mass": 0.2}])]},
    "payload": {"links": [beam()], "payload": {"mass": 0.3, "offset": [0.1, 0, 0]}},
    "bent": {"links": [beam(beam={"path": BENT})]},
    "taper": {"links": [beam(beam={"section": {"start": SECTION, "end": THIN}})]},
    "damped": {"links": [beam()], "damping": {"ratio": 0.01}},
    "passive": {"links": [beam(joint={"actuated": False})]},
    "prismatic": {"links": [beam(), rigid("b", at=END, joint={"type": "prismatic"})]},
    "fixed": {"links": [beam(joint={"type": "fixed"})]},
    "rigid": {"links": [rigid()]},
    "massless": {"links": [rigid(mass=0.0)]},
    "massless-tip": {"links": [beam(), rigid("b", 0.0, END)]},
    "massless-motor": {"links": [rigid(mass=0.0, joint={"motor": {"inertia": 0.1}})]},
    "on-axis": {"links": [rigid(com=[0, 0.1, 0])]},
    "massless-fixed": {"links": [beam(), rigid("b", 0.0, END, {"type": "fixed"})]},
    "tree": {"links": [beam(), beam("b", END), beam("c", END, parent="a")]},
    "fe": {"links": [{**rigid(), "rigid": None, "fe": {"file": "solid-arm.npz"}}]},
    # A file of 0.1 has no second-order displacements.
    "old-fe": {"links": [{**rigid(), "rigid": None, "fe": {"file": OLD_FE}}]},
    "planar": {
        "planar": True,
        "gravity": [0, -9.81, 0],
        "links": [beam(joint={"axis": [0, 0, 1]})],
    },
    "loop": Robot.load("four-bar").to_dict(),
}
