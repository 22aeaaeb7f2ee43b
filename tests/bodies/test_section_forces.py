"""Forces in the sections of a beam, against statics, for full and for reduced links."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.body import measured_from_inner_node
from lissom.bodies.reduce.reduced_body import Reduction, reduced_body
from lissom.bodies.section_forces import (
    section_force_shape,
    section_forces,
    section_strains,
)

from .helpers import ALL_BODIES, BENT, SECTION, E, G, beam

FORCE, MOMENT = np.array([31.0, -12.0, 47.0]), np.array([1.3, -2.1, 0.7])


def deflected(body):
    """Coordinates of the body under a wrench at its tip, the inner node clamped."""
    U = body.node_shape[-1][:, 6:]
    eta = np.linalg.solve(body.stiffness[6:, 6:], U.T @ np.concatenate([FORCE, MOMENT]))
    return np.concatenate([np.zeros(6), eta])


@pytest.mark.parametrize(
    "name", ["straight", "timoshenko", "bent", "bent-timoshenko", "tapered", "loaded"]
)
def test_section_forces_balance_the_load_beyond_the_section(name):
    body = measured_from_inner_node(ALL_BODIES[name])
    found = section_forces(body, deflected(body))
    for e, (axes, nodes) in enumerate(zip(body.axes, body.elements, strict=True)):
        for side, node in enumerate(nodes):
            arm = body.points[-1] - body.points[node]
            expected = np.concatenate(
                [axes.T @ FORCE, axes.T @ (MOMENT + np.cross(arm, FORCE))]
            )
            assert_allclose(
                found[e, side], expected, atol=1e-7 * np.abs(expected).max()
            )


def test_a_link_reduced_with_an_exact_interface_has_the_same_section_forces():
    whole = measured_from_inner_node(beam(BENT, elements=3))
    reduced = reduced_body(whole, Reduction(8, ranking="interface"))
    assert_allclose(
        section_forces(reduced, deflected(reduced)),
        section_forces(whole, deflected(whole)),
        rtol=1e-6,
        atol=1e-6,
    )


def test_rigid_motion_loads_no_section():
    body = ALL_BODIES["bent"]
    shape = section_force_shape(body)
    assert np.abs(shape @ body.rigid).max() < 1e-9 * np.abs(shape).max()


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_strains_are_forces_over_rigidities(theory):
    body = measured_from_inner_node(beam(theory=theory))
    forces, strains = (
        section_forces(body, deflected(body)),
        section_strains(body, deflected(body)),
    )
    rigidity = np.array(
        [
            E * SECTION.area,
            G * SECTION.torsion_constant,
            E * SECTION.second_moment_y,
            E * SECTION.second_moment_z,
        ]
    )
    assert_allclose(strains, forces[:, :, [0, 3, 4, 5]] / rigidity, rtol=1e-9)


def test_a_link_without_beam_elements_has_no_section_forces():
    with pytest.raises(ValueError, match="beam elements"):
        section_forces(ALL_BODIES["rigid"], np.zeros(6))


def test_assumed_modes_have_the_mean_moments_of_their_elements():
    """A pendulum clamped and pushed at its tip: the moment in the middle of an element is force times lever."""
    import lissom as ls

    model = ls.Model("simple-pendulum", "nonlinear", basis="assumed", modes=48)
    body = model.bodies[0]
    eta = np.linalg.solve(body.stiffness[6:, 6:], body.node_shape[-1][1, 6:] * FORCE[1])
    q = np.concatenate([np.zeros(6), eta])
    found = section_forces(body, q)[:, :, 5].mean(axis=1)
    x = body.points[:, 0]
    lever = x[-1] - 0.5 * (x[1:] + x[:-1])
    assert_allclose(found, FORCE[1] * lever, atol=2e-3 * abs(found).max())
