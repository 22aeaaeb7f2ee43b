"""What sampling a control law costs: the same law on the double pendulum, sampled and continuous, in one run."""

from typing import Any

from lissom.bench.cases import Case, Log, distance, path_of_tip, solver_counts
from lissom.bench.machine import Timing, one_core, timed
from lissom.describe.scenario import Scenario

PERIOD = 1e-3  # [s] the law sampled at 1 kHz; the continuous one takes steps no longer than that
SPAN = 1.0  # [s]

# Joints go from rest to another pose at a quarter of the time, so that the law has something to do. With these gains
# the sampled loop is stable: discretised with the command held for a millisecond, its poles lie within 0.9984 of the
# unit circle in the poses of the motion. (Gains of 200 and 20, for one, are not: the bending of the links is too fast.)
LAW: dict[str, Any] = {
    "type": "pd",
    "kp": [60.0, 20.0],
    "kd": [6.0, 2.0],
    "reference": {
        "t": [0.0, 0.25],
        "value": [[0.0, 0.0], [1.0, -0.5]],
        "interpolation": "hold",
    },
}


def sampled_scenario() -> Scenario:
    """The law sees the encoders once in a period and holds its torques in between."""
    return _scenario({**LAW, "sample": PERIOD}, {})


def continuous_scenario() -> Scenario:
    """The law acts at every instant."""
    return _scenario(LAW, {"max_step": PERIOD})


def _scenario(law: dict[str, Any], solver: dict[str, Any]) -> Scenario:
    return Scenario.from_dict(
        {
            "robot": "double-pendulum",
            "controller": law,
            "solver": solver,
            "t_end": SPAN,
            "output_dt": PERIOD,
        }
    )


def measure_sampled_law(repeat: int, log: Log = lambda text: None) -> dict[str, Any]:
    """Times and counts of both runs, the ratio of the times, and how far apart the tips are."""
    log("sampled law: building and compiling")
    sampled = Case(sampled_scenario())
    continuous = Case(continuous_scenario())
    compile_s = {"sampled": sampled.compile(), "continuous": continuous.compile()}
    # One after the other on one core: both meet the same machine.
    with one_core():
        log(f"sampled law: {repeat} warm runs")
        _first_runs = sampled.run(), continuous.run()
        sampled_time, sampled_run = timed(sampled.run, repeat)
        continuous_time, continuous_run = timed(continuous.run, repeat)
    gap = distance(path_of_tip(sampled_run), path_of_tip(continuous_run))
    return {
        "period_s": PERIOD,
        "simulated_s": SPAN,
        "laws": [
            _row("sampled", sampled_time, sampled_run, compile_s["sampled"]),
            _row(
                "continuous", continuous_time, continuous_run, compile_s["continuous"]
            ),
        ],
        "ratio": sampled_time.best / continuous_time.best,
        "tip_distance_m": gap,
    }


def _row(name: str, time: Timing, run: Any, compile_s: float) -> dict[str, Any]:
    return {
        "law": name,
        "method": run.data.attrs["method"],
        "compile_s": compile_s,
        "warm": time.report(),
        **solver_counts(run),
    }
