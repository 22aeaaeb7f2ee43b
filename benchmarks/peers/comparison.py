"""Three robots in lissom and in Exudyn, in one process, with as many modes each: time, error of each, and the ratio.

Errors in time are measured within each program, against its own spatial model with a small step, so that neither pays
for a difference between the models; that difference is a number of its own. Of the lissom runs at several tolerances, a
peer run is set against the fastest whose error is not larger. The peer is given the models, integrators and tolerances
with which it is fastest at the error asked for, of all that were measured.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from lissom.bench.cases import TIGHT, Case, Log, compiled_case, distance, solver_counts
from lissom.bench.machine import Timing, one_core, timed, version
from lissom.bench.peer_robots import INCLINED, pendulum, with_rotary_inertia
from lissom.describe.robot import Robot
from lissom.describe.scenario import Initial, Scenario

# Tolerances of lissom.
# fmt: off
LADDER = (
    1e-3, 5e-4, 3e-4, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5, 1e-5, 7e-6, 5e-6, 4e-6, 3e-6, 2e-6, 1e-6, 3e-7, 1e-7,
)
# fmt: on
PACKAGES = {"exudyn": "exudyn", "pinocchio": "pin"}  # module: package
OUTPUT_DT = 1e-3  # [s]


class PeerCase(NamedTuple):
    """A robot in both programs."""

    name: str
    scenario: Scenario
    build: Callable[[], Any]  # the peer's model
    model: str  # what that is
    steps: tuple[tuple[float, float], ...]  # the peer's step [s] and spectral radius
    small_step: tuple[float, float]  # those of its own reference
    asked: float  # the error at which the programs are compared [m]
    aim: float  # how many times faster lissom means to be there


def missing_peers() -> list[str]:
    """Peers that are not installed."""
    missing = []
    for module, package in PACKAGES.items():
        if find_spec(module) is None:
            missing.append(package)
    return missing


def peer_cases() -> tuple[PeerCase, ...]:
    """The robots that are compared."""
    return l_shape_case(), pendulum_case(), arm_case()


def modal(count: int) -> dict[str, Any]:
    """Formulation choices of ours with this number of modes per link."""
    return {"formulation": "nonlinear", "basis": "craig-bampton", "modes": count}


def l_shape_case() -> PeerCase:
    """The L-shaped mechanism swinging for two seconds."""
    from .exudyn_fastest import l_shape

    robot = Robot.load("l-shape").replace({"links.*.beam.elements": 4})
    robot = with_rotary_inertia(robot)
    start = Initial(q=(0.0,), elastic="zero")
    scenario = Scenario(
        robot=robot, initial=start, t_end=2.0, output_dt=OUTPUT_DT, **modal(12)
    )
    return PeerCase(
        name="L-shape",
        scenario=scenario,
        build=partial(l_shape, robot, 6),
        model="FFRF, 12 modes, coordinate constraints, trapezoidal rule",
        # The trapezoidal rule has no spectral radius: it is 1.
        steps=((1e-3, 1.0), (5e-4, 1.0), (2e-4, 1.0)),
        small_step=(5e-5, 1.0),
        asked=2e-5,
        aim=20.0,
    )


def pendulum_case() -> PeerCase:
    """The double pendulum let go from horizontal, gravity out of its plane."""
    from .exudyn_pendulum import floating_frames

    robot = pendulum(INCLINED)
    start = Initial(q=(0.0, 0.0), elastic="zero")
    scenario = Scenario(
        robot=robot, initial=start, t_end=1.0, output_dt=OUTPUT_DT, **modal(9)
    )
    return PeerCase(
        name="double pendulum, spatial",
        scenario=scenario,
        build=partial(floating_frames, robot, 3),
        model="FFRF, 9 modes per link, joints, generalised alpha",
        steps=((2e-3, 0.9), (1e-3, 0.9), (5e-4, 0.98), (2e-4, 0.98)),
        small_step=(5e-5, 0.98),
        asked=7.6e-5,
        aim=15.0,
    )


def arm_case() -> PeerCase:
    """The manoeuvre of [Cibicik2021] under PD control."""
    from .exudyn_fastest import arm_under_control

    scenario = Scenario.load("cibicik-arm-peer")
    robot, law = with_rotary_inertia(scenario.robot), scenario.controller
    changes = {"robot": robot, "output_dt": OUTPUT_DT, **modal(8)}
    scenario = scenario.replace(changes)
    return PeerCase(
        name="four-dof arm",
        scenario=scenario,
        build=partial(arm_under_control, robot, law, 2),
        model="FFRF, 8 modes per elastic link, springs at the joints, generalised alpha",
        steps=((2e-3, 0.9), (1e-3, 0.9), (5e-4, 0.98)),
        small_step=(1e-4, 0.98),
        asked=2.2e-4,
        aim=15.0,
    )


def measure_peers(
    report: dict[str, Any], repeat: int, log: Log = lambda text: None
) -> None:
    """Adds `asked`, `peers`, `lissom` (rows) and `rigid` to a report; rows appear as they are measured."""
    from .rigid_arm import measure_rigid

    report["machine"]["exudyn"] = version("exudyn")
    report["machine"]["pinocchio"] = version("pin")
    for key in ("asked", "peers", "lissom"):
        report[key] = []
    for case in peer_cases():
        measure_robot(report, case, repeat, log)
    log("rigid arm")
    report["rigid"] = measure_rigid(repeat)


def measure_robot(
    report: dict[str, Any], peer_case: PeerCase, repeat: int, log: Log
) -> None:
    """Adds the rows of one robot to a report."""
    log(f"{peer_case.name}: lissom, building and compiling")
    case = compiled_case(peer_case.scenario)
    ours, path = measure_lissom(peer_case, case, repeat, log)
    report["lissom"].extend(ours)
    rows = measure_peer(peer_case, path, repeat, log)
    rows = [row | match(row, ours) for row in rows]
    report["peers"].extend(rows)
    asked = at_asked_error(peer_case, rows)
    if asked["lissom"]:
        log(f"{peer_case.name}: both in turn")
        asked |= measure_in_turn(peer_case, case, asked, repeat)
    report["asked"].append(asked)


# The peer's error at its fastest step equals the required one only approximately.
NEAR = 1.25
WARM = 3  # runs of ours in a turn


def at_asked_error(case: PeerCase, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The peer's fastest run at the required error, and ours."""
    accurate = [row for row in rows if row["error_m"] <= NEAR * case.asked]
    best = min(accurate, key=lambda row: row["cpu_s_per_s"])
    return {"asked_m": case.asked, "aim": case.aim, **best}


def measure_in_turn(
    peer_case: PeerCase, case: Case, asked: dict[str, Any], repeat: int
) -> dict[str, Any]:
    """The two runs again, first one and then the other, `repeat` times: whatever else the machine does slows both.

    The ratio is that of the shortest times; `cpu_ratios` are the smallest and the largest of all repeats.
    """
    span = peer_case.scenario.t_end
    tolerance = tolerances(asked["lissom"]["rtol"])
    step = (asked["step_s"], asked["spectral_radius"])
    models = [peer_case.build() for _ in range(repeat)]
    times: list[list[Timing]] = [[], []]
    with one_core():
        for model in models:
            times[0].append(timed(partial(model.run, span, *step))[0])
            # Our run is over before the caches have forgotten the peer: the first of a few is not warm yet.
            times[1].append(timed(partial(case.numbers, **tolerance), WARM)[0])
    peer, ours = ([min(time.cpu) / span for time in column] for column in times)
    ratios = [a / b for a, b in zip(peer, ours, strict=True)]
    return {
        "cpu_s_per_s": min(peer),
        "lissom": asked["lissom"] | {"cpu_s_per_s": min(ours)},
        "cpu_ratio": min(peer) / min(ours),
        "cpu_ratios": [min(ratios), max(ratios)],
    }


def tolerances(rtol: float) -> dict[str, float]:
    """Both tolerances of a run of ours."""
    return {"rtol": rtol, "atol": rtol / 100}


def measure_lissom(
    peer_case: PeerCase, case: Case, repeat: int, log: Log
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Runs at several tolerances, and the tip's path in the tight one."""
    name, span = peer_case.name, peer_case.scenario.t_end
    rows = []
    with one_core():
        log(f"{name}: lissom, reference")
        reference = case.run(**TIGHT).position(case.tip)
        for rtol in LADDER:
            log(f"{name}: lissom, rtol {rtol:g}")
            rows.append(_measure_ours(name, case, rtol, reference, repeat, span))
    return rows, reference


def _measure_ours(
    name: str, case: Case, rtol: float, reference: Any, repeat: int, span: float
) -> dict[str, Any]:
    tolerance = tolerances(rtol)
    time, _ = timed(partial(case.numbers, **tolerance), repeat)
    whole, run = timed(partial(case.run, **tolerance), repeat)
    counts = solver_counts(run)
    return {
        "case": name,
        "rtol": rtol,
        **_cost_per_second(time, span),
        "whole_s_per_s": whole.best / span,
        "error_m": distance(run.position(case.tip), reference),
        "steps": counts["steps"],
        "rhs_evaluations": counts["rhs_evaluations"],
    }


def _cost_per_second(time: Timing, span: float) -> dict[str, Any]:
    """Wall and processor seconds per simulated second, and whether the wall time waited for other programs."""
    return {
        "wall_s_per_s": time.best / span,
        "cpu_s_per_s": min(time.cpu) / span,
        "machine_busy": time.busy,
    }


def measure_peer(
    case: PeerCase, ours: np.ndarray, repeat: int, log: Log
) -> list[dict[str, Any]]:
    """Runs of the peer with several steps, building not counted."""
    name, span = case.name, case.scenario.t_end
    rows = []
    with one_core():
        log(f"{name}: Exudyn, reference")
        reference = case.build().run(span, *case.small_step, tight=True)
        for step, radius in case.steps:
            log(f"{name}: Exudyn, step {step:g} s")
            time, path = _timed_peer(case, step, radius, repeat)
            row = {
                "case": name,
                "model": case.model,
                "step_s": step,
                "spectral_radius": radius,
                **_cost_per_second(time, span),
                "error_m": distance(path, reference),
                "difference_from_lissom_m": distance(reference, ours),
            }
            rows.append(row)
    return rows


def _timed_peer(
    case: PeerCase, step: float, radius: float, repeat: int
) -> tuple[Timing, np.ndarray]:
    # A model of the peer runs once: all are built before the clock starts.
    models = [case.build() for _ in range(repeat)]

    def run() -> np.ndarray:
        return models.pop().run(case.scenario.t_end, step, radius)

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
        return {"lissom": None, "ratio": None, "cpu_ratio": None, "whole_ratio": None}
    # By processor time: wall time also counts what else the machine does.
    best = min(accurate, key=lambda row: row["cpu_s_per_s"])
    shown = ("rtol", "wall_s_per_s", "cpu_s_per_s", "whole_s_per_s", "error_m")
    return {
        "lissom": {key: best[key] for key in shown},
        "ratio": peer["wall_s_per_s"] / best["wall_s_per_s"],
        "cpu_ratio": peer["cpu_s_per_s"] / best["cpu_s_per_s"],
        "whole_ratio": peer["wall_s_per_s"] / best["whole_s_per_s"],
    }
