"""Programs at random give the same numbers as machine code, in lanes, and one operation after the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative.compiled import NativeAhead, using
from jaxnative.lanes import LanesAhead

from .random_programs import N, RandomProgram

SOME = range(3)
MANY = range(3, 40)


def check(seed: int, caplog) -> None:
    program = RandomProgram(seed)
    rng = np.random.default_rng(seed)
    v, w = rng.normal(size=(2, 3, N))
    # One operation after the other: XLA itself gets some of these loops wrong, where an array is shifted onto itself
    # (openxla/xla issue 49176).
    with jax.disable_jit():
        pairs = zip(jnp.asarray(v), jnp.asarray(w), strict=True)
        wanted = [program(*pair) for pair in pairs]
    with using("native"):
        for unrolls in (False, True):
            native = NativeAhead(program, unrolls=unrolls)
            found = native(v[0], w[0])
            np.testing.assert_allclose(found, wanted[0], rtol=1e-9, atol=1e-11)
    # Nothing was left to XLA.
    assert not caplog.records
    lanes = LanesAhead(program)((0, 0), v, w)
    for k in range(3):
        found = [rows[k] for rows in lanes]
        np.testing.assert_allclose(found, wanted[k], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", SOME)
def test_a_program_at_random_gives_what_its_operations_give(seed, caplog):
    check(seed, caplog)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_more_programs_at_random_give_what_their_operations_give(seed, caplog):
    check(seed, caplog)
