"""Divergence analysis of a program that several members run at once, one in each lane of a vector.

A *lane* is one member in a vector of the processor. A number that is the same in all lanes stays a single
number. A loop or branch whose condition differs from lane to lane opens a *mask scope*: there only some are active.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .places import blocks_of, touched
from .program import Buffer, Call, Copy, For, Function, If, StoreNumber
from .untranslatable import Untranslatable

# Operations across all active lanes, with one result for all of them.
ACROSS = ("all", "first", "least")


@dataclass(eq=False)
class MaskScope:
    """Blocks in which the same lanes are active."""

    parent: "MaskScope | None" = None

    def line(self) -> list["MaskScope"]:
        """This scope and all around it, the outermost first."""
        above = [] if self.parent is None else self.parent.line()
        return [*above, self]


def common(a: MaskScope, b: MaskScope) -> MaskScope:
    """The innermost scope around both."""
    pairs = zip(a.line(), b.line(), strict=False)
    return [x for x, y in pairs if x is y][-1]


@dataclass(eq=False)
class LaneForm:
    """A function for lanes: what of it differs between them."""

    function: Function
    shared: tuple[bool, ...]  # arguments that are the same in all lanes
    varying: list[bool]  # nodes
    root: MaskScope
    inner: dict[int, tuple[MaskScope, ...]]  # of statements that open scopes
    home: dict[Buffer, MaskScope]  # the innermost scope around all uses of a buffer
    written: set[int] = field(default_factory=set)  # arguments
    read: set[int] = field(default_factory=set)  # arguments
    # Arguments of which inactive lanes keep their values.
    masked: frozenset[int] = frozenset()
    needs_mask: bool = False
    calls: dict[int, "LaneForm"] = field(default_factory=dict)  # by statement
    is_of_one: bool = False  # a member by itself, with no lanes: nothing differs

    @property
    def outside(self) -> MaskScope:
        """Scope of the call: other lanes may be active there."""
        assert self.root.parent is not None
        return self.root.parent

    def is_shared(self, buffer: Buffer) -> bool:
        """True for numbers that are the same in all lanes."""
        return self.is_of_one or is_shared(buffer, self.shared)

    def is_varying(self, node: int) -> bool:
        """True for a node that differs from lane to lane."""
        return self.varying[abs(node)]


def form_of_one(function: Function) -> LaneForm:
    """The form of a function that one member runs by itself."""
    shared, varying = (True,) * len(function.arguments), [False] * len(function.op)
    root = MaskScope(MaskScope())
    return LaneForm(function, shared, varying, root, {}, {}, is_of_one=True)


class LaneForms:
    """Forms of functions, each made once."""

    def __init__(self) -> None:
        self.made: dict[Any, LaneForm] = {}

    def of(
        self,
        function: Function,
        shared: tuple[bool, ...],
        masked: frozenset[int] = frozenset(),
    ) -> LaneForm:
        """The form of a function.

        Args:
            function: the function.
            shared: whether each argument is the same in all lanes.
            masked: results that lanes keep while they are inactive.
        """
        function = function.in_lanes or function
        key = (function, shared, masked)
        if key not in self.made:
            self.made[key] = self._make(function, shared, masked)
        return self.made[key]

    def _make(
        self, function: Function, shared: tuple[bool, ...], masked: frozenset[int]
    ) -> LaneForm:
        varying = varying_nodes(function, shared)
        root = MaskScope(MaskScope())
        form = LaneForm(function, shared, varying, root, {}, {}, masked=masked)
        form.needs_mask = bool(masked)
        calls: list[tuple[Call, MaskScope]] = []
        self._walk(form, function.block, form.root, calls)
        for call, scope in calls:
            self._mask_results(form, call, scope)
        return form

    def _mask_results(self, form: LaneForm, call: Call, scope: MaskScope) -> None:
        """Lets a function write results under the mask that only some lanes want; no copy of them is needed then."""
        called = form.calls[id(call)]
        results = called.written - called.read
        buffers = {place: call.pointers[place][0] for place in results}
        masked = {p for p, buffer in buffers.items() if form.home[buffer] is not scope}
        if masked:
            form.calls[id(call)] = self.of(
                call.function, called.shared, frozenset(masked)
            )

    def _walk(
        self,
        form: LaneForm,
        block: list[Any],
        scope: MaskScope,
        calls: list[tuple[Call, MaskScope]],
    ) -> None:
        for statement in block:
            own = () if blocks_of(statement) else touched(form.function, statement)
            for buffer in own:
                known = form.home.get(buffer, scope)
                form.home[buffer] = common(known, scope)
            if isinstance(statement, int):
                self._node(form, statement)
            elif isinstance(statement, StoreNumber):
                self._write(form, statement.buffer, statement.index)
            elif isinstance(statement, Copy):
                form.needs_mask |= form.is_varying(statement.source_index)
                self._read(form, statement.source)
                self._write(form, statement.target, statement.target_index)
            elif isinstance(statement, Call):
                self._call(form, statement)
                calls.append((statement, scope))
            else:
                self._nested(form, statement, scope, calls)

    def _node(self, form: LaneForm, node: int) -> None:
        form.needs_mask |= form.function.op[node] in ACROSS
        # An inactive lane may hold any index, which must not be dereferenced.
        if form.function.op[node] == "load":
            buffer, index = form.function.args[node][:2]
            form.needs_mask |= form.is_varying(index)
            self._read(form, buffer)

    def _read(self, form: LaneForm, buffer: Buffer) -> None:
        if buffer.where == "argument":
            form.read.add(buffer.place)

    def _write(self, form: LaneForm, buffer: Buffer, index: int) -> None:
        form.needs_mask |= form.is_varying(index)
        if buffer.where == "argument":
            form.written.add(buffer.place)
            is_masked = buffer.place in form.masked
            form.home[buffer] = form.outside if is_masked else form.root

    def _call(self, form: LaneForm, call: Call) -> None:
        if call.function.host is not None:
            raise Untranslatable("a call of Python")
        shared = tuple(form.is_shared(buffer) for buffer, _ in call.pointers)
        called = self.of(call.function, shared)
        form.calls[id(call)] = called
        form.needs_mask |= called.needs_mask
        for place in called.read:
            self._read(form, call.pointers[place][0])
        for place in called.written:
            self._write(form, *call.pointers[place])

    def _nested(
        self,
        form: LaneForm,
        statement: Any,
        scope: MaskScope,
        calls: list[tuple[Call, MaskScope]],
    ) -> None:
        blocks = blocks_of(statement)
        condition = getattr(statement, "condition", None)
        if condition is None or not form.is_varying(condition):
            scopes = (scope,) * len(blocks)
        else:
            form.needs_mask = True
            first = MaskScope(scope)
            second = MaskScope(scope) if isinstance(statement, If) else first
            scopes = (first, second)
            form.inner[id(statement)] = scopes
        for block, inner in zip(blocks, scopes, strict=True):
            self._walk(form, block, inner, calls)


def is_shared(buffer: Buffer, shared: tuple[bool, ...]) -> bool:
    """True for tables, and for arguments that are the same in all lanes."""
    if buffer.where == "table":
        return True
    return buffer.where == "argument" and shared[buffer.place]


def varying_nodes(function: Function, shared: tuple[bool, ...]) -> list[bool]:
    """Which nodes differ from lane to lane."""
    rounds = [numbers for loop in loops_in(function.block) for numbers in loop.carried]
    varying = [False] * len(function.op)
    before = -1
    # What goes round a loop may make more vary, until nothing changes.
    while sum(varying) != before:
        before = sum(varying)
        for node, first, following in rounds:
            varying[node] |= varying[abs(first)] or varying[abs(following)]
        for node, op in enumerate(function.op):
            if op == "load":
                buffer, index = function.args[node][:2]
                own = not is_shared(buffer, shared)
                varying[node] = own or varying[abs(index)]
            elif op not in ("const", "index", "carried", *ACROSS):
                varying[node] = any(varying[abs(a)] for a in function.args[node])
    return varying


def loops_in(block: list[Any]) -> Iterator[For]:
    """All counting loops in a block."""
    for statement in block:
        if isinstance(statement, For):
            yield statement
        for inner in blocks_of(statement):
            yield from loops_in(inner)
