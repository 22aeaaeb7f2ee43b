"""Operations stand where they are used: the program is the same, and few numbers wait."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import pattern_of
from jaxnative.ordering import order_operations
from jaxnative.program import StoreNumber
from jaxnative.translate import Module


def wave(x):
    """Array after array: as traced, all numbers of one wait for the next."""
    y = jnp.sin(x) * x
    z = y + 2.0 * x
    return (z * y + x) * z


def program_of(function, *arguments):
    traced = jax.make_jaxpr(function)(*arguments)
    pattern = pattern_of(list(arguments), [False] * len(arguments))
    variables = traced.jaxpr.invars
    forms = [(v.aval, k) for v, k in zip(variables, pattern.known, strict=True)]
    return Module("ordered").function(traced, forms, True)[0]


def most_waiting(function):
    """Numbers that are computed and still needed, at the worst place."""
    last = {}
    for place, statement in enumerate(function.block):
        for node in operands(function, statement):
            last[node] = place
    waiting, most = set(), 0
    for place, statement in enumerate(function.block):
        waiting = {node for node in waiting if last.get(node, -1) > place}
        if isinstance(statement, int):
            waiting.add(statement)
        most = max(most, len(waiting))
    return most


def operands(function, statement):
    if isinstance(statement, StoreNumber):
        return [abs(statement.value), abs(statement.index)]
    return [abs(a) for a in function.args[statement] if isinstance(a, int)]


def test_nothing_is_used_before_it_is_there_and_nothing_is_lost():
    function = program_of(wave, np.linspace(0.1, 2.0, 40))
    # A load, seven operations and a store for each element.
    assert len(function.block) == 40 * 9
    seen = set()
    for statement in function.block:
        needed = operands(function, statement)
        assert all(node in seen or function.op[node] == "const" for node in needed)
        if isinstance(statement, int):
            seen.add(statement)


def test_few_numbers_wait():
    function = program_of(wave, np.linspace(0.1, 2.0, 40))
    # x, y, z and one product, for one element after the other.
    assert most_waiting(function) <= 5
    order_operations(function)
    assert most_waiting(function) <= 5
