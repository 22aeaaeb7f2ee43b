"""Assumed modes of links: their roots, shapes, orthogonality, and the bodies made of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from arms import ARM4, arm
from lissom import Robot
from lissom.bodies.assumed_modes import (
    assumed_modes_body,
    modes_per_family,
    modes_per_link,
    tip_load,
)
from lissom.bodies.beam_modes import (
    bar_modes,
    bending_equation,
    bending_modes,
    bending_roots,
)
from lissom.bodies.body import measured_from_inner_node
from lissom.bodies.link_body import bodies_of, body_of
from lissom.bodies.mesh import gauss

RHO_A = 7850 * 707e-6  # as printed in Table I; the tube itself is within 2e-4 of it
EI = 210e9 * 181132e-12
LOADS = ((0.0, 0.0), (1.2, 0.0), (0.7, 0.3), (1e-6, 1e-7), (40.0, 2.0), (0.0, 2.0))


def hertz(modes, length):
    return (modes.b / length) ** 2 * np.sqrt(EI / RHO_A) / (2 * np.pi)


# Numbers of an independent solution of the same frequency equation for Table I of [Cibicik2021]: beta L and Hz.
@pytest.mark.parametrize(
    ("length", "mass", "inertia", "roots", "frequencies"),
    [
        (2.0, RHO_A * 1.8 + 3.56, 0.0, (1.19777, 4.01434), (4.726, 53.08)),
        (1.8, 3.56, 0.0, (1.49859, 4.16304), (9.133, 70.48)),
        (1.8, 3.56, 0.0718, None, (9.097, 66.53)),
        (2.0, 0.0, 0.0, (1.87510, 4.69409), (11.58, 72.58)),
        (1.8, 0.0, 0.0, (1.87510, 4.69409), (14.30, 89.61)),
    ],
)
def test_bending_modes_of_the_published_arm(length, mass, inertia, roots, frequencies):
    modes = bending_modes(2, mass / (RHO_A * length), inertia / (RHO_A * length**3))
    assert hertz(modes, length) == pytest.approx(
        frequencies, rel=2e-4
    )  # printed with four digits
    assert roots is None or modes.b == pytest.approx(roots, rel=4e-5)


@pytest.mark.parametrize(
    ("length", "frequencies"), [(2.0, (401.0, 1203.1)), (1.8, (445.6, 1336.8))]
)
def test_torsion_modes_of_the_published_arm(length, frequencies):
    hertz = bar_modes(2).b / length * np.sqrt(80.8e9 / 7850) / (2 * np.pi)
    assert hertz == pytest.approx(frequencies, rel=2e-4)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("count", [1, 2, 6, 25, 80])
def test_bending_modes_are_orthogonal_in_mass_and_strain_however_many(count, load):
    mu, kappa = load
    modes, (xi, weight) = bending_modes(count, mu, kappa), gauss(30 + 5 * count)
    phi, curved = modes.shape(xi), modes.shape(xi, 2)
    tip, slope = modes.shape(np.ones(1))[0], modes.shape(np.ones(1), 1)[0]
    mass = (
        np.einsum("p,pm,pn->mn", weight, phi, phi)
        + mu * np.outer(tip, tip)
        + kappa * np.outer(slope, slope)
    )
    strain = np.einsum("p,pm,pn->mn", weight, curved, curved)

    def unit(A):
        return A / np.sqrt(np.outer(np.diag(A), np.diag(A)))

    # A heavy rotary inertia leaves shapes with almost no slope at the tip, whose square is then weighed by kappa b^2.
    assert np.abs(unit(mass) - np.eye(count)).max() < 1e-13 * (1 + kappa * count**2)
    assert np.abs(unit(strain) - np.eye(count)).max() < 1e-13
    assert np.diag(strain) == pytest.approx(modes.stiffness, rel=1e-12)
    assert weight @ phi**2 == pytest.approx(np.ones(count), rel=1e-12)
    assert np.all(modes.shape(np.zeros(1), 2) > 0)


@pytest.mark.parametrize("load", LOADS)
def test_every_mode_is_there_and_none_twice(load):
    # The frequency equation changes its sign once for each root: counted on a grid finer than the roots are apart.
    b = np.linspace(1e-3, 20.05 * np.pi, 400_001)
    signs = np.sign(bending_equation(b, *load))
    grid = b[1:][signs[1:] != signs[:-1]]
    roots = bending_roots(19, *load)
    assert roots == pytest.approx(grid[:19], abs=2e-4)
    assert np.all(np.diff(roots) > 0)


def test_modes_satisfy_their_differential_equation_and_end_conditions():
    mu, kappa = 0.7, 0.3
    modes, ends, inside = (
        bending_modes(5, mu, kappa),
        np.array([0.0, 1.0]),
        np.linspace(0, 1, 7),
    )
    b4 = modes.b**4
    assert (
        np.abs(modes.shape(inside, 4) - b4 * modes.shape(inside)).max()
        < 1e-11 * b4.max()
    )
    assert np.abs(modes.shape(ends)[0]).max() < 1e-13
    assert np.abs(modes.shape(ends, 1)[0] / modes.b).max() < 1e-13
    tip = [modes.shape(ends, d)[1] for d in range(4)]
    assert np.abs(tip[2] - kappa * b4 * tip[1]).max() < 1e-11 * modes.b.max() ** 3
    assert np.abs(tip[3] + mu * b4 * tip[0]).max() < 1e-11 * modes.b.max() ** 3


@pytest.mark.parametrize("kappa", [0.0, 0.4, 1e3])
def test_torsion_modes_carry_a_tip_inertia(kappa):
    modes, (xi, weight) = bar_modes(6, kappa), gauss(40)
    phi, twist, tip = modes.shape(xi), modes.shape(xi, 1), modes.shape(np.ones(1))[0]
    assert np.abs(
        modes.shape(np.ones(1), 1)[0] - kappa * modes.b**2 * tip
    ).max() < 1e-9 * (1 + kappa)
    mass = np.einsum("p,pm,pn->mn", weight, phi, phi) + kappa * np.outer(tip, tip)
    strain = np.einsum("p,pm,pn->mn", weight, twist, twist)
    assert strain == pytest.approx(
        np.diag(modes.stiffness), abs=1e-11 * modes.stiffness.max()
    )
    assert mass == pytest.approx(
        np.diag(np.diag(mass)), abs=1e-11 * np.diag(mass).max()
    )


def test_roots_follow_a_traced_tip_mass():
    step = 1e-6

    def root(mu):
        return bending_roots(3, mu, 0.2 * mu)

    exact = jax.jacfwd(root)(jnp.asarray(0.8))
    assert exact == pytest.approx(
        (root(0.8 + step) - root(0.8 - step)) / (2 * step), rel=1e-7
    )


def in_assumed_modes(robot, i, modes):
    """Link i in assumed modes, with the bodies of all links built as the formulations do."""
    return assumed_modes_body(robot, i, bodies_of(robot), modes)


def test_a_plain_number_of_modes_is_dealt_to_both_planes_and_torsion():
    assert modes_per_family(6) == {"axial": 0, "torsion": 2, "xy": 2, "xz": 2}
    assert modes_per_family(4) == {"axial": 0, "torsion": 1, "xy": 2, "xz": 1}
    assert modes_per_family(2) == {"axial": 0, "torsion": 0, "xy": 1, "xz": 1}
    assert modes_per_family({"xy": 3, "axial": 1}) == {
        "axial": 1,
        "torsion": 0,
        "xy": 3,
        "xz": 0,
    }
    with pytest.raises(ValueError, match="sideways unknown"):
        modes_per_family({"sideways": 1})
    assert modes_per_link(arm("arm-4"), 6) == (6, 6, 6, 6)
    with pytest.raises(ValueError, match="each of the 4 links"):
        modes_per_link(arm("arm-4"), [1, 2])


def test_links_of_the_published_arm_have_two_modes_of_each_kind():
    robot = arm("arm-4")
    body = in_assumed_modes(robot, 1, 6)
    assert body.names == ("torsion.1", "torsion.2", "xy.1", "xy.2", "xz.1", "xz.2")
    assert tip_load(robot, 1, bodies_of(robot)).mass == pytest.approx(
        RHO_A * 1.8 + 3.56, rel=2e-4
    )
    assert tip_load(robot, 2, bodies_of(robot)).mass == pytest.approx(3.56)
    loaded = (
        body.mass_matrix[6:, 6:]
        + tip_load(robot, 1, bodies_of(robot)).mass
        * body.node_shape[-1, :3, 6:].T
        @ body.node_shape[-1, :3, 6:]
    )
    lam = scipy.linalg.eigvalsh(body.stiffness[6:, 6:], loaded)
    assert np.sqrt(lam) / (2 * np.pi) == pytest.approx(
        (4.726, 4.726, 53.08, 53.08, 401.0, 1203.1), rel=3e-4
    )


@pytest.mark.parametrize("i", [1, 3, 6])
def test_rigid_motion_and_total_inertia_are_those_of_the_link(i):
    robot = arm("arm-6")
    body, reference = in_assumed_modes(robot, i, 6), body_of(robot, i)
    assert body.rigid_inertia == pytest.approx(reference.rigid_inertia, abs=1e-13)
    assert body.points == pytest.approx(reference.points)
    assert body.node_shape[0] == pytest.approx(np.eye(6 + 6)[:6])
    assert np.abs(body.station_shape @ body.rigid - body.station_rigid).max() < 1e-14
    assert np.abs(body.stiffness[:6]).max() == 0.0


def test_many_assumed_modes_and_a_fine_mesh_have_the_same_deflection():
    data = {
        **ARM4,
        "links": [dict(link) for link in ARM4["links"]],
        "payload": {"mass": 1.0, "inertia": [0.01, 0.02, 0.03]},
    }
    data["links"] = data["links"][:3]
    data["links"][2]["beam"] = {
        **data["links"][2]["beam"],
        "elements": 20,
        "section": {"shape": "rectangle", "y": 0.03, "z": 0.05},
    }
    robot = Robot.from_dict(data)
    fine = measured_from_inner_node(body_of(robot, 2))
    expected = np.sqrt(
        scipy.linalg.eigvalsh(fine.stiffness[6:, 6:], fine.mass_matrix[6:, 6:])[:4]
    )
    body = in_assumed_modes(robot, 2, 9)
    found = np.sqrt(
        scipy.linalg.eigvalsh(body.stiffness[6:, 6:], body.mass_matrix[6:, 6:])[:4]
    )
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_positive_slope_of_w_turns_about_minus_y():
    body = in_assumed_modes(arm("arm-4"), 1, {"xz": 1, "xy": 1})
    tip_xy, tip_xz = body.node_shape[-1, :, 6], body.node_shape[-1, :, 7]
    assert (
        tip_xy[1] > 0
        and tip_xy[5] > 0
        and np.abs(np.delete(tip_xy, [1, 5])).max() < 1e-15
    )
    assert (
        tip_xz[2] > 0
        and tip_xz[4] < 0
        and np.abs(np.delete(tip_xz, [2, 4])).max() < 1e-15
    )


def test_bent_links_take_the_clamped_modes_of_their_mesh():
    robot = arm("arm-6")
    body, mesh = (
        in_assumed_modes(robot, 6, 4),
        measured_from_inner_node(body_of(robot, 6)),
    )
    assert body.names == ("mode.1", "mode.2", "mode.3", "mode.4")
    expected = np.sqrt(
        scipy.linalg.eigvalsh(mesh.stiffness[6:, 6:], mesh.mass_matrix[6:, 6:])[:4]
    )
    K, M, C = (A[6:, 6:] for A in (body.stiffness, body.mass_matrix, body.damping))
    assert np.sqrt(np.diag(K)) == pytest.approx(expected, rel=1e-9)
    assert pytest.approx(np.eye(4), abs=1e-9) == M
    assert np.diag(C) == pytest.approx(2 * 0.02 * expected, rel=1e-9)


def test_no_modes_make_a_rigid_link_and_axial_ones_are_there_when_asked():
    robot = arm("arm-4")
    assert in_assumed_modes(robot, 1, 0).names == ()
    body = in_assumed_modes(robot, 1, {"axial": 1})
    assert body.names == ("axial.1",)
    loaded = (
        body.mass_matrix[6, 6]
        + tip_load(robot, 1, bodies_of(robot)).mass * body.node_shape[-1, 0, 6] ** 2
    )
    b = bar_modes(1, tip_load(robot, 1, bodies_of(robot)).mass / body.total_mass).b[0]
    assert np.sqrt(body.stiffness[6, 6] / loaded) == pytest.approx(
        b / 2.0 * np.sqrt(210e9 / 7850), rel=1e-12
    )


def test_bodies_can_be_differentiated_by_length_and_stiffness():
    @jax.jit
    def spread(E):
        robot = arm("arm-4").replace(
            {"links.boom.beam.material.E": E, "payload": {"mass": 1e-12 * E}}
        )
        body = in_assumed_modes(robot, 1, 6)
        return jnp.stack([jnp.trace(body.stiffness), jnp.trace(body.mass_matrix)])

    slope = jax.jacfwd(spread)(jnp.asarray(2.1e11))
    step = 1e6
    numeric = (
        spread(jnp.asarray(2.1e11 + step)) - spread(jnp.asarray(2.1e11 - step))
    ) / (2 * step)
    assert np.asarray(slope) == pytest.approx(np.asarray(numeric), rel=1e-5)
