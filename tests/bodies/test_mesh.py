"""Flexible links against closed forms: statics, frequencies, tapers, bent paths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.integrals import gravity_integrals
from lissom.bodies.mesh import section_axes

from .helpers import (
    RHO,
    E,
    G,
    beam,
    clamped,
    frequencies,
    observed_order,
    rectangle,
    restricted,
    taper,
    tip_deflection,
)

L, Y, Z = 0.7, 0.03, 0.012
A, I_Y, I_Z = Y * Z, Y * Z**3 / 12, Z * Y**3 / 12
SECTION = rectangle(Y, Z)
DEEP = rectangle(0.3, 0.12)  # deep enough that shear matters at this length


@pytest.mark.parametrize("elements", [1, 2, 5])
def test_cantilever_tip_deflection_is_exact_for_any_mesh(elements):
    u = tip_deflection(beam(elements=elements), np.array([0, 2.0, 3.0, 0, 0, 0]))
    assert_allclose(
        u[[1, 2]], [2 * L**3 / (3 * E * I_Z), 3 * L**3 / (3 * E * I_Y)], rtol=1e-9
    )
    assert_allclose(
        u[[5, 4]], [2 * L**2 / (2 * E * I_Z), -3 * L**2 / (2 * E * I_Y)], rtol=1e-9
    )


@pytest.mark.parametrize("elements", [1, 2, 5])
def test_shear_adds_its_own_deflection_exactly_for_any_mesh(elements):
    body = beam(section=DEEP, theory="timoshenko", elements=elements)
    u = tip_deflection(body, np.array([0, 2.0, 3.0, 0, 0, 0]))
    shear = L / (5 / 6 * G * DEEP.area)
    assert_allclose(
        u[1], 2 * (L**3 / (3 * E * DEEP.second_moment_z) + shear), rtol=1e-10
    )
    assert_allclose(
        u[2], 3 * (L**3 / (3 * E * DEEP.second_moment_y) + shear), rtol=1e-10
    )


def test_tension_and_torsion_are_exact_for_any_mesh():
    u = tip_deflection(beam(elements=3), np.array([5.0, 0, 0, 0.3, 0, 0]))
    assert_allclose(
        u[[0, 3]],
        [5 * L / (E * A), 0.3 * L / (G * SECTION.torsion_constant)],
        rtol=1e-9,
    )


def test_cantilever_frequencies_are_the_closed_form():
    body = beam(elements=16)
    nodes = range(1, 17)
    for bending, component in ((I_Z, 1), (I_Y, 2)):
        dofs = [(n, c) for n in nodes for c in (component, 6 - component)]
        expected = (
            np.array([1.875104, 4.694091, 7.854757]) ** 2
            * np.sqrt(E * bending / (RHO * A))
            / L**2
        )
        assert_allclose(frequencies(*restricted(body, dofs))[:3], expected, rtol=5e-5)


def test_pinned_free_frequencies_are_the_closed_form():
    dofs = [(0, 5)] + [(n, c) for n in range(1, 17) for c in (1, 5)]
    omega = frequencies(*restricted(beam(elements=16), dofs))
    expected = np.array([3.926602, 7.068583]) ** 2 * np.sqrt(E * I_Z / (RHO * A)) / L**2
    assert omega[0] < 1e-3 * omega[1]
    assert_allclose(omega[1:3], expected, rtol=5e-5)


def test_first_frequency_converges_with_order_four():
    exact = 1.8751040687119611**2 * np.sqrt(E * I_Y / (RHO * A)) / L**2
    errors = [
        frequencies(*clamped(beam(elements=n)))[0] / exact - 1 for n in (2, 4, 8, 16)
    ]
    assert_allclose(observed_order(errors), 4, atol=0.12)  # measured: 3.89, 3.97, 3.99


def test_shear_that_is_constant_in_an_element_converges_with_order_two():
    first = [
        frequencies(*restricted(supported(n), bending_dofs(n)))[0] for n in (4, 8, 16)
    ]
    assert_allclose(
        observed_order([f / simply_supported_timoshenko(1) - 1 for f in first]),
        2,
        atol=0.1,
    )


def supported(elements):
    return beam(section=DEEP, theory="timoshenko", elements=elements)


def bending_dofs(n):
    """In the x-y plane, both ends of n elements on supports."""
    return [(0, 5), (n, 5)] + [(i, c) for i in range(1, n) for c in (1, 5)]


def simply_supported_timoshenko(n):
    """Lower root of rho A rho I / kGA w^4 - (rho A + k^2 (rho I + rho A E I / kGA)) w^2 + E I k^4 = 0."""
    k, kGA, I = n * np.pi / L, 5 / 6 * G * DEEP.area, DEEP.second_moment_z
    a, c = RHO * DEEP.area * RHO * I / kGA, E * I * k**4
    b = RHO * DEEP.area + k**2 * (RHO * I + RHO * DEEP.area * E * I / kGA)
    return np.sqrt((b - np.sqrt(b**2 - 4 * a * c)) / (2 * a))


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_simply_supported_timoshenko_beam_has_the_frequencies_of_the_closed_form(mode):
    omega = frequencies(*restricted(supported(48), bending_dofs(48)))
    exact = simply_supported_timoshenko(mode)
    assert np.abs(omega / exact - 1).min() < 2e-3
    assert exact < 0.85 * (mode * np.pi / L) ** 2 * np.sqrt(
        E * DEEP.second_moment_z / (RHO * DEEP.area)
    )


@pytest.mark.parametrize("component", [0, 3])
def test_bars_and_shafts_have_the_frequencies_of_the_discrete_closed_form(component):
    n = 6
    body = beam(elements=n)
    omega = frequencies(*restricted(body, [(i, component) for i in range(1, n + 1)]))
    speed = np.sqrt(
        E / RHO
        if component == 0
        else G * SECTION.torsion_constant / (RHO * SECTION.polar_moment)
    )
    h, k = L / n, (2 * np.arange(1, n + 1) - 1) * np.pi / (2 * L)
    expected = speed / h * np.sqrt(6 * (1 - np.cos(k * h)) / (2 + np.cos(k * h)))
    assert_allclose(omega, expected, rtol=1e-9)
    assert_allclose(omega[0], speed * k[0], rtol=5e-3)


def test_tapered_cantilever_bends_as_the_integral_of_the_moment():
    x = (np.arange(20000) + 0.5) / 20000
    flexibility = (
        np.mean((1 - x) ** 2 / np.array([E * taper(s).second_moment_z for s in x]))
        * L**3
    )
    errors = []
    for n in (4, 8, 16):
        u = tip_deflection(
            beam(section=taper, elements=n), np.array([0, 1.0, 0, 0, 0, 0])
        )
        errors.append(abs(u[1] / flexibility - 1))
    assert_allclose(observed_order(errors), 4, atol=0.25)
    assert errors[-1] < 1e-5


def test_wedge_vibrates_at_kirchhoffs_frequencies():
    body = beam(section=lambda s: rectangle(Y * (1 + 1e-9 - s), Z), elements=20)
    omega = frequencies(
        *restricted(body, [(n, c) for n in range(1, 21) for c in (1, 5)])
    )
    expected = np.array([5.315, 15.207]) * np.sqrt(E * I_Z / (RHO * A)) / L**2
    assert_allclose(omega[:2], expected, rtol=1e-3)


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_tapered_beam_is_the_limit_of_a_stepped_one(theory):
    steps = 60
    stepped = beam(
        section=lambda s: taper((np.floor(s * steps) + 0.5) / steps),
        elements=steps,
        theory=theory,
    )
    tapered = beam(section=taper, elements=20, theory=theory)
    assert_allclose(
        frequencies(*clamped(tapered))[:6],
        frequencies(*clamped(stepped))[:6],
        rtol=2e-3,
    )
    force = np.array([1.0, 1, 1, 0.1, 0.1, 0.1])
    assert_allclose(
        tip_deflection(tapered, force), tip_deflection(stepped, force), rtol=5e-3
    )


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_a_taper_between_equal_sections_is_uniform(theory):
    uniform, tapered = (
        beam(theory=theory),
        beam(section=lambda s: SECTION, theory=theory),
    )
    assert_allclose(
        tapered.stiffness, uniform.stiffness, atol=1e-12 * uniform.stiffness.max()
    )
    assert_allclose(tapered.mass_matrix, uniform.mass_matrix, atol=1e-13)


def test_taper_runs_along_the_whole_path_by_length():
    straight = beam(section=taper, elements=4)
    halves = beam(((0, 0, 0), (0.25 * L, 0, 0), (L, 0, 0)), taper, elements=8)
    assert_allclose(
        halves.rigid_inertia, straight.rigid_inertia, rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_mass_and_centre_of_a_taper_are_exact_on_any_mesh(mass):
    x, w = np.polynomial.legendre.leggauss(6)
    s, w = (1 + x) / 2, w / 2
    area = np.array([taper(t).area for t in s])
    body = beam(section=taper, elements=1, mass=mass)
    assert_allclose(body.total_mass, RHO * L * w @ area, rtol=1e-13)
    if mass == "consistent":
        assert_allclose(
            body.centre, [L * (w @ (area * s)) / (w @ area), 0, 0], atol=1e-14
        )


def test_rod_has_the_inertia_of_the_closed_form():
    m = RHO * A * L
    polar, rotary = RHO * L * (I_Y + I_Z), RHO * L * np.array([I_Y, I_Z])
    slender = m * L**2 / 3
    assert_allclose(beam().inertia, np.diag([polar, slender, slender]), atol=1e-15)
    assert_allclose(
        beam(theory="timoshenko").inertia,
        np.diag([polar, *(slender + rotary)]),
        atol=1e-15,
    )
    assert_allclose(beam().centre, [L / 2, 0, 0], atol=1e-15)
    n = 4
    lumped = m * L**2 * (1 / 3 + 1 / (6 * n**2))  # trapezoidal rule
    assert_allclose(
        beam(mass="lumped", elements=n).inertia,
        np.diag([polar, *(lumped + rotary)]),
        atol=1e-15,
    )


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0.3, -0.5, 0.8)])
def test_section_z_axis_is_up_made_orthogonal_to_the_beam(axis):
    d, up = np.array(axis) / np.linalg.norm(axis), np.array([0.1, 0.2, 0.9])
    R = section_axes(d, up)
    assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
    assert_allclose(np.linalg.det(R), 1)
    assert_allclose(R[:, 0], d)
    assert R[:, 2] @ up > 0
    assert_allclose(R[:, 1] @ up, 0, atol=1e-14)


@pytest.mark.parametrize(
    "up, z",
    [((0, 0, 1), (1, 0, 0)), ((0, 0, -2.0), (1, 0, 0)), ((0, 1, 0.5), (0, 1, 0))],
)
def test_beam_along_up_takes_the_links_x_axis_instead(up, z):
    assert_allclose(
        section_axes(np.array([0, 0, 1.0]), np.array(up, dtype=float))[:, 2],
        z,
        atol=1e-14,
    )


def test_beam_along_up_and_x_takes_the_links_z_axis():
    assert_allclose(
        section_axes(np.array([1.0, 0, 0]), np.array([1.0, 0, 0]))[:, 2], [0, 0, 1]
    )


def test_up_decides_which_side_takes_the_load():
    flat, edge = beam(up=(0, 0, 1)), beam(up=(0, 1, 0))
    load = np.array([0, 0, 1.0, 0, 0, 0])
    assert_allclose(tip_deflection(flat, load)[2], L**3 / (3 * E * I_Y), rtol=1e-9)
    assert_allclose(tip_deflection(edge, load)[2], L**3 / (3 * E * I_Z), rtol=1e-9)


def test_turning_path_and_up_together_turns_the_link():
    R = section_axes(np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.3]))
    path, up = (
        np.array([[0, 0, 0], [0.4, 0.1, 0], [0.4, 0.5, 0.2]]),
        np.array([0.1, 0.3, 1.0]),
    )
    before, after = beam(path, up=up), beam(path @ R.T, up=R @ up)
    T = np.kron(np.eye(2 * len(before.points)), R)
    assert_allclose(
        after.stiffness, T @ before.stiffness @ T.T, atol=1e-10 * before.stiffness.max()
    )
    assert_allclose(after.mass_matrix, T @ before.mass_matrix @ T.T, atol=1e-12)


STEEL = {"youngs_modulus": 2e11, "shear_modulus": 2e11 / (2 * 1.33), "density": 7800.0}
CORNER = ((0, 0, 0), (0.5, 0, 0), (0.5, 0.5, 0))


def strip(y, z):
    """Rectangle with Saint-Venant's torsion constant in Roark's formula."""
    a, c = max(y, z) / 2, min(y, z) / 2
    return rectangle(y, z)._replace(
        torsion_constant=a * c**3 * (16 / 3 - 3.36 * c / a * (1 - c**4 / (12 * a**4)))
    )


@pytest.mark.parametrize(
    "mass, expected",
    [
        ("consistent", [10.90, 16.49, 29.70, 71.93, 147.6, 217.3]),
        ("lumped", [10.40, 15.66, 28.30, 62.78, 120.2, 177.1]),
    ],
)
def test_l_shaped_steel_beam_clamped_at_its_hub_has_the_known_frequencies(
    mass, expected
):
    body = beam(CORNER, strip(0.01, 0.03), elements=2, mass=mass, **STEEL)
    assert_allclose(frequencies(*clamped(body))[:6] / (2 * np.pi), expected, rtol=1e-3)


def test_l_shaped_steel_beam_turns_about_y_with_the_inertia_of_its_rods():
    m, l = 1.17, 0.5
    consistent = beam(CORNER, strip(0.01, 0.03), elements=2, **STEEL)
    assert_allclose(
        consistent.inertia[1, 1],
        4 / 3 * m * l**2 + m * (0.03**2 + 0.01**2) / 12,
        rtol=1e-12,
    )
    lumped = beam(CORNER, strip(0.01, 0.03), elements=2, mass="lumped", **STEEL)
    sections = m * 0.03**2 / 12 + m * (0.03**2 + 0.01**2) / 12
    assert_allclose(
        lumped.inertia[1, 1], (0.34375 + 1 + 0.03125) * m * l**2 + sections, rtol=1e-12
    )


def double_pendulum(elements):
    """Both links of [Boscariol2012] Table 2, welded straight."""
    halves = (rectangle(0.03, 0.01), rectangle(0.01, 0.03))
    options = {
        "youngs_modulus": 2e11,
        "shear_modulus": 2e11 / 2.6,
        "density": 7840.0,
        "elements": elements,
    }
    return beam(
        ((0, 0, 0), (0.5, 0, 0), (1, 0, 0)), lambda s: halves[int(s > 0.5)], **options
    )


def test_straight_double_pendulum_sags_as_known_with_one_element_per_link():
    body = double_pendulum(1)
    load = gravity_integrals(body)[3][12:] @ np.array([0, 0, -9.81])
    u = np.linalg.solve(body.stiffness[6:, 6:], load).reshape(-1, 6)
    assert_allclose(1e3 * u[:, 2], [-2.0429, -5.4478], atol=1e-4)


@pytest.mark.parametrize(
    "elements, expected", [(1, [8.348, 20.490, 66.07, 80.485]), (10, [8.347, 64.84])]
)
def test_straight_double_pendulum_has_the_known_locked_frequencies(elements, expected):
    omega = frequencies(*clamped(double_pendulum(elements))) / (2 * np.pi)
    for f in expected:
        assert np.abs(omega / f - 1).min() < 1e-4


def test_single_pendulum_link_sags_exactly_with_one_element():
    body = beam(
        ((0, 0, 0), (0.5, 0, 0)),
        rectangle(0.03, 0.01),
        elements=1,
        youngs_modulus=2e11,
        density=7840.0,
    )
    load = gravity_integrals(body)[3][12:] @ np.array([0, 0, -9.81])
    w = np.linalg.solve(body.stiffness[6:, 6:], load)[2]
    assert_allclose(w, -9.81 * 7840 * 3e-4 * 0.5**4 / (8 * 500), rtol=1e-10)
