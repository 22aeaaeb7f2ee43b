"""Functions that run as machine code where they can be translated, and under XLA where not."""

import hashlib
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import numpy as np

from ..compilation import (
    STORE,
    CompiledAhead,
    Program,
    joined_arguments,
    split_arguments,
    user_code_in,
)
from . import machine_code, marks, program_cache
from .program import Untranslatable, executed_operations
from .program_cache import Recipe
from .translate import Module

log = logging.getLogger("lissom.native")
Backend = Literal["auto", "native", "xla"]
_backend: ContextVar[Backend] = ContextVar("backend", default="auto")
_compiling = threading.RLock()


@contextmanager
def using(backend: Backend) -> Iterator[None]:
    """While it lasts, functions run as machine code (`native`), under XLA (`xla`), or as is best (`auto`)."""
    token = _backend.set(backend)
    try:
        yield
    finally:
        _backend.reset(token)


class Pattern(NamedTuple):
    """Zeros and ones that a program takes for granted: 0 or 1 where it does, -1 elsewhere; None for a free input."""

    known: tuple[np.ndarray | None, ...]

    def holds_for(self, numbers: list[Any]) -> bool:
        """True if these inputs have the zeros and ones."""
        pairs = zip(self.known, numbers, strict=True)
        return all(
            known is None or ((known < 0) | (known == np.asarray(number))).all()
            for known, number in pairs
        )

    def digest(self) -> str:
        """The pattern in one word."""
        digest = hashlib.sha256()
        for known in self.known:
            digest.update(b"-" if known is None else known.tobytes())
        return digest.hexdigest()

    def weakened(self, other: "Pattern") -> "Pattern":
        """What both take for granted."""
        pairs = zip(self.known, other.known, strict=True)
        return Pattern(
            tuple(
                None if a is None or b is None else np.where(a == b, a, -1)
                for a, b in pairs
            )
        )


def pattern_of(numbers: list[Any], is_fixed: list[bool]) -> Pattern:
    """Zeros and ones of the inputs that stay the same from call to call."""
    return Pattern(
        tuple(
            _zeros_and_ones(number) if fixed else None
            for number, fixed in zip(numbers, is_fixed, strict=True)
        )
    )


def _zeros_and_ones(number: Any) -> np.ndarray | None:
    if isinstance(number, jax.ShapeDtypeStruct):
        return None
    array = np.asarray(number)
    if array.dtype.kind not in "fib":
        return None
    is_known = (array == 0) | (array == 1)
    return np.where(is_known, array, -1).astype(np.int64)


class NativeAhead(CompiledAhead):
    """A function that becomes machine code for given shapes before it is called.

    Args:
        function: what to compile.
        fixed: from the arguments, those whose numbers stay the same from call to call, such as the robot's. Their
            zeros and ones are taken for granted; other numbers need no new program, other zeros do.
        unrolls: written out in scalars as a whole; without it, only marked functions inside are.
        options: of XLA, where that has to do it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        fixed: Callable[..., Any] = lambda *arguments: (),
        unrolls: bool = False,
        **options: Any,
    ):
        super().__init__(function, **options)
        self._fixed = fixed
        self._unrolls = unrolls
        self._untranslatable: set[Any] = set()
        self._native: dict[Any, list[tuple[Pattern, Program]]] = {}

    def _program(
        self, args: tuple[Any, ...], numbers: list[Any], structure: Any
    ) -> Program:
        program = None
        if _backend.get() != "xla":
            program = self._native_program(args, numbers, structure)
        return program or super()._program(args, numbers, structure)

    def _native_program(
        self, args: tuple[Any, ...], numbers: list[Any], structure: Any
    ) -> Program | None:
        shapes = tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in numbers)
        key = (self, structure, shapes, "native")
        found: Any = STORE.find(key)
        for pattern, program in found.call if found is not None else ():
            if pattern.holds_for(numbers):
                return program
        if key in self._untranslatable:
            return None
        with _compiling:
            return self._translated(key, numbers, structure, args)

    def _translated(self, key, numbers, structure, args) -> Program | None:
        found: Any = STORE.find(key)
        programs = list(found.call) if found is not None else []
        ids = {id(leaf) for leaf in jax.tree.leaves(self._fixed(*args))}
        pattern = pattern_of(numbers, [id(number) in ids for number in numbers])
        if programs:
            # Another program, that asks for less: it serves all that came so far.
            pattern = pattern.weakened(programs[-1][0])
        try:
            program = self._build(pattern, numbers, structure)
        except Untranslatable as reason:
            self._give_up(key, f"has no native form: {reason}", logging.INFO)
            return None
        except Exception as failure:
            text = f"did not become machine code ({type(failure).__name__}: {failure})"
            self._give_up(key, text.splitlines()[0], logging.WARNING)
            log.debug("traceback", exc_info=True)
            return None
        programs.append((pattern, program))
        # One entry of the store for all patterns of zeros: its `call` is their list.
        together: Any = tuple(programs)
        STORE.keep(key, Program(together, None, program.user_code))
        return program

    def _give_up(self, key: Any, reason: str, level: int) -> None:
        self._untranslatable.add(key)
        name = getattr(self._function, "__name__", "a function")
        if _backend.get() == "native":
            level = logging.WARNING
        log.log(level, "%s %s; XLA runs it", name, reason)

    def _build(self, pattern: Pattern, numbers: list[Any], structure: Any) -> Program:
        shapes = [jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype) for leaf in numbers]
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        facts = (name, structure, shapes, pattern.digest(), self._unrolls)
        key = program_cache.key_of(*facts)
        recipe = program_cache.find(key)
        if recipe is None:
            recipe = self._translate(pattern, shapes, structure)
            program_cache.keep(key, recipe)
        return Program(
            call=runner(recipe),
            result=recipe.result,
            user_code=frozenset(user_code_in(structure[0])),
        )

    def _translate(self, pattern: Pattern, shapes: list[Any], structure: Any) -> Recipe:
        rest: list[Any] = []

        def on_arrays(numbers: list[Any]) -> Any:
            value = self._function(*joined_arguments(numbers, structure))
            arrays, other = eqx.partition(value, eqx.is_array)
            rest.append(other)
            return arrays

        with marks.tracing():
            traced, result = jax.make_jaxpr(on_arrays, return_shape=True)(shapes)
        result = jax.tree.map(
            lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), result
        )
        whole = eqx.combine(result, rest[0])
        return recipe_of(traced, pattern, self._unrolls, whole)


def recipe_of(traced: Any, pattern: Pattern, unrolls: bool, result: Any) -> Recipe:
    """Machine code of a traced function, in this process.

    Raises:
        Untranslatable: it has no native form.
    """
    variables = traced.jaxpr.invars
    forms = [
        (variable.aval, known)
        for variable, known in zip(variables, pattern.known, strict=True)
    ]
    function, _ = Module("f").function(traced, forms, unrolls)
    name = machine_code.load(function)
    return Recipe(
        name=name,
        count=len(function.arguments),
        pieces=machine_code.pieces(name),
        inputs=[np.dtype(v.aval.dtype).name for v in variables],
        outputs=[
            (v.aval.shape, np.dtype(v.aval.dtype).name) for v in traced.jaxpr.outvars
        ],
        result=result,
    )


def runner(recipe: Recipe) -> Callable[[list[Any]], Any]:
    """A program: numbers in, results out."""
    call = machine_code.entry(recipe.name, recipe.count)
    inputs = [np.dtype(name) for name in recipe.inputs]
    outputs = [(shape, np.dtype(name)) for shape, name in recipe.outputs]
    leaves, tree = jax.tree.flatten(recipe.result)
    places = [k for k, leaf in enumerate(leaves) if _is_shape(leaf)]

    def run(numbers: list[Any]) -> Any:
        pairs = zip(numbers, inputs, strict=True)
        given = [np.ascontiguousarray(number, dtype=dtype) for number, dtype in pairs]
        results = [np.empty(shape, dtype) for shape, dtype in outputs]
        addresses = [array.ctypes.data for array in (*given, *results)]
        pointers = np.array(addresses, dtype=np.uint64)
        call(pointers.ctypes.data)
        filled = list(leaves)
        for place, array in zip(places, results, strict=True):
            filled[place] = array
        return jax.tree.unflatten(tree, filled)

    return run


def _is_shape(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def largest_function(function: Callable[..., Any], *arguments: Any) -> int:
    """Scalar operations of the largest function that a function is made of, zeros of all its numbers left out."""
    module, _ = _translation(function, arguments, unrolls=False)
    return max(module.operations.values())


def written_out_operations(function: Callable[..., Any], *arguments: Any) -> int:
    """Scalar operations of one call of a function written out as a whole, zeros of its first argument left out."""
    _, whole = _translation(function, arguments, unrolls=True)
    return executed_operations(whole)


def _translation(function: Callable[..., Any], arguments: tuple, unrolls: bool) -> Any:
    numbers, structure = split_arguments(arguments)

    def on_arrays(numbers: list[Any]) -> Any:
        return function(*joined_arguments(numbers, structure))

    with marks.tracing():
        traced = jax.make_jaxpr(on_arrays)(numbers)
    # The state's numbers have no zeros worth counting on.
    fixed = {id(leaf) for leaf in jax.tree.leaves(arguments[0])}
    pattern = pattern_of(numbers, [id(number) in fixed for number in numbers])
    module = Module("f")
    variables = traced.jaxpr.invars
    forms = [(v.aval, k) for v, k in zip(variables, pattern.known, strict=True)]
    whole, _ = module.function(traced, forms, unrolls)
    return module, whole
