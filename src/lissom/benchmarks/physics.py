"""The physics table: numbers that were printed, derived or computed elsewhere, beside ours, with a verdict on each.

[Boscariol2012] prints no result as a number, only figures. Its double pendulum is fully described, so values derived
from its data, and another program's run of it, stand here in place of printed ones; each row says which.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..analyse.modes.modal import Modes, modes
from ..describe.robot import Robot
from ..describe.scenario import Scenario
from ..solve.model import Model
from .cases import TIGHT, Case, Tell
from .checks import bound, keypoints, row
from .l_shape import convergence_rows, swing_rows
from .peers import GRAVITY, pendulum

DERIVED = "derived from the data of [Boscariol2012] Table 2"
CANTILEVER = f"{DERIVED}: two-bar cantilever, one Euler-Bernoulli element per link"
STANDARD_GRAVITY = 9.81
SAG = {
    "upper/tip": -2.0429e-3,
    "lower/tip": -5.4478e-3,
}  # [m] exact for Euler-Bernoulli, whatever the mesh
LOCKED_HZ = (8.348, 20.490, 66.068, 80.485)
FREE_HZ = (183.1, 418.6)  # in the plane, after the two rigid motions
TIP_AT_HALF_A_SECOND = (-0.21396, -0.93694, 0.0)  # [m]
REFERENCES = {
    "tangent": None,
    "minimum-norm": "minimum-norm",
    "zeroed": {"zeroed": ["upper/tip.y", "lower/0.rz"]},
}


def physics_rows(tell: Tell = lambda text: None) -> Iterator[dict[str, Any]]:
    """Every row of the table, one after the other."""
    robot = Robot.load("double-pendulum").replace({"damping": None})
    tell("static deflection and modes")
    yield from static_rows(robot)
    yield from mode_rows(robot)
    tell("release from horizontal, one element per link")
    yield from release_rows(robot)
    for case in GRAVITY:
        tell(f"{case}, four elements per link")
        yield from peer_rows(case)
    yield from convergence_rows(tell)
    yield from swing_rows(tell)


def static_rows(robot: Robot) -> Iterator[dict[str, Any]]:
    """Sag of the straight, held pendulum under gravity normal to its plane."""
    model = Model(robot.replace({"gravity": [0.0, 0.0, -STANDARD_GRAVITY]}))
    state = model.static([0.0, 0.0])
    for node, known in SAG.items():
        ours = float(model.displacement(state, node)[2])
        yield row(f"static sag of {node}, z", CANTILEVER, known, ours, "m", 1e-5)


def mode_rows(robot: Robot) -> Iterator[dict[str, Any]]:
    """Natural frequencies of the straight pendulum, held and free, without gravity."""
    model = Model(robot.replace({"gravity": [0.0, 0.0, 0.0]}))
    locked = modes(model, model.at(), locked=True, count=len(LOCKED_HZ)).frequency_hz
    yield row(
        "joints locked, first four frequencies",
        CANTILEVER,
        LOCKED_HZ,
        locked,
        "Hz",
        1e-3,
        relative=True,
    )
    free = in_plane(modes(model, model.at()))
    yield row(
        "joints free, in plane, rigid motions",
        DERIVED,
        (0.0, 0.0),
        free[:2],
        "Hz",
        1e-3,
    )
    yield row(
        "joints free, in plane, first two frequencies",
        DERIVED,
        FREE_HZ,
        free[2:4],
        "Hz",
        1e-3,
        relative=True,
    )


def in_plane(found: Modes) -> np.ndarray:
    """Frequencies of the modes that move in the plane: joint coordinates, x, y and rz of the nodes."""
    inside = np.array(
        [
            name.rpartition(".")[2] in ("x", "y", "rz") or "." not in name
            for name in found.names
        ]
    )
    share = np.sum(found.shapes[inside] ** 2, axis=0) / np.sum(found.shapes**2, axis=0)
    return found.frequency_hz[share > 0.5]


def release_rows(robot: Robot) -> Iterator[dict[str, Any]]:
    """The undamped fall from horizontal: where the tip is, energy kept, and the same path for every ERLS."""
    half = "derived: independent floating-frame computation of the same two elements"
    paths = {}
    for name, reference in REFERENCES.items():
        case = Case(
            Scenario(robot=robot, reference=reference, t_end=2.0, output_dt=0.005)
        )
        case.compile()
        run = case.run(**TIGHT)
        paths[name] = run.position("lower/tip")
        if name == "tangent":
            yield row(
                "tip at 0.5 s, undamped, gravity -y",
                half,
                TIP_AT_HALF_A_SECOND,
                paths[name][100],
                "m",
                1e-4,
            )
            energy = run.data["energy"].values
            share = np.abs(run.energy("residual")).max() / np.abs(energy).max()
            yield bound(
                "energy residual over 2 s, share of the largest energy",
                "conservation",
                1e-6,
                float(share),
                "1",
            )
    gaps = [
        np.linalg.norm(paths[name] - paths["tangent"], axis=1)[:101].max()
        for name in paths
    ]
    yield bound(
        "tip, tangent against minimum-norm and zeroed, 0.5 s",
        "same motion",
        1e-4,
        float(max(gaps)),
        "m",
    )


def peer_rows(case: str) -> Iterator[dict[str, Any]]:
    """The tip at the times of the other program's table, first second."""
    robot = pendulum(GRAVITY[case])
    ours = Case(Scenario(robot=robot, t_end=1.0, output_dt=0.01))
    ours.compile()
    path = ours.run(rtol=1e-7, atol=1e-9).position("lower/tip")
    names = {"FFRF": "linear floating frames", "GE": "geometrically exact beams"}
    for model, title in names.items():
        points = keypoints(case.rpartition(" ")[2].replace("-", ""), model)
        at = [path[round(100 * t)] for t in points]
        gap = float(
            np.linalg.norm(np.array(at) - np.array(list(points.values())), axis=1).max()
        )
        check = f"{case}: tip against {title}, {len(points)} times to 1 s"
        yield bound(check, "Exudyn 1.13.6, converged", 1e-3, gap, "m")
