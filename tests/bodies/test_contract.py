"""What `Body` promises, checked on every kind of body."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.algebra.se3 import rigid_shape

from .helpers import ALL_BODIES


@pytest.fixture(params=ALL_BODIES, scope="module")
def body(request):
    return ALL_BODIES[request.param]


def size(matrix):
    return np.abs(matrix).max(initial=0.0) + 1e-300


def test_stiffness_and_damping_are_symmetric_and_never_give_energy(body):
    for matrix in (body.stiffness, body.damping):
        assert_allclose(matrix, matrix.T, atol=1e-12 * size(matrix))
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-11 * size(matrix)


def test_only_rigid_motion_is_free_of_strain(body):
    values = np.linalg.eigvalsh(body.stiffness)
    assert np.sum(values < 1e-10 * size(body.stiffness)) == 6


def test_rigid_motion_stores_and_dissipates_nothing(body):
    assert_allclose(body.stiffness @ body.rigid, 0, atol=1e-12 * size(body.stiffness))
    assert_allclose(body.damping @ body.rigid, 0, atol=1e-10 * size(body.damping))


def test_inner_node_moves_with_its_own_coordinates_alone(body):
    assert_allclose(body.node_shape[0], np.eye(6, body.coordinates))


def test_rigid_coordinates_move_the_nodes_as_a_rigid_body(body):
    expected = np.stack([rigid_shape(X) for X in body.points])
    assert_allclose(body.node_shape @ body.rigid, expected, atol=1e-13)


def test_rigid_coordinates_move_the_field_as_a_rigid_body(body):
    assert_allclose(body.station_shape @ body.rigid, body.station_rigid, atol=1e-13)


def test_stations_lie_where_their_rigid_shape_says(body):
    assert_allclose(
        body.station_rigid[:, :3, :3],
        np.broadcast_to(np.eye(3), (len(body.station_rigid), 3, 3)),
    )
    assert_allclose(body.station_rigid[:, 3:, :3], 0)
    lever = body.station_rigid[:, :3, 3:]
    assert_allclose(lever, -np.swapaxes(lever, 1, 2))


def test_inertia_of_each_station_is_symmetric_and_not_negative(body):
    D = body.station_inertia
    assert_allclose(D, np.swapaxes(D, 1, 2), atol=1e-15 * size(D))
    assert np.linalg.eigvalsh(D).min(initial=0.0) >= -1e-12 * size(D)


def test_mass_matrix_is_symmetric_positive_definite(body):
    M = body.mass_matrix
    assert_allclose(M, M.T, atol=1e-14 * size(M))
    scale = np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(M / np.outer(scale, scale))[0] > 1e-6


def test_rigid_inertia_is_seen_through_the_coordinates_too(body):
    assert_allclose(
        body.rigid.T @ body.mass_matrix @ body.rigid, body.rigid_inertia, atol=1e-13
    )


def test_rigid_inertia_is_made_of_mass_centre_and_tensor(body):
    m, c, J = body.total_mass, body.centre, body.inertia
    lever = rigid_shape(c)[:3, 3:]
    assert_allclose(
        body.rigid_inertia,
        np.block([[m * np.eye(3), m * lever], [m * lever.T, J]]),
        atol=1e-14,
    )
    assert m > 0
