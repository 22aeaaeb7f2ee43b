"""Bodies differentiate: traced descriptions give the numbers of plain ones, and gradients those of differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.body import with_mass
from lissom.bodies.damping import with_modal_ratio, with_rayleigh
from lissom.bodies.integrals import inertia_integrals
from lissom.bodies.mesh import beam_body
from lissom.bodies.rigid_body import rigid_body
from lissom.types import namespace

from .helpers import rectangle

# E [Pa], density [kg/m^3], length [m], side y [m], side z [m], taper [1], mass [kg], offset [m], ratio [1]
NOMINAL = np.array([7.1e10, 2750.0, 0.4, 0.03, 0.02, 0.3, 0.5, 0.05, 0.02])
CASES = [
    {"tapered": False, "theory": "euler-bernoulli", "mass": "consistent"},
    {"tapered": False, "theory": "timoshenko", "mass": "lumped"},
    {"tapered": True, "theory": "timoshenko", "mass": "consistent"},
    {"tapered": True, "theory": "euler-bernoulli", "mass": "lumped"},
]


def described(x, *, tapered, theory, mass):
    """Body of a bent link from the nine numbers."""
    xp = namespace(x)
    E, density, length, y, z, slope, payload, offset, ratio = x
    o = 0.0 * length
    path = xp.stack(
        [
            xp.stack([o, o, o]),
            xp.stack([length, o, o]),
            xp.stack([length, length / 2, length / 3]),
        ]
    )
    body = beam_body(
        path,
        lambda s: rectangle(y * (1 - slope * s), z),
        youngs_modulus=E,
        shear_modulus=E / 2.6,
        density=density,
        elements=1,
        uniform=not tapered,
        theory=theory,
        mass=mass,
    )
    body = with_mass(body, -1, payload, (1e-3, 2e-3, 3e-3), xp.stack([offset, o, o]))
    return with_modal_ratio(body, ratio)


def probe(body):
    """One number in which every array of the body has its share."""
    xp = namespace(body)
    rng = np.random.default_rng(1)
    v, u = rng.normal(size=body.coordinates), rng.normal(size=6 + body.coordinates)
    I = inertia_integrals(body)
    energies = [
        v @ body.stiffness @ v / 1e8,
        v @ body.damping @ v / 1e3,
        v @ body.mass_matrix @ v,
        xp.einsum("i,aij,j->", u, I.X, u),
        xp.einsum("i,abij,j->", u, I.Y, u),
        xp.einsum("i,abij,j->", u, I.Z, u),
        xp.sum(body.points * rng.normal(size=body.points.shape)),
    ]
    return xp.stack(energies)


def central_differences(function, x, step=1e-5):
    """Fourth-order differences with respect to each relative change of x."""
    rows = []
    for i in range(len(x)):
        at = [function(x * (1 + n * step * np.eye(len(x))[i])) for n in (-2, -1, 1, 2)]
        rows.append((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step))
    return np.stack(rows, axis=-1)


@pytest.mark.parametrize("options", CASES, ids=lambda o: "-".join(map(str, o.values())))
def test_gradients_are_those_of_finite_differences(options):
    def function(x):
        return probe(described(x, **options))

    exact = jax.jit(jax.jacfwd(function))(jnp.asarray(NOMINAL)) * NOMINAL
    expected = central_differences(function, NOMINAL, 1e-4)
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert_allclose(exact / scale, expected / scale, atol=1e-7)


@pytest.mark.parametrize("options", CASES, ids=lambda o: "-".join(map(str, o.values())))
def test_traced_numbers_give_the_same_body_as_plain_ones(options):
    plain = described(NOMINAL, **options)
    assert isinstance(plain.stiffness, np.ndarray)
    traced = jax.jit(lambda x: described(x, **options))(jnp.asarray(NOMINAL))
    for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(traced), strict=True):
        assert_allclose(a, b, atol=1e-9 * max(1.0, np.abs(a).max()))


def test_modal_damping_differentiates_where_frequencies_repeat():
    def damping(x):
        xp = namespace(x)
        path = xp.stack([xp.zeros(3), x * xp.asarray([1.0, 0.0, 0.0])])
        square = rectangle(0.02, 0.02)
        body = beam_body(
            path,
            lambda s: square,
            youngs_modulus=7e10,
            shear_modulus=3e10,
            density=2700.0,
            elements=2,
        )
        return xp.sum(with_modal_ratio(body, 0.01).damping[6:, 6:] ** 2)

    step = 1e-4 * 0.7
    values = [damping(np.float64(0.7 + n * step)) for n in (-2, -1, 1, 2)]
    expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    assert_allclose(jax.jit(jax.grad(damping))(0.7), expected, rtol=1e-6)


def test_rigid_links_and_rayleigh_coefficients_differentiate():
    def probe_rigid(x):
        xp = namespace(x)
        com, tip = x[1:4], 2.0 * x[1:4]
        body = with_rayleigh(rigid_body(x[0], com, x[4:10], tip), x[10], x[11])
        rng = np.random.default_rng(2)
        v = rng.normal(size=6)
        return xp.stack(
            [
                v @ body.mass_matrix @ v,
                xp.sum(body.node_shape * rng.normal(size=(2, 6, 6))),
                body.alpha,
            ]
        )

    x = np.array(
        [1.7, 0.1, 0.02, -0.03, 2e-3, 3e-3, 2.5e-3, 2e-4, -3e-4, 1e-4, 1.3, 2e-4]
    )
    exact = jax.jit(jax.jacfwd(probe_rigid))(jnp.asarray(x)) * x
    assert_allclose(exact, central_differences(probe_rigid, x, 1e-4), atol=1e-8)
