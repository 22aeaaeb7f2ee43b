"""Functions of many members at once: several in each instruction of this processor, one in each lane."""

import logging
import math
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, NamedTuple

import jax
import numpy as np

from . import machine_code, program_cache
from .call_memory import address_of, addresses_of, with_positive_zeros
from .compilation import STORE, Program, split_arguments, user_code_in
from .compiled import Pattern, function_of, reason_of, recipe_of, trace
from .lane_code import lane_count, load
from .llvm_lines import LINE
from .marks import held, tracing_for_lanes
from .places import begin_in_inputs
from .program_cache import Recipe
from .untranslatable import Unexpected, Untranslatable

log = logging.getLogger("jaxnative")
_compiling = threading.RLock()
# More than any processor has.
_most_lanes: ContextVar[int] = ContextVar("most lanes", default=64)


def vector_width() -> int:
    """Lanes of a vector: those of this processor, or fewer if limited by `at_most_lanes`."""
    return min(lane_count(), _most_lanes.get())


def at_most_lanes(count: int) -> AbstractContextManager[None]:
    """Context in which vectors have at most so many lanes."""
    return held(_most_lanes, count)


class _Request(NamedTuple):
    """Arguments of a call, and which of them are mapped."""

    numbers: list[Any]
    structure: Any
    mapped: tuple[bool, ...]  # numbers that have a leading axis over the members
    is_fixed: tuple[bool, ...]

    def shapes(self) -> tuple[jax.ShapeDtypeStruct, ...]:
        """Shapes of one member."""
        pairs = zip(self.numbers, self.mapped, strict=True)
        return tuple(
            jax.ShapeDtypeStruct(np.shape(leaf)[own:], leaf.dtype)
            for leaf, own in pairs
        )

    def pattern(self) -> Pattern:
        """Zeros and ones that all members have."""
        parts = zip(self.numbers, self.mapped, self.is_fixed, strict=True)
        return Pattern(
            tuple(_in_all(leaf, own) if fixed else None for leaf, own, fixed in parts)
        )


def _in_all(number: Any, is_mapped: bool) -> np.ndarray | None:
    array = np.asarray(number)
    if array.dtype.kind not in "fib":
        return None
    rows = array if is_mapped else array[None]
    known = np.where((rows == 0).all(axis=0), 0, -1)
    return np.where((rows == 1).all(axis=0), 1, known).astype(np.int64)


class LanesAhead:
    """A function mapped over members, as `jax.vmap` would, in lanes.

    Every lane goes its own way through loops and branches: its results are those of a single call, to rounding.

    Args:
        function: of one member.
        fixed: from the arguments, those whose numbers stay the same from call to call. Zeros and ones that all members
            have are compiled in.
        in_step: the members of one vector decide together where the function asks for it (`in_all_lanes` and others in
            `marks`).
        is_inner: results are arguments of further programs, and their zeros may have either sign.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        fixed: Callable[..., Any] = lambda *arguments: (),
        in_step: bool = False,
        is_inner: bool = False,
    ):
        self._function = function
        self._fixed = fixed
        self._in_step = in_step
        self._is_inner = is_inner
        self._untranslatable: set[Any] = set()

    def __call__(self, axes: tuple[Any, ...], *args: Any) -> Any:
        """Results with a leading axis over the members.

        Args:
            axes: 0 where an argument is mapped over its leading axis, None elsewhere; a tree that the arguments begin
                with.
            args: of the function.

        Raises:
            Untranslatable: it has no native form.
        """
        request = self._request(axes, args)
        value = self._program(request).call(request.numbers)
        return value if self._is_inner else with_positive_zeros(value)

    def _request(self, axes: tuple[Any, ...], args: tuple[Any, ...]) -> _Request:
        spread = jax.tree.map(
            lambda axis, part: jax.tree.map(lambda _: axis is not None, part),
            axes,
            args,
            is_leaf=lambda axis: axis is None,
        )
        numbers, structure = split_arguments(args)
        places = structure[1]
        flags = zip(jax.tree.leaves(spread), places, strict=True)
        mapped = tuple(flag for flag, is_number in flags if is_number)
        ids = {id(leaf) for leaf in jax.tree.leaves(self._fixed(*args))}
        is_fixed = tuple(id(number) in ids for number in numbers)
        return _Request(numbers, structure, mapped, is_fixed)

    def _program(self, request: _Request) -> Program:
        shapes = tuple((s.shape, np.dtype(s.dtype)) for s in request.shapes())
        key = (self, request.structure, shapes, request.mapped, vector_width())
        with _compiling:
            found: Any = STORE.find(key)
            programs = list(found.call) if found is not None else []
            for pattern, program in programs:
                if pattern.holds_for(request.numbers):
                    return program
            if key in self._untranslatable:
                raise Untranslatable("a function that had no form in lanes before")
            pattern = request.pattern()
            if programs:
                pattern = pattern.weakened(programs[-1][0])
            try:
                program = self._build(request, pattern)
            except Untranslatable:
                self._untranslatable.add(key)
                raise
            except Exception as failure:
                self._untranslatable.add(key)
                log.debug("traceback", exc_info=True)
                raise Unexpected(reason_of(failure)) from failure
            programs.append((pattern, program))
            entry: Any = tuple(programs)
            STORE.keep(key, Program(entry, None, program.user_code))
            return program

    def _build(self, request: _Request, pattern: Pattern) -> Program:
        width = vector_width()
        shapes, structure = list(request.shapes()), request.structure
        facts = (shapes, pattern.digest(), request.mapped, width, self._in_step)
        key = program_cache.key_of("lanes", self._function, structure, *facts)
        recipe = program_cache.find(key)
        if recipe is None:
            with tracing_for_lanes(self._in_step):
                traced, result = trace(self._function, shapes, structure)
            function = function_of(traced, pattern, False)
            outputs = (False,) * len(traced.jaxpr.outvars)
            shared = (*[not own for own in request.mapped], *outputs)
            # Members are in memory of the runner, which may be overwritten.
            in_inputs = begin_in_inputs(function, request.mapped)
            recipe = recipe_of(traced, load(function, shared, width), result)
            recipe = recipe._replace(in_inputs=tuple(in_inputs.items()))
            program_cache.keep(key, recipe)
        return Program(
            call=_Runner(recipe, request.mapped, width),
            result=recipe.result,
            user_code=frozenset(user_code_in(structure[0])),
        )


class _Runner:
    """A program: numbers of all members in, results of all members out."""

    def __init__(self, recipe: Recipe, mapped: tuple[bool, ...], width: int):
        self.call = machine_code.entry(recipe.name, recipe.count)
        self.inputs = [np.dtype(name) for name in recipe.inputs]
        self.outputs = [(shape, np.dtype(name)) for shape, name in recipe.outputs]
        self.leaves, self.tree = jax.tree.flatten(recipe.result)
        self.mapped = mapped
        self.width = width
        self.in_inputs = dict(recipe.in_inputs)

    def __call__(self, numbers: list[Any]) -> Any:
        pairs = zip(numbers, self.inputs, strict=True)
        given = [np.ascontiguousarray(number, dtype=dtype) for number, dtype in pairs]
        sizes = [len(a) for a, own in zip(given, self.mapped, strict=True) if own]
        count = sizes[0]
        found = [np.empty((count, *shape), dtype) for shape, dtype in self.outputs]
        self._run(given, found, count)
        filled = list(self.leaves)
        results = iter(found)
        for place, leaf in enumerate(filled):
            if isinstance(leaf, jax.ShapeDtypeStruct):
                filled[place] = next(results)
        return jax.tree.unflatten(self.tree, filled)

    def _run(self, given: list, found: list, count: int) -> None:
        """Runs members in groups of as many as lanes, in the same memory; the last member fills up the last group."""
        into, inputs = [], []
        for array, is_own in zip(given, self.mapped, strict=True):
            if is_own:
                into.append(Lanes(array, self.width))
            inputs.append(into[-1].memory if is_own else array)
        out_of = []
        for result, array in enumerate(found):
            place = self.in_inputs.get(result)
            memory = None if place is None else inputs[place]
            out_of.append(Lanes(array, self.width, memory))
        results = [lanes.memory for lanes in out_of]
        pointers = addresses_of([*inputs, *results])
        for first in range(0, count, self.width):
            for lanes in into:
                lanes.fill(first)
            self.call(address_of(pointers))
            for lanes in out_of:
                lanes.empty(first)


class Lanes:
    """Memory for as many members of an array (member, ...) as there are lanes, element after element.

    Args:
        array: of all members.
        width: number of lanes.
        memory: that of other lanes, of the same shape.
    """

    def __init__(self, array: np.ndarray, width: int, memory: np.ndarray | None = None):
        # A complex number is two numbers beside each other.
        is_complex = array.dtype.kind == "c"
        shape = (*array.shape, 2) if is_complex else array.shape
        self._rows = array
        if is_complex:
            self._rows = array.view(np.finfo(array.dtype).dtype).reshape(shape)
        self._width = width
        if memory is None:
            memory = blank(shape[1:], self._rows.dtype, width)
        self.memory = memory
        self._lanes = np.moveaxis(self.memory, -1, 0)

    def fill(self, first: int) -> None:
        """Puts members into the lanes, from the first on; where there are fewer, the last one repeated."""
        rows = self._rows[first : first + self._width]
        count = len(rows)
        self._lanes[:count] = rows
        if count < self._width:
            self._lanes[count:] = rows[-1]

    def empty(self, first: int) -> None:
        """Puts what is in the lanes back to members, from the first on."""
        rows = self._rows[first : first + self._width]
        rows[...] = self._lanes[: len(rows)]


def blank(shape: tuple[int, ...], dtype: np.dtype, width: int) -> np.ndarray:
    """Memory for an array in lanes, at the beginning of a line of the cache."""
    size = math.prod(shape) * width * dtype.itemsize
    raw = np.empty(size + LINE, np.uint8)
    start = -address_of(raw) % LINE
    return raw[start : start + size].view(dtype).reshape(*shape, width)
