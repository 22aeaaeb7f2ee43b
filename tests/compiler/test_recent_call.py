"""A call that comes again is recognised when it may be, and never when its zeros could be others."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative.call_memory import address_of
from jaxnative.compilation import Program
from jaxnative.compiled import NativeAhead
from jaxnative.recent_call import NOT_SERVED, RecentCall, known_result

PROGRAM = Program(lambda numbers: numbers, None, frozenset())


class Model(eqx.Module):
    """Numbers that stay the same, and a choice."""

    inertia: np.ndarray
    kind: str = eqx.field(static=True, default="open")


class Driven(eqx.Module):
    """A model put together with what drives it, anew for every run."""

    model: Model


MODEL = Model(np.array([[2.0, 0.0], [0.0, 3.0]]).T)
DRIVEN = Driven(MODEL)


@pytest.fixture
def recent():
    # The program takes the two zeros of the inertia for granted, and nothing of the state.
    known = (np.array([[-1, 0], [0, -1]]), None)
    return RecentCall(PROGRAM, known, (DRIVEN, np.array([1.0, 2.0])))


def test_the_same_model_with_another_state_is_recognised(recent):
    state = np.array([5.0, 0.0])
    inertia, found = recent.numbers((DRIVEN, state))
    assert found is state
    np.testing.assert_array_equal(inertia, MODEL.inertia)
    assert inertia.flags.c_contiguous


def test_a_model_put_together_anew_from_the_same_arrays_is_recognised(recent):
    again = Driven(MODEL)
    numbers = recent.numbers((again, np.zeros(2)))
    np.testing.assert_array_equal(numbers[0], MODEL.inertia)


def test_another_model_is_served_if_it_has_the_zeros_that_are_taken_for_granted(recent):
    heavier = Driven(Model(np.array([[7.0, 0.0], [0.0, 0.0]])))
    numbers = recent.numbers((heavier, np.zeros(2)))
    np.testing.assert_array_equal(numbers[0], heavier.model.inertia)
    coupled = Driven(Model(np.array([[2.0, 0.1], [0.1, 3.0]])))
    assert recent.numbers((coupled, np.zeros(2))) is None


@pytest.mark.parametrize(
    "state",
    [np.zeros(3), np.zeros(2, dtype=int), [np.zeros(2)], jnp.zeros((2, 1))],
    ids=["size", "type", "structure", "shape"],
)
def test_a_state_of_another_form_is_not_served(recent, state):
    assert recent.numbers((DRIVEN, state)) is None


def test_another_choice_is_not_served(recent):
    other = Driven(Model(MODEL.inertia, "closed"))
    assert recent.numbers((other, np.zeros(2))) is None


def test_another_number_of_arguments_is_not_served(recent):
    assert recent.numbers((DRIVEN,)) is None


# --- where the numbers are -----------------------------------------------------------------------------------------


class Located:
    """A program of machine code that gives back where it was told its numbers are."""

    def run_at(self, places):
        """The addresses."""
        return places.tolist()


@pytest.fixture
def located():
    known = (np.array([[-1, 0], [0, -1]]), None)
    program = Program(Located(), None, frozenset())
    return RecentCall(program, known, (DRIVEN, np.array([1.0, 2.0])))


def test_an_array_is_read_where_it_is_and_what_has_gaps_in_one_piece(located):
    state = np.array([5.0, 0.0])
    model, place = located.value((DRIVEN, state))
    assert place == address_of(state)
    # The model's numbers stay where they were put in one piece.
    assert located.value((Driven(MODEL), state)) == [model, place]
    spread = np.arange(4.0)[::2]
    _, elsewhere = located.value((DRIVEN, spread))
    assert elsewhere != address_of(spread)


def test_an_array_with_gaps_that_is_written_to_is_read_anew():
    spread = np.arange(4.0)[::2]
    recent = RecentCall(PROGRAM, (None,), (spread,))
    spread[:] = 7.0
    np.testing.assert_array_equal(recent.numbers((spread,))[0], 7.0)
    stale = recent.arguments[0].arrays[0]
    recent = RecentCall(Program(Located(), None, frozenset()), (None,), (spread,))
    assert recent.value((spread,)) != [address_of(stale)]


@pytest.mark.parametrize("state", [np.zeros(3), np.zeros(2, dtype=int)])
def test_an_array_of_another_form_is_not_located(located, state):
    assert located.value((DRIVEN, state)) is NOT_SERVED


def test_a_result_that_comes_back_is_known_at_sight_as_long_as_it_is_there():
    class March(eqx.Module):
        t: np.ndarray
        x: np.ndarray

    def on(march: March) -> March:
        return March(march.t + 1.0, 2.0 * march.x)

    step = NativeAhead(on)
    first = step(March(np.array(0.0), np.array([1.0, 3.0])))
    assert known_result(first) is not None
    second = step(first)
    assert float(second.t) == 2.0
    np.testing.assert_array_equal(second.x, [4.0, 12.0])
    # The first one is gone, its memory given to others: nobody may be taken for it.
    del first
    third = step(March(second.t, second.x + 1.0))
    np.testing.assert_array_equal(third.x, [10.0, 26.0])
