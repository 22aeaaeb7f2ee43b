"""Studies of scenarios that begin later than at t = 0: their runs are those of `lissom simulate`."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.quality import settling_time
from lissom.studies import family_of_runs
from lissom.studies.compute import compute_chunk
from lissom.studies.family_of_runs import measure_runs
from lissom.studies.store import Plan
from lissom.studies.study import Study

# Smooth to the end of the run, so that runs share lanes; and bent on the way, so that they do not.
RAMP = {"torque": {"upper": {"t": [0, 2], "value": [0, 40]}}}
BENT_RAMP = {"torque": {"upper": {"t": [0, 0.2, 2], "value": [0, 40, 0]}}}
MOTION = {"motion": {"upper": {"t": [0, 1, 2], "value": [-1, 0.5, 1.0]}}}
BENT_MOTION = {"motion": {"upper": {"t": [0, 0.22, 2], "value": [-1, 0.5, 1.0]}}}
BEGIN = 0.1


def pendulum(inputs, begin=BEGIN) -> dict:
    return {
        "robot": "double-pendulum",
        "modes": 1,
        "initial": {"q": [-1.0, 0.3], "time": begin},
        "inputs": inputs,
        "t_end": 0.3,
        "output_dt": 0.05,
    }


def loaded(inputs, begin=BEGIN) -> dict[int, ls.Scenario]:
    base = ls.Scenario.from_dict(pendulum(inputs, begin))
    return {k: base.replace({"payload.mass": 0.1 + 0.1 * k}) for k in range(4)}


@pytest.fixture
def lanes(monkeypatch):
    """How many runs shared lanes, call by call."""
    found = []
    solve = family_of_runs.lane_solution

    def counted(task):
        found.append(len(task.which))
        return solve(task)

    monkeypatch.setattr(family_of_runs, "lane_solution", counted)
    return found


def runs_of(scenarios) -> dict[int, ls.Run]:
    found = dict(measure_runs(scenarios, lambda k: None, alone=False))
    return {k: found[k].run for k in scenarios}


@pytest.mark.parametrize("inputs", [BENT_RAMP, BENT_MOTION], ids=["torque", "motion"])
def test_a_single_run_begins_at_its_time_and_is_that_of_simulate_to_the_last_bit(
    inputs, lanes
):
    scenarios = loaded(inputs)
    for k, run in runs_of(scenarios).items():
        alone = ls.run_scenario(scenarios[k])
        for name in ("time", "q", "qd", "torque", "position", "energy"):
            assert np.array_equal(run.values(name), alone.values(name)), name
    assert lanes == []


@pytest.mark.parametrize("inputs", [RAMP, MOTION], ids=["torque", "motion"])
def test_runs_in_lanes_begin_at_their_time_with_the_steps_of_simulate(inputs, lanes):
    scenarios = loaded(inputs)
    for k, run in runs_of(scenarios).items():
        alone = ls.run_scenario(scenarios[k])
        assert np.array_equal(run.t, alone.t)
        assert run.t[0] == BEGIN and run.facts["steps"] == alone.facts["steps"]
        # Lanes round in another order, which makes 3e-13 here; another start makes 0.05.
        np.testing.assert_allclose(run.q, alone.q, atol=2e-12)
        np.testing.assert_allclose(
            run.values("torque"), alone.values("torque"), atol=1e-10
        )
    assert lanes == [4]


@pytest.mark.parametrize(
    "inputs", [RAMP, BENT_RAMP, MOTION, BENT_MOTION], ids=lambda inputs: str(inputs)
)
def test_the_start_decides_where_a_run_ends(inputs):
    early, late = runs_of(loaded(inputs, 0.0)), runs_of(loaded(inputs))
    for k in early:
        assert np.abs(early[k].q[-1] - late[k].q[-1]).max() > 0.05


def test_runs_with_different_starts_do_not_share_lanes(lanes):
    base = ls.Scenario.from_dict(pendulum(RAMP))
    starts = (0.0, 0.0, 0.0, 0.0, 0.05, 0.1, 0.15, 0.2)
    scenarios = {k: base.replace({"initial.time": t}) for k, t in enumerate(starts)}
    for k, run in runs_of(scenarios).items():
        alone = ls.run_scenario(scenarios[k])
        assert np.array_equal(run.t, alone.t) and run.t[0] == starts[k]
        np.testing.assert_allclose(run.q, alone.q, atol=2e-12)
    assert lanes == [4]


def test_a_study_sweeps_the_start_itself():
    plan = Plan.of(
        Study.of(
            {
                "scenario": pendulum(BENT_RAMP, 0.0),
                "over": {"initial.time": [0.0, 0.05, 0.1]},
                "metrics": ["torque_peak", "steps"],
                "chunk": 3,
            }
        )
    )
    content = compute_chunk(plan.recipe, plan.task(0))
    assert content.reasons == ["", "", ""]
    steps = []
    for k in range(3):
        alone = ls.run_scenario(plan.study.run_scenario(k))
        steps.append(alone.facts["steps"])
    assert content.columns["steps"].tolist() == steps
    assert len(set(steps)) > 1


def test_time_series_of_a_study_stand_over_the_times_of_its_runs(tmp_path):
    data = {
        "scenario": pendulum(BENT_RAMP),
        "over": {"payload.mass": [0.1, 0.2]},
        "series": ["q.upper"],
    }
    sweep = ls.sweep(data, store=tmp_path / "s", workers=1)
    alone = ls.run_scenario(sweep.scenario(1))
    assert sweep.data["time"].values.tolist() == alone.t.tolist()
    assert sweep.data["q.upper"].values[1].tolist() == alone.q[:, 0].tolist()


@pytest.mark.parametrize("key", ["initial.time", "payload.mass,initial.time"])
def test_time_series_and_a_start_that_varies_are_refused(key):
    data = {
        "scenario": pendulum(RAMP),
        "over": {key: [0.05, 0.1]},
        "series": ["q.upper"],
    }
    with pytest.raises(ls.DescriptionError, match="time series need one time grid"):
        Study.of(data)


def test_a_whole_start_with_another_time_leaves_a_row_without_series():
    starts = [{"q": [-1.0, 0.3], "time": t} for t in (BEGIN, 0.0)]
    plan = Plan.of(
        Study.of(
            {
                "scenario": pendulum(BENT_RAMP),
                "over": {"initial": {"values": starts, "names": ["late", "early"]}},
                "series": ["q.upper"],
                "chunk": 2,
            }
        )
    )
    content = compute_chunk(plan.recipe, plan.task(0))
    assert content.reasons[0] == ""
    assert content.reasons[1] == (
        "time series need one time grid, 0.1 to 0.3 s in 5 samples: this run has 0 to 0.3 s in 7"
    )


def test_what_rests_when_a_run_begins_after_the_stop_settled_then_at_the_latest():
    t = np.array([1.0, 1.1, 1.2])
    end = np.array([1.0, 0.0, 0.0])
    path = np.array([[1.0, 0.0, 0.0]] * 3)
    assert settling_time(t, path, end, stop=0.75) == 0.25
    assert settling_time(t, path, end, stop=1.15) == 0.0
