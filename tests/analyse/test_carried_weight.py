"""The second-order stiffness of carried weight, which formulations of first order leave out."""

import numpy as np
import pytest

import lissom as ls
from lissom import DescriptionError
from lissom.analyse.linear.carried_weight import weight_note

FIRST_ORDER = {
    "tangent": {},
    "minimum-norm": {"reference": "minimum-norm"},
    "erls-cms": {"formulation": "erls-cms", "modes": 1000},
}


def hanging(**choices) -> ls.Model:
    """The double pendulum hanging along its links, which the weight stretches and does not bend."""
    robot = ls.Robot.load("double-pendulum")
    robot = robot.replace({"gravity": [98.1, 0.0, 0.0]})
    return ls.Model(robot, **{"formulation": "erls-fem"} | choices)


def frequencies(model: ls.Model, **options):
    found = ls.modes(model, [0.0, 0.0], locked=True, count=4, **options)
    return found.frequency_hz


@pytest.mark.slow
@pytest.mark.parametrize("choice", FIRST_ORDER)
def test_with_it_a_hanging_robot_swings_as_with_finite_rotations(choice):
    model = hanging(**FIRST_ORDER[choice])
    exact = frequencies(hanging(formulation="nonlinear", basis="nodal"))
    # Left over: what stretching by the weight does to the inertia, some 1e-6.
    added = frequencies(model, weight_stiffness=True)
    np.testing.assert_allclose(added, exact, rtol=1e-5)
    # Hanging links are pulled back: without it the lowest mode is too slow.
    assert frequencies(model)[0] < 0.999 * exact[0]


@pytest.mark.slow
def test_damped_modes_and_linear_models_include_it_too():
    model = hanging()
    undamped = frequencies(model, weight_stiffness=True)
    damped = frequencies(model, damped=True, weight_stiffness=True)
    linear = ls.linearize(model, [0.0, 0.0], locked=True, weight_stiffness=True)
    poles = np.sort(np.abs(linear.poles[linear.poles.imag > 0]))
    # Beta damps strain and not weight, so that |lambda| differs from omega by the square of a small coupling of modes.
    np.testing.assert_allclose(damped, undamped, rtol=1e-6)
    np.testing.assert_allclose(poles[:4] / (2 * np.pi), damped, rtol=1e-6)


def test_only_first_order_formulations_under_gravity_have_something_to_say():
    assert "erls-fem" in (weight_note(hanging()) or "")
    assert weight_note(hanging(formulation="nonlinear", basis="nodal")) is None
    assert weight_note(hanging(formulation="dual-screw", basis="nodal")) is None
    # What is advised is not refused: published terms stay as printed.
    published = weight_note(hanging(terms="published")) or ""
    assert "weight_stiffness adds it to consistent terms" in published
    floating = ls.Robot.load("double-pendulum").replace({"gravity": [0, 0, 0]})
    assert weight_note(ls.Model(floating, "erls-fem")) is None


def test_published_terms_stay_as_printed():
    model = hanging(terms="published")
    with pytest.raises(DescriptionError, match="published terms stay as printed"):
        ls.linearize(model, [0.0, 0.0], weight_stiffness=True)
