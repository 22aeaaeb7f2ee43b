"""Taylor coefficients in several variables: every rule against the function itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lissom.algebra.linear import solve
from lissom.algebra.monomials import Monomials, number_of_terms
from lissom.algebra.taylor import SeriesError, taylor_coefficients

TABLE_1 = {  # [Palomba2019] Table 1: terms for n_r rigid coordinates, order 1..5, static and dynamic
    1: ((2, 3, 4, 5, 6), (3, 6, 10, 15, 21)),
    2: ((3, 6, 10, 15, 21), (5, 15, 35, 70, 126)),
    3: ((4, 10, 20, 35, 56), (7, 28, 84, 210, 462)),
    4: ((5, 15, 35, 70, 126), (9, 45, 165, 495, 1287)),
    5: ((6, 21, 56, 126, 252), (11, 66, 286, 1001, 3003)),
    6: ((7, 28, 84, 210, 462), (13, 91, 455, 1820, 6188)),
}
AT = np.array([0.4, -0.3, 0.7])
TWO_OF_THREE = np.array([[2, 0], [1, 2], [0, 2]])

FUNCTIONS = {
    "sums and products": lambda x: x[0] * x[1] - 3.0 * x[2] + x[0] ** 3,
    "quotients": lambda x: (1.0 + x[0]) / (2.0 + x[1] * x[2]),
    "numbers beside arrays": lambda x: 1.0 / jnp.outer(jnp.array([1.0, 2.0]), 2.0 + x) - (3.0 + 2.0 / jnp.ones((2, 3))),
    "sin and cos": lambda x: jnp.sin(x[0] + x[1]) * jnp.cos(x[2] * x[0]),
    "tan and tanh": lambda x: jnp.tan(x[0]) + jnp.tanh(x[1] * x[2]),
    "sinh and cosh": lambda x: jnp.sinh(x[0] - x[2]) * jnp.cosh(x[1]),
    "exp and log": lambda x: jnp.exp(x[0] * x[1]) + jnp.log(2.0 + x[2]),
    "roots and powers": lambda x: jnp.sqrt(1.0 + x[0] ** 2) + (1.5 + x[1]) ** 2.7 + jax.lax.rsqrt(2.0 + x[2]),
    "a power with a varying exponent": lambda x: (1.5 + x[0]) ** (1.0 + x[1]),
    "inverse trigonometry": lambda x: jnp.arcsin(0.4 * x[0]) + jnp.arccos(0.3 * x[1]) + jnp.arctan(x[2]),
    "inverse hyperbolics": lambda x: jnp.arcsinh(x[0]) + jnp.arctanh(0.5 * x[1]),
    "the angle of a point": lambda x: jnp.arctan2(x[0] - 1.0, x[1]) + jnp.arctan2(x[2], x[0]),
    "absolute value, maximum, clip": lambda x: jnp.abs(x[1]) * jnp.maximum(x[0], x[1]) + jnp.clip(x[2], 0.0, 5.0),
    "a matrix inverse": lambda x: jnp.linalg.solve(jnp.eye(3) * 2.0 + jnp.outer(x, x), jnp.ones(3)),
    "a Cholesky factor": lambda x: jnp.linalg.cholesky(jnp.eye(3) * 2.0 + jnp.outer(x, x)),
    "a triangular solve": lambda x: jax.scipy.linalg.solve_triangular(
        jnp.tril(jnp.outer(x, x)) + 2.0 * jnp.eye(3), x, lower=True
    ),
    "a loop over rows": lambda x: jax.lax.scan(lambda c, row: (jnp.sin(c) + row, c * row), x[0], x, reverse=True)[1],
    "a loop that ends when it may": lambda x: jax.lax.while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, x)
    )[1],
    "a branch": lambda x: jax.lax.cond(x[0] > 0.0, lambda: x[1] * x[2], lambda: x[0]),
    "rearrangements": lambda x: jnp.concatenate([x[::-1], jnp.stack([x[0] * x[1], x[2]])]).reshape(1, 5)[:, 1:4].T,
    "gather and scatter": lambda x: jnp.zeros(5).at[jnp.array([3, 1, 3])].add(x**2)[jnp.array([3, 3, 0, 1])],
    "gather of rows, some outside": lambda x: jnp.outer(x, x).at[jnp.array([2, 0, 7])].get(mode="fill", fill_value=0.0),
    "gather of elements": lambda x: jnp.outer(x, x * x)[jnp.array([[0], [2]]), jnp.array([1, 0, 2])],
    "a batch of gathers": lambda x: jax.vmap(lambda row, i: row[i])(jnp.outer(x, x), jnp.array([2, 0, 1])),
    "a batch of scatters": lambda x: jax.vmap(lambda row, i: row.at[i].add(x[:2]))(jnp.outer(x, x), TWO_OF_THREE),
    "columns overwritten, one outside": lambda x: jnp.zeros((3, 4)).at[:, jnp.array([1, 9])].set(jnp.outer(x, x[:2])),
    "overwriting": lambda x: jnp.ones((2, 3)).at[1, :2].set(x[:2] * x[2]),
    "slices that move": lambda x: jax.lax.dynamic_update_slice(x, jax.lax.dynamic_slice(x * x, (1,), (2,)), (0,)),
    "sums along axes": lambda x: jnp.cumsum(jnp.outer(x, x), axis=0).sum(axis=1),
    "padding": lambda x: jnp.pad(x * x[0], (1, 2)),
    "padding with gaps and negative margins": lambda x: jax.lax.pad(
        jnp.outer(x, x), x[1], ((-1, 2, 1), (2, -4, 2))
    ),
    "rows apart and together": lambda x: jnp.stack(jnp.unstack(jnp.outer(x, x), axis=1)[::-1], axis=0),
    "parts of different sizes": lambda x: jnp.split(x * x, [1])[1] * x[0],
    "eigenvalues and vectors": lambda x: (lambda lam, V: V[:, :1] @ V[:, :1].T * lam[2])(
        *jnp.linalg.eigh(jnp.outer(x, x) + jnp.diag(jnp.array([1.0, 2.0, 4.0])))
    ),
    "an iteration towards a solution": lambda x: jax.lax.while_loop(
        lambda s: jnp.abs(s[1]) > 1e-9, lambda s: (0.5 * (s[0] + (2 + x[0]) / s[0]), s[0] ** 2 - 2 - x[0]), (1.4, 1.0)
    )[0],
    "an iteration that counts its finished rounds": lambda x: jax.lax.while_loop(
        lambda s: s[1] < 2, lambda s: (0.5 * (s[0] + (2 + x[0]) / s[0]), s[1] + (s[0] ** 2 - 2 - x[0] < 1e-6)), (1.4, 0)
    )[0],
    "the largest of several": lambda x: jnp.max(jnp.outer(x, x), axis=1) * jnp.min(x),
    "our own linear solve": lambda x: solve(jnp.outer(x, x) + jnp.eye(3)[::-1], x),
}  # fmt: skip


@pytest.mark.parametrize("n_r", TABLE_1)
def test_numbers_of_terms_are_those_of_the_papers_table(n_r):
    static, dynamic = TABLE_1[n_r]
    for order in range(1, 6):
        for variables, published in (
            (n_r, static[order - 1]),
            (2 * n_r, dynamic[order - 1]),
        ):
            assert number_of_terms(variables, order) == published
            assert len(Monomials(variables, order).exponents) == published


def test_monomials_are_evaluated_one_product_each():
    m, x = Monomials(3, 5), np.array([[0.3, -1.2, 0.7], [2.0, 0.5, -0.1]])
    np.testing.assert_allclose(
        m.values(x), np.prod(x[:, None, :] ** m.exponents, axis=-1), rtol=1e-14
    )
    product = m.product
    a, b = np.nonzero(product >= 0)
    assert (m.exponents[a] + m.exponents[b] == m.exponents[product[a, b]]).all()
    assert (m.degree[:, None] + m.degree[None, :] > 5)[product < 0].all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_of_a_series_is_one_order_above_it(name):
    function, order = FUNCTIONS[name], 4
    coefficients = taylor_coefficients(function, AT, order)
    monomials = Monomials(3, order)
    direction = np.array([0.5, 0.8, -0.33])
    errors = []
    for h in (0.08, 0.04):
        value = np.tensordot(monomials.values(h * direction), coefficients, 1)
        errors.append(
            np.abs(value - np.asarray(function(jnp.asarray(AT + h * direction)))).max()
        )
    assert errors[0] < 1e-4
    assert errors[1] < 1e-13 or np.log2(errors[0] / errors[1]) > order + 0.5


def test_coefficients_are_derivatives_over_factorials():
    function = FUNCTIONS["sin and cos"]
    coefficients = taylor_coefficients(function, AT, 3)
    H = jax.hessian(function)(jnp.asarray(AT))
    place = Monomials(3, 3).place
    np.testing.assert_allclose(coefficients[place[0, 1, 1]], H[1, 2], rtol=1e-13)
    np.testing.assert_allclose(coefficients[place[2, 0, 0]], 0.5 * H[0, 0], rtol=1e-13)


def test_an_operation_without_a_rule_is_named():
    with pytest.raises(SeriesError, match="svd"):
        taylor_coefficients(lambda x: jnp.linalg.svd(jnp.outer(x, x))[1], AT, 2)


def test_a_loop_that_ends_by_a_parameter_and_finds_nothing_is_refused():
    """An iteration comes to rest and can go on for the orders above its value; a sum does neither."""

    def add_up(x):
        return jax.lax.while_loop(lambda y: y < 5.0, lambda y: y + x[0], x[0])

    with pytest.raises(SeriesError, match="does not converge to a solution"):
        taylor_coefficients(add_up, np.array([2.0]), 2)


def test_what_equal_eigenvalues_span_has_a_series():
    """Eigenvectors of 1, 1 and 3 at x = 0: the projector on the first two is smooth, whatever they are."""
    G = np.array([[0.3, 0.1, 0.7], [0.1, -0.2, 0.4], [0.7, 0.4, 0.5]])

    def projector(x):
        A = jnp.diag(jnp.array([1.0, 1.0, 3.0])) + x[0] * jnp.asarray(G)
        _, V = jnp.linalg.eigh(A)
        return V[:, :2] @ V[:, :2].T

    coefficients = taylor_coefficients(projector, np.zeros(1), 4)
    errors = []
    for h in (0.04, 0.02):
        powers = h ** np.arange(5)
        value = np.tensordot(powers, coefficients, 1)
        exact = np.asarray(projector(jnp.array([h])))
        errors.append(np.abs(value - exact).max())
    assert np.log2(errors[0] / errors[1]) > 4.5


def test_a_root_at_zero_has_no_series():
    with pytest.raises(SeriesError, match="not finite"):
        taylor_coefficients(lambda x: jnp.sqrt(x[0]), np.zeros(1), 2)
