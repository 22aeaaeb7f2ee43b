"""Taylor coefficients of a JAX function in several variables, to any total order, in one pass.

The function is traced once to its straight-line program; every array in it then becomes a truncated power series
(Taylor-mode differentiation). Only terms that exist are formed, nothing is compiled, and the order is free.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from .monomials import Monomials, monomials_of
from .series import Series, constant, of_dense, refine, total
from .series_rules import RULES

INLINE = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vmap_call": "call",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
    "remat": "jaxpr",
}


class SeriesError(ValueError):
    """A function has no Taylor series here, or contains an operation without a rule."""


def taylor_coefficients(function: Callable, at: Any, order: int) -> Any:
    """Coefficients of `function` about the point `at` (p variables): its outputs with a first axis over the terms.

    The terms are those of `Monomials(p, order)`: coefficient k times monomial k of (x - at), summed, is the value.

    Raises:
        SeriesError: the function is not analytic at this point, or uses an operation without a series rule.
    """
    at = np.asarray(at, dtype=float)
    monomials = monomials_of(at.size, order)
    program, shape = jax.make_jaxpr(function, return_shape=True)(jnp.asarray(at))
    outputs = push_forward(monomials, program, [variables(monomials, at)])
    return jax.tree.unflatten(
        jax.tree.structure(shape), [part.dense(monomials.size) for part in outputs]
    )


def variables(monomials: Monomials, at: np.ndarray) -> Series:
    """The variables themselves as a series: their values and one first-order term each."""
    data = np.zeros((monomials.size, at.size))
    data[0] = at
    if monomials.order:
        first = np.flatnonzero(monomials.degree == 1)
        data[first, monomials.factor[first]] = 1.0
    return of_dense(data)


def push_forward(
    monomials: Monomials, program: core.ClosedJaxpr, inputs: Sequence[Series]
) -> list[Series]:
    """Run a traced program on series.

    Raises:
        SeriesError: as for `taylor_coefficients`.
    """
    with np.errstate(all="ignore"):
        outputs = _run(
            monomials,
            program.jaxpr,
            [constant(np.asarray(c)) for c in program.consts],
            inputs,
        )
    for part in outputs:
        if not np.isfinite(part.data).all():
            low = int(
                monomials.degree[
                    part.terms[
                        ~np.isfinite(part.data.reshape(len(part.data), -1)).all(axis=1)
                    ][0]
                ]
            )
            raise SeriesError(
                f"no Taylor series exists at this point: terms of order {low} are not finite"
            )
    return outputs


def _run(
    m: Monomials, program: Any, consts: Sequence[Series], inputs: Sequence[Series]
) -> list[Series]:
    values: dict[Any, Series] = dict(
        zip([*program.constvars, *program.invars], [*consts, *inputs], strict=True)
    )
    for equation in program.eqns:
        operands = [
            constant(np.asarray(v.val)) if isinstance(v, core.Literal) else values[v]
            for v in equation.invars
        ]
        outputs = _apply(m, equation, operands)
        values.update(zip(equation.outvars, outputs, strict=True))
    return [
        constant(np.asarray(v.val)) if isinstance(v, core.Literal) else values[v]
        for v in program.outvars
    ]


def _apply(m: Monomials, equation: Any, operands: list[Series]) -> list[Series]:
    name, params = equation.primitive.name, equation.params
    if name in INLINE:
        return _call(m, params[INLINE[name]], operands)
    if name in CONTROL:
        return CONTROL[name](m, params, operands)
    if name in RULES:
        out = RULES[name](m, params, *operands)
        return out if equation.primitive.multiple_results else [out]
    if all(x.constant for x in operands):
        out = equation.primitive.bind(
            *[jnp.asarray(x.value) for x in operands], **params
        )
        return [
            constant(np.asarray(v))
            for v in (out if equation.primitive.multiple_results else [out])
        ]
    raise SeriesError(
        f"the operation '{name}' has no Taylor series rule: a parameter must not reach it"
    )


def _call(m: Monomials, program: Any, operands: Sequence[Series]) -> list[Series]:
    if hasattr(program, "consts"):
        return _run(
            m,
            program.jaxpr,
            [constant(np.asarray(c)) for c in program.consts],
            operands,
        )
    return _run(m, program, [], operands)


def _scan(m: Monomials, params: Any, operands: list[Series]) -> list[Series]:
    n_fixed, n_carry, length = (
        params["num_consts"],
        params["num_carry"],
        params["length"],
    )
    fixed, carry, rows = (
        operands[:n_fixed],
        operands[n_fixed : n_fixed + n_carry],
        operands[n_fixed + n_carry :],
    )
    stacked = []
    for i in reversed(range(length)) if params["reverse"] else range(length):
        out = _call(
            m,
            params["jaxpr"],
            [*fixed, *carry, *[row.each(lambda d, i=i: d[:, i]) for row in rows]],
        )
        carry = out[:n_carry]
        stacked.append(out[n_carry:])
    if params["reverse"]:
        stacked.reverse()
    columns = [
        RULES["stack"](m, {"axis": 0}, *parts) for parts in zip(*stacked, strict=True)
    ]
    return [*carry, *columns]


def _while(m: Monomials, params: Any, operands: list[Series]) -> list[Series]:
    n_test, n_body = params["cond_nconsts"], params["body_nconsts"]
    test, body, carry = (
        operands[:n_test],
        operands[n_test : n_test + n_body],
        operands[n_test + n_body :],
    )
    program = params["cond_jaxpr"].jaxpr
    used = {id(v) for equation in program.eqns for v in equation.invars}
    watched = [k for k, v in enumerate(program.invars) if id(v) in used]
    while bool(_call(m, params["cond_jaxpr"], [*test, *carry])[0].value):
        if any(not [*test, *carry][k].constant for k in watched):
            raise SeriesError(
                "an iteration that ends by the value of a parameter has no Taylor series rule"
            )
        carry = _call(m, params["body_jaxpr"], [*body, *carry])
    return carry


def _cond(m: Monomials, params: Any, operands: list[Series]) -> list[Series]:
    branches = params["branches"]
    return _call(
        m, branches[int(np.clip(operands[0].value, 0, len(branches) - 1))], operands[1:]
    )


def _linear_solve(m: Monomials, params: Any, operands: list[Series]) -> list[Series]:
    """A y = b: the constant part is solved as the function says, the orders above it one by one."""
    lengths, programs = params["const_lengths"], params["jaxprs"]
    ends = np.cumsum(
        [lengths.matvec, lengths.vecmat, lengths.solve, lengths.transpose_solve]
    )
    product_consts, solve_consts, b = (
        operands[: ends[0]],
        operands[ends[1] : ends[2]],
        operands[ends[3] :],
    )
    fixed = [constant(c.value) for c in solve_consts]

    def solve(r):
        return _call(m, programs.solve, [*fixed, *r])

    y = solve(b)
    for _ in range(m.order):
        Ay = _call(m, programs.matvec, [*product_consts, *y])
        left = [
            total([bi, part.each(np.negative)]) for bi, part in zip(b, Ay, strict=True)
        ]
        y = [total([yi, dy]) for yi, dy in zip(y, solve(left), strict=True)]
    return y


CONTROL = {
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "custom_linear_solve": _linear_solve,
}

__all__ = ["SeriesError", "push_forward", "refine", "taylor_coefficients", "variables"]
