"""The same double pendulum in lissom and in Exudyn, in one process: time, error of each, and the ratio.

Errors in time are measured within each program, against its own spatial model with a small step, so that neither pays
for a difference between the models; that difference is a number of its own. Of the lissom runs at several tolerances, a
peer run is set against the fastest whose error is not larger. lissom keeps every nodal displacement; the peer is given
a reduced basis, with which it is fastest.
"""

import math
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..describe.scenario import Initial, Scenario
from .cases import TIGHT, Tell, compiled_case, distance, solver_counts
from .machine import Timing, one_core, timed, version

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
# The peer's step [s] and spectral radius, and those of its own reference.
STEPS = ((2e-3, 0.9), (1e-3, 0.9), (5e-4, 0.98), (2e-4, 0.98))
SMALL_STEP = (5e-5, 0.98)
LADDER = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)  # tolerances of lissom
PACKAGES = {"exudyn": "exudyn", "pinocchio": "pin"}  # module: package


def missing_peers() -> list[str]:
    """Peers that are not installed."""
    missing = []
    for module, package in PACKAGES.items():
        if find_spec(module) is None:
            missing.append(package)
    return missing


def pendulum(gravity: list[float], elements: int = 4) -> Robot:
    """The library's double pendulum undamped, of Timoshenko beams: the peer's beams have rotary inertia."""
    changes: dict[str, Any] = {
        "gravity": gravity,
        "damping": None,
        "links.*.beam.elements": elements,
        "links.*.beam.theory": "timoshenko",
    }
    return Robot.load("double-pendulum").replace(changes)


def measure_peers(
    report: dict[str, Any], repeat: int, tell: Tell = lambda text: None
) -> None:
    """Adds `peers` (rows) and `rigid` to a report; rows appear as they are measured."""
    from .rigid_arm import measure_rigid

    report["machine"]["exudyn"] = version("exudyn")
    report["machine"]["pinocchio"] = version("pin")
    report["peers"] = []
    report["lissom"] = []
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
        f"Exudyn FFRF, {count} modes per link": partial(
            floating_frames, robot, INNER_MODES
        ),
        "Exudyn exact beams": partial(exact_beams, robot),
    }


def measure_lissom(
    name: str, robot: Robot, repeat: int, tell: Tell
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Runs at several tolerances, and the tip's path in the tight one."""
    tell(f"{name}: lissom, building and compiling")
    start = Initial(q=(0.0, 0.0))
    scenario = Scenario(robot=robot, initial=start, t_end=SPAN, output_dt=1e-3)
    case = compiled_case(scenario)
    rows = []
    with one_core():
        tell(f"{name}: lissom, reference")
        reference = case.run(**TIGHT).position(case.tip)
        for rtol in LADDER:
            tell(f"{name}: lissom, rtol {rtol:g}")
            time, run = timed(partial(case.run, rtol=rtol, atol=rtol / 100), repeat)
            counts = solver_counts(run)
            row = {
                "case": name,
                "rtol": rtol,
                **_cost_per_second(time),
                "error_m": distance(run.position(case.tip), reference),
                "steps": counts["steps"],
                "rhs_evaluations": counts["rhs_evaluations"],
            }
            rows.append(row)
    return rows, reference


def _cost_per_second(time: Timing) -> dict[str, Any]:
    """Wall and processor seconds per simulated second, and whether the wall time waited for other programs."""
    return {
        "wall_s_per_s": time.best / SPAN,
        "cpu_s_per_s": min(time.cpu) / SPAN,
        "machine_busy": time.busy,
    }


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
            time, path = _timed_peer(build, step, radius, repeat)
            row = {
                "case": name,
                "model": label,
                "step_s": step,
                "spectral_radius": radius,
                **_cost_per_second(time),
                "error_m": distance(path, reference),
                "difference_from_lissom_m": distance(reference, ours),
            }
            rows.append(row)
    return rows


def _timed_peer(
    build: Callable[[], Any], step: float, radius: float, repeat: int
) -> tuple[Timing, np.ndarray]:
    # A model of the peer runs once: all are built before the clock starts.
    models = [build() for _ in range(repeat)]

    def run() -> np.ndarray:
        return models.pop().run(SPAN, step, radius)

    return timed(run, repeat)


def match(peer: dict[str, Any], ours: list[dict[str, Any]]) -> dict[str, Any]:
    """The fastest of our runs that is at least as accurate as the peer's, if any, and the ratio of the times.

    A run counts only if every tighter one is as accurate too: a loose run that is right by luck does not.
    """
    tightest_first = sorted(ours, key=lambda row: row["rtol"])
    accurate = []
    for row in tightest_first:
        if row["error_m"] > peer["error_m"]:
            break
        accurate.append(row)
    if not accurate:
        return {"lissom": None, "ratio": None, "cpu_ratio": None}
    best = min(accurate, key=lambda row: row["wall_s_per_s"])
    shown = ("rtol", "wall_s_per_s", "cpu_s_per_s", "error_m")
    return {
        "lissom": {key: best[key] for key in shown},
        "ratio": peer["wall_s_per_s"] / best["wall_s_per_s"],
        "cpu_ratio": peer["cpu_s_per_s"] / best["cpu_s_per_s"],
    }
