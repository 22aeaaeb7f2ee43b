"""Factors and triangular systems in vectors are those of LAPACK, whatever the size and the width of a vector."""

import numpy as np
import pytest
import scipy.linalg

from jaxnative import kernels, loading, machine_code
from jaxnative.call_memory import address_of

# One size for every day: a vector and a half.
QUICK = [(13, "d", 8), (13, "c", 8)]
ALL = QUICK + [
    pytest.param(n, kind, width, marks=pytest.mark.slow)
    for n in (8, 13, 16, 27, 54)
    for kind in "dc"
    for width in (2, 4, 8)
    if (n, width) != (13, 8)
]
CASES = pytest.mark.parametrize(("n", "kind", "width"), ALL)


def run(function, width, *arrays):
    """Calls a function that is written in vectors; it overwrites the arrays."""
    name = loading.load_vectors(function, width)
    pointers = np.array([address_of(array) for array in arrays], dtype=np.uint64)
    machine_code.entry(name, len(arrays))(address_of(pointers))


def matrix_of(n, kind, seed=3):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, n))
    return matrix + 1j * rng.normal(size=(n, n)) if kind == "c" else matrix


def factors_of(matrix, kind, width):
    n = len(matrix)
    lu = matrix.copy()
    pivots, order = np.zeros(n, np.int32), np.zeros(n, np.int32)
    run(kernels.lu_kernel(n, kind), width, lu, pivots, order)
    return lu, pivots, order


@CASES
def test_factors_are_those_of_lapack(n, kind, width):
    matrix = matrix_of(n, kind)
    lu, pivots, order = factors_of(matrix, kind, width)
    wanted, wanted_pivots = scipy.linalg.lu_factor(matrix)
    np.testing.assert_array_equal(pivots, wanted_pivots)
    # Rounding grows with the condition of the matrix, a few hundred here.
    np.testing.assert_allclose(lu, wanted, rtol=0, atol=1e-12)
    lower = np.tril(lu, -1) + np.eye(n)
    np.testing.assert_allclose(lower @ np.triu(lu), matrix[order], atol=1e-13)


@CASES
def test_triangular_systems_are_solved(n, kind, width):
    lu = matrix_of(n, kind) + 4.0 * np.eye(n)
    right = matrix_of(n, kind, seed=4)[:, :1].copy()
    for lower in (True, False):
        unknown = right.copy()
        kernel = kernels.triangle_kernel(n, 1, kind, lower, False, lower)
        run(kernel, width, unknown, lu)
        wanted = scipy.linalg.solve_triangular(
            lu, right, lower=lower, unit_diagonal=lower
        )
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(unknown, wanted, rtol=0, atol=1e-12 * scale)


def test_numbers_beside_the_matrix_are_left_alone():
    n = 13
    room = np.full(n * n + 16, 7.0)
    matrix = room[8 : 8 + n * n].reshape(n, n)
    matrix[:] = matrix_of(n, "d")
    pivots, order = np.zeros(n, np.int32), np.zeros(n, np.int32)
    run(kernels.lu_kernel(n, "d"), 8, matrix, pivots, order)
    assert (room[:8] == 7.0).all() and (room[-8:] == 7.0).all()


def test_a_singular_matrix_gives_no_numbers():
    lu, _, _ = factors_of(np.zeros((9, 9)), "d", 8)
    assert not np.isfinite(lu).all()


def test_systems_smaller_than_a_vector_are_solved_one_by_one():
    assert kernels.lu_kernel(7, "d").in_vectors is None
    assert kernels.triangle_kernel(7, 1, "d", True, False, True).in_vectors is None
