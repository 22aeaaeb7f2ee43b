"""Users' functions are known by what they say: the same code with the same values is the same function."""

import functools
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

from lissom import Model, Robot, simulate
from lissom.compilation import STORE
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


def test_programs_of_old_variants_are_let_go():
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
    end(0.2)
    assert len(STORE) == kept
    end(0.3)
    assert len(STORE) == kept
