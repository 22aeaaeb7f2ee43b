"""Matrices M, C, K that depend on parameters: of a robot, or given as a function."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from ...algebra.taylor import taylor_coefficients
from ...solve.arguments import ArgumentError
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
        self.parameters = _names("parameters", parameters)
        if not self.parameters:
            raise ValueError("parameters: name at least one")
        self.notes = {}
        count = _size_of_matrices(function, len(self.parameters))
        self.coordinates = _names("coordinates", coordinates)
        if not self.coordinates:
            self.coordinates = tuple(map(str, range(count)))
        if len(self.coordinates) != count:
            message = f"must be {count} names, one for each row of the matrices"
            raise ArgumentError("coordinates", coordinates, message)
        self._compiled = jax.jit(function)

    def exact(self, points: np.ndarray) -> Matrices:
        """M, C, K at points."""
        rows = np.atleast_2d(points)
        return stacked_matrices([self._compiled(jnp.asarray(p)) for p in rows])

    def series(self, p0: np.ndarray, order: int) -> Matrices:
        """Taylor coefficients of M, C, K about a point, first axis over the terms."""
        return taylor_coefficients(self.function, p0, order)


def _names(argument: str, names: Any) -> tuple[str, ...]:
    """Names as a tuple; a text alone would be taken for its letters."""
    if isinstance(names, str):
        message = f"must be a list of names, such as [{names!r}]"
        raise ArgumentError(argument, names, message)
    return tuple(names)


def _size_of_matrices(function: Callable[[Any], Any], count: int) -> int:
    """Number of rows of the matrices that a function of `count` parameters gives.

    Raises:
        ArgumentError: it is no such function.
    """
    if not callable(function):
        message = "must be a function from the parameters (an array) to (M, C, K)"
        raise ArgumentError("matrices", function, message)
    found = jax.eval_shape(function, jnp.zeros(count))
    shapes = [leaf.shape for leaf in jax.tree.leaves(found)]
    is_three = isinstance(found, tuple | list) and len(found) == len(shapes) == 3
    rows, *columns = shapes[0] if is_three and len(set(shapes)) == 1 else (0,)
    if columns != [rows]:
        message = f"must give three square matrices (M, C, K) of one size, not arrays of the shapes {shapes}"
        raise ArgumentError("matrices", function, message)
    return rows
