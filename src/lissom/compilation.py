"""Compilation for code that runs once or twice: translated quickly instead of optimised at length."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
from jax.core import Tracer

QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
F = TypeVar("F", bound=Callable[..., Any])


def compiled_quickly(function: F) -> F:
    """`equinox.filter_jit` without XLA's costly optimisation: compiles several times faster, runs a few times slower.

    Inside another transformation (`jit`, `grad`, `vmap`) it is an ordinary jitted function, as JAX demands.
    """
    options: Any = {"compiler_options": QUICK}
    quick, ordinary = eqx.filter_jit(function, **options), eqx.filter_jit(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        traced = any(
            isinstance(leaf, Tracer) for leaf in jax.tree.leaves((args, kwargs))
        )
        return (ordinary if traced else quick)(*args, **kwargs)

    return call  # type: ignore[return-value]
