"""A user's law in plain NumPy, called back from the compiled run at every sample."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..solve.law import AbstractLaw
from ..solve.user_function import UserFunction, user_function
from ..types import Float, Scalar

DIFFERENCE = 1e-6  # relative step of the differences that linear models take


class NumpyLaw(AbstractLaw):
    """(t, measured, memory) -> (torques, memory) on NumPy arrays; see `numpy_law`."""

    function: UserFunction = eqx.field(static=True, converter=user_function)
    sensor_names: tuple[str, ...] = eqx.field(static=True)
    torques: int = eqx.field(static=True)
    sample: Scalar
    memory: Any

    @override
    def sensors(self, model: Any) -> tuple[str, ...]:
        return self.sensor_names

    @override
    def init(self, model: Any) -> Any:
        return self.memory

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Joint torques [N m or N]."""
        shapes = jax.tree.map(_shape, (np.zeros(self.torques), self.memory))
        leaves = jax.tree.leaves(shapes)
        structure = jax.tree.structure(shapes)

        def host(t, measured, memory):
            arrays = jax.tree.map(np.asarray, memory)
            answer = self.function(float(t), np.asarray(measured), arrays)
            return _checked_answer(answer, shapes)

        @jax.custom_jvp
        def call(t, measured, memory):
            return jax.pure_callback(
                host, shapes, t, measured, memory, vmap_method="sequential"
            )

        def derivative(primals, tangents):
            # By differences on both sides: JAX cannot look into a user's NumPy.
            pairs = _moving(primals, tangents)
            # Relative to what moves alone: a late time must not make the step coarse.
            size = 1.0 + sum(
                jnp.sum(jnp.where(by == 0, 0.0, jnp.abs(value))) for value, by in pairs
            )
            change = sum(jnp.sum(jnp.abs(by)) for _, by in pairs)
            step = DIFFERENCE * size / jnp.where(change > 0, change, 1.0)
            beyond = call(*_perturbed(primals, tangents, step))
            before = call(*_perturbed(primals, tangents, -step))
            slopes = [
                (b - a) / (2 * step) if jnp.issubdtype(s.dtype, jnp.floating) else None
                for a, b, s in zip(
                    jax.tree.leaves(before),
                    jax.tree.leaves(beyond),
                    leaves,
                    strict=True,
                )
            ]
            zero = [np.zeros(s.shape, dtype=jax.dtypes.float0) for s in leaves]
            filled = [z if d is None else d for d, z in zip(slopes, zero, strict=True)]
            return call(*primals), jax.tree.unflatten(structure, filled)

        call.defjvp(derivative)
        return call(t, measured, memory)


def numpy_law(
    function: Callable[[float, np.ndarray, Any], tuple[Any, Any]],
    sensors: Sequence[str],
    sample: float,
    memory: Any = (),
) -> NumpyLaw:
    """A law from a function in plain NumPy, loops and `if` included.

    It is called once now, with zeros, to learn how many torques it gives. Its only state is its memory: a run may call
    it more often than there are samples.

    Args:
        function: (t, measured, memory) -> (torques of the actuated joints, memory for the next sample).
        sensors: names of the channels that it sees.
        sample: period [s].
        memory: before the first sample, arrays in any nesting of tuples, lists and dictionaries.

    Returns:
        `NumpyLaw`, for `torque=` of `simulate` and `controller=` of `linearize`.

    Raises:
        ValueError: it does not give torques and a memory of the same shape.

    Example:
        >>> import lissom as ls
        >>> def damper(t, measured, memory):
        ...     return [-2.0 * measured[0]], memory
        >>> law = ls.numpy_law(damper, sensors=["rod.speed"], sample=1e-3)
        >>> law.torques
        1
    """
    start = jax.tree.map(np.asarray, memory)
    answer = function(0.0, np.zeros(len(sensors)), start)
    try:
        torques, _ = answer
        count = len(np.asarray(torques, dtype=float))
    except TypeError:
        raise ValueError(
            f"a law gives (torques, memory), a list of torques first; got {answer!r}"
        ) from None
    _checked_answer(answer, jax.tree.map(_shape, (np.zeros(count), start)))
    return NumpyLaw(
        function=function,
        sensor_names=tuple(sensors),
        torques=count,
        sample=sample,
        memory=start,
    )


def _shape(leaf: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(np.shape(leaf), jnp.asarray(leaf).dtype)


def _checked_answer(answer: Any, shapes: Any) -> Any:
    """Torques and memory in the shapes that the run carries."""
    torques, memory = answer
    whole = (np.asarray(torques, dtype=float), memory)
    if jax.tree.structure(whole) != jax.tree.structure(shapes):
        raise ValueError(
            "the structure of a law's memory must not change: "
            f"{jax.tree.structure(shapes[1])}, got {jax.tree.structure(memory)}"
        )

    def fitted(leaf, shape):
        array = np.asarray(leaf, dtype=shape.dtype)
        if array.shape != shape.shape:
            raise ValueError(
                f"shapes of a law's torques and memory must not change: {shape.shape}, "
                f"got {array.shape}"
            )
        return array

    return jax.tree.map(fitted, whole, shapes)


def _is_real(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.floating)


def _moving(values: Any, by: Any) -> list[tuple[Any, Any]]:
    """Real numbers, each with its change."""
    pairs = zip(jax.tree.leaves(values), jax.tree.leaves(by), strict=True)
    return [(value, change) for value, change in pairs if _is_real(value)]


def _perturbed(values: Any, by: Any, step: Any) -> Any:
    """Real numbers moved by a step, whole ones as they are."""

    def moved(value, change):
        return value + step * change if _is_real(value) else value

    return jax.tree.map(moved, values, by)
