"""Compilation: quickly for code that runs once or twice, and ahead of time for code that is then run many times.

All compiled code of the package stands in one store. It is bounded: XLA keeps every program in memory maps of its own,
the kernel gives a process 65,530 of them, and a process that asks for more dies.
"""

import ctypes
import gc
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}

# --- how much is there ---------------------------------------------------------------------------------------------

USED_MAPS = Path("/proc/self/maps")  # one line each
MOST_MAPS = Path("/proc/sys/vm/max_map_count")

# Share of the maps from which on old programs make room for new ones: some ten structures of models.
ROOM = 0.4
# Share at which nothing more is compiled: what is left is for the memory of numbers.
FULL = 0.95
# Where maps cannot be counted (other systems than Linux have no such limit), programs are: some twenty structures.
MOST_PROGRAMS = 400


class FullOfCodeError(RuntimeError):
    """The process has nearly all the memory maps that the kernel gives it."""


def used_maps() -> int:
    """Memory maps of this process; 0 where the system does not report them."""
    try:
        return USED_MAPS.read_bytes().count(b"\n")
    except OSError:
        return 0


def most_maps() -> int:
    """Memory maps that a process may have."""
    try:
        return int(MOST_MAPS.read_text())
    except (OSError, ValueError):
        return 65_530


def return_memory() -> None:
    """Returns freed memory to the system; the C library of Linux keeps it otherwise."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        # Another C library.
        return


# --- the store -----------------------------------------------------------------------------------------------------


class Program(NamedTuple):
    """Compiled code for one structure of arguments, the shapes of its result, and the user's code inside it."""

    call: Callable[[list[Any]], Any]
    result: Any
    user_code: frozenset["UserCode"]


class ProgramStore:
    """Compiled programs of this process; where there are too many, the least recently used are dropped."""

    def __init__(self, most_programs: int = MOST_PROGRAMS):
        self.most_programs = most_programs
        self._programs: OrderedDict[Any, Program] = OrderedDict()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._programs)

    def find(self, key: Any) -> Program | None:
        """The program of a key, marked as most recently used."""
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
            return program

    def keep(self, key: Any, program: Program) -> None:
        """Adds a program."""
        with self._lock:
            self._programs[key] = program

    def make_room(self) -> None:
        """Drops old programs before something is compiled, if there are many.

        Raises:
            FullOfCodeError: there is no room, and nothing left to drop.
        """
        limit = most_maps()
        if len(self) < self.most_programs and used_maps() <= ROOM * limit:
            return
        self.drop_oldest(len(self) // 2)
        # JAX keeps programs too: those of single operations on arrays, and of functions that users compile.
        jax.clear_caches()
        return_memory()
        used = used_maps()
        if used > FULL * limit:
            raise FullOfCodeError(
                f"{used} of the {limit} memory maps of this process are in use, and compiled code needs more. Begin a "
                "new process, or let the kernel give more: sysctl vm.max_map_count"
            )

    def drop_oldest(self, count: int) -> None:
        """Drops the least recently used programs."""
        with self._lock:
            for _ in range(min(count, len(self._programs))):
                self._programs.popitem(last=False)

    def drop_users_of(self, user_code: "UserCode") -> None:
        """Drops every program that contains this code of a user."""
        with self._lock:
            for key, program in list(self._programs.items()):
                if user_code in program.user_code:
                    del self._programs[key]


STORE = ProgramStore()


class UserCode:
    """A part of the arguments' structure, such as a user's function, whose programs are dropped with it."""


def user_code_in(tree: Any) -> set[UserCode]:
    """The user's code in a structure; it stands in the static fields of modules."""
    node = tree.node_data()
    if node is None:
        return set()
    _, static = node
    fields = static if isinstance(static, tuple) else (static,)
    found = {field for field in fields if isinstance(field, UserCode)}
    for child in tree.children():
        found |= user_code_in(child)
    return found


# --- functions that are compiled -----------------------------------------------------------------------------------


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Context without garbage collection.

    Tracing makes objects by the hundred thousand, hardly any of them garbage: collection takes a tenth of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class CompiledAhead:
    """A function that is compiled for given shapes before it is called: `prepare` it, then call it.

    Arrays, and `jax.ShapeDtypeStruct` in their place while preparing, are inputs of the compiled code; everything else
    in the arguments is structure. Each structure is compiled once, as long as the store holds its program.
    """

    def __init__(self, function: Callable[..., Any], **options: Any):
        self._function = function
        self._options = options

    def prepare(self, *args: Any) -> Any:
        """Compile for arguments of these shapes; the shapes of what a call will return."""
        return self._program(args).result

    def __call__(self, *args: Any) -> Any:
        """Value of the function."""
        program = self._program(args)
        numbers, _ = split_arguments(args)
        return program.call(numbers)

    def _program(self, args: tuple[Any, ...]) -> Program:
        numbers, structure = split_arguments(args)
        shapes = tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in numbers)
        key = (self, structure, shapes)
        program = STORE.find(key)
        if program is None:
            STORE.make_room()
            with collector_at_rest():
                program = self._compiled(numbers, structure)
            STORE.keep(key, program)
        return program

    def _compiled(self, numbers: list[Any], structure: Any) -> Program:
        # What the function returns beside arrays (a class, a name) is set aside while tracing and put back after.
        rest: list[Any] = []

        def on_arrays(numbers: list[Any]) -> Any:
            value = self._function(*joined_arguments(numbers, structure))
            arrays, other = eqx.partition(value, eqx.is_array)
            rest.append(other)
            return arrays

        on_arrays.__name__ = getattr(self._function, "__name__", "on_arrays")
        shapes = [jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype) for leaf in numbers]
        traced = jax.jit(on_arrays).trace(shapes)
        result = jax.tree.map(
            lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), traced.out_info
        )
        program = compiled_with(self._options, traced.lower())
        return Program(
            call=lambda numbers: eqx.combine(program(numbers), rest[0]),
            result=eqx.combine(result, rest[0]),
            user_code=frozenset(user_code_in(structure[0])),
        )


# Options of compilers that the one in use does not have: other versions do.
_unknown_options: set[str] = set()


def compiled_with(options: dict[str, Any], lowered: Any) -> Any:
    """A program compiled with the options that XLA knows."""
    known = {name: options[name] for name in options if name not in _unknown_options}
    try:
        return lowered.compile(compiler_options=known or None)
    except jax.errors.JaxRuntimeError as failure:
        found = re.search(r"No such compile option: '(\w+)'", str(failure))
        if found is None or found[1] not in known:
            raise
        _unknown_options.add(found[1])
        return compiled_with(options, lowered)


NUMBERS = (np.ndarray, jax.Array, np.generic, jax.ShapeDtypeStruct)


def split_arguments(args: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """Arrays among the arguments, and everything else as one hashable structure."""
    leaves, tree = jax.tree.flatten(args)
    places = tuple([isinstance(leaf, NUMBERS) for leaf in leaves])
    pairs = list(zip(leaves, places, strict=True))
    numbers = [leaf for leaf, is_number in pairs if is_number]
    others = tuple([None if is_number else leaf for leaf, is_number in pairs])
    return numbers, (tree, places, others)


def joined_arguments(numbers: list[Any], structure: Any) -> tuple[Any, ...]:
    """The arguments of arrays and a structure: the inverse of `split_arguments`."""
    tree, places, others = structure
    next_number = iter(numbers)
    leaves = [
        next(next_number) if is_number else other
        for is_number, other in zip(places, others, strict=True)
    ]
    return jax.tree.unflatten(tree, leaves)
