"""Comparisons of controllers as studies: any keys of robot, motion and controllers, one number for each controller."""

import numpy as np
import pytest

import lissom as ls
from lissom.describe.control_study import ControlStudy
from lissom.files.part import plain as described
from lissom.studies.controller_comparison import compare_controllers
from lissom.studies.controller_numbers import Setting, setting_of
from lissom.studies.controller_run import LONGEST, SAMPLES, controller_run
from lissom.studies.store import Plan
from lissom.studies.study import Study

LOOP = {"bandwidth": 98.0, "lag": 4e-3}
PENDULUM = {
    "scenario": {
        "robot": "simple-pendulum",
        "initial": {"q": [-1.4], "elastic": "static"},
    },
    "motion": {
        "t": [0, 0.1072],
        "value": [[-1.4], [-1.1]],
        "interpolation": "quintic",
    },
    "sample": 2e-4,
    "controllers": {
        "PID": {"type": "pid", "gains": LOOP},
        "PID, ZVD": {"type": "pid", "gains": LOOP, "shaper": {"type": "zvd"}},
    },
}
BANDWIDTH = "controllers.*.gains.bandwidth"


def study(**entries) -> Study:
    data = {
        "analysis": "control",
        "scenario": PENDULUM,
        "over": {"payload.mass": "0:50:2 g", BANDWIDTH: [98.0, 100_000.0]},
        "metrics": [
            "residual_vibration",
            {"metric": "torque_peak", "controller": "PID"},
        ],
    }
    return Study.of({**data, **entries})


def test_keys_of_a_comparison_are_those_of_controllers_motion_scenario_and_robot():
    base = ControlStudy.from_dict(PENDULUM)
    changed = base.replace(
        {
            BANDWIDTH: 50.0,
            "controllers.1.shaper.type": "zv",
            "motion.t.1": 0.2,
            "payload.mass": 0.3,
            "initial.q": [-1.3],
        }
    )
    loops = changed.controllers.values()
    assert [loop.gains.bandwidth for loop in loops] == [50.0, 50.0]
    assert [loop.reference.t[1] for loop in loops] == [0.2, 0.2]
    assert changed.controllers["PID, ZVD"].shaper.type == "zv"
    assert changed.robot.payload.mass == 0.3 and changed.initial.q == (-1.3,)
    assert ControlStudy.from_dict(changed.to_dict()).to_dict() == changed.to_dict()


def test_a_controller_with_a_motion_of_its_own_keeps_it():
    own = {**PENDULUM["motion"], "t": [0, 0.5]}
    plain = {"type": "pid", "gains": LOOP}
    controllers = {"a": plain, "b": {**plain, "reference": own}}
    base = ControlStudy.from_dict({**PENDULUM, "controllers": controllers})
    changed = base.replace({"motion.t.1": 0.2})
    ends = [law.reference.t[1] for law in changed.controllers.values()]
    assert ends == [0.2, 0.5]


def test_every_controller_has_its_own_numbers():
    found = study()
    assert [request.label for request in found.requests] == [
        "residual_vibration.PID",
        "residual_vibration.PID, ZVD",
        "torque_peak.PID",
    ]
    assert found.units() == {"payload.mass": "kg", BANDWIDTH: "Hz"}
    columns = Plan.of(found).recipe.columns
    assert [column.unit for column in columns] == ["m", "m", "N m or N"]


@pytest.mark.parametrize(
    "entries, words",
    [
        ({"over": {"controllers.PIT.gains.bandwidth": [1, 2]}}, "did you mean 'PID'"),
        ({"over": {"controllers.PID.gains.bandwith": [1, 2]}}, "'bandwidth'"),
        ({"over": {"motoin.t.1": [1, 2]}}, "did you mean 'motion'"),
        ({"over": {"t_end": [1, 2]}}, "a comparison has its own motion"),
        ({"metrics": ["line_error"]}, "only a motion of type tip-line has it"),
        ({"metrics": ["first_frequency"]}, "does not fit the analysis control"),
        (
            {"metrics": [{"metric": "torque_peak", "controller": "ZVD"}]},
            "no such controller",
        ),
        (
            {"specification": {"torque_peak": {"below": 1}}},
            "did you mean 'torque_peak.PID'",
        ),
    ],
)
def test_what_does_not_fit_a_comparison_is_refused_with_the_remedy(entries, words):
    with pytest.raises(ls.DescriptionError, match=words):
        study(**entries)


@pytest.mark.slow
def test_a_study_of_controllers_gives_the_tables_of_control_compare(tmp_path):
    sweep = ls.sweep(study(), store=tmp_path / "s", workers=1)
    # A position loop of 100 kHz sampled at 5 kHz is unstable: a row with its reason.
    assert set(sweep.failures()) == {1, 3}
    assert all("unstable" in reason for reason in sweep.failures().values())
    assert np.isnan(sweep.data["residual_vibration.PID"].values[[1, 3]]).all()
    heavy = ControlStudy.from_dict(PENDULUM).replace({"payload.mass": 0.05})
    rows = compare_controllers(heavy).rows
    for row in rows:
        found = float(sweep.data[f"residual_vibration.{row.name}"][2])
        assert found == pytest.approx(row.residual, rel=1e-6)
    # The shaper leaves less, at every load.
    with_shaper = sweep.data["residual_vibration.PID, ZVD"].values[[0, 2]]
    without = sweep.data["residual_vibration.PID"].values[[0, 2]]
    assert (with_shaper < 0.2 * without).all()
    worst = sweep.worst()[0]
    assert worst.values[BANDWIDTH] == 98.0 and worst.command is None
    assert sweep.report(tmp_path / "r.html").stat().st_size > 10_000


def plain_loop(**scenario) -> ControlStudy:
    """A comparison of one position loop, with other entries of its scenario."""
    whole = {**PENDULUM["scenario"], **scenario}
    controllers = {"PID": PENDULUM["controllers"]["PID"]}
    data = {**PENDULUM, "scenario": whole, "controllers": controllers}
    return ControlStudy.from_dict(data)


def run_alone(setting: Setting, t_end: float) -> ls.Run:
    """The scenario of a comparison with its controller, as `lissom simulate` runs it to an end."""
    changes = {
        "controller": described(setting.study.controllers["PID"]),
        "t_end": t_end,
        "output_dt": min(LONGEST, setting.period / SAMPLES),
    }
    return ls.run_scenario(setting.scenario.replace(changes))


def test_runs_of_a_comparison_begin_at_the_time_of_the_scenario():
    # Half of the motion is over: the reference stands in the middle.
    middle = {"q": [-1.25], "elastic": "static", "time": 0.0536}
    setting = setting_of(plain_loop(initial=middle))
    shares = []
    found = controller_run(setting, "PID", shares.append)
    alone = run_alone(setting, float(found.run.t[-1]))
    assert found.run.t[0] == 0.0536
    for name in ("time", "q", "torque", "position"):
        assert np.array_equal(found.run.values(name), alone.values(name)), name
    # The first steps are little of the run, and 0.18 of all times are before it.
    assert 0 < shares[0] < 0.15 and shares[-1] == 1
    # At t = 0 the reference is half of its way behind.
    at_once = setting_of(plain_loop(initial={**middle, "time": 0.0}))
    early = controller_run(at_once, "PID")
    assert early.numbers["tracking_peak"] == pytest.approx(0.15)
    assert found.numbers["tracking_peak"] < 0.01


def test_a_comparison_that_begins_after_its_motion_is_refused():
    words = (
        "scenario.initial.time: 0.2: must lie before the end of the motion, 0.1072 s"
    )
    with pytest.raises(ls.DescriptionError, match=words):
        plain_loop(initial={"q": [-1.4], "time": 0.2})
    with pytest.raises(ls.DescriptionError, match=r"over.initial.time: 0.2: must lie"):
        study(over={"initial.time": [0.0, 0.2]})
    with pytest.raises(ls.DescriptionError, match=words):
        ControlStudy.from_dict({**PENDULUM, "changes": {"initial.time": 0.2}})


PUSH = {"node": "rod/tip", "t": [0, 0.05], "value": [[0, 20, 0, 0, 0, 0]] * 2}
TWIST = {"rod": {"t": [0.02, 0.08], "value": [3.0, 3.0]}}


@pytest.mark.parametrize(
    "inputs", [{"wrench": [PUSH]}, {"torque": TWIST}], ids=["wrench", "torque"]
)
def test_a_comparison_keeps_the_torques_and_wrenches_of_its_scenario(inputs):
    calm = controller_run(setting_of(plain_loop()), "PID")
    setting = setting_of(plain_loop(inputs=inputs))
    found = controller_run(setting, "PID")
    alone = run_alone(setting, float(found.run.t[-1]))
    for name in ("time", "q", "torque", "position"):
        assert np.array_equal(found.run.values(name), alone.values(name)), name
    away = np.abs(alone.values("encoder")[-1] - setting.q).max()
    assert found.numbers["end_error"] == away
    assert found.numbers["torque_peak"] == np.abs(alone.values("torque")).max()
    # Both disturb a stiff loop by a few per cent of its error, thousands of times what the march allows itself.
    before, after = calm.numbers["tracking_peak"], found.numbers["tracking_peak"]
    assert abs(after - before) > 0.03 * before


def test_inputs_of_a_comparison_are_keys_of_a_study():
    base = {**PENDULUM["scenario"], "inputs": {"wrench": [PUSH]}}
    key = "inputs.wrench.0.t.1"
    found = study(scenario={**PENDULUM, "scenario": base}, over={key: [0.01, 0.05]})
    assert found.units() == {key: "s"}


def test_a_comparison_refuses_a_motion_of_a_joint_that_its_controllers_drive():
    motion = {"rod": {"t": [0, 0.1], "value": [-1.4, -1.2]}}
    words = (
        r"scenario.inputs.motion.rod: \[-1.4, -1.2\]: the controllers drive this joint"
    )
    with pytest.raises(ls.DescriptionError, match=words):
        plain_loop(inputs={"motion": motion})
    moved = {**PENDULUM["scenario"], "inputs": {"motion": motion}}
    changes = {"inputs.motion": {}}
    found = ControlStudy.from_dict({**PENDULUM, "scenario": moved, "changes": changes})
    assert found.changed_scenario.inputs.motion == {}
