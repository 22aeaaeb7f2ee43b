"""Inputs of one structure with other zeros, and digests of all numbers that come out; a process of its own if run.

Usage: python histories.py INPUT...: one line with its digest for each input, in this order.
"""

import hashlib
import sys

import numpy as np

import lissom as ls

BEAM = {
    "section": {"shape": "rectangle", "y": 0.02, "z": 0.01},
    "material": {"E": 7e10, "nu": 0.33, "density": 2700.0},
}
# What is not zero in each of these robots; the first one is straight, and hangs in one plane.
CHANGES = {
    "straight": {},
    "twisted": {"twist": 0.3},
    "offset": {"offset": 0.02},
    "tilted": {"gravity": [1.0, 2.0, -9.0]},
    "heavy": {"payload": 0.03},
    "damped": {"alpha": 1.0, "viscous": 0.05},
}
STATE = ([0.3, -0.6], [0.5, 1.0])
TORQUE = [0.4, -0.1]


def robot(
    twist=0.0,
    offset=0.0,
    gravity=(0, 0, -9.81),
    payload=0.0,
    alpha=0.0,
    viscous=0.0,
    elements=2,
):
    """Two beams on two joints."""
    beam = BEAM | {"elements": elements}
    first = {
        "type": "revolute",
        "origin": {"xyz": [0, 0, 0], "rpy": [twist, 0, 0]},
        "axis": [0, 1, 0],
        "friction": {"viscous": viscous},
    }
    second = {
        "type": "revolute",
        "origin": {"xyz": [0.5, offset, 0], "rpy": [0, 0, twist]},
        "axis": [0, 1, 0],
    }
    upper = beam | {"path": [[0, 0, 0], [0.5, offset, 0]], "up": [0, 1, 0]}
    lower = beam | {"path": [[0, 0, 0], [0.4, 0, 0]]}
    return ls.Robot.from_dict(
        {
            "lissom": 1,
            "name": "arm",
            "gravity": list(gravity),
            "damping": {"alpha": alpha, "beta": 0.0},
            "payload": {"mass": 0.2, "offset": [0, payload, 0], "inertia": [1e-4] * 3},
            "links": [
                {"name": "a", "joint": first, "beam": upper},
                {"name": "b", "joint": second, "beam": lower},
            ],
        }
    )


def digest(arrays) -> str:
    """Hash of numbers, to the last bit."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def run_digest(described, backend="native", t_end=0.05) -> str:
    """Of all numbers of a run: coordinates, nodes, torques, energies."""
    model = ls.Model(described, modes=4)
    run = ls.simulate(
        model,
        model.at(*STATE),
        t_end=t_end,
        output_dt=0.01,
        torque=TORQUE,
        solver={"backend": backend},
    )
    names = [name for name in sorted(run.names) if run.values(name).dtype.kind == "f"]
    return digest(run.values(name) for name in names)


def digest_of(name: str) -> str:
    """Of everything that is computed for an input: `NAME`, `xla-NAME`, or `family`."""
    if name == "family":
        model = ls.Model(robot(), modes=4)
        family = ls.Family(model, {"payload.mass": np.linspace(0.0, 0.4, 5)})
        runs = family.rollout(model.at(*STATE), t_end=0.02, output_dt=0.01)
        return digest([runs.x, runs.xd])
    if name.startswith("xla-"):
        return run_digest(robot(**CHANGES[name[4:]]), "xla", t_end=0.01)
    described = robot(**CHANGES[name])
    model = ls.Model(described, modes=4)
    static = model.static(STATE[0])
    linear = ls.linearize(model, static)
    arrays = [static.x, static.torque, linear.A, linear.B]
    return f"{run_digest(described)}-{digest(arrays)}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, digest_of(name), flush=True)
