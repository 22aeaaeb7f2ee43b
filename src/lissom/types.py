"""Shape vocabulary: the types that every signature uses."""

from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
from jax.core import Tracer

if TYPE_CHECKING:
    from jaxtyping import Float as Float
else:

    class SharedTypes:
        """Types of arrays, such as `Float[Array, "3 3"]`; the same words give the same type.

        jaxtyping makes a new one each time. A start reads 1200 of them in signatures, 300 of which differ.
        """

        def __init__(self, family: Any):
            self._family = family
            self._made: dict[Any, Any] = {}

        def __getitem__(self, words: Any) -> Any:
            """The type of an array of some kind and shape."""
            if words not in self._made:
                self._made[words] = self._family[words]
            return self._made[words]

    Float = SharedTypes(jaxtyping.Float)

# NumPy while every value is a plain number, JAX as soon as one is traced or lives on a device.
Real = np.ndarray | jax.Array
Scalar = Float[Real, ""] | float | int | np.floating
Vector3 = Float[Real, "3"]
Matrix3 = Float[Real, "3 3"]


def namespace(*values: Any) -> ModuleType:
    """`jax.numpy` if any leaf of `values` is a JAX array or tracer, else `numpy`: one source for both."""
    return (
        jnp
        if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values))
        else np
    )


def real(value: Any) -> jax.Array:
    """A double-precision JAX array; never weakly typed, so that compiled code is found again."""
    if isinstance(value, jax.Array):
        return jnp.asarray(value, dtype=float)
    # Host arrays are passed as they are: `jnp.asarray` compiles a program for every shape.
    return jax.device_put(np.asarray(value, dtype=float))


def whole(value: int | jax.Array) -> jax.Array:
    """An integer JAX array; never weakly typed."""
    if isinstance(value, jax.Array):
        return jnp.asarray(value, dtype=jnp.int64)
    return jax.device_put(np.asarray(value, dtype=np.int64))


Module = TypeVar("Module", bound=eqx.Module)


def with_fields(module: Module, **values: Any) -> Module:
    """A frozen module with other values in some of its fields: `dataclasses.replace` without checks and conversions."""
    copy = object.__new__(type(module))
    for name, value in {**vars(module), **values}.items():
        object.__setattr__(copy, name, value)
    return copy


def host_module(kind: type[Module], **fields: Any) -> Module:
    """A frozen module of all its fields, without equinox's checks: for what every run creates on the host."""
    made = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def is_traced(*values: Any) -> bool:
    """True if any leaf of `values` is traced."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def joined(*parts: Any) -> jax.Array:
    """Vectors one after the other; of plain numbers without compiling anything."""
    if is_traced(parts):
        return jnp.concatenate(parts)
    return real(np.concatenate(parts))


def host_real(value: Any) -> Float[np.ndarray, "..."]:
    """A double-precision NumPy array, for what goes into compiled code: far cheaper to make than a JAX array."""
    return np.asarray(value, dtype=float)


def host_whole(value: int) -> np.ndarray:
    """An integer NumPy array, for what goes into compiled code."""
    return np.asarray(value, dtype=np.int64)


class RESULTS(eqx.Enumeration):
    """How a solver ended; the text says what to try next."""

    successful = ""
    newton_diverged = (
        "Newton's iteration did not converge even at the smallest step: "
        "a tighter rtol or a smaller max_step may help."
    )
    step_too_small = "the step size fell below the resolution of time: the motion diverges or a load is not smooth."
    not_finite = (
        "the motion is no longer finite: it diverges, or a configuration is singular."
    )
    interrupted = "the run was interrupted."
    dead_point = "a dead point: the independent joint of a closed chain no longer moves the others."
    too_many_steps = "max_steps was reached: raise solver.max_steps, loosen rtol, or shorten the run."


def picked(values: Any, places: Any) -> jax.Array:
    """Some elements of a vector; of plain numbers without compiling anything."""
    if is_traced(values):
        return values[places]
    return real(np.asarray(values)[places])


def ended_as(result: Any, kind: Any) -> bool:
    """True if a solver ended in the way `kind` of `RESULTS`; on the host, where nothing has to be compiled."""
    # A single number either way; evaluated several times in every run.
    (number,) = jax.tree.leaves(result)
    (wanted,) = jax.tree.leaves(kind)
    return int(number) == int(wanted)
