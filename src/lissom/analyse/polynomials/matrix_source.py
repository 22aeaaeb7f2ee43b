"""Matrices M, C, K that depend on parameters: of a robot, or given as a function."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from ...algebra.taylor import taylor_coefficients
from .model_matrices import Matrices, stacked_matrices


@runtime_checkable
class MatrixSource(Protocol):
    """M, C, K that depend on parameters."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        ...

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the n coordinates."""
        ...

    @property
    def notes(self) -> Mapping[str, str]:
        """Notes on what the matrices are of, for files."""
        ...

    def exact(self, points: np.ndarray) -> Matrices:
        """M, C, K at points (N, p), stacked."""
        ...

    def series(self, p0: np.ndarray, order: int) -> Matrices:
        """Taylor coefficients of M, C, K about a point, first axis over the terms."""
        ...


class MatrixFunction:
    """M, C, K given as a JAX function of the parameters."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        parameters: Sequence[str],
        coordinates: Sequence[str] = (),
    ):
        self.function = function
        self.parameters = tuple(parameters)
        self.notes = {}
        self.coordinates = tuple(coordinates)
        if not self.coordinates:
            p = jnp.zeros(len(self.parameters))
            M, _, _ = jax.eval_shape(function, p)
            self.coordinates = tuple(str(i) for i in range(len(M)))
        self._compiled = jax.jit(function)

    def exact(self, points: np.ndarray) -> Matrices:
        """M, C, K at points."""
        rows = np.atleast_2d(points)
        return stacked_matrices([self._compiled(jnp.asarray(p)) for p in rows])

    def series(self, p0: np.ndarray, order: int) -> Matrices:
        """Taylor coefficients of M, C, K about a point, first axis over the terms."""
        return taylor_coefficients(self.function, p0, order)
