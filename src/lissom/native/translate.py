"""From a traced JAX function to a program of scalars.

Arrays of a function that *unrolls* become single numbers: what is multiplied by zero drops out and equal terms are
shared. Other functions work on arrays in memory, with loops. Inner functions that are marked stay functions and
unroll; loops and branches stay what they are, except loops over rows of inputs in functions that unroll.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import core

from ..algebra.jaxpr import CALLS
from . import kernels
from .arithmetic import add_arrays, mul_arrays
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .marks import KEPT, ROWS
from .program import (
    ZERO,
    Buffer,
    Builder,
    Call,
    Function,
    If,
    Untranslatable,
    While,
    drop_unused,
    kind_of,
)
from .rearrangement import REARRANGEMENT
from .reduction import REDUCTION
from .values import (
    Lazy,
    Memory,
    Nodes,
    Store,
    Value,
    is_dense,
    knowledge,
    row_strides,
    size_of,
    sources_of,
    stays_in_memory,
)

RULES = {**REARRANGEMENT, **INDEXING, **REDUCTION}
SMALL = 6  # arrays up to this size are single numbers in every function
LONGEST = 400_000  # nodes of one function: beyond that it would take minutes to compile


class Module:
    """All functions of one program."""

    def __init__(self, name: str):
        self.name = name
        self.count = 0
        self.functions: dict[Any, tuple[Function, list[np.ndarray | None]]] = {}
        self.held: list[Any] = []  # traced programs, whose identity is a key
        self.operations: dict[str, int] = {}

    def function(self, program: Any, forms: Sequence[tuple], unrolls: bool):
        """The function of a traced program for operands of these forms, and what is known of its results."""
        knowns = tuple(None if known is None else known.tobytes() for _, known in forms)
        key = (id(program.jaxpr), knowns, unrolls)
        if key not in self.functions:
            self.held.append(program)
            name = f"{self.name}_{self.count}"
            self.count += 1
            self.functions[key] = Translator(self, name, unrolls).whole(program, forms)
        return self.functions[key]


class Environment:
    """Values of one traced program while it is walked through; it owns the memory it allocates."""

    def __init__(self, owner: "Environment | None" = None) -> None:
        self.values: dict[Any, Value] = {}
        self.owner = self if owner is None else owner


class Translator:
    """Writes one function."""

    def __init__(self, module: Module, name: str, unrolls: bool):
        self.module = module
        self.unrolls = unrolls
        self.builder = Builder(name)
        self.store = Store(self.builder)
        self.math = self.store.math
        self.environments: list[Environment] = []

    # --- a whole function

    def whole(self, program: Any, forms: Sequence[tuple]):
        """The function of a traced program."""
        operands = [self._parameter(aval, known) for aval, known in forms]
        outputs = self.run(program, operands)
        results = []
        for value, variable in zip(outputs, program.jaxpr.outvars, strict=True):
            value = self._finished_output(value)
            results.append(knowledge(value) if isinstance(value, Nodes) else None)
            self._return(value, variable.aval)
        function = self.builder.function
        function.n_results = len(outputs)
        self.module.operations[function.name] = drop_unused(function)
        return function, results

    def _parameter(self, aval: Any, known: np.ndarray | None) -> Value:
        kind = kind_of(aval.dtype)
        buffer = self.builder.argument(np.dtype(aval.dtype).name, size_of(aval.shape))
        shape = tuple(aval.shape)
        return Memory(kind, buffer, ZERO, row_strides(shape), shape, known)

    def _finished_output(self, value: Value) -> Value:
        if isinstance(value, Lazy) and self.is_small(value.shape, value):
            return self.store.nodes(value)
        return value

    def _return(self, value: Value, aval: Any) -> None:
        shape = tuple(aval.shape)
        buffer = self.builder.argument(np.dtype(aval.dtype).name, size_of(shape))
        target = Memory(kind_of(aval.dtype), buffer, ZERO, row_strides(shape), shape)
        self.store.assign(target, value)

    # --- walking

    @property
    def owner(self) -> Environment:
        """Who owns memory allocated now."""
        return self.environments[-1].owner

    def run(
        self,
        program: Any,
        operands: Sequence[Value],
        rows: bool = False,
        in_line: bool = False,
    ):
        """Outputs of a traced program; `rows`: its loop is over rows and stays one; `in_line`: memory is shared."""
        jaxpr = program.jaxpr
        here = Environment(self.owner if in_line else None)
        for variable, number in zip(jaxpr.constvars, program.consts, strict=True):
            here.values[variable] = self._constant(np.asarray(number))
        here.values.update(zip(jaxpr.invars, operands, strict=True))
        last = _last_uses(jaxpr)
        counts = _use_counts(jaxpr)
        self.environments.append(here)
        for number, equation in enumerate(jaxpr.eqns):
            self._equation(here, number, equation, last, counts, rows)
        outputs = [self._read(here, atom) for atom in jaxpr.outvars]
        self.environments.pop()
        return outputs

    def _equation(self, here, number, equation, last, counts, rows) -> None:
        if len(self.builder.function.op) > LONGEST:
            raise Untranslatable("a function of too many operations")
        operands = [self._read(here, atom) for atom in equation.invars]
        for atom in equation.invars:
            # From here on the value is the operation's own, and may be overwritten by it.
            if not isinstance(atom, core.Literal) and last.get(atom) == number:
                here.values.pop(atom, None)
        outputs = self._perform(equation, operands, rows)
        for variable, value in zip(equation.outvars, outputs, strict=True):
            if isinstance(value, Lazy):
                value = self._small_or_lazy(value, counts.get(variable, 0))
            here.values[variable] = value

    def _small_or_lazy(self, value: Lazy, uses: int) -> Value:
        if self.is_small(value.shape, value):
            return self.store.nodes(value)
        if uses > 1:
            return self.store.in_memory(value, self.owner)
        return value

    def _read(self, here: Environment, atom: Any) -> Value:
        if isinstance(atom, core.Literal):
            aval: Any = atom.aval
            return self._constant(np.asarray(atom.val, dtype=aval.dtype))
        return here.values[atom]

    def _constant(self, number: np.ndarray) -> Value:
        if number.dtype.name in ("float0", "key<fry>"):
            raise Untranslatable(f"numbers of type {number.dtype.name}")
        return self.store.constant(number)

    def _perform(self, equation: Any, operands: list[Value], rows: bool) -> list[Value]:
        name, params = equation.primitive.name, equation.params
        if name in CALLS:
            return self._call(params, params[CALLS[name]], operands)
        if name in CONTROL:
            return CONTROL[name](self, params, operands, rows)
        if name in ELEMENTWISE:
            return [self._elementwise(name, params, operands, equation.outvars[0].aval)]
        if name in EXPANDED:
            return self._expanded(equation, operands)
        if name not in RULES:
            raise Untranslatable(f"operation `{name}`")
        outputs = RULES[name](self, params, *operands)
        return list(outputs) if equation.primitive.multiple_results else [outputs]

    def _expanded(self, equation: Any, operands: list[Value]) -> list[Value]:
        """Outputs of an operation that says itself what it is made of."""
        primitive, params = equation.primitive, equation.params

        def made_of(*arrays: Any) -> Any:
            return primitive.impl(*arrays, **params)

        avals = [atom.aval for atom in equation.invars]
        shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
        return self.run(jax.make_jaxpr(made_of)(*shapes), operands, in_line=True)

    # --- elements

    def is_small(self, shape: tuple[int, ...], *operands: Value) -> bool:
        """True if an array of this shape, computed from these, is single numbers here."""
        if size_of(shape) <= SMALL:
            return True
        return self.unrolls and not any(stays_in_memory(value) for value in operands)

    def kind_of(self, dtype: Any) -> str:
        """Kind of the numbers of an array type."""
        return kind_of(dtype)

    def untranslatable(self, what: str) -> Untranslatable:
        """The exception that sends a function to XLA."""
        return Untranslatable(what)

    def _elementwise(self, name, params, operands: list[Value], aval: Any) -> Value:
        rule = ELEMENTWISE[name]
        shape = tuple(aval.shape)
        if name == "select_n" and self._same(operands[1:]):
            return operands[1]
        if rule is ELEMENTWISE["copy"] and not isinstance(operands[0], Lazy):
            return operands[0]
        kinds = [value.kind for value in operands]
        all_nodes = all(isinstance(value, Nodes) for value in operands)
        few = all_nodes and size_of(shape) <= 64
        if few or self.is_small(shape, *operands):
            return self._on_nodes(name, params, kinds, operands, shape)

        operands = [self.indexable(value) for value in operands]

        def element(index):
            parts = []
            for value in operands:
                parts.append(self.store.at(value, _own_index(value.shape, index)))
            return rule(self.math, params, kinds, parts)

        sources = frozenset().union(*[sources_of(value) for value in operands])
        return Lazy(kind_of(aval.dtype), shape, element, sources)

    def _same(self, cases: list[Value]) -> bool:
        first = cases[0]
        if all(case is first for case in cases):
            return True
        places = [case for case in cases if isinstance(case, Memory)]
        if len(places) < len(cases):
            return False
        forms = {(place.buffer, place.offset, place.strides) for place in places}
        return len(forms) == 1

    def _on_nodes(self, name, params, kinds, operands, shape) -> Nodes:
        arrays = [self.store.nodes(value).parts for value in operands]
        if set(kinds) == {"d"} and name in ("add", "sub", "mul", "neg", "add_any"):
            return Nodes("d", (self._fast(name, *[parts[0] for parts in arrays]),))
        spread = [tuple(np.broadcast_to(p, shape) for p in parts) for parts in arrays]
        lists = [[p.ravel().tolist() for p in parts] for parts in spread]
        rule, out = ELEMENTWISE[name], []
        for k in range(size_of(shape)):
            elements = [tuple(p[k] for p in parts) for parts in lists]
            out.append(rule(self.math, params, kinds, elements))
        kind = self._kind_of_result(name, params, kinds)
        count = 2 if kind == "c" else 1
        table = np.array(out, dtype=np.int64).reshape(*shape, count)
        return Nodes(kind, tuple(table[..., k] for k in range(count)))

    def _fast(self, name: str, a: np.ndarray, b: np.ndarray | None = None):
        if name == "neg" or b is None:
            return -a
        if name == "mul":
            return mul_arrays(self.math, a, b)
        return add_arrays(self.math, a, -b if name == "sub" else b)

    def _kind_of_result(self, name, params, kinds) -> str:
        if name in COMPARISONS:
            return "b"
        if name == "convert_element_type":
            return kind_of(params["new_dtype"])
        if name == "select_n":
            return kinds[1]
        if name in ("real", "imag"):
            return "d"
        if name == "abs" and kinds[0] == "c":
            return "d"
        return "c" if name == "complex" else kinds[0]

    # --- memory

    def sources(self, value: Value) -> frozenset[Buffer]:
        """Memory that a value will read."""
        return sources_of(value)

    def settled(self, value: Value) -> Value:
        """The value in a form that a loop may read again and again."""
        if isinstance(value, Lazy):
            return self.store.in_memory(value, self.owner)
        return self.indexable(value)

    def indexable(self, value: Value) -> Value:
        """The value in a form whose elements can be asked for by a computed index."""
        if not isinstance(value, Nodes):
            return value
        if value.shape == () or self.store.is_uniform(value):
            return value
        return self.store.in_memory(value, self.owner)

    def finished(self, value: Lazy) -> Value:
        """The elements of a costly rule, computed now."""
        if self.is_small(value.shape, value):
            return self.store.nodes(value)
        return self.store.in_memory(value, self.owner)

    def is_own(self, value: Value) -> bool:
        """True if the memory of a value may be overwritten: it is ours, whole, and nobody reads it any more."""
        if not isinstance(value, Memory) or value.buffer.owner is not self.owner:
            return False
        if value.offset != ZERO or not is_dense(value):
            return False
        if size_of(value.shape) != value.buffer.size:
            return False
        return not self._readers(value.buffer)

    def _readers(self, buffer: Buffer) -> list[Value]:
        values = [v for e in self.environments for v in e.values.values()]
        found = [v for v in values if buffer in sources_of(v)]
        return found + [
            v for v in values if isinstance(v, Nodes) and _kept_in(v, buffer)
        ]

    def own(self, value: Value) -> Memory:
        """A copy that may be overwritten, or the value itself where nobody needs it any more."""
        if self.is_own(value):
            assert isinstance(value, Memory)
            value.known = None
            return value
        target = self.store.allocate(value.kind, value.shape, self.owner)
        self.store.assign(target, value)
        return target

    def pointer(self, value: Value) -> tuple[Buffer, int]:
        """Where a value stands, for a call."""
        memory = self.store.in_memory(value, self.owner)
        return memory.buffer, memory.offset

    def product(self, left: Value, right: Value, sizes, shape) -> Value:
        """Product of matrices (batch, m, k) (batch, k, n) by loops over memory."""
        kernel = kernels.product_kernel(*sizes, left.kind)
        target = self.store.allocate(left.kind, shape, self.owner)
        a = self.store.in_memory(left, self.owner)
        b = self.store.in_memory(right, self.owner)
        _kernel_call(self, kernel, [target, a, b])
        return self._loaded_if_tiny(_fresh(target))

    def _loaded_if_tiny(self, value: Memory) -> Value:
        return self.store.nodes(value) if size_of(value.shape) <= SMALL else value

    # --- calls

    def _call(self, params: Any, inner: Any, operands: list[Value]) -> list[Value]:
        program = _closed(inner)
        name = params.get("name", "")
        if name == KEPT:
            return self.call_function(program, operands)
        return self.run(program, operands, rows=name == ROWS, in_line=True)

    def call_function(self, program: Any, operands: list[Value]) -> list[Value]:
        """Results of a traced program that is a function of its own."""
        variables = program.jaxpr.invars
        forms = []
        for value, variable in zip(operands, variables, strict=True):
            # Zeros that happen to stand in one call are no reason for another function.
            known = value.known if isinstance(value, Memory) else None
            forms.append((variable.aval, known))
        function, results = self.module.function(program, forms, unrolls=True)
        pointers = [
            self._typed_pointer(value, variable.aval)
            for value, variable in zip(operands, variables, strict=True)
        ]
        outputs = []
        for variable, known in zip(program.jaxpr.outvars, results, strict=True):
            aval = variable.aval
            kind, shape = kind_of(aval.dtype), tuple(aval.shape)
            target = self.store.allocate(kind, shape, self.owner, aval.dtype)
            target.known = known
            target.buffer.version += 1
            outputs.append(target)
        pointers += [(target.buffer, target.offset) for target in outputs]
        self._emit_call(function, pointers)
        return [self._loaded(target) for target in outputs]

    def _loaded(self, value: Memory) -> Value:
        return self.store.nodes(value) if self.is_small(value.shape, value) else value

    def _typed_pointer(self, value: Value, aval: Any) -> tuple[Buffer, int]:
        """A pointer to numbers of just this type."""
        buffer, offset = self.pointer(value)
        name = np.dtype(aval.dtype).name
        if buffer.dtype == name:
            return buffer, offset
        target = self.store.allocate(value.kind, value.shape, self.owner, name)
        self.store.assign(target, value)
        return target.buffer, target.offset

    def _emit_call(self, function: Function, pointers) -> None:
        own = self.builder.function
        if function not in own.calls:
            own.calls.append(function)
        self.builder.emit(Call(function, pointers))


def _own_index(shape: tuple[int, ...], index: tuple[int, ...]) -> tuple[int, ...]:
    """Index into an operand that is spread along axes of length one, or is a single number."""
    if not shape:
        return ()
    return tuple(ZERO if size == 1 else i for size, i in zip(shape, index, strict=True))


def _kept_in(value: Nodes, buffer: Buffer) -> bool:
    return value.kept is not None and value.kept[0].buffer is buffer


def _closed(program: Any) -> Any:
    if isinstance(program, core.Jaxpr):
        return core.ClosedJaxpr(program, ())
    return program


def _last_uses(jaxpr: Any) -> dict[Any, int]:
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


def _use_counts(jaxpr: Any) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for atoms in (*[e.invars for e in jaxpr.eqns], jaxpr.outvars):
        for atom in atoms:
            if not isinstance(atom, core.Literal):
                counts[atom] = counts.get(atom, 0) + 1
    return counts


# Operations of equinox, which other transformations treat in their own ways: here they are what they are made of.
EXPANDED = {"maybe_set", "select_if_vmap", "unvmap_any", "unvmap_all", "unvmap_max"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "is_finite", "lt_to", "le_to"}


# --- control flow -------------------------------------------------------------------------------------------------


def _split(values: list[Value], *sizes: int) -> list[list[Value]]:
    groups = []
    for size in sizes:
        groups.append(values[:size])
        values = values[size:]
    return [*groups, values]


def _lend(tr: Translator, values: list[Value]) -> list[Value]:
    """Values that a block reads but may not overwrite, computed before it begins."""
    return [
        value if isinstance(value, Nodes) else tr.settled(value) for value in values
    ]


def _carry(tr: Translator, values: list[Value], avals: list[Any]) -> list[Memory]:
    """Memory for what goes round a loop, with its first values in it."""
    places: list[Memory] = []
    for k, (value, aval) in enumerate(zip(values, avals, strict=True)):
        others = [v for j, v in enumerate(values) if j != k]
        read_by_others = any(
            isinstance(value, Memory) and value.buffer in sources_of(v) for v in others
        )
        if (
            isinstance(value, Memory)
            and value.buffer.dtype == aval.dtype.name
            and not read_by_others
            and tr.is_own(value)
        ):
            places.append(value)
            value.known = None
        else:
            shape = tuple(aval.shape)
            kind = kind_of(aval.dtype)
            target = tr.store.allocate(kind, shape, tr.owner, aval.dtype)
            tr.store.assign(target, value)
            places.append(target)
    return places


def _put_back(tr: Translator, places: list[Memory], values: list[Value]) -> None:
    """Writes new values to where the old ones were; all are computed before the first is overwritten."""
    ready = []
    for place, value in zip(places, values, strict=True):
        others = {p.buffer for p in places if p is not place}
        if isinstance(value, Memory) and value.buffer is place.buffer:
            is_same = value.offset == place.offset and is_dense(value)
            if is_same and value.shape == place.shape:
                ready.append(None)
                continue
        if isinstance(value, Lazy) and not (value.sources & (others | {place.buffer})):
            ready.append(value)
            continue
        if isinstance(value, Lazy) or sources_of(value) & (others | {place.buffer}):
            if isinstance(value, Memory):
                copy = tr.store.allocate(
                    value.kind, value.shape, tr.owner, value.buffer.dtype
                )
                tr.store.assign(copy, value)
                value = copy
            else:
                value = tr.store.in_memory(value, tr.owner)
        ready.append(value)
    for place, value in zip(places, ready, strict=True):
        if value is not None:
            tr.store.assign(place, value)


def _views(places: list[Memory], owner: Any) -> list[Value]:
    """The memory of a loop as values of its body, which may overwrite them."""
    for place in places:
        place.buffer.owner = owner
        place.buffer.version += 1
    return [Memory(p.kind, p.buffer, p.offset, p.strides, p.shape) for p in places]


def _loaded(tr: Translator, places: list[Memory]) -> list[Value]:
    """What a loop left in memory, as values of the block around it."""
    for place in places:
        place.buffer.owner = tr.owner
        place.buffer.version += 1
    return [
        tr.store.nodes(p) if size_of(p.shape) <= SMALL else _fresh(p) for p in places
    ]


def _fresh(p: Memory) -> Memory:
    return Memory(p.kind, p.buffer, p.offset, p.strides, p.shape)


def _run_body(tr: Translator, program: Any, fixed, places, extra=()):
    """Outputs of a loop's body, its carried memory being its own."""
    jaxpr = program.jaxpr
    here = Environment()
    for variable, number in zip(jaxpr.constvars, program.consts, strict=True):
        here.values[variable] = tr._constant(np.asarray(number))
    carried = _views(places, here)
    values = [*fixed, *[_small_nodes(tr, v) for v in carried], *extra]
    here.values.update(zip(jaxpr.invars, values, strict=True))
    last, counts = _last_uses(jaxpr), _use_counts(jaxpr)
    tr.environments.append(here)
    for number, equation in enumerate(jaxpr.eqns):
        tr._equation(here, number, equation, last, counts, False)
    return [tr._read(here, atom) for atom in jaxpr.outvars]


def _small_nodes(tr: Translator, value: Value) -> Value:
    if size_of(value.shape) <= SMALL:
        return tr.store.nodes(value)
    return value


def _while(tr: Translator, params, operands, rows):
    sizes = (params["cond_nconsts"], params["body_nconsts"])
    for_test, for_body, carry = _split(operands, *sizes)
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    for_test, for_body = _lend(tr, for_test), _lend(tr, for_body)
    avals = [v.aval for v in body.jaxpr.outvars]
    places = _carry(tr, carry, avals)
    builder = tr.builder
    builder.open("while")
    (condition,) = _run_body(tr, test, for_test, places)
    condition = int(tr.store.nodes(condition).parts[0])
    tr.environments.pop()
    test_block = builder.close()
    builder.open("while")
    outputs = _run_body(tr, body, for_body, places)
    _put_back(tr, places, outputs)
    tr.environments.pop()
    block = builder.close()
    builder.emit(While(test_block, condition, block))
    builder.function.loops = True
    return _loaded(tr, places)


def _scan(tr: Translator, params, operands, rows):
    sizes = (params["num_consts"], params["num_carry"])
    fixed, carry, stacks = _split(operands, *sizes)
    length, body = params["length"], params["jaxpr"]
    if tr.unrolls and not rows and (stacks or length <= 3):
        return _unrolled(tr, params, fixed, carry, stacks)
    fixed = _lend(tr, fixed)
    stacks = [tr.store.in_memory(value, tr.owner) for value in stacks]
    n_carry = len(carry)
    variables = body.jaxpr.outvars
    places = _carry(tr, carry, [v.aval for v in variables[:n_carry]])
    targets = []
    for variable in variables[n_carry:]:
        aval = variable.aval
        shape = (length, *aval.shape)
        kind = kind_of(aval.dtype)
        targets.append(tr.store.allocate(kind, shape, tr.owner, aval.dtype))
    if length:
        _count_rows(tr, params, fixed, places, stacks, targets)
    return [*_loaded(tr, places), *_loaded(tr, targets)]


def _count_rows(tr, params, fixed, places, stacks, targets) -> None:
    body, length = params["jaxpr"], params["length"]

    def once(step):
        i = step
        if params["reverse"]:
            i = tr.math.iadd(tr.builder.whole(length - 1), -step)
        inputs = [_small_nodes(tr, _row(tr, stack, i)) for stack in stacks]
        # A counting loop moves nothing out that its body might change.
        outputs = _run_body(tr, body, fixed, places, inputs)
        n_carry = len(places)
        for target, value in zip(targets, outputs[n_carry:], strict=True):
            tr.store.assign(_row(tr, target, i), value)
        _put_back(tr, places, outputs[:n_carry])
        tr.environments.pop()

    tr.store.count(ZERO, tr.builder.whole(length), once)


def _row(tr: Translator, stack: Memory, i: int) -> Memory:
    step = tr.math.imul(i, tr.builder.whole(stack.strides[0]))
    offset = tr.math.iadd(stack.offset, step)
    return Memory(stack.kind, stack.buffer, offset, stack.strides[1:], stack.shape[1:])


def _unrolled(tr: Translator, params, fixed, carry, stacks):
    length = params["length"]
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    stacks = [tr.store.nodes(value) for value in stacks]
    n_carry, rows = len(carry), [[] for _ in range(length)]
    for i in order:
        inputs = [
            Nodes(s.kind, tuple(np.asarray(p[i]) for p in s.parts)) for s in stacks
        ]
        outputs = tr.run(params["jaxpr"], [*fixed, *carry, *inputs])
        carry, rows[i] = outputs[:n_carry], outputs[n_carry:]
    stacked = []
    for column in zip(*rows, strict=True):
        nodes = [tr.store.nodes(value) for value in column]
        parts = zip(*[n.parts for n in nodes], strict=True)
        stacked.append(Nodes(nodes[0].kind, tuple(np.stack(p) for p in parts)))
    return [*carry, *stacked]


def _cond(tr: Translator, params, operands, rows):
    choice, *others = operands
    programs = [_closed(branch) for branch in params["branches"]]
    number = int(tr.store.nodes(choice).parts[0])
    known = tr.builder.number(number)
    if known is not None:
        picked = min(max(int(known), 0), len(programs) - 1)
        return tr.run(programs[picked], others, in_line=True)
    others = _lend(tr, others)
    targets = []
    for variable in programs[0].jaxpr.outvars:
        aval = variable.aval
        kind, shape = kind_of(aval.dtype), tuple(aval.shape)
        targets.append(tr.store.allocate(kind, shape, tr.owner, aval.dtype))
    _branch(tr, number, choice.kind, programs, others, targets, 0)
    return _loaded(tr, targets)


def _branch(tr, number, kind, programs, others, targets, k) -> None:
    """Branch k, or one of those after it."""
    if k == len(programs) - 1:
        _run_branch(tr, programs[k], others, targets)
        return
    if kind == "b":
        is_this = tr.math.negate(number)
    elif k == 0:
        is_this = tr.math.compare("ile", number, ZERO)
    else:
        is_this = tr.math.compare("ieq", number, tr.builder.whole(k))
    tr.builder.open("if")
    _run_branch(tr, programs[k], others, targets)
    yes = tr.builder.close()
    tr.builder.open("if")
    _branch(tr, number, kind, programs, others, targets, k + 1)
    no = tr.builder.close()
    tr.builder.emit(If(is_this, yes, no))


def _run_branch(tr, program, others, targets) -> None:
    outputs = tr.run(program, others)
    for target, value in zip(targets, outputs, strict=True):
        tr.store.assign(target, value)


def _linear_solve(tr: Translator, params, operands, rows):
    n = params["const_lengths"]
    _, _, for_solution, _, b = _split(
        operands, n.matvec, n.vecmat, n.solve, n.transpose_solve
    )
    return tr.run(params["jaxprs"].solve, [*for_solution, *b], in_line=True)


# --- factorisations


def _lu(tr: Translator, params, operands, rows):
    (a,) = operands
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise Untranslatable("factors of several matrices at once")
    n = a.shape[0]
    matrix = tr.own(a)
    pivots = tr.store.allocate("i", (n,), tr.owner, "int32")
    order = tr.store.allocate("i", (n,), tr.owner, "int32")
    _kernel_call(tr, kernels.lu_kernel(n, a.kind), [matrix, pivots, order])
    return _results(tr, [matrix, pivots, order])


def _triangular_solve(tr: Translator, params, operands, rows):
    a, b = operands
    if len(a.shape) != 2 or not params["left_side"] or params["conjugate_a"]:
        raise Untranslatable("triangular systems of this form")
    n, m = b.shape
    target = tr.own(b)
    matrix = tr.store.in_memory(a, tr.owner)
    kernel = kernels.triangle_kernel(
        n,
        m,
        a.kind,
        params["lower"],
        bool(params["transpose_a"]),
        params["unit_diagonal"],
    )
    _kernel_call(tr, kernel, [target, matrix])
    return _results(tr, [target])


def _cholesky(tr: Translator, params, operands, rows):
    (a,) = operands
    if len(a.shape) != 2 or a.kind != "d":
        raise Untranslatable("factors of several matrices at once")
    target = tr.own(a)
    _kernel_call(tr, kernels.cholesky_kernel(a.shape[0]), [target])
    return _results(tr, [target])


def _kernel_call(tr: Translator, kernel: Function, arrays: list[Memory]) -> None:
    for array in arrays:
        if array.buffer.where == "frame":
            array.buffer.version += 1
    tr._emit_call(kernel, [(a.buffer, a.offset) for a in arrays])


def _results(tr: Translator, arrays: list[Memory]) -> list[Value]:
    return [tr._loaded(_fresh(array)) for array in arrays]


def _assertion(tr: Translator, params, operands, rows):
    """Checks that only stop a program, and words for other transformations: their operands pass through."""
    return operands


CONTROL = {
    "while": _while,
    "scan": _scan,
    "cond": _cond,
    "custom_linear_solve": _linear_solve,
    "lu": _lu,
    "triangular_solve": _triangular_solve,
    "cholesky": _cholesky,
    "nontraceable": _assertion,
    "nondifferentiable": _assertion,
    "nonbatchable": _assertion,
    "device_put": _assertion,
}
