"""Natural frequencies as a differentiable function."""

import jax
import numpy as np

import lissom as ls

ROBOT = ls.Robot.load("simple-pendulum")
E = 1.7e11


@jax.jit
def locked(E):
    model = ls.Model(ROBOT.replace({"links.rod.beam.material.E": E}), "erls-fem")
    return ls.natural_frequencies(model, model.at([0.4]), locked=True)


def test_frequencies_grow_with_the_root_of_the_stiffness():
    # Undeformed link, M constant: f ~ sqrt(E), so df/dE = f / (2 E), for every frequency that is not repeated.
    frequency, slope = jax.jvp(locked, (E,), (1.0,))
    np.testing.assert_allclose(slope, frequency / (2 * E), rtol=1e-8)


def test_frequencies_are_those_of_the_modes():
    model = ls.Model(ROBOT.replace({"links.rod.beam.material.E": E}), "erls-fem")
    modes = ls.modes(model, model.at([0.4]), locked=True, count=None)
    np.testing.assert_allclose(locked(E), modes.frequency_hz, rtol=1e-8)
