"""A call that comes again is recognised when it may be, and never when its zeros could be others."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from lissom.compilation import Program
from lissom.native.recent_call import RecentCall

PROGRAM = Program(lambda numbers: numbers, None, frozenset())


class Robot(eqx.Module):
    """Numbers that stay the same, and a choice."""

    inertia: np.ndarray
    kind: str = eqx.field(static=True, default="open")


class Driven(eqx.Module):
    """A robot put together with what drives it, anew for every run."""

    robot: Robot


ROBOT = Robot(np.array([[2.0, 0.0], [0.0, 3.0]]).T)


@pytest.fixture
def recent():
    # The program takes the two zeros of the inertia for granted, and nothing of the state.
    known = (np.array([[-1, 0], [0, -1]]), None)
    return RecentCall(PROGRAM, known, (Driven(ROBOT), np.array([1.0, 2.0])))


def test_the_same_robot_with_another_state_is_recognised(recent):
    state = np.array([5.0, 0.0])
    inertia, found = recent.numbers((recent.args[0], state))
    assert found is state
    np.testing.assert_array_equal(inertia, ROBOT.inertia)
    assert inertia.flags.c_contiguous


def test_a_robot_put_together_anew_from_the_same_arrays_is_recognised(recent):
    again = Driven(ROBOT)
    assert again is not recent.args[0]
    numbers = recent.numbers((again, np.zeros(2)))
    np.testing.assert_array_equal(numbers[0], ROBOT.inertia)


def test_another_robot_is_served_if_it_has_the_zeros_that_are_taken_for_granted(recent):
    heavier = Driven(Robot(np.array([[7.0, 0.0], [0.0, 0.0]])))
    numbers = recent.numbers((heavier, np.zeros(2)))
    np.testing.assert_array_equal(numbers[0], heavier.robot.inertia)
    coupled = Driven(Robot(np.array([[2.0, 0.1], [0.1, 3.0]])))
    assert recent.numbers((coupled, np.zeros(2))) is None


@pytest.mark.parametrize(
    "state",
    [np.zeros(3), np.zeros(2, dtype=int), [np.zeros(2)], jnp.zeros((2, 1))],
    ids=["size", "type", "structure", "shape"],
)
def test_a_state_of_another_form_is_not_served(recent, state):
    assert recent.numbers((recent.args[0], state)) is None


def test_another_choice_is_not_served(recent):
    other = Driven(Robot(ROBOT.inertia, "closed"))
    assert recent.numbers((other, np.zeros(2))) is None


def test_another_number_of_arguments_is_not_served(recent):
    assert recent.numbers((recent.args[0],)) is None
