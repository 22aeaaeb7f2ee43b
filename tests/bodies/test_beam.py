"""One element: the printed matrices are the integrals of the shape functions; both are the textbook's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.beam import (
    LineInertia,
    Rigidity,
    bending_mass,
    bending_stiffness,
    element_mass,
    element_shape,
    element_stiffness,
    element_strain,
)
from lissom.bodies.mesh import gauss

L = np.array([0.7, 0.31])
RIGIDITY = Rigidity(
    *(np.array([a, 0.6 * a]) for a in (3e6, 1e6, 1.3e6, 150.0, 900.0, 400.0))
)
INERTIA = LineInertia(*(np.array([a, 0.8 * a]) for a in (1.2, 3e-4, 1e-4, 2e-4)))
SHEAR = [(0.0 * L, 0.0 * L), (np.array([0.4, 1.7]), np.array([0.9, 0.2]))]


def strain_energy_shear(Phi):
    """Rigidity whose shear stiffness belongs to the given Phi; without shear the strain is zero and any will do."""
    with np.errstate(divide="ignore"):
        shear = [
            12 * EI / (P * L**2)
            for EI, P in ((RIGIDITY.bending_z, Phi[0]), (RIGIDITY.bending_y, Phi[1]))
        ]
    return RIGIDITY._replace(
        shear_y=np.nan_to_num(shear[0], posinf=1.0),
        shear_z=np.nan_to_num(shear[1], posinf=1.0),
    )


@pytest.mark.parametrize("Phi", SHEAR, ids=["euler-bernoulli", "timoshenko"])
def test_printed_stiffness_is_the_integral_of_the_strains(Phi):
    xi, w = gauss(3)
    B = element_strain(xi, L[:, None], Phi[0][:, None], Phi[1][:, None])
    D = np.stack(strain_energy_shear(Phi), axis=-1)
    integral = np.einsum("egia,ei,egib,g,e->eab", B, D, B, w, L)
    printed = element_stiffness(RIGIDITY, L, *Phi)
    assert_allclose(printed, integral, atol=1e-12 * np.abs(printed).max())


@pytest.mark.parametrize("Phi", SHEAR, ids=["euler-bernoulli", "timoshenko"])
def test_printed_mass_is_the_integral_of_the_shapes(Phi):
    xi, w = gauss(4)
    N = element_shape(xi, L[:, None], Phi[0][:, None], Phi[1][:, None])
    D = np.stack(
        [*[INERTIA.mass] * 3, INERTIA.polar, INERTIA.rotary_y, INERTIA.rotary_z],
        axis=-1,
    )
    integral = np.einsum("egia,ei,egib,g,e->eab", N, D, N, w, L)
    printed = element_mass(INERTIA, L, *Phi)
    assert_allclose(printed, integral, atol=1e-12 * np.abs(printed).max())


def test_matrices_without_shear_are_those_of_every_textbook():
    l = 0.7
    k = [[12, 6 * l, -12, 6 * l], [6 * l, 4 * l**2, -6 * l, 2 * l**2]]
    k += [[-a for a in k[0]], [6 * l, 2 * l**2, -6 * l, 4 * l**2]]
    assert_allclose(bending_stiffness(900.0, l), 900 / l**3 * np.array(k), rtol=1e-14)
    m = [[156, 22 * l, 54, -13 * l], [22 * l, 4 * l**2, 13 * l, -3 * l**2]]
    m += [[54, 13 * l, 156, -22 * l], [-13 * l, -3 * l**2, -22 * l, 4 * l**2]]
    assert_allclose(bending_mass(1.2, l), 1.2 * l / 420 * np.array(m), rtol=1e-13)


@pytest.mark.parametrize("Phi", SHEAR, ids=["euler-bernoulli", "timoshenko"])
def test_field_takes_the_nodal_values_at_the_ends(Phi):
    assert_allclose(
        element_shape(0.0, L, *Phi)[:, :, :6],
        np.broadcast_to(np.eye(6), (2, 6, 6)),
        atol=1e-15,
    )
    assert_allclose(element_shape(0.0, L, *Phi)[:, :, 6:], 0, atol=1e-15)
    assert_allclose(
        element_shape(1.0, L, *Phi)[:, :, 6:],
        np.broadcast_to(np.eye(6), (2, 6, 6)),
        atol=1e-15,
    )
    assert_allclose(element_shape(1.0, L, *Phi)[:, :, :6], 0, atol=1e-15)


@pytest.mark.parametrize("Phi", SHEAR, ids=["euler-bernoulli", "timoshenko"])
def test_strains_are_the_derivatives_of_the_field(Phi):
    xi, h = 0.37, 1e-5
    slope = (element_shape(xi + h, L, *Phi) - element_shape(xi - h, L, *Phi)) / (
        2 * h * L[:, None, None]
    )
    field = element_shape(xi, L, *Phi)
    slope[:, 1] -= field[:, 5]  # v' - rz
    slope[:, 2] += field[:, 4]  # w' + ry
    assert_allclose(element_strain(xi, L, *Phi), slope, atol=1e-7)


def test_one_element_and_a_stack_of_elements_agree():
    stack = element_stiffness(RIGIDITY, L, *SHEAR[1])
    one = element_stiffness(
        Rigidity(*(a[1] for a in RIGIDITY)), L[1], SHEAR[1][0][1], SHEAR[1][1][1]
    )
    assert_allclose(stack[1], one, rtol=1e-14)
