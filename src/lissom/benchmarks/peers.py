"""The same double pendulum in lissom and in Exudyn, in one process: time, error of each, and the ratio.

Errors in time are measured within each program, against its own spatial model with a small step, so that neither pays
for a difference between the models; that difference is a number of its own. Of the lissom runs at several tolerances, a
peer run is set against the fastest whose error is not larger. lissom keeps every nodal displacement; the peer is given
a reduced basis, with which it is fastest.
"""

import math
from collections.abc import Callable
from importlib.util import find_spec
from itertools import takewhile
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..describe.scenario import Initial, Scenario
from .cases import TIGHT, Case, Tell, distance
from .machine import one_core, timed, version

G = 9.81
GRAVITY = {  # in the plane of motion, and 30 degrees out of it
    "double pendulum, in-plane": [0.0, -G, 0.0],
    "double pendulum, spatial": [
        0.0,
        -G * math.cos(math.pi / 6),
        -G * math.sin(math.pi / 6),
    ],
}
SPAN = 1.0  # [s]
INNER_MODES = 3  # fixed-interface modes per link beside the six constraint modes
STEPS = (
    (2e-3, 0.9),
    (1e-3, 0.9),
    (5e-4, 0.98),
    (2e-4, 0.98),
)  # the peer's step [s] and spectral radius
SMALL_STEP = (5e-5, 0.98)  # of the peer's own reference
LADDER = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)  # tolerances of lissom
PACKAGES = {"exudyn": "exudyn", "pinocchio": "pin"}  # module: package


def missing_peers() -> list[str]:
    """Peers that are not installed."""
    return [
        package for module, package in PACKAGES.items() if find_spec(module) is None
    ]


def pendulum(gravity: list[float], elements: int = 4) -> Robot:
    """The library's double pendulum undamped, of Timoshenko beams: the peer's beams have rotary inertia."""
    mesh = {f"links.{link}.beam.elements": elements for link in ("upper", "lower")}
    theory = {f"links.{link}.beam.theory": "timoshenko" for link in ("upper", "lower")}
    return Robot.load("double-pendulum").replace(
        {"gravity": gravity, "damping": None} | mesh | theory
    )


def measure_peers(
    report: dict[str, Any], repeat: int, tell: Tell = lambda text: None
) -> None:
    """Adds `peers` (rows) and `rigid` to a report; rows appear as they are measured."""
    from .rigid import measure_rigid

    report["machine"]["exudyn"], report["machine"]["pinocchio"] = (
        version("exudyn"),
        version("pin"),
    )
    report["peers"], report["lissom"] = [], []
    for name, gravity in GRAVITY.items():
        robot = pendulum(gravity)
        ours, path = measure_lissom(name, robot, repeat, tell)
        report["lissom"].extend(ours)
        for label, build in peer_models(robot).items():
            rows = measure_peer(name, label, build, path, repeat, tell)
            report["peers"].extend([row | match(row, ours) for row in rows])
    tell("rigid arm")
    report["rigid"] = measure_rigid(repeat)


def peer_models(robot: Robot) -> dict[str, Callable[[], Any]]:
    """The peer's two ways to model the same links."""
    from .exudyn_pendulum import exact_beams, floating_frames

    count = 6 + INNER_MODES
    return {
        f"Exudyn FFRF, {count} modes per link": lambda: floating_frames(
            robot, INNER_MODES
        ),
        "Exudyn exact beams": lambda: exact_beams(robot),
    }


def measure_lissom(
    name: str, robot: Robot, repeat: int, tell: Tell
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Runs at several tolerances, and the tip's path in the tight one."""
    tell(f"{name}: lissom, building and compiling")
    case = Case(
        Scenario(robot=robot, initial=Initial(q=(0.0, 0.0)), t_end=SPAN, output_dt=1e-3)
    )
    case.compile()
    rows = []
    with one_core():
        tell(f"{name}: lissom, reference")
        reference = case.run(**TIGHT).position(case.tip)
        for rtol in LADDER:
            tell(f"{name}: lissom, rtol {rtol:g}")
            time, run = timed(
                lambda rtol=rtol: case.run(rtol=rtol, atol=rtol / 100), repeat
            )
            error = distance(run.position(case.tip), reference)
            counts = {
                "steps": int(run.data.attrs["steps"]),
                "rhs_evaluations": int(run.data.attrs["rhs_evaluations"]),
            }
            rows.append(
                {
                    "case": name,
                    "rtol": rtol,
                    "wall_s_per_s": time.best / SPAN,
                    **per_second(time),
                    "error_m": error,
                }
                | counts
            )
    return rows, reference


def per_second(time: Any) -> dict[str, Any]:
    """Processor seconds per simulated second, and whether the wall time waited for other programs."""
    return {"cpu_s_per_s": min(time.cpu) / SPAN, "machine_busy": time.busy}


def measure_peer(
    name: str,
    label: str,
    build: Callable[[], Any],
    ours: np.ndarray,
    repeat: int,
    tell: Tell,
) -> list[dict[str, Any]]:
    """Runs of the peer with several steps, building not counted."""
    rows = []
    with one_core():
        tell(f"{name}: {label}, reference")
        reference = build().run(SPAN, *SMALL_STEP, tight=True)
        for step, radius in STEPS:
            tell(f"{name}: {label}, step {step:g} s")
            models = [build() for _ in range(repeat)]  # a model runs once
            time, path = timed(
                lambda step=step, radius=radius, models=models: models.pop().run(
                    SPAN, step, radius
                ),
                repeat,
            )
            settings = {
                "case": name,
                "model": label,
                "step_s": step,
                "spectral_radius": radius,
            }
            cost = {
                "wall_s_per_s": time.best / SPAN,
                **per_second(time),
                "error_m": distance(path, reference),
            }
            rows.append(
                settings
                | cost
                | {"difference_from_lissom_m": distance(reference, ours)}
            )
    return rows


def match(peer: dict[str, Any], ours: list[dict[str, Any]]) -> dict[str, Any]:
    """The fastest of our runs that is at least as accurate as the peer's, if any, and the ratio of the times.

    A run counts only if every tighter one is as accurate too: a loose run that is right by luck does not.
    """
    tightest_first = sorted(ours, key=lambda row: row["rtol"])
    able = list(
        takewhile(lambda row: row["error_m"] <= peer["error_m"], tightest_first)
    )
    if not able:
        return {"lissom": None, "ratio": None, "cpu_ratio": None}
    best = min(able, key=lambda row: row["wall_s_per_s"])
    return {
        "lissom": {
            key: best[key] for key in ("rtol", "wall_s_per_s", "cpu_s_per_s", "error_m")
        },
        "ratio": peer["wall_s_per_s"] / best["wall_s_per_s"],
        "cpu_ratio": peer["cpu_s_per_s"] / best["cpu_s_per_s"],
    }
