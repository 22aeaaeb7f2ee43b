"""A law in plain NumPy does what the same law in JAX does, in runs and in linear models."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_sampled_laws import PERIOD, rotor, sampled_run

import lissom as ls
from lissom.control.numpy_law import numpy_law
from lissom.solve.law import AbstractLaw

KP, KI, LIMIT = 2.9, 7.0, 0.4


def plain(t, measured, memory):
    """PI control with a limit, written as anyone would."""
    angle = measured[0]
    torque = -KP * angle - KI * memory["integral"] - 0.3 * measured[1]
    if abs(torque) > LIMIT:
        torque = np.sign(torque) * LIMIT
    count = memory["count"] + 1
    return [torque], {"integral": memory["integral"] + PERIOD * angle, "count": count}


class Compiled(AbstractLaw):
    sample: float = PERIOD
    names: tuple = eqx.field(static=True, default=("arm.encoder", "arm.speed"))

    def sensors(self, model):
        return self.names

    def init(self, model):
        return {"integral": jnp.zeros(()), "count": jnp.asarray(0)}

    def __call__(self, t, measured, memory):
        angle = measured[0]
        torque = -KP * angle - KI * memory["integral"] - 0.3 * measured[1]
        count = memory["count"] + 1
        summed = memory["integral"] + PERIOD * angle
        command = jnp.clip(torque, -LIMIT, LIMIT)[None]
        return command, {"integral": summed, "count": count}


def law():
    start = {"integral": 0.0, "count": 0}
    return numpy_law(plain, ("arm.encoder", "arm.speed"), PERIOD, start)


def test_a_numpy_law_runs_like_the_compiled_one():
    own, known = sampled_run(law()), sampled_run(Compiled())
    assert_allclose(own.x, known.x, atol=1e-12)
    assert_allclose(own.command, known.command, atol=1e-12)
    assert int(own.control.memory["count"]) == int(known.control.memory["count"])
    # Both are at the limit for some of the time: the `if` was there.
    assert np.isclose(np.abs(known.command), LIMIT).any()


def test_a_linear_model_takes_differences_of_a_numpy_law():
    model = rotor()
    own, known = (
        ls.linearize(model, [0.0], inputs=[], controller=each)
        for each in (law(), Compiled())
    )
    assert_allclose(np.sort_complex(own.poles), np.sort_complex(known.poles), atol=1e-6)


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda t, y, m: 3.0, "a law gives"),
        (lambda t, y, m: ([0.0], (m, m)), "structure of a law"),
        (lambda t, y, m: ([0.0], np.zeros(2)), "shapes of a law"),
    ],
)
def test_functions_that_are_no_laws_are_refused(function, words):
    with pytest.raises(ValueError, match=words):
        numpy_law(function, ("arm.encoder",), PERIOD, np.zeros(1))


def test_a_numpy_law_with_a_torque_too_many_is_refused():
    two = numpy_law(lambda t, y, m: ([0.0, 0.0], m), ("arm.encoder",), PERIOD)
    with pytest.raises(ValueError, match=r"1 torques, one for each actuated joint"):
        ls.simulate(rotor(), t_end=0.1, torque=two)
