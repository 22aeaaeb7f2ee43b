"""Margins of laws whose derivative says nothing about them: those that round, or do not answer to small deviations."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from lissom.control.margins import margins_of, open_loop
from lissom.control.real_loop import RealLoop
from sampled_laws import END, SAMPLE, pendulum

KP, KD, STEP = 20.0, 1.0, 1e-3


class RoundingPD(ls.AbstractLaw):
    """A PD on an encoder of finite resolution; `finest` reads the speed too."""

    sample: float | None = SAMPLE
    with_speed: bool = False
    step: float = STEP

    def sensors(self, model):
        return ("rod.encoder", "rod.speed")

    def __call__(self, t, measured, memory):
        angle = self.step * jnp.round((measured[0] - END) / self.step)
        speed = measured[1] if self.with_speed else jnp.round(measured[1])
        return (-KP * angle - KD * speed)[None], memory


def pd():
    reference = ls.Table([0.0], [[END]], "hold", after="hold")
    return ls.PD([KP], [KD], reference, sample=SAMPLE)


def test_margins_of_a_law_that_rounds_say_that_there_is_no_derivative():
    with pytest.warns(UserWarning, match="rod.encoder, rod.speed: .* by steps alone"):
        found = ls.margins(pendulum(), [END], RoundingPD())
    assert np.isinf(found.gain) and found.phase_deg == pytest.approx(60.0)
    (line,) = found.warnings
    assert "derivative of the law is zero here" in line


def test_the_sensor_that_is_rounded_is_named_and_no_other():
    loop = open_loop(pendulum(), [END], RoundingPD(with_speed=True))
    assert loop.stepwise == ("rod.encoder",)
    assert np.isfinite(margins_of(loop).gain)


def test_a_dead_band_is_a_derivative_of_zero_too():
    class Lazy(RoundingPD):
        def __call__(self, t, measured, memory):
            error = measured[0] - END
            beyond = jnp.sign(error) * jnp.maximum(jnp.abs(error) - 0.05, 0.0)
            return (-KP * beyond - KD * measured[1])[None], memory

    assert open_loop(pendulum(), [END], Lazy()).stepwise == ("rod.encoder",)


def test_laws_with_a_derivative_and_laws_that_ignore_a_sensor_get_no_warning():
    class Deaf(RoundingPD):
        def __call__(self, t, measured, memory):
            return (-KD * measured[1])[None], memory

    rounded = RealLoop(law=pd(), sample=SAMPLE, resolution=np.array([STEP, STEP]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = ls.margins(pendulum(), [END], pd())
        averaged = ls.margins(pendulum(), [END], rounded)
        ls.margins(pendulum(), [END], Deaf())
    # The resolution of a real loop counts with its slope on average.
    assert averaged.gain == pytest.approx(free.gain)
    assert not free.warnings and not averaged.warnings


def test_rounding_in_plain_numpy_is_found_as_well():
    def function(t, measured, memory):
        return [-KP * STEP * np.round((measured[0] - END) / STEP)], memory

    law = ls.numpy_law(function, sensors=["rod.encoder"], sample=SAMPLE)
    assert open_loop(pendulum(), [END], law).stepwise == ("rod.encoder",)
