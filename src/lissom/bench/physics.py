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
from .cases import TIGHT, Log, compiled_case, distance
from .closed_forms import closed_form_rows
from .de_luca_siciliano import de_luca_siciliano_rows
from .elastica import elastica_rows
from .l_shape import convergence_rows, peak_checks, peak_rows, swing_rows
from .peer_robots import INCLINED, pendulum
from .physics_checks import bound, keypoints, row
from .published_beams import published_beam_rows

# That of the paper: displacements of all nodes about an equivalent rigid-link system. Not the default of scenarios.
FORMULATION = "erls-fem"
DERIVED = "derived from the data of [Boscariol2012] Table 2"
CANTILEVER = f"{DERIVED}: two-bar cantilever, one Euler-Bernoulli element per link"
STANDARD_GRAVITY = 9.81
GRAVITY = {  # in the plane of motion, and 30 degrees out of it
    "double pendulum, in-plane": [0.0, -STANDARD_GRAVITY, 0.0],
    "double pendulum, spatial": INCLINED,
}
# [m] Exact for Euler-Bernoulli beams, whatever the mesh.
SAG = {"upper/tip": -2.0429e-3, "lower/tip": -5.4478e-3}
LOCKED_HZ = (8.348, 20.490, 66.068, 80.485)
FREE_HZ = (183.1, 418.6)  # in the plane, after the two rigid motions
TIP_AT_HALF_A_SECOND = (-0.21396, -0.93694, 0.0)  # [m]
REFERENCES = {
    "tangent": None,
    "minimum-norm": "minimum-norm",
    "zeroed": {"zeroed": ["upper/tip.y", "lower/0.rz"]},
}


def all_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Every row that is held to a tolerance."""
    yield from physics_rows(log)
    yield from peak_checks(list(peak_rows(log)))


def physics_rows(log: Log = lambda text: None) -> Iterator[dict[str, Any]]:
    """Every row of the table but the peaks of a spectrum, one after the other."""
    yield from closed_form_rows(log)
    yield from published_beam_rows(log)
    yield from elastica_rows(log)
    robot = Robot.load("double-pendulum").replace({"damping": None})
    log("static deflection and modes")
    yield from static_rows(robot)
    yield from mode_rows(robot)
    yield from de_luca_siciliano_rows(log)
    log("release from horizontal, one element per link")
    yield from release_rows(robot)
    for case in GRAVITY:
        log(f"{case}, four elements per link")
        yield from peer_rows(case)
    yield from convergence_rows(log)
    yield from swing_rows(log)


def static_rows(robot: Robot) -> Iterator[dict[str, Any]]:
    """Sag of the straight, held pendulum under gravity normal to its plane."""
    model = Model(
        robot.replace({"gravity": [0.0, 0.0, -STANDARD_GRAVITY]}), FORMULATION
    )
    state = model.static([0.0, 0.0])
    for node, known in SAG.items():
        ours = float(model.displacement(state, node)[2])
        yield row(
            check=f"static sag of {node}, z",
            source=CANTILEVER,
            known=known,
            ours=ours,
            unit="m",
            tolerance=1e-5,
        )


def mode_rows(robot: Robot) -> Iterator[dict[str, Any]]:
    """Natural frequencies of the straight pendulum, held and free, without gravity."""
    model = Model(robot.replace({"gravity": [0.0, 0.0, 0.0]}), FORMULATION)
    locked = modes(model, model.at(), locked=True, count=len(LOCKED_HZ))
    yield row(
        check="joints locked, first four frequencies",
        source=CANTILEVER,
        known=LOCKED_HZ,
        ours=locked.frequency_hz,
        unit="Hz",
        tolerance=1e-3,
        relative=True,
    )
    free = in_plane(modes(model, model.at(), count=None))
    yield row(
        check="joints free, in plane, rigid motions",
        source=DERIVED,
        known=(0.0, 0.0),
        ours=free[:2],
        unit="Hz",
        tolerance=1e-3,
    )
    yield row(
        check="joints free, in plane, first two frequencies",
        source=DERIVED,
        known=FREE_HZ,
        ours=free[2:4],
        unit="Hz",
        tolerance=1e-3,
        relative=True,
    )


def in_plane(found: Modes) -> np.ndarray:
    """Frequencies of the modes that move in the plane: joint coordinates, x, y and rz of the nodes."""
    inside = np.array([_moves_in_plane(name) for name in found.names])
    squares = found.shapes**2
    share = np.sum(squares[inside], axis=0) / np.sum(squares, axis=0)
    return found.frequency_hz[share > 0.5]


def _moves_in_plane(coordinate: str) -> bool:
    _, point, component = coordinate.rpartition(".")
    return not point or component in ("x", "y", "rz")


def release_rows(robot: Robot) -> Iterator[dict[str, Any]]:
    """The undamped fall from horizontal: where the tip is, energy kept, and the same path for every ERLS."""
    runs = {}
    for name, reference in REFERENCES.items():
        scenario = Scenario(
            robot=robot,
            formulation=FORMULATION,
            reference=reference,
            t_end=2.0,
            output_dt=0.005,
        )
        runs[name] = compiled_case(scenario).run(**TIGHT)
    tangent = runs["tangent"]
    path = tangent.position("lower/tip")
    yield row(
        check="tip at 0.5 s, undamped, gravity -y",
        source="derived: independent floating-frame computation of the same two elements",
        known=TIP_AT_HALF_A_SECOND,
        ours=path[100],
        unit="m",
        tolerance=1e-4,
    )
    largest = np.abs(tangent.data["energy"].values).max()
    share = float(np.abs(tangent.energy("residual")).max() / largest)
    yield bound(
        check="energy residual over 2 s, share of the largest energy",
        source="conservation",
        limit=1e-6,
        ours=share,
        unit="1",
    )
    gaps = []
    for run in runs.values():
        other = run.position("lower/tip")
        # The first half second: 101 rows.
        gaps.append(distance(other[:101], path[:101]))
    yield bound(
        check="tip, tangent against minimum-norm and zeroed, 0.5 s",
        source="same motion",
        limit=1e-4,
        ours=max(gaps),
        unit="m",
    )


def peer_rows(case: str) -> Iterator[dict[str, Any]]:
    """The tip at the times of the other program's table, first second."""
    robot = pendulum(GRAVITY[case])
    scenario = Scenario(robot=robot, formulation=FORMULATION, t_end=1.0, output_dt=0.01)
    path = compiled_case(scenario).run(rtol=1e-7, atol=1e-9).position("lower/tip")
    plane = case.rpartition(" ")[2].replace("-", "")
    names = {"FFRF": "linear floating frames", "GE": "geometrically exact beams"}
    for model, title in names.items():
        points = keypoints(plane, model)
        at_times = np.array([path[round(100 * t)] for t in points])
        known = np.array(list(points.values()))
        gap = float(np.linalg.norm(at_times - known, axis=1).max())
        yield bound(
            check=f"{case}: tip against {title}, {len(points)} times to 1 s",
            source="Exudyn 1.13.6, converged",
            limit=1e-3,
            ours=gap,
            unit="m",
        )
