"""Double precision, as in a simulation."""

import jax
import pytest

import lissom  # noqa: F401  (switches JAX to double precision)


@pytest.fixture(autouse=True, scope="module")
def forgotten_code():
    """A process may map some 65 000 pieces of memory, and compiled code takes many: each module leaves none behind."""
    yield
    jax.clear_caches()
