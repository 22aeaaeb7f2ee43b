"""Constants of a moving link: against plain sums over random fields, and against the energy they stand for."""

import equinox as eqx
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.body import with_mass
from lissom.bodies.integrals import (
    Inertia,
    cubic_integrals,
    gravity_integrals,
    inertia_integrals,
    nodal_integrals,
)

from .helpers import ALL_BODIES, BENT, PRINCIPAL, beam

AXES = np.eye(3)


def cross(axis, field):
    """e x (translations) and e x (rotations) of a field (6, m)."""
    return np.concatenate(
        [np.cross(axis, field[:3], axisb=0).T, np.cross(axis, field[3:], axisb=0).T]
    )


@pytest.fixture(scope="module")
def scattered():
    """A body whose fields are random: no structure that could hide a wrong index."""
    rng = np.random.default_rng(3)
    body = beam(elements=1)
    s, c = 5, body.coordinates
    root = rng.normal(size=(s, 6, 6))
    fields = (
        rng.normal(size=(s, 6, c)),
        rng.normal(size=(s, 6, 6)),
        root @ np.swapaxes(root, 1, 2),
    )
    return eqx.tree_at(
        lambda b: (b.station_shape, b.station_rigid, b.station_inertia), body, fields
    )


def stations(body):
    """Field [B | N] and inertia D of each station."""
    fields = np.concatenate([body.station_rigid, body.station_shape], axis=2)
    return list(zip(fields, body.station_inertia, strict=True))


def test_constants_are_sums_over_the_stations(scattered):
    I = inertia_integrals(scattered)
    assert_allclose(I.mass, sum(N.T @ D @ N for N, D in stations(scattered)))
    for a, ea in enumerate(AXES):
        assert_allclose(
            I.X[a],
            sum(N.T @ D @ cross(ea, N) for N, D in stations(scattered)),
            atol=1e-12,
        )
        for b, eb in enumerate(AXES):
            Y = sum(N.T @ D @ cross(ea, cross(eb, N)) for N, D in stations(scattered))
            Z = sum(cross(ea, N).T @ D @ cross(eb, N) for N, D in stations(scattered))
            assert_allclose(I.Y[a, b], Y, atol=1e-12)
            assert_allclose(I.Z[a, b], Z, atol=1e-12)


def test_z_is_symmetric_in_its_axes_and_sides_together(scattered):
    Z = inertia_integrals(scattered).Z
    assert_allclose(Z, np.transpose(Z, (1, 0, 3, 2)), atol=1e-12)


def test_cubic_and_gravity_constants_are_sums_over_the_stations(scattered):
    w = np.array([0.7, -0.4, 1.1])
    parts = np.array(
        [w[1] ** 2 + w[2] ** 2, w[0] ** 2 + w[2] ** 2, w[0] ** 2 + w[1] ** 2]
    )
    parts = np.append(parts, [w[0] * w[1], w[0] * w[2], w[1] * w[2]])
    W, Q = cubic_integrals(scattered), gravity_integrals(scattered)
    unit = np.eye(6)[:, :3]
    for a, ea in enumerate(AXES):
        centrifugal = sum(
            cross(ea, N).T @ D @ -cross(w, cross(w, N)) for N, D in stations(scattered)
        )
        assert_allclose(np.einsum("t,tij->ij", parts, W[a]), centrifugal, atol=1e-11)
        assert_allclose(
            Q[a],
            sum(cross(ea, N).T @ D @ unit for N, D in stations(scattered)),
            atol=1e-12,
        )
    assert_allclose(
        Q[3], sum(N.T @ D @ unit for N, D in stations(scattered)), atol=1e-12
    )


@pytest.mark.parametrize(
    "name", ["bent-timoshenko", "loaded", "tapered-lumped", "rigid-loaded"]
)
def test_kinetic_energy_of_the_stations_is_the_polynomial_of_the_constants(name):
    body, rng = ALL_BODIES[name], np.random.default_rng(5)
    m = 6 + body.coordinates
    y, p, w = (
        rng.normal(size=m),
        np.append(np.zeros(6), rng.normal(size=m - 6)),
        rng.normal(size=3),
    )
    velocity = [
        (N @ y + cross(w, (N @ p)[:, None])[:, 0], D) for N, D in stations(body)
    ]
    energy = sum(V @ D @ V for V, D in velocity) / 2
    I = inertia_integrals(body)
    linear = np.einsum("a,i,aij,j->", w, y, I.X, p)
    square = np.einsum("a,b,i,abij,j->", w, w, p, I.Z, p) / 2
    assert_allclose(y @ I.mass @ y / 2 + linear + square, energy, rtol=1e-12)


def differences(first: Inertia, second: Inertia):
    """Largest difference of each constant, relative to the largest entry."""
    names = ("mass", "X", "Y", "Z")
    pairs = [(getattr(first, n), getattr(second, n)) for n in names]
    return np.array([np.abs(a - b).max() / np.abs(a).max() for a, b in pairs])


def test_nodal_shortcut_is_exact_for_masses_lumped_at_the_nodes():
    body = with_mass(beam(BENT, mass="lumped"), 3, 0.4, PRINCIPAL)
    assert np.all(differences(inertia_integrals(body), nodal_integrals(body)) < 1e-13)


def test_nodal_shortcut_is_not_the_field_of_a_consistent_mass():
    body = beam(BENT)
    error = differences(inertia_integrals(body), nodal_integrals(body))
    assert error[0] < 1e-13
    assert np.all(error[1:] > 1e-4)


def test_nodal_shortcut_multiplies_the_mass_matrix_by_turned_nodes():
    body = beam(BENT)
    M, k = body.mass_matrix, len(body.points)
    U = np.concatenate([body.rigid, np.eye(6 * k)], axis=1)
    I, W, Q = (
        nodal_integrals(body),
        cubic_integrals(body, nodal=True),
        gravity_integrals(body, nodal=True),
    )
    A = [np.kron(np.eye(2 * k), np.cross(np.eye(3), e)) for e in AXES]
    assert_allclose(I.X[1], U.T @ M @ A[1] @ U, atol=1e-14)
    assert_allclose(I.Y[0, 2], U.T @ M @ A[0] @ A[2] @ U, atol=1e-14)
    assert_allclose(I.Z[0, 2], U.T @ A[0].T @ M @ A[2] @ U, atol=1e-14)
    S = np.kron(np.eye(2 * k), np.array([[0, 0, -1.0], [0, 0, 0], [-1, 0, 0]]))
    assert_allclose(W[1, 4], U.T @ A[1].T @ M @ S @ U, atol=1e-14)
    unit = np.tile(np.eye(6)[:, :3], (k, 1))
    assert_allclose(Q[2], U.T @ A[2].T @ M @ unit, atol=1e-14)


@pytest.mark.parametrize("name", ALL_BODIES)
def test_gravity_constants_know_the_weight_and_its_moment(name):
    body, g = ALL_BODIES[name], np.array([0.3, -2.0, -9.5])
    wrench = gravity_integrals(body)[3][:6] @ g
    weight = body.total_mass * g
    assert_allclose(wrench, [*weight, *np.cross(body.centre, weight)], atol=1e-12)
