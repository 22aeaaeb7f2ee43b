"""Users' functions are known by what they say: the same code with the same values is the same function."""

import functools
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative.compilation import STORE, CompiledAhead
from lissom import Model, Robot, simulate
from lissom.solve import feedback
from lissom.solve.user_function import (
    VARIANTS,
    UnknownContentError,
    content_of,
    user_function,
)

gain = 2.0


def with_value(value):
    return lambda t, state: value * t


def with_global():
    return lambda t, state: gain * t


def with_inner():
    def inner(t):
        return gain * t

    return lambda t, state: inner(t)


@dataclass(frozen=True)
class Settings:
    stiffness: float


class Mutable:
    stiffness = 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (with_value(1.5), with_value(1.5)),
        (with_value(np.arange(3.0)), with_value(np.arange(3.0))),
        (with_value([1, {"a": "b"}]), with_value([1, {"a": "b"}])),
        (with_value(Settings(2.0)), with_value(Settings(2.0))),
        (with_value(float("nan")), with_value(float("nan"))),
        (with_value(jnp.sin), with_value(jnp.sin)),
        (with_global(), with_global()),
        (with_inner(), with_inner()),
        (functools.partial(max, 1.0), functools.partial(max, 1.0)),
    ],
)
def test_functions_that_say_the_same_are_one(one, other):
    assert one is not other
    assert content_of(one) == content_of(other)
    assert user_function(one) is user_function(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (with_value(1.5), with_value(1.6)),
        (with_value(1), with_value(1.0)),
        (with_value(0.0), with_value(-0.0)),
        (with_value(np.arange(3.0)), with_value(np.arange(3))),
        (with_value([1, 2]), with_value((1, 2))),
        (with_value(Settings(2.0)), with_value(Settings(3.0))),
        (with_value(Mutable()), with_value(Mutable())),
        (lambda t, state: t, lambda t, state: -t),
    ],
)
def test_functions_that_say_something_else_are_two(one, other):
    assert user_function(one) is not user_function(other)


def test_a_changed_global_is_another_function(monkeypatch):
    before = content_of(with_inner())
    monkeypatch.setitem(globals(), "gain", 3.0)
    assert content_of(with_inner()) != before


def test_the_content_of_an_object_that_may_change_is_not_known():
    with pytest.raises(UnknownContentError, match="Mutable"):
        content_of(with_value(Mutable()))


def test_the_newest_of_equal_functions_is_called():
    seen = []

    def logging_to(log):
        return lambda t: log.append(t)

    first, second = [], []
    user_function(logging_to(first))(1.0)
    known = user_function(logging_to(second))
    # The list of the first is no longer empty: to be told apart, contents are taken when the function comes.
    known(2.0)
    assert first == [1.0] and second == [2.0] and not seen


class Loaded(eqx.Module):
    """A number under a user's function, as loads of a run are."""

    number: Any
    function: Any = eqx.field(static=True, converter=user_function)


def test_programs_of_old_variants_are_let_go():
    value = CompiledAhead(lambda loaded: loaded.function(loaded.number, None))

    def at_two(factor):
        return float(value(Loaded(np.float64(2.0), with_value(factor))))

    # Room for all: a store that is full lets go what other tests left.
    STORE.drop_oldest(len(STORE))
    before = len(STORE)
    factors = np.arange(VARIANTS + 3.0)
    assert [at_two(factor) for factor in factors] == list(2 * factors)
    assert len(STORE) == before + VARIANTS
    # The last ones are still there, and the first one takes the place of the oldest of them.
    assert at_two(factors[-1]) == 2 * factors[-1] and len(STORE) == before + VARIANTS
    assert at_two(factors[0]) == 0.0 and len(STORE) == before + VARIANTS


def test_a_function_is_checked_once_and_a_wrong_one_every_time(monkeypatch):
    robot = Robot.load("simple-pendulum").replace({"links.*.beam.elements": 1})
    model = Model(robot, "erls-cms", modes=0)
    checked = []
    check = feedback._check_torques
    monkeypatch.setattr(
        feedback, "_check_torques", lambda *case: (checked.append(1), check(*case))
    )
    for torques in ([0.1], [0.1], [0.2]):
        feedback.wire_law(model, lambda t, state, torques=torques: torques)
    assert len(checked) == 2
    for _ in range(2):
        with pytest.raises(ValueError, match="must give 1 torques"):
            feedback.wire_law(model, lambda t, state: [0.1, 0.2])


@pytest.mark.slow
def test_a_run_with_the_same_function_made_anew_compiles_nothing():
    robot = Robot.load("simple-pendulum").replace({"links.*.beam.elements": 1})
    model = Model(robot, "erls-cms", modes=0)

    def end(push):
        run = simulate(
            model, t_end=0.002, output_dt=0.001, torque=lambda t, state: [push]
        )
        return float(run.q[-1, 0])

    ends = [end(push) for push in np.linspace(0.1, 0.2, VARIANTS + 2)]
    assert np.all(np.diff(ends) > 0)
    kept = len(STORE)
    assert end(0.2) == ends[-1] and len(STORE) == kept
    assert end(0.3) > ends[-1] and len(STORE) == kept
