"""The nodal shortcut of [Vidoni2015]: exact where mass sits at the nodes, and its leak elsewhere."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import compiled_once, motion_of, relative
from lissom import Model, Robot
from lissom.bodies.integrals import (
    cubic_integrals,
    gravity_integrals,
    inertia_integrals,
    nodal_integrals,
)
from lissom.bodies.link_body import body_of
from lissom.bodies.reduce.reduced_body import Reduction, reduced_body
from lissom.bodies.rigid_body import rigid_body
from lissom.dynamics import engine
from lissom.dynamics.published_modes import commuting_cubic, nodal_constants

L_SHAPE = Robot.load("l-shape").replace({"links.beam.beam.material.E": 9e9})


LOWEST = Reduction(12, ranking="free")  # as the paper keeps them


def formulation(mass, terms, modes=LOWEST):
    robot = L_SHAPE.replace({"links.beam.beam.mass": mass})
    return Model(robot, "erls-cms", modes, "tangent", terms).formulation


@compiled_once
def forces(f, x, xd, xdd):
    """Inertial and gravity forces alone, and the power they take beyond the rate of energy."""
    needed = engine.needed_force(f, f.motion(x, xd, xdd))
    rest = engine.at_rest(f, x)
    strain = (
        engine.needed_force(f, rest) - engine.resting_forces(f, rest, jnp.zeros(1))[0]
    )

    def potential(x):
        return engine.strain_energy(f, f.configuration(x)) + engine.gravity_energy(
            f, f.configuration(x)
        )

    def energy(x, xd):
        return engine.kinetic_energy(f, f.motion(x, xd, xdd)) + potential(x)

    rate = jax.jvp(energy, (x, xd), (xd, xdd))[1]
    return (
        needed - strain,
        xd @ needed - rate,
        f.rates(x, xd),
        f.configuration(x),
        engine.inertia_at(f, x),
    )


def spinning(f):
    """A fast motion about every axis that the L can have, well bent."""
    x, xd, xdd = motion_of(f, seed=5, bend=2e-3)
    return x, xd.at[0].set(9.0), xdd


def test_the_shortcut_is_exact_where_mass_sits_at_the_nodes():
    motion = spinning(formulation("lumped-points", "consistent"))
    given = [
        forces(formulation("lumped-points", terms), *motion)
        for terms in ("published", "consistent")
    ]
    assert relative(given[0][0], given[1][0]) < 1e-11
    assert (
        abs(given[0][1])
        < 1e-9 * np.abs(np.asarray(motion[1]) * np.asarray(given[0][0])).sum()
    )


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_elsewhere_it_leaks_the_power_of_the_turned_mass(mass):
    # Power that energy does not account for: w^T M (omega x) w with w the nodal velocities in link axes. Without
    # weight, whose moment about the joint the shortcut changes too.
    f = formulation(mass, "published")
    f = eqx.tree_at(lambda f: f.gravity, f, 0.0 * f.gravity)
    motion = spinning(f)
    _, leak, rates, place, _ = forces(f, *motion)
    robot = L_SHAPE.replace({"links.beam.beam.mass": mass})
    whole = body_of(robot, 0)
    shapes = np.asarray(reduced_body(whole, Reduction(12, ranking="free")).node_shape)
    V, w = np.asarray(rates.V[0]), np.asarray(rates.V[0, 3:])

    def turn(u):
        return np.concatenate([np.cross(w, u[:, :3]), np.cross(w, u[:, 3:])], axis=1)

    velocity = (
        (whole.rigid @ V).reshape(-1, 6)
        + shapes @ np.asarray(rates.q[0])
        + turn(shapes @ np.asarray(place.q[0]))
    )
    expected = velocity.reshape(-1) @ whole.mass_matrix @ turn(velocity).reshape(-1)
    assert abs(expected) > 1e-9
    assert leak == pytest.approx(float(expected), rel=1e-5)


def test_the_consistent_terms_leak_nothing():
    f = formulation("consistent", "consistent")
    motion = spinning(f)
    inertial, leak, *_ = forces(f, *motion)
    printed = forces(formulation("consistent", "published"), *motion)
    assert (
        abs(leak) < 1e-10 * np.abs(np.asarray(motion[1]) * np.asarray(inertial)).sum()
    )
    assert abs(printed[1]) > 1e3 * abs(leak)
    assert 1e-7 < relative(printed[0], inertial) < 0.2


def test_constants_of_appendix_d_are_those_of_the_nodal_mass_matrix():
    whole = body_of(L_SHAPE, 0)
    reduced = reduced_body(whole, Reduction(7))
    inertia, W = nodal_constants(whole, reduced)
    U, M = np.asarray(reduced.node_shape).reshape(-1, 13), whole.mass_matrix
    A = [
        np.kron(np.eye(10), np.array([np.cross(e, column) for column in np.eye(3)]).T)
        for e in np.eye(3)
    ]
    for r in range(3):
        assert relative(inertia.X[r][6:, 6:], U.T @ M @ A[r] @ U) < 1e-10  # eq. (84)
        for d in range(3):
            assert (
                relative(inertia.Z[r, d][6:, 6:], U.T @ A[r].T @ M @ A[d] @ U) < 1e-10
            )  # eq. (92)
    w = np.array([1.3, -0.7, 2.1])
    Omega = sum(a * b for a, b in zip(w, A, strict=True))
    x, y, z = w
    s = [y * y + z * z, x * x + z * z, x * x + y * y, x * y, x * z, y * z]
    for r in range(3):
        assert (
            relative(
                sum(a * b for a, b in zip(s, W[r], strict=True)),
                U.T @ A[r].T @ M @ Omega.T @ Omega @ U,
            )
            < 1e-10
        )
    # Gravity: Q_4 and Q_r of eqs. (61)-(62) are columns of the mass and of X^T, which the engine uses.
    Q = gravity_integrals(whole, nodal=True)
    change = np.concatenate(
        [np.eye(6, 19), np.concatenate([np.zeros((30, 6)), U], axis=1)]
    )
    assert relative(inertia.mass[:, :3], change.T @ Q[3]) < 1e-10
    for r in range(3):
        assert relative(inertia.X[r].T[:, :3], change.T @ Q[r]) < 1e-10


def test_a_mass_that_commutes_with_rotations_needs_no_cubic_constants_of_its_own():
    points = body_of(L_SHAPE.replace({"links.beam.beam.mass": "lumped-points"}), 0)
    expected = cubic_integrals(points, nodal=True)[:, :, 6:, 6:]
    assert relative(commuting_cubic(nodal_integrals(points)), expected) < 1e-12
    link = rigid_body(1.7, (0.1, 0.02, -0.03), (0, 0, 0), (0.24, 0.0, 0.1))
    assert relative(nodal_constants(link, link)[0].Z, inertia_integrals(link).Z) == 0
