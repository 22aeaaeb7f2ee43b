"""Six numbers handed from link to link, and forces handed back."""

import jax.numpy as jnp
import numpy as np
import pytest

from lissom.kinematics.chain import of_parents, on_parents
from lissom.kinematics.recursion import Recursion

SERIAL = (-1, 0, 1, 2, 3, 4)
TREE = (-1, 0, 0, -1, 2, 2)
ROUNDING = 1e-13


def numbers(*shape):
    return jnp.asarray(np.random.default_rng(7).normal(size=shape))


def product_over_all_pairs(G, parents):
    """Phi with blocks G_i ... G_(k+1), block by block."""
    l = len(parents)
    Phi = np.zeros((l, 6, l, 6))
    for i, parent in enumerate(parents):
        Phi[i, :, i] = np.eye(6)
        if parent >= 0:
            Phi[i] += np.tensordot(G[i], Phi[parent], axes=1)
    return Phi


@pytest.mark.parametrize("parents", [None, TREE])
def test_passes_over_the_links_are_the_product_over_all_pairs_and_its_transpose(
    parents,
):
    G, own, force = numbers(6, 6, 6), numbers(6, 6), numbers(3, 6, 6)[1]
    chain = Recursion(G, parents)
    Phi = product_over_all_pairs(np.asarray(G), parents or SERIAL)
    (a,) = chain.solve(own)
    (f,) = chain.solve_transpose(force)
    assert np.abs(a - np.einsum("iakb,kb->ia", Phi, own)).max() < ROUNDING * 1e3
    assert np.abs(f - np.einsum("iakb,ia->kb", Phi, force)).max() < ROUNDING * 1e3


def test_values_of_parents_and_sums_over_children_are_transposes():
    value, other = numbers(6, 3), numbers(6, 3)[::-1]
    carried = of_parents(TREE, value)
    assert np.all(carried[np.asarray(TREE) == -1] == 0.0)
    work = jnp.sum(carried * other)
    assert abs(work - jnp.sum(value * on_parents(TREE, other, 6))) < ROUNDING
