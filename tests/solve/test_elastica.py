"""Links bent far, of any weight: the elastica under a weight on its tip, and arcs up to a full circle."""

import jax
import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

import lissom as ls
from lissom.bench.elastica import (
    BENDING,
    LENGTH,
    arc_error,
    elastica_rows,
    elastica_tip,
    leaf_spring,
    tip_of,
)

# Displacements of a segment are exact to the second power of its rotation a: it errs by its length times a^3 / 24.
# Under P L^2/EI = 10 the largest, at the clamp, is sqrt(20) / n = 0.56 of eight: 7e-3 of the whole length.
WITHIN_EIGHT = 7e-3


def elastica_by_shooting(load):
    """Tip of the elastica, in lengths: theta'' = -load cos theta, theta(0) = theta'(1) = 0, integrated to rounding."""

    def bent(curvature):
        def along(_, y):
            return [y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

        return scipy.integrate.solve_ivp(
            along, (0.0, 1.0), [0.0, curvature, 0.0, 0.0], rtol=1e-11, atol=1e-12
        ).y[:, -1]

    # sin a of the tip lies between 0 and 1, and curvature^2 / 2 = load sin a.
    clamp = scipy.optimize.brentq(
        lambda c: bent(c)[1], 0.5 * min(load, 1.0), np.sqrt(2.0 * load), xtol=1e-13
    )
    _, _, x, y = bent(clamp)
    return 1.0 - x, y


@pytest.mark.parametrize("load", [1.0, 5.0, 10.0])
def test_the_closed_form_of_the_elastica_is_its_differential_equation(load):
    assert_allclose(elastica_tip(load), elastica_by_shooting(load), atol=1e-9)


@pytest.mark.parametrize("density", [1e-3, 1e-6])
@pytest.mark.parametrize("load", [5.0, 10.0])
def test_a_leaf_spring_that_weighs_nothing_bends_to_the_elastica(density, load):
    model = ls.Model(leaf_spring(8, load, density), stiffening="geometric")
    x, y, _ = tip_of(model)
    assert_allclose([-x, -y], elastica_tip(load), atol=WITHIN_EIGHT)


def test_weight_of_the_spring_changes_continuously_where_it_vanishes():
    # From 1e-3 to 100 kg/m^3 the own weight, w L^3/EI = 5e-6 to 0.5 beside 10, and not the way Newton's iteration
    # takes, decides where the tip is: sag grows with every step, and by 5 % at most.
    sag = []
    for density in (1e-3, 1e-1, 1.0, 10.0, 100.0):
        model = ls.Model(leaf_spring(8, 10.0, density), stiffening="geometric")
        sag.append(-tip_of(model)[1])
    assert np.all(np.diff(sag) > 0.0)
    assert sag[-1] < 1.05 * sag[0]


def test_a_moment_on_the_tip_bends_a_leaf_spring_to_arcs_and_a_full_circle():
    model = ls.Model(leaf_spring(8), stiffening="geometric")
    for turn in (0.25, 0.5):
        angle = 2.0 * np.pi * turn
        # Every segment errs by its length times (angle / 8)^3 / 24, in directions that differ.
        assert arc_error(model, angle) < (angle / 8) ** 3 / 24
    moment = 2.0 * np.pi * BENDING / LENGTH
    state = model.static(wrench={"spring/tip": [0, 0, 0, 0, 0, moment]})
    # The closed polygon: all segments alike, its ends meet.
    assert_allclose(model.position(state, "spring/tip"), 0.0, atol=1e-9)
    assert_allclose(state.torque, [-moment], rtol=1e-9)


def test_a_force_on_the_tip_is_the_weight_of_a_load_there():
    hung = ls.Model(leaf_spring(8, 10.0, 7800.0), stiffening="geometric")
    pulled = ls.Model(leaf_spring(8, 0.0, 7800.0), stiffening="geometric")
    force = 10.0 * BENDING / LENGTH**2
    state = pulled.static(wrench={"spring/tip": [0, -force, 0, 0, 0, 0]})
    weighed = hung.static()
    assert_allclose(
        pulled.position(state, "spring/tip"),
        hung.position(weighed, "spring/tip"),
        atol=1e-9,
    )
    assert_allclose(state.torque, weighed.torque, rtol=1e-9)


@pytest.mark.slow
def test_sag_under_a_wrench_has_the_derivative_of_differences():
    model = ls.Model(leaf_spring(4), stiffening="geometric")

    def sag(force):
        state = model.static(wrench={"spring/tip": [0.0, force, 0.0, 0.0, 0.0, 0.0]})
        return model.position(state, "spring/tip")[1]

    force, step = -2.0 * BENDING / LENGTH**2, 1e-4
    slope = (sag(force + step) - sag(force - step)) / (2 * step)
    assert_allclose(jax.grad(sag)(force), slope, rtol=1e-6)


@pytest.mark.slow
def test_a_light_leaf_spring_is_linearised_where_it_hangs():
    # Omega^2 = 3 EI / (m L^3) of a weight on a straight spring; a load of 0.01 bends it by 0.3 % of its length.
    model = ls.Model(leaf_spring(8, 0.01), stiffening="geometric")
    mass = 0.01 * BENDING / LENGTH**2 / 9.81
    found = ls.modes(model, [0.0], locked=True, count=1).frequency_hz
    expected = np.sqrt(3 * BENDING / (mass * LENGTH**3)) / (2 * np.pi)
    assert_allclose(found, [expected], rtol=1e-4)


@pytest.mark.parametrize(
    "wrench, message",
    [
        ({"spring/9": [0] * 6}, "spring/9"),
        ({"spring/tip": [0, 1]}, r"wrench\.spring/tip: \[0, 1\]: must be six numbers"),
        (
            {"spring/tip": [0, 1, 0, 0, 0, np.inf]},
            r"wrench\.spring/tip: .*: must be finite",
        ),
        ({"spring/tip": "much"}, r"wrench\.spring/tip: much: must be six numbers"),
    ],
)
def test_wrenches_that_do_not_fit_are_refused_by_name(wrench, message):
    model = ls.Model(leaf_spring(1))
    with pytest.raises(ValueError, match=message):
        model.static(wrench=wrench)


@pytest.mark.slow
@pytest.mark.parametrize("load", [20.0, 40.0])
def test_a_spring_sags_and_does_not_curl_up_where_newton_leaps(load):
    # From unbent links Newton's iteration reaches equilibria above them: 8.7 J (20, unstable), 2.7 J (40, curled up).
    model = ls.Model(leaf_spring(32, load), stiffening="geometric")
    x, y, _ = tip_of(model)
    assert_allclose([-x, -y], elastica_tip(load), atol=4e-4)


@pytest.mark.slow
def test_every_row_of_the_elastica_agrees():
    rows = list(elastica_rows())
    assert len(rows) == 3
    for row in rows:
        assert row["agrees"], row
