"""Runs without inputs: their empty inputs are cached for the robot, and the cache does not keep the robot alive."""

import gc
import pickle
import weakref

from lissom.solve.inputs import MOST_CACHED, Inputs, inputs_of_torque
from lissom.solve.model import Model


def test_a_robot_that_is_let_go_is_gone():
    model = Model("simple-pendulum")
    inputs = inputs_of_torque(model, None)
    assert inputs is inputs_of_torque(model, None)
    robot = inputs.wired(model).robot(model.formulation, 1.0)
    assert robot is inputs.wired(model).robot(model.formulation, 1.0)
    reference = weakref.ref(model)
    del model, robot
    gc.collect()
    assert reference() is None


def test_inputs_of_one_robot_are_wired_to_another():
    one, other = Model("simple-pendulum"), Model("simple-pendulum")
    inputs = Inputs(1)
    first = inputs.wired(one)
    assert inputs.wired(one) is first is first.wired(one)
    assert inputs.wired(other) is not first


def test_loads_of_many_durations_are_not_all_kept():
    inputs = Inputs(1)
    for t_end in range(1, 4 * MOST_CACHED):
        inputs.schedule(float(t_end))
    assert len(inputs._schedules) <= MOST_CACHED


def test_inputs_that_were_wired_go_to_other_processes():
    model = Model("simple-pendulum")
    inputs = Inputs(1)
    inputs.wired(model)
    again = pickle.loads(pickle.dumps(inputs))
    assert again.wired(model).joints == 1
