"""Double precision, as in a simulation."""

from pathlib import Path

import jax
import pytest

import lissom  # noqa: F401  (switches JAX to double precision)

MAPS, MOST = Path("/proc/self/maps"), 20_000


@pytest.fixture(autouse=True)
def bounded_code():
    """A process may map some 65 000 pieces of memory, and compiled code takes many: let go of it in time."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MOST:
        jax.clear_caches()
