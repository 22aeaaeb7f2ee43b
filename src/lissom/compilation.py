"""Compilation: quickly for code that runs once or twice, and ahead of time for code that is then run many times."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
F = TypeVar("F", bound=Callable[..., Any])


def compiled_quickly(function: F) -> F:
    """`equinox.filter_jit` without XLA's costly optimisation: compiles several times faster, runs a few times slower.

    Inside another transformation (`jit`, `grad`, `vmap`) it is an ordinary jitted function, as JAX demands.
    """
    options: Any = {"compiler_options": QUICK}
    quick = eqx.filter_jit(function, **options)
    ordinary = eqx.filter_jit(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = jax.tree.leaves((args, kwargs))
        is_traced = any(isinstance(leaf, Tracer) for leaf in leaves)
        return (ordinary if is_traced else quick)(*args, **kwargs)

    return call  # type: ignore[return-value]


class CompiledAhead:
    """A function that is compiled for given shapes before it is called: `prepare` it, then call it.

    Arrays, and `jax.ShapeDtypeStruct` in their place while preparing, are inputs of the compiled code; everything else
    in the arguments is structure. Each structure is compiled once in a process.
    """

    def __init__(self, function: Callable[..., Any], **options: Any):
        self._function = function
        self._options = options
        self._programs: dict[Any, _Program] = {}

    def prepare(self, *args: Any) -> Any:
        """Compile for arguments of these shapes; the shapes of what a call will return."""
        return self._program(args).result

    def __call__(self, *args: Any) -> Any:
        """Value of the function."""
        program = self._program(args)
        numbers, _ = _split(args)
        return program.call(numbers)

    def _program(self, args: tuple[Any, ...]) -> "_Program":
        numbers, structure = _split(args)
        shapes = tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in numbers)
        key = (structure, shapes)
        if key not in self._programs:
            self._programs[key] = self._compiled(numbers, structure)
        return self._programs[key]

    def _compiled(self, numbers: list[Any], structure: Any) -> "_Program":
        # What the function returns beside arrays (a class, a name) is set aside while tracing and put back after.
        rest: list[Any] = []

        def on_arrays(numbers: list[Any]) -> Any:
            value = self._function(*_joined(numbers, structure))
            arrays, other = eqx.partition(value, eqx.is_array)
            rest.append(other)
            return arrays

        shapes = [jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype) for leaf in numbers]
        jitted = jax.jit(on_arrays, compiler_options=self._options or None)
        traced = jitted.trace(shapes)
        result = jax.tree.map(
            lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), traced.out_info
        )
        program = traced.lower().compile()
        return _Program(
            call=lambda numbers: eqx.combine(program(numbers), rest[0]),
            result=eqx.combine(result, rest[0]),
        )


class _Program(NamedTuple):
    """Compiled code for one structure of arguments, and the shapes of its result."""

    call: Callable[[list[Any]], Any]
    result: Any


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | jax.ShapeDtypeStruct)


def _split(args: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """Arrays among the arguments, and all the rest as one hashable thing."""
    leaves, tree = jax.tree.flatten(args)
    numbers = [leaf for leaf in leaves if _is_number(leaf)]
    others = tuple(None if _is_number(leaf) else leaf for leaf in leaves)
    places = tuple(_is_number(leaf) for leaf in leaves)
    return numbers, (tree, places, others)


def _joined(numbers: list[Any], structure: Any) -> tuple[Any, ...]:
    """The arguments again."""
    tree, places, others = structure
    next_number = iter(numbers)
    leaves = [
        next(next_number) if is_number else other
        for is_number, other in zip(places, others, strict=True)
    ]
    return jax.tree.unflatten(tree, leaves)
