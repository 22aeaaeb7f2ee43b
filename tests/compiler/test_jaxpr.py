"""The walker through traced programs serves any kind of value: here plain NumPy arrays, with a count of operations."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from jaxnative import jaxpr
from jaxnative.jaxpr import Branch, Rules, Scan, WhileLoop

AT = np.array([0.4, -0.3, 0.7])

ELEMENTWISE = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sin": np.sin,
    "cos": np.cos,
    "lt": np.less,
    "gt": np.greater,
}


class NumpyRules(Rules[np.ndarray]):
    """Programs run on NumPy arrays; scalar operations are counted by name."""

    def __init__(self):
        self.count = collections.Counter()
        self.calls = 0

    def constant(self, number):
        return number

    def operation(self, name):
        if name in ELEMENTWISE:
            return lambda params, *operands: self._elementwise(name, operands)
        return OTHERS.get(name)

    def _elementwise(self, name, operands):
        result = ELEMENTWISE[name](*operands)
        self.count[name] += np.size(result)
        return result

    def unknown(self, primitive, params, operands):
        raise NotImplementedError(primitive.name)

    def call(self, program, operands):
        self.calls += 1
        return super().call(program, operands)

    def scan(self, loop: Scan):
        return jaxpr.unroll(self, loop, lambda value, i: value[i], np.stack)

    def while_loop(self, loop: WhileLoop):
        carry = loop.carry
        while jaxpr.run_routine(self, loop.test, carry)[0]:
            carry = jaxpr.run_routine(self, loop.body, carry)
        return carry

    def branch(self, branch: Branch):
        return jaxpr.run(self, branch.programs[int(branch.choice)], branch.operands)


def broadcast(params, a):
    shape = [1] * len(params["shape"])
    for size, axis in zip(np.shape(a), params["broadcast_dimensions"], strict=True):
        shape[axis] = size
    return np.broadcast_to(np.reshape(a, shape), params["shape"])


OTHERS = {
    "convert_element_type": lambda params, a: np.asarray(a, params["new_dtype"]),
    "integer_pow": lambda params, a: a ** params["y"],
    "broadcast_in_dim": broadcast,
    "reshape": lambda params, a: np.reshape(a, params["new_sizes"]),
    "squeeze": lambda params, a: np.squeeze(a, params["dimensions"]),
    "reduce_sum": lambda params, a: np.sum(a, axis=params["axes"]),
    "select_n": lambda params, which, *cases: np.choose(np.asarray(which, int), cases),
    "clamp": lambda params, low, a, high: np.clip(a, low, high),
    "copy": lambda params, a: a,
    "slice": lambda params, a: a[params["start_indices"][0] : params["limit_indices"][0]],
}  # fmt: skip


@jax.custom_jvp
def smooth(x):
    return jnp.sin(x) * x


smooth.defjvp(lambda primals, tangents: (smooth(*primals), 7.0 * tangents[0]))


@jax.custom_batching.custom_vmap
def shifted(x):
    return x + 1.0


shifted.def_vmap(lambda size, batched, x: (x - 1.0, True))


def scan(x):
    def body(carry, row):
        return carry * row + x[1], (carry, row * x)

    return jax.lax.scan(body, x[0], x)


def backwards(x):
    return jax.lax.scan(lambda carry, row: (carry + row, carry), 0.0, x, reverse=True)


def rows_only(x):
    return jax.lax.map(lambda row: row * 2.0, x)


def loop(x):
    limit = 20.0 * x[2]

    def test(state):
        return state[0] < limit

    def body(state):
        return state[0] + 1.0, state[1] * x[0]

    return jax.lax.while_loop(test, body, (0.0, 1.0))


def branch(x):
    which = jnp.where(x[0] > 0.0, 2, 0)
    return jax.lax.switch(which, [jnp.sin, jnp.cos, lambda x: x * x], x)


def inner(x):
    return jax.jit(jax.jit(lambda a: a * x))(x + 1.0)


def system(x):
    # 2 y = x, solved as y = x / 2.
    return jax.lax.custom_linear_solve(
        lambda y: 2.0 * y, x, lambda _, b: b / 2.0, lambda _, b: b / 2.0
    )


def everything(x):
    carry, (before, products) = scan(jax.checkpoint(smooth)(x))
    count, power = loop(x)
    return {
        "outputs": (carry * products, before + branch(inner(x))),
        "again": jax.vmap(shifted)(system(x)) * count + power,
        "constant": 3.0,
        "table": x * np.array([1.0, 2.0, 4.0]),
        "untouched": x,
    }


FUNCTIONS = {
    function.__name__: function
    for function in (
        smooth,
        shifted,
        scan,
        backwards,
        rows_only,
        loop,
        branch,
        inner,
        system,
        everything,
    )
}


def walk(function, x, rules=None):
    program, shape = jax.make_jaxpr(function, return_shape=True)(jnp.asarray(x))
    outputs = jaxpr.run(rules or NumpyRules(), program, [x])
    return jax.tree.unflatten(jax.tree.structure(shape), outputs)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_program_gives_what_jax_gives(name):
    function = FUNCTIONS[name]
    jax.tree.map(
        lambda found, expected: assert_allclose(found, expected, rtol=1e-14),
        walk(function, AT),
        function(jnp.asarray(AT)),
    )


def test_operations_are_counted_by_another_set_of_rules():
    rules = NumpyRules()
    walk(scan, AT, rules)
    # Three rows; in each, carry * row and the three elements of row * x, and one sum.
    assert rules.count == {"mul": 3 * (1 + 3), "add": 3}


def test_a_set_of_rules_sees_every_call_of_an_inner_function():
    rules = NumpyRules()
    walk(inner, AT, rules)
    assert rules.calls == 2


def test_an_operation_without_a_rule_is_left_to_the_rules():
    with pytest.raises(NotImplementedError, match="tanh"):
        walk(lambda x: jnp.tanh(x), AT)


def test_what_an_input_reaches_is_known_through_calls_and_choices():
    def program(a, b, c):
        return jax.jit(jnp.where)(a > 0.0, 1.0, 2.0), b + c, c

    traced = jax.make_jaxpr(program)(1.0, 2.0, 3.0)
    assert jaxpr.reached_outputs(traced, [True, False, False]) == [True, False, False]
    assert jaxpr.reached_outputs(traced, [False, False, True]) == [False, True, True]


# --- words of other versions of JAX ---------------------------------------------------------------------------------


class Groups(tuple):
    """Operands in groups, as JAX keeps those of a loop from version 0.11 on."""

    def unpack(self):
        return tuple(self)


def test_operands_of_a_loop_are_counted_in_the_words_of_either_version():
    def looped(x, y):
        return jax.lax.scan(lambda c, row: (c + y * row, c), x[0], x)

    (equation,) = [
        e
        for e in jax.make_jaxpr(looped)(AT, 2.0).jaxpr.eqns
        if e.primitive.name == "scan"
    ]
    assert jaxpr.scan_sizes(equation.params) == (1, 1)
    groups = Groups(((None,) * 2, (None,) * 3, (None,)))
    assert jaxpr.scan_sizes({"ft_in": groups}) == (2, 3)


def test_a_program_with_constants_keeps_them():
    program = jax.make_jaxpr(lambda x: x * AT)(AT)
    assert jaxpr.closed(program) is program
