"""Passive joints (`actuated: false`): no motor, so no torque, no forced motion, no gain, no torque limit."""

from copy import deepcopy

import pytest

from lissom.describe import DescriptionError, Robot, Scenario
from lissom.describe.outline import outline_of_data

PASSIVE = "joint elbow is passive (actuated: false): "
TABLE = {"t": [0, 1], "value": [0, 2]}
ROWS = {"t": [0, 1], "value": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]}
SHORT_ROWS = {"t": [0, 1], "value": [[0.1, 0.3], [0.4, 0.6]]}


def link(name, **joint):
    body = {"mass": 1.2, "com": [0.1, 0, 0], "tip": [0.2, 0, 0]}
    return {"name": name, "joint": {"type": "revolute", **joint}, "rigid": body}


def robot_data(**elbow):
    links = [link("shoulder"), link("elbow", **elbow), link("wrist")]
    links.append({"name": "hand", "joint": {"type": "fixed"}, "rigid": {"mass": 0.1}})
    return {"lissom": 1, "name": "arm", "links": links}


def scenario_data(**entries):
    return {"robot": robot_data(actuated=False), **entries}


def controller(kp=(3, 4), kd=(5, 6), reference=SHORT_ROWS, **entries):
    return {
        "type": "pd",
        "kp": list(kp),
        "kd": list(kd),
        "reference": reference,
        **entries,
    }


def problems(cls, data):
    with pytest.raises(DescriptionError) as caught:
        cls.from_dict(data)
    return [str(problem) for problem in caught.value.problems]


def test_every_moving_joint_is_actuated_unless_the_file_says_otherwise():
    robot = Robot.from_dict(robot_data())
    assert robot.actuated_names == robot.joint_names == ("shoulder", "elbow", "wrist")


def test_a_passive_joint_moves_but_is_not_actuated():
    robot = Robot.from_dict(robot_data(actuated=False))
    assert robot.joint_names == ("shoulder", "elbow", "wrist")
    assert robot.actuated_names == ("shoulder", "wrist")


def test_the_names_of_half_valid_data_know_the_passive_joints():
    data = robot_data(actuated=False)
    data["links"][0]["rigid"]["mass"] = -1
    known = outline_of_data(data)
    assert known is not None
    assert known.joints == ("shoulder", "elbow", "wrist")
    assert known.actuated == ("shoulder", "wrist")


def test_a_robot_with_a_passive_joint_reads_back_equal(tmp_path):
    robot = Robot.from_dict(robot_data(actuated=False))
    robot.save(tmp_path / "arm.yaml")
    assert Robot.load(tmp_path / "arm.yaml") == robot
    assert "actuated: false" in (tmp_path / "arm.yaml").read_text()


def test_a_passive_joint_may_carry_a_rotor_and_friction_and_a_range():
    rest = {
        "motor": {"inertia": 1e-3},
        "friction": {"viscous": 0.2},
        "limits": {"position": [-1, 1]},
    }
    joint = Robot.from_dict(robot_data(actuated=False, **rest)).links[1].joint
    assert joint.motor is not None and joint.motor.inertia == 1e-3


@pytest.mark.parametrize("actuated", [True, False])
def test_a_fixed_joint_has_no_drive_to_speak_of(actuated):
    (found,) = problems(Robot, robot_data(type="fixed", actuated=actuated))
    assert (
        found == f"links.elbow.joint.actuated: {actuated}: "
        "a fixed joint has no drive: leave out actuated"
    )


@pytest.mark.parametrize("also_wrong", [{}, {"friction": {"viscous": -1}}])
def test_a_passive_joint_has_no_torque_limit(also_wrong):
    data = robot_data(actuated=False, limits={"torque": 5.0}, **also_wrong)
    found = problems(Robot, data)
    assert len(found) == 1 + len(also_wrong)
    assert (
        "links.elbow.joint.limits.torque: 5.0: a passive joint (actuated: false) has no drive: "
        "leave out its torque limit" in found
    )


def test_actuated_is_true_or_false():
    (found,) = problems(Robot, robot_data(actuated="partly"))
    assert "actuated: partly: must be true or false, not text" in found


def test_a_passive_joint_takes_no_torque():
    data = scenario_data(inputs={"torque": {"elbow": TABLE, "wrist": TABLE}})
    (found,) = problems(Scenario, data)
    assert found == f"inputs.torque.elbow: {PASSIVE}it takes no torque"


def test_a_passive_joint_follows_no_forced_motion():
    data = scenario_data(inputs={"motion": {"elbow": TABLE, "wrist": TABLE}})
    (found,) = problems(Scenario, data)
    wanted = f"inputs.motion.elbow: {PASSIVE}its motion cannot be prescribed: it has no drive"
    assert found == wanted


def test_a_torque_on_a_passive_joint_is_refused_beside_other_errors():
    data = scenario_data(inputs={"torque": {"elbow": TABLE}}, t_end=-1)
    data["robot"]["links"][0]["rigid"]["mass"] = -1
    found = problems(Scenario, data)
    assert len(found) == 3
    assert any(f"{PASSIVE}it takes no torque" in problem for problem in found)


def test_gains_and_reference_are_one_for_each_actuated_joint():
    scenario = Scenario.from_dict(scenario_data(controller=controller()))
    assert scenario.controller is not None
    assert scenario.controller.kp == (3.0, 4.0)


def test_gains_and_reference_may_still_be_one_for_each_moving_joint():
    data = controller(kp=(3, 0, 4), kd=(5, 0, 6), reference=ROWS)
    scenario = Scenario.from_dict(scenario_data(controller=data))
    assert scenario.controller is not None
    assert scenario.controller.kd == (5.0, 0.0, 6.0)


def test_a_gain_on_a_passive_joint_is_refused_with_its_name():
    data = controller(kp=(3, 7, 4), kd=(5, 0, 6), reference=ROWS)
    (found,) = problems(Scenario, scenario_data(controller=data))
    assert (
        found == f"controller.kp: [3.0, 7.0, 4.0]: {PASSIVE}its gain must be 0, "
        "or write one number for each actuated joint: 2 (shoulder, wrist)"
    )


def test_another_number_of_gains_names_both_choices():
    (found,) = problems(Scenario, scenario_data(controller=controller(kp=(1,))))
    assert (
        found == "controller.kp: [1.0]: must have one number for each moving joint: "
        "3 (shoulder, elbow, wrist), or one for each actuated joint: 2 (shoulder, wrist)"
    )


def test_weight_is_compensated_only_where_the_reference_tells_the_passive_joints_too():
    data = controller(gravity_compensation=True)
    (found,) = problems(Scenario, scenario_data(controller=data))
    assert (
        found == "controller.gravity_compensation: True: "
        "needs the coordinates of the passive joints too: "
        "write one number for each moving joint in reference.value: 3 (shoulder, elbow, wrist)"
    )
    whole = controller(reference=ROWS, gravity_compensation=True)
    Scenario.from_dict(scenario_data(controller=whole))


def test_an_actuated_joint_has_one_driver_also_where_gains_leave_passive_joints_out():
    inputs = {"motion": {"wrist": TABLE}}
    data = scenario_data(controller=controller(), inputs=inputs)
    (found,) = problems(Scenario, data)
    assert "inputs.motion.wrist: a controller drives this joint too" in found
    free = deepcopy(data)
    free["controller"] |= {"kp": [3, 0], "kd": [5, 0]}
    Scenario.from_dict(free)


@pytest.mark.parametrize(
    "name, actuated",
    [
        ("four-bar", ("crank",)),
        ("four-bar-bearings", ("crank",)),
        ("five-bar", ("left", "right")),
        ("slider-crank", ("crank",)),
        ("spatial-four-bar", ("crank",)),
        ("double-pendulum", ("upper", "lower")),
    ],
)
def test_the_pins_of_the_closed_chains_of_the_library_are_passive(name, actuated):
    assert Robot.load(name).actuated_names == actuated
