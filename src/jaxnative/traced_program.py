"""Liveness of a traced program: its values, which of them are needed, and where each is read last."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from jax.extend import core

from .jaxpr import CALLS, closed
from .marks import FUNCTIONS
from .values import Value

Wanted = tuple[bool, ...]  # for each of some outputs or operands


class Environment:
    """Values of one traced program while it is walked through; it owns the memory it allocates."""

    def __init__(self, owner: "Environment | None" = None) -> None:
        self.values: dict[Any, Value] = {}
        self.owner = self if owner is None else owner


def sole_call(program: Any) -> Any:
    """The call of a marked function that is all a traced program does; None where it does anything else."""
    jaxpr = program.jaxpr
    if program.consts or len(jaxpr.eqns) != 1:
        return None
    (equation,) = jaxpr.eqns
    if equation.params.get("name") not in FUNCTIONS:
        return None
    handed_on = all(atom in jaxpr.invars for atom in equation.invars)
    is_all = list(jaxpr.outvars) == list(equation.outvars)
    return equation if handed_on and is_all else None


class Need(NamedTuple):
    """Outputs of an equation that are needed, and the operands that they need."""

    outputs: Wanted
    operands: Wanted


class Needs(NamedTuple):
    """What the wanted outputs of a traced program need of it; the rest is not translated."""

    equations: list[Need | None]  # None: nobody needs the equation
    inputs: Wanted
    # For each variable the number of the equation that reads it last; outputs are read at the end.
    last: dict[Any, int]
    counts: dict[Any, int]  # how often each variable is read


# The same program is walked through in many places.
_needs: WeakKeyDictionary[Any, dict[Wanted, Needs]] = WeakKeyDictionary()


def needs_of(jaxpr: Any, wanted: Wanted) -> Needs:
    """What these outputs of a traced program need of it."""
    known = _needs.setdefault(jaxpr, {})
    if wanted not in known:
        known[wanted] = _found_needs(jaxpr, wanted)
    return known[wanted]


def _found_needs(jaxpr: Any, wanted: Wanted) -> Needs:
    last: dict[Any, int] = {}
    counts: dict[Any, int] = {}

    def read(number: int, atoms: Sequence[Any], which: Wanted) -> None:
        for atom, is_read in zip(atoms, which, strict=True):
            if is_read and not isinstance(atom, core.Literal):
                last.setdefault(atom, number)
                counts[atom] = counts.get(atom, 0) + 1

    equations: list[Need | None] = [None] * len(jaxpr.eqns)
    read(len(equations), jaxpr.outvars, wanted)
    # What reads a variable stands behind what makes it.
    for number in reversed(range(len(equations))):
        equation = jaxpr.eqns[number]
        outputs = tuple(variable in counts for variable in equation.outvars)
        if any(outputs) or equation.effects:
            need = Need(outputs, _operands_of(equation, outputs))
            read(number, equation.invars, need.operands)
            equations[number] = need
    inputs = tuple(variable in counts for variable in jaxpr.invars)
    return Needs(equations, inputs, last, counts)


def _operands_of(equation: Any, wanted: Wanted) -> Wanted:
    """The operands that some outputs of an equation need: not always all of a call that is written out."""
    place = CALLS.get(equation.primitive.name)
    if place is None or equation.params.get("name") in FUNCTIONS:
        return (True,) * len(equation.invars)
    return needs_of(closed(equation.params[place]).jaxpr, wanted).inputs
