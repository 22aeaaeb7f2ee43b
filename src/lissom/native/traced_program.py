"""A traced program as it is walked through: its values, and when each of them is read."""

from typing import Any

from jax.extend import core

from .marks import KEPT
from .values import Value


class Environment:
    """Values of one traced program while it is walked through; it owns the memory it allocates."""

    def __init__(self, owner: "Environment | None" = None) -> None:
        self.values: dict[Any, Value] = {}
        self.owner = self if owner is None else owner


def closed(program: Any) -> Any:
    """A traced program with its constants, also of one that has none."""
    if isinstance(program, core.Jaxpr):
        return core.ClosedJaxpr(program, ())
    return program


def sole_call(program: Any) -> Any:
    """The call of a kept function that is all a traced program does; None where it does anything else."""
    jaxpr = program.jaxpr
    if program.consts or len(jaxpr.eqns) != 1:
        return None
    (equation,) = jaxpr.eqns
    if equation.params.get("name") != KEPT:
        return None
    handed_on = all(atom in jaxpr.invars for atom in equation.invars)
    is_all = list(jaxpr.outvars) == list(equation.outvars)
    return equation if handed_on and is_all else None


def last_uses(jaxpr: Any) -> dict[Any, int]:
    """For each variable the number of the equation that reads it last; outputs are read at the end."""
    last: dict[Any, int] = {}
    for number, equation in enumerate(jaxpr.eqns):
        for atom in equation.invars:
            if not isinstance(atom, core.Literal):
                last[atom] = number
    for atom in jaxpr.outvars:
        if not isinstance(atom, core.Literal):
            last[atom] = len(jaxpr.eqns)
    return last


def use_counts(jaxpr: Any) -> dict[Any, int]:
    """How often each variable is read."""
    counts: dict[Any, int] = {}
    for atoms in (*[e.invars for e in jaxpr.eqns], jaxpr.outvars):
        for atom in atoms:
            if not isinstance(atom, core.Literal):
                counts[atom] = counts.get(atom, 0) + 1
    return counts
