"""Numbers of every type that the engine knows."""

import numpy as np


def numbers(name: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Numbers of a type; with 0, 1 and, where the type has them, negative ones."""
    rng = np.random.default_rng(seed)
    if name == "bool":
        return rng.random(shape) < 0.5
    if name in ("uint8", "uint32"):
        return rng.integers(0, 5, size=shape).astype(name)
    if name.startswith("int"):
        return rng.integers(-4, 5, size=shape).astype(name)
    found = rng.normal(size=shape)
    return (
        found + 1j * rng.normal(size=shape) if name == "complex128" else found
    ).astype(name)
