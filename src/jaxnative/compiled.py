"""Functions that run as machine code where they can be translated, and under XLA where not."""

import functools
import hashlib
import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from . import machine_code, marks, program_cache
from .call_memory import (
    InputAddresses,
    OutputBlock,
    address_of,
    with_positive_zeros,
)
from .compilation import (
    QUICK,
    STORE,
    CompiledAhead,
    Program,
    collector_at_rest,
    joined_arguments,
    split_arguments,
    user_code_in,
)
from .program_cache import Recipe
from .recent_call import (
    NOT_SERVED,
    Addresses,
    RecentCall,
    form_of,
    holds,
    remember_result,
)
from .untranslatable import Untranslatable

# The translator is imported where a program has to be made: a start that finds all of them on disk does without.
if TYPE_CHECKING:
    from .program import Function
    from .translate import Translation

log = logging.getLogger("jaxnative")
Backend = Literal["auto", "native", "xla"]
_backend: ContextVar[Backend] = ContextVar("backend", default="auto")
_all_quickly: ContextVar[bool] = ContextVar("compiling quickly", default=False)
_compiling = threading.RLock()
# Functions that several programs of a model call, such as its residual, are translated once.
_shared: "dict[Any, Translation]" = {}
MOST_SHARED = 60
_logged: set[str] = set()  # reasons why functions did not become machine code
# Recent calls that are recognised: iterations come back to arguments that they had before.
MOST_RECENT = 3
# Share of a model's zeros and ones that a program made for a similar model has to assume.
MOST_ASSUMED = 0.8
F = TypeVar("F", bound=Callable[..., Any])


def using(backend: Backend) -> AbstractContextManager[None]:
    """Context in which functions run as machine code (`native`), under XLA (`xla`), or where it is best (`auto`)."""
    return marks.held(_backend, backend)


def is_native() -> bool:
    """True if functions run as machine code where they can."""
    return _backend.get() != "xla"


def chosen_backend(named: Backend) -> Backend:
    """A back end that was named, or for `auto` the one that is in force."""
    return _backend.get() if named == "auto" else named


def compiling(quickly: bool) -> AbstractContextManager[None]:
    """Context in which all machine code is compiled quickly, or, as by default, with optimisation where it runs often.

    Quickly compiled and optimised code of a function are two programs, whose results agree to rounding.
    """
    return marks.held(_all_quickly, quickly)


def is_compiling_quickly() -> bool:
    """True if all machine code is compiled quickly."""
    return _all_quickly.get()


# --- zeros and ones ------------------------------------------------------------------------------------------------


class Pattern(NamedTuple):
    """Zeros and ones that a program assumes: 0 or 1 where it does, -1 elsewhere; None for a free input."""

    known: tuple[np.ndarray | None, ...]

    def holds_for(self, numbers: list[Any]) -> bool:
        """True if these inputs have the zeros and ones."""
        pairs = zip(self.known, numbers, strict=True)
        return all(known is None or holds(known, number) for known, number in pairs)

    def digest(self) -> str:
        """Hash of the pattern."""
        digest = hashlib.sha256()
        for known in self.known:
            digest.update(b"-" if known is None else known.tobytes())
        return digest.hexdigest()

    def weakened(self, other: "Pattern") -> "Pattern":
        """The zeros and ones that both patterns assume."""
        pairs = zip(self.known, other.known, strict=True)
        return Pattern(
            tuple(
                None if a is None or b is None else np.where(a == b, a, -1)
                for a, b in pairs
            )
        )

    def is_close_to(self, other: "Pattern") -> bool:
        """True if it assumes most of what another pattern does: its program is hardly slower."""
        return self._count() >= MOST_ASSUMED * other._count()

    def _count(self) -> int:
        return sum(int((known >= 0).sum()) for known in self.known if known is not None)


def pattern_of(numbers: list[Any], is_fixed: list[bool]) -> Pattern:
    """Zeros and ones of the inputs that stay the same from call to call."""
    return Pattern(
        tuple(
            _zeros_and_ones(number) if fixed else None
            for number, fixed in zip(numbers, is_fixed, strict=True)
        )
    )


def chosen_pattern(
    own: Pattern, made: list[Pattern], kept: list[Pattern], numbers: list[Any]
) -> Pattern:
    """Zeros and ones that a program for these numbers shall assume, so that few programs serve many models.

    Args:
        own: all zeros and ones of the numbers.
        made: patterns of programs in this process, none of which holds.
        kept: patterns of programs on disk.
        numbers: the inputs.
    """
    candidates = [pattern for pattern in kept if pattern.is_close_to(own)]
    for pattern in reversed(candidates):
        if pattern.holds_for(numbers):
            return pattern
    if made:
        # A program that assumes less: it serves all models so far.
        return own.weakened(made[-1])
    for pattern in reversed(candidates):
        weaker = own.weakened(pattern)
        if weaker.is_close_to(own):
            return weaker
    return own


def _zeros_and_ones(number: Any) -> np.ndarray | None:
    if isinstance(number, jax.ShapeDtypeStruct):
        return None
    array = np.asarray(number)
    if array.dtype.kind not in "fib":
        return None
    is_known = (array == 0) | (array == 1)
    return np.where(is_known, array, -1).astype(np.int64)


# --- functions that are compiled -----------------------------------------------------------------------------------


def compiled_quickly(function: F) -> F:
    """A function compiled without costly optimisation: machine code, or XLA where that has to do it.

    The numbers of a model, its first argument, are assumed to be the same from call to call. Inside another
    transformation (`jit`, `grad`, `vmap`) it is an ordinary jitted function, as JAX demands.
    """
    quick = NativeAhead(_WithKeywords(function), _model, quick=True, **QUICK)
    ordinary = eqx.filter_jit(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = jax.tree.leaves((args, kwargs))
        if any(isinstance(leaf, Tracer) for leaf in leaves):
            return ordinary(*args, **kwargs)
        return on_device(quick(args, kwargs))

    return call  # type: ignore[return-value]


class _WithKeywords:
    """A function whose arguments are a tuple and a mapping; it has the name of the function."""

    def __init__(self, function: Callable[..., Any]):
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._function(*args, **kwargs)


def _model(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The first argument, if it is more than an array."""
    return args[0] if isinstance(args[0], eqx.Module) else ()


def on_device(tree: Any) -> Any:
    """A tree with JAX arrays in place of NumPy's; nothing is compiled for it."""

    def put(leaf: Any) -> Any:
        return jax.device_put(leaf) if isinstance(leaf, np.ndarray) else leaf

    return jax.tree.map(put, tree)


class NativeAhead(CompiledAhead):
    """A function that becomes machine code for given shapes before it is called.

    Args:
        function: what to compile.
        fixed: from the arguments, those whose numbers stay the same from call to call, such as a model's. Their
            zeros and ones are compiled in; other numbers need no new program, other zeros do.
        unrolls: written out in scalars as a whole; without it, only marked functions inside are.
        quick: compiled without much optimisation, for what runs a few times; see also `compiling`.
        once: the function itself runs once, and those it calls run often in other programs too.
        is_inner: results are arguments of further programs, and their zeros may have either sign.
        options: of XLA, where that has to do it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        fixed: Callable[..., Any] = lambda *arguments: (),
        unrolls: bool = False,
        quick: bool = False,
        once: bool = False,
        is_inner: bool = False,
        **options: Any,
    ):
        super().__init__(function, **options)
        self._is_inner = is_inner
        self._fixed = fixed
        self._unrolls = unrolls
        self._quick = quick
        self._once = once
        self._untranslatable: set[Any] = set()
        # Of quickly compiled and of optimised code.
        self._recent: dict[bool, tuple[RecentCall, ...]] = {True: (), False: ()}

    @property
    def _is_quick(self) -> bool:
        return self._quick or is_compiling_quickly()

    def prepare(self, *args: Any) -> Any:
        """Compile for arguments of these shapes; the shapes of what a call will return."""
        if is_native():
            for recent in self._recent[self._is_quick]:
                if recent.serves(args):
                    return recent.program.result
        return super().prepare(*args)

    def __call__(self, *args: Any) -> Any:
        """Value of the function."""
        if not is_native():
            return super().__call__(*args)
        value = self._native_value(args)
        return value if self._is_inner else with_positive_zeros(value)

    def _native_value(self, args: tuple[Any, ...]) -> Any:
        for recent in self._recent[self._is_quick]:
            value = recent.value(args)
            if value is not NOT_SERVED:
                return value
        pattern, program = self._pattern_and_program(args)
        self._remember(program, pattern, args)
        numbers, _ = split_arguments(args)
        return program.call(numbers)

    def _remember(self, program: Program, pattern: Pattern | None, args: Any) -> None:
        # A user's code must not outlive the user's reference to it.
        if program.user_code:
            self._recent = {True: (), False: ()}
            return
        count = len(split_arguments(args)[0])
        known = [None] * count if pattern is None else pattern.known
        recent = RecentCall(program, known, args)
        before = self._recent[self._is_quick]
        self._recent[self._is_quick] = (recent, *before[: MOST_RECENT - 1])

    def _program(self, args: tuple[Any, ...]) -> Program:
        if not is_native():
            return super()._program(args)
        return self._pattern_and_program(args)[1]

    def _pattern_and_program(
        self, args: tuple[Any, ...]
    ) -> tuple[Pattern | None, Program]:
        """A program, and what it assumes; None under XLA."""
        found = self._native_program(args)
        return (None, super()._program(args)) if found is None else found

    def _native_program(self, args: tuple[Any, ...]) -> tuple[Pattern, Program] | None:
        numbers, structure = split_arguments(args)
        shapes = tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in numbers)
        key = (self, structure, shapes, "quick" if self._is_quick else "native")
        found: Any = STORE.find(key)
        for pattern, program in found.call if found is not None else ():
            if pattern.holds_for(numbers):
                return pattern, program
        if key[:-1] in self._untranslatable:
            return None
        with _compiling, collector_at_rest():
            return self._translated(key, numbers, structure, args)

    def _translated(
        self, key, numbers, structure, args
    ) -> tuple[Pattern, Program] | None:
        found: Any = STORE.find(key)
        programs = list(found.call) if found is not None else []
        ids = {id(leaf) for leaf in jax.tree.leaves(self._fixed(*args))}
        own = pattern_of(numbers, [id(number) in ids for number in numbers])
        kind = self._kind(numbers, structure)
        kept = [Pattern(known) for known in program_cache.patterns(kind)]
        pattern = chosen_pattern(own, [made for made, _ in programs], kept, numbers)
        try:
            program = self._build(kind, pattern, numbers, structure)
        except Untranslatable as reason:
            self._give_up(key, f"has no native form: {reason}", logging.INFO)
            return None
        except Exception as failure:
            reason = reason_of(failure)
            # One line for a reason, however many functions it meets.
            level = logging.INFO if reason in _logged else logging.WARNING
            _logged.add(reason)
            self._give_up(key, f"did not become machine code ({reason})", level)
            log.debug("traceback", exc_info=True)
            return None
        programs.append((pattern, program))
        # One entry of the store for all patterns of zeros: its `call` is their list.
        entry: Any = tuple(programs)
        STORE.keep(key, Program(entry, None, program.user_code))
        return pattern, program

    def _give_up(self, key: Any, reason: str, level: int) -> None:
        # However it is compiled.
        self._untranslatable.add(key[:-1])
        name = getattr(self._function, "__name__", "a function")
        if _backend.get() == "native":
            level = logging.WARNING
        log.log(level, "%s %s; XLA runs it", name, reason)

    def _kind(self, numbers: list[Any], structure: Any) -> str | None:
        """Key on disk of all models of a structure; None if nothing of it can be stored."""
        effort = (self._unrolls, self._is_quick, self._once)
        return program_cache.key_of(
            self._function, structure, shapes_of(numbers), effort
        )

    def _build(
        self, kind: str | None, pattern: Pattern, numbers: list[Any], structure: Any
    ) -> Program:
        key = program_cache.program_key(kind, pattern.digest())
        recipe = program_cache.find(key)
        if recipe is None:
            recipe = self._translate(pattern, shapes_of(numbers), structure)
            program_cache.keep(key, recipe)
            program_cache.keep_pattern(kind, pattern.known)
        return Program(
            call=self._runner(recipe),
            result=recipe.result,
            user_code=frozenset(user_code_in(structure[0])),
        )

    def _runner(self, recipe: Recipe) -> "Runner":
        return Runner(recipe)

    def _translate(self, pattern: Pattern, shapes: list[Any], structure: Any) -> Recipe:
        from . import loading
        from .host_call import hosts_of

        traced, result = trace(self._function, shapes, structure)
        function = function_of(traced, pattern, self._unrolls)
        name = loading.load(function, self._is_quick, self._once)
        return recipe_of(traced, name, result, tuple(hosts_of(function)))


def reason_of(failure: Exception) -> str:
    """Why something failed, in one line."""
    return f"{type(failure).__name__}: {failure}".splitlines()[0]


def shapes_of(numbers: list[Any]) -> list[Any]:
    """Shapes and types of numbers."""
    return [jax.ShapeDtypeStruct(np.shape(leaf), leaf.dtype) for leaf in numbers]


def trace(
    function: Callable[..., Any], shapes: list[Any], structure: Any
) -> tuple[Any, Any]:
    """A function traced for machine code, and its result with shapes in place of numbers."""
    rest: list[Any] = []

    def on_arrays(numbers: list[Any]) -> Any:
        value = function(*joined_arguments(numbers, structure))
        arrays, other = eqx.partition(value, eqx.is_array)
        rest.append(other)
        return arrays

    with marks.tracing():
        traced, result = jax.make_jaxpr(on_arrays, return_shape=True)(shapes)
    result = jax.tree.map(
        lambda info: jax.ShapeDtypeStruct(info.shape, info.dtype), result
    )
    return traced, eqx.combine(result, rest[0])


def function_of(traced: Any, pattern: Pattern, unrolls: bool) -> "Function":
    """The program of a traced function.

    Raises:
        Untranslatable: it has no native form.
    """
    from .translate import Module

    variables = traced.jaxpr.invars
    forms = [
        (variable.aval, known)
        for variable, known in zip(variables, pattern.known, strict=True)
    ]
    if len(_shared) > MOST_SHARED:
        _shared.clear()
    return Module("f", _shared).function(traced, forms, unrolls)[0]


def recipe_of(
    traced: Any, name: str, result: Any, hosts: tuple[Any, ...] = ()
) -> Recipe:
    """What a program needs beside the machine code of its function, which is in this process under a name."""
    inputs, outputs = traced.jaxpr.invars, traced.jaxpr.outvars
    return Recipe(
        name=name,
        count=len(inputs) + len(outputs),
        pieces=machine_code.pieces(name),
        inputs=[np.dtype(v.aval.dtype).name for v in inputs],
        outputs=[(v.aval.shape, np.dtype(v.aval.dtype).name) for v in outputs],
        result=result,
        hosts=hosts,
    )


class Runner:
    """A program: numbers in, results out."""

    def __init__(self, recipe: Recipe):
        self._call = machine_code.entry(recipe.name, recipe.count)
        self._inputs = InputAddresses(recipe.inputs)
        self._outputs = OutputBlock(recipe.outputs)
        self._leaves, self._tree = jax.tree.flatten(recipe.result)
        self._places = [k for k, leaf in enumerate(self._leaves) if _is_shape(leaf)]
        # Python functions that the program calls live as long as it does.
        self._alive = recipe.hosts
        self._form = None
        if isinstance(recipe.result, eqx.Module):
            self._form = form_of(*split_arguments((recipe.result,)))

    def __call__(self, numbers: list[Any]) -> Any:
        """The results for these inputs."""
        given, sources = self._inputs.located(numbers)
        return self.run_at(np.array(sources, dtype=np.uint64))

    def run_at(self, sources: Addresses, room: OutputBlock | None = None) -> Any:
        """The results for inputs at these addresses, in other memory than the usual if that is given."""
        results, targets = (room or self._outputs).allocated()
        pointers = np.concatenate([sources, targets])
        self._call(address_of(pointers))
        filled = results
        if len(results) < len(self._leaves):
            filled = list(self._leaves)
            for place, result in zip(self._places, results, strict=True):
                filled[place] = result
        value = jax.tree.unflatten(self._tree, filled)
        if self._form is not None:
            remember_result(value, self._form, targets)
        return value


def _is_shape(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def largest_function(function: Callable[..., Any], *arguments: Any) -> int:
    """Scalar operations of the largest function that a function is made of, zeros of all its numbers left out."""
    module, _ = _translation(function, arguments, unrolls=False)
    return max(module.operations.values())


def written_out_operations(function: Callable[..., Any], *arguments: Any) -> int:
    """Scalar operations of one call of a function written out as a whole, zeros of its first argument left out."""
    from .program import executed_operations

    _, whole = _translation(function, arguments, unrolls=True)
    return executed_operations(whole)


def _translation(function: Callable[..., Any], arguments: tuple, unrolls: bool) -> Any:
    from .translate import Module

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
