"""The arm of De Luca and Siciliano: its printed frequencies, and those that it has."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from lissom.bench.de_luca_siciliano import (
    CLOSED_FORM_HZ,
    LOCKED_HZ,
    NAME,
    PRINTED_HZ,
    carried_by_upper,
    link_alone,
    locked_frequencies,
)
from lissom.describe import Robot, library_file
from lissom.solve.model import Model

EI, LINE_DENSITY, LENGTH = 1.0, 0.2, 0.5  # of both links, as printed


def closed_form(mass, inertia, count=2):
    """Frequencies [Hz] of a clamped beam with a mass and an inertia at its tip, from its characteristic equation."""

    def determinant(beta):
        square = beta**4 * EI / LINE_DENSITY
        s, c = np.sin(beta * LENGTH), np.cos(beta * LENGTH)
        sh, ch = np.sinh(beta * LENGTH), np.cosh(beta * LENGTH)
        # The two shapes that are clamped at the root, and their derivatives at the tip.
        w = np.array([s - sh, c - ch])
        slope = beta * np.array([c - ch, -s - sh])
        moment = EI * beta**2 * np.array([-s - sh, -c - ch])
        shear = EI * beta**3 * np.array([-c - ch, s - sh])
        rows = [moment - square * inertia * slope, shear + square * mass * w]
        return np.linalg.det(rows)

    betas = np.linspace(0.05, 12.0, 4000)
    signs = np.sign([determinant(beta) for beta in betas])
    places = np.flatnonzero(np.diff(signs))[:count]
    roots = np.array([brentq(determinant, betas[k], betas[k + 1]) for k in places])
    return roots**2 * np.sqrt(EI / LINE_DENSITY) / (2 * np.pi)


def load_of(name):
    robot = Robot.load(NAME)
    if name == "upper":
        return carried_by_upper(robot)
    return robot.payload.mass, robot.payload.inertia[2]


def test_the_load_of_the_upper_link_is_all_that_is_outboard():
    # Hub, forearm and payload: 1 + 0.1 + 0.1 kg; 0.1 + 0.1 0.5^2/3 + 0.1 0.5^2 + 5e-4 kg m^2.
    assert_allclose(carried_by_upper(Robot.load(NAME)), (1.2, 0.1338333), rtol=1e-6)


@pytest.mark.parametrize("name", PRINTED_HZ)
def test_the_printed_frequencies_are_those_of_single_clamped_links(name):
    exact = closed_form(*load_of(name))
    assert_allclose(exact, PRINTED_HZ[name], atol=5e-3)
    assert_allclose(CLOSED_FORM_HZ[name], exact, rtol=1e-6)
    # Four elements per link: their error falls with the fourth power of the wave number.
    assert_allclose(locked_frequencies(link_alone(name), 2), exact, rtol=3e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "choices",
    [
        {"formulation": "erls-fem"},
        {"formulation": "nonlinear"},
        {"formulation": "nonlinear", "modes": 4},
    ],
)
def test_the_locked_arm_has_other_frequencies(choices):
    found = locked_frequencies(Model(NAME, **choices), 4)
    assert_allclose(found, LOCKED_HZ, rtol=1e-3)
    printed = np.sort(np.concatenate(list(PRINTED_HZ.values())))
    assert np.abs(found[:3] / printed[:3] - 1).min() > 0.08


def test_every_number_of_the_arm_has_a_source():
    text = library_file(NAME).read_text()
    lines = [line for line in text.splitlines() if ": {" in line or ": [" in line]
    assert lines
    for line in lines:
        assert "[DeLucaSiciliano1991]" in line or "chosen" in line, line
