"""Runs a traced JAX program on values of any kind: numbers, power series, symbols, instructions of another machine.

The walker knows what a program is made of (calls, loops, branches, operations) and nothing about values. What a
constant is and what an operation does to values says a `Rules` object: one set of rules for each kind of value.
"""

import abc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from jax.extend import core

Value = TypeVar("Value")
Program = core.ClosedJaxpr

# Operations that only call an inner program, and the parameter that holds it.
CALLS = {
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


@dataclass(frozen=True)
class Routine(Generic[Value]):
    """An inner program whose first operands are the same at every call."""

    program: Program
    fixed: list[Value]


@dataclass(frozen=True)
class Scan(Generic[Value]):
    """A loop over the rows of arrays: the body takes carry and rows, and gives carry and rows of outputs."""

    body: Routine[Value]
    carry: list[Value]
    stacks: list[Value]  # arrays whose first axis the loop runs along
    length: int
    reverse: bool  # from the last row to the first


@dataclass(frozen=True)
class WhileLoop(Generic[Value]):
    """A loop that goes on as long as its condition holds."""

    test: Routine[Value]
    body: Routine[Value]
    carry: list[Value]


@dataclass(frozen=True)
class Branch(Generic[Value]):
    """One of several programs, chosen by a number."""

    choice: Value
    programs: list[Program]
    operands: list[Value]


@dataclass(frozen=True)
class LinearSolve(Generic[Value]):
    """Solution y of A y = b, with the products A y and a way to solve, both as programs."""

    product: Routine[Value]
    solution: Routine[Value]
    b: list[Value]


class Rules(abc.ABC, Generic[Value]):
    """What the parts of a program mean for one kind of value."""

    @abc.abstractmethod
    def constant(self, number: np.ndarray) -> Value:
        """A constant of the program, as a value."""

    @abc.abstractmethod
    def operation(self, name: str) -> Callable[..., Any] | None:
        """Rule of the operation of this name, called `rule(params, *operands)`; `None` if there is none."""

    @abc.abstractmethod
    def unknown(self, primitive: Any, params: Any, operands: list[Value]) -> Any:
        """What an operation without a rule gives, in the form in which the operation itself would give it."""

    @abc.abstractmethod
    def scan(self, loop: Scan[Value]) -> list[Value]:
        """Last carry, then outputs stacked along a first axis; `unroll` does it row by row."""

    @abc.abstractmethod
    def while_loop(self, loop: WhileLoop[Value]) -> list[Value]:
        """Last carry."""

    @abc.abstractmethod
    def branch(self, branch: Branch[Value]) -> list[Value]:
        """Outputs of the chosen program."""

    def call(self, program: Program, operands: Sequence[Value]) -> list[Value]:
        """Outputs of an inner program: inlined, unless a set of rules keeps functions."""
        return run(self, program, operands)

    def linear_solve(self, system: LinearSolve[Value]) -> list[Value]:
        """Solution of a linear system: by the program's own method, unless a set of rules has another."""
        return run_routine(self, system.solution, system.b)


def run(
    rules: Rules[Value], program: Program, operands: Iterable[Value]
) -> list[Value]:
    """Outputs of a traced program."""
    jaxpr = program.jaxpr
    values: dict[Any, Value] = {}

    def value_of(atom):
        if isinstance(atom, core.Literal):
            return rules.constant(np.asarray(atom.val))
        return values[atom]

    for variable, number in zip(jaxpr.constvars, program.consts, strict=True):
        values[variable] = rules.constant(np.asarray(number))
    values.update(zip(jaxpr.invars, operands, strict=True))
    for equation in jaxpr.eqns:
        inputs = [value_of(atom) for atom in equation.invars]
        outputs = _perform(rules, equation, inputs)
        values.update(zip(equation.outvars, outputs, strict=True))
    return [value_of(atom) for atom in jaxpr.outvars]


def run_routine(
    rules: Rules[Value], routine: Routine[Value], operands: Iterable[Value]
) -> list[Value]:
    """Outputs of a routine."""
    return rules.call(routine.program, [*routine.fixed, *operands])


def unroll(
    rules: Rules[Value],
    loop: Scan[Value],
    row: Callable[[Value, int], Value],
    stack: Callable[[Sequence[Value]], Value],
) -> list[Value]:
    """A loop over rows, run row by row.

    Args:
        rules: what the body means.
        loop: the loop.
        row: one row of a value.
        stack: joins rows again, first one first.
    """
    numbers = range(loop.length)
    if loop.reverse:
        numbers = reversed(numbers)
    n_carry = len(loop.carry)
    carry = loop.carry
    rows: list[list[Value]] = [[] for _ in range(loop.length)]
    for i in numbers:
        inputs = [row(value, i) for value in loop.stacks]
        outputs = run_routine(rules, loop.body, [*carry, *inputs])
        carry = outputs[:n_carry]
        rows[i] = outputs[n_carry:]
    columns = zip(*rows, strict=True)
    return [*carry, *[stack(column) for column in columns]]


def reached_outputs(program: Program, reached: Sequence[bool]) -> list[bool]:
    """Which outputs depend on the inputs that are `reached`, comparisons and choices included."""
    jaxpr = program.jaxpr
    pairs = zip(jaxpr.invars, reached, strict=True)
    # By identity: literals cannot be compared.
    touched = {id(variable) for variable, is_reached in pairs if is_reached}

    def is_touched(atom):
        return id(atom) in touched

    for equation in jaxpr.eqns:
        inputs = [is_touched(atom) for atom in equation.invars]
        name = equation.primitive.name
        if name in CALLS:
            inner = closed(equation.params[CALLS[name]])
            outputs = reached_outputs(inner, inputs)
        else:
            outputs = [any(inputs)] * len(equation.outvars)
        for variable, is_reached in zip(equation.outvars, outputs, strict=True):
            if is_reached:
                touched.add(id(variable))
    return [is_touched(atom) for atom in jaxpr.outvars]


def parameter_ends_loop(
    loop: WhileLoop[Value], depends: Callable[[Value], bool]
) -> bool:
    """Whether values that depend on an input decide when a loop ends."""
    fixed = [depends(value) for value in loop.body.fixed]
    carry = [depends(value) for value in loop.carry]
    # What a round reaches, the next one hands on: until nothing is added.
    while True:
        later = reached_outputs(loop.body.program, [*fixed, *carry])
        both = [a or b for a, b in zip(carry, later, strict=True)]
        if both == carry:
            break
        carry = both
    of_test = [depends(value) for value in loop.test.fixed]
    return any(reached_outputs(loop.test.program, [*of_test, *carry]))


# --- one equation


def _perform(rules: Rules[Value], equation: Any, operands: list[Value]) -> list[Value]:
    name = equation.primitive.name
    params = equation.params
    if name in CALLS:
        return rules.call(closed(params[CALLS[name]]), operands)
    if name in CONTROL_FLOW:
        return CONTROL_FLOW[name](rules, params, operands)
    rule = rules.operation(name)
    if rule is None:
        outputs = rules.unknown(equation.primitive, params, operands)
    else:
        outputs = rule(params, *operands)
    return outputs if equation.primitive.multiple_results else [outputs]


def closed(program: Any) -> Program:
    """A program with its constants; some operations hold theirs without any."""
    # From version 0.11 on JAX has one class for programs with and without.
    return program if isinstance(program, Program) else Program(program, ())


def scan_sizes(params: Any) -> tuple[int, int]:
    """How many operands of a `scan` are the same in every round, and how many go round."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    # From version 0.11 on JAX keeps its operands in groups.
    same, carried, _ = params["ft_in"].unpack()
    return len(list(same)), len(list(carried))


def _scan(rules: Rules[Value], params: Any, operands: list[Value]) -> list[Value]:
    sizes = scan_sizes(params)
    fixed, carry, stacks = groups(operands, *sizes)
    body = Routine(params["jaxpr"], fixed)
    loop = Scan(body, carry, stacks, params["length"], params["reverse"])
    return rules.scan(loop)


def _while(rules: Rules[Value], params: Any, operands: list[Value]) -> list[Value]:
    sizes = (params["cond_nconsts"], params["body_nconsts"])
    for_test, for_body, carry = groups(operands, *sizes)
    test = Routine(params["cond_jaxpr"], for_test)
    body = Routine(params["body_jaxpr"], for_body)
    return rules.while_loop(WhileLoop(test, body, carry))


def _cond(rules: Rules[Value], params: Any, operands: list[Value]) -> list[Value]:
    choice, *others = operands
    programs = list(params["branches"])
    return rules.branch(Branch(choice, programs, others))


def _linear_solve(
    rules: Rules[Value], params: Any, operands: list[Value]
) -> list[Value]:
    n = params["const_lengths"]
    programs = params["jaxprs"]
    # Operands of products with A^T and of solves with it come along for reverse derivatives; no rule needs them.
    for_product, _, for_solution, _, b = groups(
        operands, n.matvec, n.vecmat, n.solve, n.transpose_solve
    )
    product = Routine(programs.matvec, for_product)
    solution = Routine(programs.solve, for_solution)
    return rules.linear_solve(LinearSolve(product, solution, b))


def groups(values: list[Value], *sizes: int) -> list[list[Value]]:
    """Groups of these sizes, and the rest."""
    found = []
    for size in sizes:
        found.append(values[:size])
        values = values[size:]
    return [*found, values]


CONTROL_FLOW = {
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "custom_linear_solve": _linear_solve,
}
