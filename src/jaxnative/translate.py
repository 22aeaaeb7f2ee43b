"""From a traced JAX function to a program of scalars.

Arrays of a function that *unrolls* become single numbers: what is multiplied by zero drops out and equal terms are
shared. Other functions work on arrays in memory, with loops. Inner functions that are marked stay functions and
unroll; loops and branches stay what they are, except loops over rows of inputs in functions that unroll.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core

from . import kernels
from .control_flow import CONTROL
from .elements import elementwise
from .elementwise import ELEMENTWISE
from .factorisation import FACTORISATION, kernel_call
from .few_rows import rows_function
from .host_call import host_function, hosts_of
from .indexing import INDEXING
from .jaxpr import CALLS, closed
from .marks import ALL_LANES, FUNCTIONS, LEAST_OF_LANES, RARE
from .ordering import order_operations
from .places import rename, touches
from .program import (
    ZERO,
    Buffer,
    Builder,
    Call,
    Function,
    Rows,
    drop_unused,
    kind_of,
)
from .rearrangement import REARRANGEMENT
from .reduction import REDUCTION
from .traced_program import Environment, Need, Needs, Wanted, needs_of
from .untranslatable import Untranslatable
from .values import (
    DTYPES,
    SMALL,
    Lazy,
    Memory,
    Nodes,
    Value,
    ValueStore,
    is_dense,
    knowledge,
    row_strides,
    size_of,
    sources_of,
    stays_in_memory,
)

OPERATIONS = {**CONTROL, **FACTORISATION}
RULES = {**REARRANGEMENT, **INDEXING, **REDUCTION}
LONGEST = 400_000  # nodes of one function: beyond that it would take minutes to compile


class Translation(NamedTuple):
    """A function, and what is known about it."""

    function: Function
    results: list[np.ndarray | None]  # zeros and ones known of its results
    operations: int
    program: Any  # the traced one, whose identity is a key: it must not go


class Module:
    """All functions of one program.

    Args:
        name: of its functions, a number apart.
        shared: functions of other programs, which this one may call too.
    """

    def __init__(self, name: str, shared: dict[Any, Translation] | None = None):
        self.name = name
        self.count = 0
        self.functions = {} if shared is None else shared
        self.used: dict[Any, Translation] = {}

    @property
    def operations(self) -> dict[Any, int]:
        """Operations of each function."""
        return {key: found.operations for key, found in self.used.items()}

    def function(
        self,
        program: Any,
        forms: Sequence[tuple],
        unrolls: bool,
        is_rare: bool = False,
    ):
        """The function of a traced program for operands of these forms, and what is known of its results."""
        knowns = tuple(None if known is None else known.tobytes() for _, known in forms)
        key = (id(program.jaxpr), knowns, unrolls)
        found = self.functions.get(key)
        if found is None:
            name = self._new_name()
            found = Translator(self, name, unrolls, is_rare).whole(program, forms)
            # What calls a user's code is forgotten with its program.
            if not hosts_of(found.function):
                self.functions[key] = found
        self.used[key] = found
        return found.function, found.results

    def on_rows(self, rows: Rows) -> Function:
        """The function that calls another one for each of a few rows."""
        found = self.functions.get(rows)
        if found is None:
            function = rows_function(self._new_name(), rows)
            found = Translation(function, [], 0, rows)
            if not hosts_of(function):
                self.functions[rows] = found
        return found.function

    def _new_name(self) -> str:
        self.count += 1
        return f"{self.name}_{self.count - 1}"


class Translator:
    """Writes one function."""

    def __init__(self, module: Module, name: str, unrolls: bool, is_rare: bool = False):
        self.module = module
        self.unrolls = unrolls
        self.is_rare = is_rare
        self.builder = Builder(name)
        self.builder.function.is_rare = is_rare
        self.store = ValueStore(self.builder)
        self.math = self.store.math
        self.environments: list[Environment] = []
        # Of the equation at hand, and of those that it is inside of.
        self.operands: list[list[Any]] = []
        self.results: list[list[Any]] = []

    # --- a whole function

    def whole(self, program: Any, forms: Sequence[tuple]) -> Translation:
        """The function of a traced program."""
        operands = [self._parameter(aval, known) for aval, known in forms]
        outputs = [self._finished_output(v) for v in self.run(program, operands)]
        places = [self._result(variable.aval) for variable in program.jaxpr.outvars]
        results = []
        in_place = self.computed_in_place(outputs, places)
        for k, (value, place) in enumerate(zip(outputs, places, strict=True)):
            results.append(knowledge(value) if isinstance(value, Nodes) else None)
            if k not in in_place:
                self.store.assign(place, value)
        self.put_in_place(outputs, places, in_place)
        function = self.builder.function
        function.n_results = len(outputs)
        operations = drop_unused(function)
        if self.unrolls:
            order_operations(function)
        return Translation(function, results, operations, program)

    def _parameter(self, aval: Any, known: np.ndarray | None) -> Value:
        kind = kind_of(aval.dtype)
        buffer = self.builder.argument(np.dtype(aval.dtype).name, size_of(aval.shape))
        shape = tuple(aval.shape)
        return Memory(kind, buffer, ZERO, row_strides(shape), shape, known)

    def _finished_output(self, value: Value) -> Value:
        if isinstance(value, Lazy) and self.is_small(value.shape, value):
            return self.store.nodes(value)
        return value

    def _result(self, aval: Any) -> Memory:
        shape = tuple(aval.shape)
        buffer = self.builder.argument(np.dtype(aval.dtype).name, size_of(shape))
        return Memory(kind_of(aval.dtype), buffer, ZERO, row_strides(shape), shape)

    # --- arrays computed where they are wanted

    def computed_in_place(
        self, values: Sequence[Value], places: Sequence[Memory], before: int = 0
    ) -> set[int]:
        """Which values can be computed in their final place: arrays of the frame with no other use.

        Args:
            values: of a block that has just been written.
            places: where they are wanted.
            before: so many arrays were in the frame when the block began, and belong to others.
        """
        block = self.builder.scopes[-1].block
        function = self.builder.function
        found = set()
        for k, (value, place) in enumerate(zip(values, places, strict=True)):
            if not isinstance(value, Memory) or not _is_same_array(value, place):
                continue
            if value.buffer.where != "frame" or value.buffer.place < before:
                continue
            uses = [source for v in values for source in sources_of(v)]
            if uses.count(value.buffer) > 1 or place.buffer in uses:
                continue
            # Results of the function are touched by nothing yet.
            is_result = place.buffer.where == "argument"
            if is_result or not touches(function, block, place.buffer):
                found.add(k)
        return found

    def put_in_place(
        self, values: Sequence[Value], places: Sequence[Memory], which: set[int]
    ) -> None:
        """Renames arrays in the block that has just been written, so that values are computed in their final place."""
        function = self.builder.function
        wanted: dict[Buffer, Buffer] = {}
        for k in which:
            value = values[k]
            assert isinstance(value, Memory)
            wanted[value.buffer] = places[k].buffer
            places[k].buffer.version += 1
        if wanted:
            rename(function, self.builder.scopes[-1].block, wanted)
            function.frame[:] = [b for b in function.frame if b not in wanted]

    # --- walking

    @property
    def owner(self) -> Environment:
        """Who owns memory allocated now."""
        return self.environments[-1].owner

    def run(
        self,
        program: Any,
        operands: Sequence[Any],
        mark: str = "",
        in_line: bool = False,
        wanted: Wanted | None = None,
    ) -> list[Any]:
        """Outputs of a traced program.

        Args:
            program: the traced program.
            operands: its inputs; None for those that the wanted outputs do not need.
            mark: of the call that it stands in, such as a loop over rows that stays one.
            in_line: memory is shared.
            wanted: outputs that are needed, by default all; others may be None.
        """
        here = Environment(self.owner if in_line else None)
        outputs = self.walk(program, operands, here, mark, wanted)
        self.environments.pop()
        return outputs

    def walk(
        self,
        program: Any,
        operands: Sequence[Any],
        here: Environment,
        mark: str = "",
        wanted: Wanted | None = None,
    ) -> list[Any]:
        """Outputs of a traced program; its environment is still there."""
        jaxpr = program.jaxpr
        wanted = (True,) * len(jaxpr.outvars) if wanted is None else wanted
        for variable, number in zip(jaxpr.constvars, program.consts, strict=True):
            here.values[variable] = self._constant(np.asarray(number))
        for variable, operand in zip(jaxpr.invars, operands, strict=True):
            if operand is not None:
                here.values[variable] = operand
        needs = needs_of(jaxpr, wanted)
        self.environments.append(here)
        for number, need in enumerate(needs.equations):
            if need is not None:
                self._equation(here, number, jaxpr.eqns[number], need, needs, mark)
        outputs = zip(jaxpr.outvars, wanted, strict=True)
        return [self._read(here, atom) if needed else None for atom, needed in outputs]

    def _equation(self, here, number, equation, need: Need, needs: Needs, mark) -> None:
        if len(self.builder.function.op) > LONGEST:
            raise Untranslatable("a function of too many operations")
        atoms = zip(equation.invars, need.operands, strict=True)
        operands = [
            self._read(here, atom) if needed else None for atom, needed in atoms
        ]
        for atom in equation.invars:
            # From here on the value is the operation's own, and may be overwritten by it.
            if not isinstance(atom, core.Literal) and needs.last.get(atom) == number:
                here.values.pop(atom, None)
        self.operands.append(operands)
        self.results.append([variable.aval for variable in equation.outvars])
        outputs = self._perform(equation, operands, need.outputs, mark)
        self.results.pop()
        self.operands.pop()
        for variable, value in zip(equation.outvars, outputs, strict=True):
            if isinstance(value, Lazy):
                value = self._small_or_lazy(value, needs.counts.get(variable, 0))
            if value is not None:
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

    def _perform(
        self, equation: Any, operands: list[Any], wanted: Wanted, mark: str
    ) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        if name in CALLS:
            return self._call(params, params[CALLS[name]], operands, wanted)
        if name in OPERATIONS:
            return OPERATIONS[name](self, params, operands, mark)
        if name in ELEMENTWISE:
            return [elementwise(self, name, params, operands, equation.outvars[0].aval)]
        if name in EXPANDED:
            return self._expanded(equation, operands)
        if name == "pure_callback":
            return self._host_call(equation, operands)
        if name not in RULES:
            raise Untranslatable(f"operation `{name}`")
        outputs = RULES[name](self, params, *operands)
        return list(outputs) if equation.primitive.multiple_results else [outputs]

    def _expanded(self, equation: Any, operands: list[Value]) -> list[Value]:
        """Outputs of an operation that is defined by others."""
        primitive, params = equation.primitive, equation.params

        parts = primitive.to_lojax if primitive.name == HIGH else primitive.impl

        def made_of(*arrays: Any) -> Any:
            return parts(*arrays, **params)

        avals = [atom.aval for atom in equation.invars]
        shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
        return self.run(jax.make_jaxpr(made_of)(*shapes), operands, in_line=True)

    # --- elements

    def is_small(self, shape: tuple[int, ...], *operands: Value) -> bool:
        """True if an array of this shape, computed from these, is single numbers here."""
        if size_of(shape) <= SMALL:
            return True
        return self.unrolls and not any(stays_in_memory(value) for value in operands)

    @property
    def result_type(self) -> np.dtype:
        """Type of the numbers of the array that the equation at hand gives, the first one."""
        return np.dtype(self.results[-1][0].dtype)

    def kind_of(self, dtype: Any) -> str:
        """Kind of the numbers of an array type."""
        return kind_of(dtype)

    def untranslatable(self, what: str) -> Untranslatable:
        """The exception that sends a function to XLA."""
        return Untranslatable(what)

    # --- memory

    def sources(self, value: Value) -> frozenset[Buffer]:
        """Memory that a value will read."""
        return sources_of(value)

    def settled(self, value: Value) -> Value:
        """The value in a form that a loop may read repeatedly."""
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
        """True if the memory of a value may be overwritten: it is local, whole, and not read later."""
        if not isinstance(value, Memory) or value.buffer.owner is not self.owner:
            return False
        if value.offset != ZERO or not is_dense(value):
            return False
        if size_of(value.shape) != value.buffer.size:
            return False
        # The same array may be an operand twice, or be seen through another one.
        at_hand = self.operands[-1] if self.operands else []
        uses = [v for v in at_hand if v is not None and value.buffer in sources_of(v)]
        if len(uses) > 1 or any(v is not value for v in uses):
            return False
        return not self._readers(value.buffer)

    def _readers(self, buffer: Buffer) -> list[Value]:
        values = [v for e in self.environments for v in e.values.values()]
        found = [v for v in values if buffer in sources_of(v)]
        return found + [
            v for v in values if isinstance(v, Nodes) and _kept_in(v, buffer)
        ]

    def own(self, value: Value) -> Memory:
        """A copy that may be overwritten, or the value itself where it has no other use."""
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
        """Product of matrices (batch, m, k) (batch, k, n) of one kind by loops over memory."""
        kernel = kernels.product_kernel(*sizes, left.kind)
        target = self.store.allocate(left.kind, shape, self.owner)
        a, b = (self._typed(value, DTYPES[left.kind]) for value in (left, right))
        kernel_call(self, kernel, [target, a, b])
        return self._loaded_if_tiny(target.fresh())

    def _loaded_if_tiny(self, value: Memory) -> Value:
        return self.store.nodes(value) if size_of(value.shape) <= SMALL else value

    # --- calls

    def _call(
        self, params: Any, inner: Any, operands: list[Any], wanted: Wanted
    ) -> list[Any]:
        program = closed(inner)
        name = params.get("name", "")
        if name in FUNCTIONS:
            return self.call_function(program, operands, is_rare=name == RARE)
        if name in (ALL_LANES, LEAST_OF_LANES):
            return [self._across_lanes(name, *operands)]
        return self.run(program, operands, name, in_line=True, wanted=wanted)

    def _across_lanes(self, name: str, value: Value) -> Value:
        """A number of all lanes together, from one that each has."""
        (part,) = self.store.nodes(value).parts
        across = (
            self.math.in_all_lanes if name == ALL_LANES else self.math.least_of_lanes
        )
        return Nodes(value.kind, (np.asarray(across(int(part))),))

    def call_function(
        self, program: Any, operands: list[Value], is_rare: bool = False
    ) -> list[Value]:
        """Results of a traced program that is a function of its own."""
        variables = program.jaxpr.invars
        forms = []
        for value, variable in zip(operands, variables, strict=True):
            # Zeros that happen to stand in one call are no reason for another function.
            known = value.known if isinstance(value, Memory) else None
            forms.append((variable.aval, known))
        function, results = self.module.function(
            program, forms, unrolls=True, is_rare=is_rare
        )
        placed = list(zip(operands, variables, strict=True))
        expected = list(zip(program.jaxpr.outvars, results, strict=True))
        return self._results_of(function, placed, expected)

    def call_on_rows(
        self, equation: Any, values: dict[Any, Value], rows: list, targets: list[Memory]
    ) -> None:
        """Calls a function with a few rows: `rows` are the variables of `values` that have one for each."""
        program = closed(equation.params[CALLS[equation.primitive.name]])
        forms, pointers = [], []
        for atom in equation.invars:
            value = values[atom]
            known = value.known if isinstance(value, Memory) else None
            # What is known of all rows together says nothing about one.
            forms.append((atom.aval, None if atom in rows else known))
            pointers.append(self._typed_pointer(value, atom.aval))
        function, _ = self.module.function(program, forms, unrolls=True)
        shared = [atom not in rows for atom in equation.invars]
        shared += [False] * len(targets)
        together = Rows(function, tuple(shared), targets[0].shape[0])
        for target in targets:
            target.buffer.version += 1
            pointers.append((target.buffer, target.offset))
        self.emit_call(self.module.on_rows(together), pointers)

    def _host_call(self, equation: Any, operands: list[Value]) -> list[Value]:
        """Results of a Python function."""
        inputs = [atom.aval for atom in equation.invars]
        outputs = [variable.aval for variable in equation.outvars]
        function = host_function(equation.params["callback"], inputs, outputs)
        placed = list(zip(operands, equation.invars, strict=True))
        expected = [(variable, None) for variable in equation.outvars]
        return self._results_of(function, placed, expected)

    def _results_of(
        self, function: Function, placed: list[Any], expected: list[Any]
    ) -> list[Value]:
        """Results of a function of operands with their variables; `expected` are variables with what is known."""
        pointers = [
            self._typed_pointer(value, variable.aval) for value, variable in placed
        ]
        outputs = []
        for variable, known in expected:
            aval = variable.aval
            kind, shape = kind_of(aval.dtype), tuple(aval.shape)
            target = self.store.allocate(kind, shape, self.owner, aval.dtype)
            target.known = known
            target.buffer.version += 1
            outputs.append(target)
        pointers += [(target.buffer, target.offset) for target in outputs]
        self.emit_call(function, pointers)
        return [self.loaded(target) for target in outputs]

    def loaded(self, value: Memory) -> Value:
        """What stands in memory, as single numbers where those are what is computed with here."""
        return self.store.nodes(value) if self.is_small(value.shape, value) else value

    def _typed_pointer(self, value: Value, aval: Any) -> tuple[Buffer, int]:
        """A pointer to numbers of just this type."""
        memory = self._typed(value, np.dtype(aval.dtype).name)
        return memory.buffer, memory.offset

    def _typed(self, value: Value, name: str) -> Memory:
        """The value without gaps in memory, as numbers of just this type."""
        memory = self.store.in_memory(value, self.owner)
        if memory.buffer.dtype == name:
            return memory
        target = self.store.allocate(value.kind, value.shape, self.owner, name)
        self.store.assign(target, value)
        return target

    def emit_call(self, function: Function, pointers) -> None:
        """Calls a function with pointers (buffer, index).

        Raises:
            Untranslatable: to memory with numbers of another type than the function reads and writes.
        """
        own = self.builder.function
        for (buffer, _), expected in zip(pointers, function.arguments, strict=True):
            if buffer.dtype != expected.dtype:
                types = f"{buffer.dtype} in place of {expected.dtype}"
                raise Untranslatable(f"a call of `{function.name}` with {types}")
        if function not in own.calls:
            own.calls.append(function)
        self.builder.emit(Call(function, pointers))


def _is_same_array(a: Memory, b: Memory) -> bool:
    """True if two arrays are of one kind, each the whole of its memory."""
    whole = all(
        m.offset == ZERO and is_dense(m) and size_of(m.shape) == m.buffer.size
        for m in (a, b)
    )
    return whole and a.buffer.dtype == b.buffer.dtype and a.shape == b.shape


def _kept_in(value: Nodes, buffer: Buffer) -> bool:
    return value.kept is not None and value.kept[0].buffer is buffer


# What JAX 0.12 and newer keep whole of larger operations, such as a search in a table.
HIGH = "call_hi_primitive"
# Operations of equinox, which other transformations treat in their own ways: here they are what they are made of.
EXPANDED = {
    HIGH,
    "maybe_set",
    "select_if_vmap",
    "unvmap_any",
    "unvmap_all",
    "unvmap_max",
}
