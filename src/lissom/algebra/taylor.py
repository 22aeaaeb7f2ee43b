"""Taylor coefficients of a JAX function in several variables, to any total order, in one pass.

The function is traced once to its straight-line program; every array in it then becomes a truncated power series
(Taylor-mode differentiation). Only terms that exist are formed, nothing is compiled, and the order is free.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative import jaxpr
from jaxnative.jaxpr import Branch, LinearSolve, Program, Rules, Scan, WhileLoop

from .monomials import Monomials, monomials_of
from .series import Series, add_series, constant, from_dense
from .series_rules import RULES
from .series_rules.rearrangement import stack

AT_REST = 1e-9  # change of a coefficient between two rounds of an iteration that counts as rounding


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
    coefficients = [part.dense(monomials.size) for part in outputs]
    return jax.tree.unflatten(jax.tree.structure(shape), coefficients)


def variables(monomials: Monomials, at: np.ndarray) -> Series:
    """The variables themselves as a series: their values and one first-order term each."""
    data = np.zeros((monomials.size, at.size))
    data[0] = at
    if monomials.order:
        first = np.flatnonzero(monomials.degree == 1)
        data[first, monomials.factor[first]] = 1.0
    return from_dense(data)


def push_forward(
    monomials: Monomials, program: Program, inputs: Sequence[Series]
) -> list[Series]:
    """Run a traced program on series.

    Raises:
        SeriesError: as for `taylor_coefficients`.
    """
    # Infinite terms are found below; NumPy need not warn of them.
    with np.errstate(all="ignore"):
        outputs = jaxpr.run(SeriesRules(monomials), program, inputs)
    for part in outputs:
        _require_finite(monomials, part)
    return outputs


def _require_finite(monomials: Monomials, part: Series) -> None:
    flat = part.data.reshape(len(part.data), -1)
    finite = np.isfinite(flat).all(axis=1)
    if finite.all():
        return
    # Terms stand in the order of their degree: the first is the lowest.
    term = part.terms[~finite][0]
    raise SeriesError(
        f"no Taylor series exists at this point: terms of order {monomials.degree[term]} are not finite"
    )


@dataclass(frozen=True)
class SeriesRules(Rules[Series]):
    """A program on power series: loops and branches follow the constant terms."""

    monomials: Monomials

    def constant(self, number: np.ndarray) -> Series:
        """A series of one term."""
        return constant(number)

    def operation(self, name: str) -> Callable[..., Any] | None:
        """Rule of the operation, for these monomials."""
        if name not in RULES:
            return None
        return functools.partial(RULES[name], self.monomials)

    def unknown(self, primitive: Any, params: Any, operands: list[Series]) -> Any:
        """An operation on constants is done by JAX; a parameter must not reach it."""
        if not all(operand.constant for operand in operands):
            raise SeriesError(
                f"the operation '{primitive.name}' has no Taylor series rule: a parameter must not reach it"
            )
        numbers = [jnp.asarray(operand.value) for operand in operands]
        result = primitive.bind(*numbers, **params)
        if primitive.multiple_results:
            return [constant(np.asarray(part)) for part in result]
        return constant(np.asarray(result))

    def scan(self, loop: Scan[Series]) -> list[Series]:
        """Outputs of a loop over rows, run row by row."""
        return jaxpr.unroll(self, loop, _row, self._stack)

    def _stack(self, rows: Sequence[Series]) -> Series:
        return stack(self.monomials, {"axis": 0}, *rows)

    def while_loop(self, loop: WhileLoop[Series]) -> list[Series]:
        """As often as the constant terms say; an iteration towards a solution then goes on for the orders above them.

        Raises:
            SeriesError: the end of the loop depends on a parameter, and what it computes does not converge.
        """
        carry = loop.carry
        while self._goes_on(loop, carry):
            carry = jaxpr.run_routine(self, loop.body, carry)
        has_a_say = jaxpr.parameter_ends_loop(loop, lambda value: not value.constant)
        return self._at_rest(loop, carry) if has_a_say else carry

    def _at_rest(self, loop: WhileLoop[Series], carry: list[Series]) -> list[Series]:
        """The carry when the orders above the constant terms do not change any more, as those of Newton's method."""
        # Every round settles one order more, Newton's method twice as many.
        for _ in range(self.monomials.order + 2):
            later = jaxpr.run_routine(self, loop.body, carry)
            pairs = list(zip(carry, later, strict=True))
            carry = later
            if all(_is_at_rest(before, after) for before, after in pairs):
                return carry
        raise SeriesError(
            "a loop whose length depends on a parameter, and which does not converge "
            "to a solution, has no Taylor series"
        )

    def _goes_on(self, loop: WhileLoop[Series], carry: list[Series]) -> bool:
        (test,) = jaxpr.run_routine(self, loop.test, carry)
        return bool(test.value)

    def branch(self, branch: Branch[Series]) -> list[Series]:
        """The branch that the constant term chooses."""
        last = len(branch.programs) - 1
        number = int(np.clip(branch.choice.value, 0, last))
        return jaxpr.run(self, branch.programs[number], branch.operands)

    def linear_solve(self, system: LinearSolve[Series]) -> list[Series]:
        """A y = b: the constant part is solved as the program says, the orders above it one by one."""
        fixed = [constant(part.value) for part in system.solution.fixed]
        by_constant_part = jaxpr.Routine(system.solution.program, fixed)
        y = jaxpr.run_routine(self, by_constant_part, system.b)
        # Every correction by the constant part alone settles one order more.
        for _ in range(self.monomials.order):
            Ay = jaxpr.run_routine(self, system.product, y)
            pairs = zip(system.b, Ay, strict=True)
            left = [_difference(b, part) for b, part in pairs]
            dy = jaxpr.run_routine(self, by_constant_part, left)
            y = [add_series(pair) for pair in zip(y, dy, strict=True)]
        return y


def _row(series: Series, i: int) -> Series:
    return series.each(lambda data: data[:, i])


def _difference(a: Series, b: Series) -> Series:
    return add_series([a, b.each(np.negative)])


def _is_at_rest(before: Series, after: Series) -> bool:
    """Whether two rounds of an iteration give the same; numbers without a parameter in them, as counters, may not."""
    if before.constant and after.constant:
        return True
    change = np.abs(_difference(after, before).data)
    size = np.abs(after.data).max(initial=0.0)
    return bool(change.max(initial=0.0) <= AT_REST * (1.0 + size))
