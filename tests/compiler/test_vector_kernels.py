"""Factors and triangular systems are those of LAPACK, whatever the size and the width of a vector."""

import jax
import numpy as np
import pytest
import scipy.linalg

from jaxnative import kernels, loading, machine_code
from jaxnative.call_memory import address_of

from .test_native import native

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


@pytest.mark.parametrize("kind", "dc")
@pytest.mark.parametrize("n", [7, 13, 15, 28, 29, 54])
def test_triangular_systems_are_solved(n, kind):
    """In registers and in a loop, as far as unknowns fit into registers: real ones to 28, complex ones to 14."""
    lu = matrix_of(n, kind) + 4.0 * np.eye(n)
    right = matrix_of(n, kind, seed=4)[:, :1].copy()

    def solve(lu, right, lower):
        return jax.lax.linalg.triangular_solve(
            lu, right, left_side=True, lower=lower, unit_diagonal=lower
        )

    def both(lu, right):
        return solve(lu, right, True), solve(lu, right, False)

    solutions = native(both, lu, right)
    for lower, solution in zip((True, False), solutions, strict=True):
        wanted = scipy.linalg.solve_triangular(
            lu, right, lower=lower, unit_diagonal=lower
        )
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(solution, wanted, rtol=0, atol=1e-12 * scale)


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


def test_matrices_smaller_than_a_vector_are_factorised_in_scalars():
    assert kernels.lu_kernel(7, "d").in_vectors is None
