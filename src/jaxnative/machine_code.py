"""Machine code for this processor through LLVM, in this process."""

import ctypes
import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite.binding as llvm

from . import code_cache
from .host_failures import raise_failure

if TYPE_CHECKING:
    from .program import Function

# Nodes: a shorter function with loops is compiled well in a few milliseconds.
KERNEL = 150
STRAIGHT = 600  # nodes: in a longer function LLVM finds little to improve, and takes long to look
# Nodes: from here on even level 1 takes seconds (45,000 nodes: 1.8 s, and 0.1 s at level 0, for code that is 1.45 times
# as slow).
LONG = 30_000
LONG_IF_RARE = 12_000  # of matrices, which a step needs once, or less


@functools.cache
def target_machine(level: int = 2) -> Any:
    """This processor; `level` says how much LLVM improves the code, 0 being twenty times quicker to compile."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic",
        codemodel="default",
    )


@functools.cache
def linker() -> Any:
    """The linker of this process, which places each function in one piece of memory."""
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=True)


class Effort(NamedTuple):
    """Optimisation effort."""

    has_loops: bool = False  # improve loops
    level: int = 2  # of LLVM's code generator


def object_code(text: str, effort: Effort) -> bytes:
    """Machine code of a module, cached or compiled."""
    key = _key(text, effort)
    data = code_cache.find(key)
    if data is None:
        data = _made(text, effort)
        code_cache.keep(key, data)
    return data


def _key(text: str, effort: Effort) -> str:
    return code_cache.key_of(text, f"loops {effort.has_loops}, level {effort.level}")


def _made(text: str, effort: Effort) -> bytes:
    module = llvm.parse_assembly(text)
    machine = target_machine(effort.level)
    if effort.has_loops:
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        options.slp_vectorization = True
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


class _Loaded:
    """Functions in this process: their addresses, and what keeps their code."""

    addresses: dict[str, int] = {}
    code: dict[str, Any] = {}
    pieces: dict[str, "Piece"] = {}
    watch: "Stopwatch | None" = None


def keep_address(name: str, address: int) -> None:
    """Registers a function by its address; it is never stored on disk."""
    _Loaded.addresses[name] = address
    _Loaded.pieces[name] = Piece(name, name, [])


def effort_for(function: "Function", quick: bool = False) -> Effort:
    """Optimisation effort of a function: low where it is compiled quickly, more for loops than for straight code."""
    if quick:
        # Well compiled, loops over products of matrices take a quarter of the time.
        is_kernel = function.loops and len(function.op) < KERNEL and not function.calls
        return Effort(level=1 if is_kernel else 0)
    if function.loops and len(function.op) < STRAIGHT:
        return Effort(has_loops=True)
    return effort_without_loops(function)


def effort_without_loops(function: "Function") -> Effort:
    """Optimisation effort of a function whose loops need none."""
    longest = LONG_IF_RARE if function.is_rare else LONG
    # Of straight code LLVM makes the same at level 1 as at 2, three times as fast.
    return Effort(level=0 if len(function.op) > longest else 1)


def load_text(name: str, text: str, effort: Effort, called: list[str]) -> None:
    """Compiles and links a function's text; its callees are loaded already."""
    if name in _Loaded.addresses:
        return
    put_in_process(name, object_code(text, effort), called)
    _Loaded.pieces[name] = Piece(name, _key(text, effort), called)


class Piece(NamedTuple):
    """Where the code of a function is kept on disk, and the functions that it calls."""

    name: str
    key: str
    called: list[str]


def pieces(name: str) -> list[Piece]:
    """A function and all that it calls, callees first."""
    own = _Loaded.pieces[name]
    found = {piece.name: piece for other in own.called for piece in pieces(other)}
    return [*found.values(), own]


def load_pieces(parts: list[Piece]) -> bool:
    """Loads functions from disk; False if one of them is missing."""
    for piece in parts:
        if piece.name in _Loaded.addresses:
            continue
        data = code_cache.find(piece.key)
        if data is None:
            return False
        put_in_process(piece.name, data, piece.called)
        _Loaded.pieces[piece.name] = piece
    return True


def put_in_process(name: str, data: bytes, called: list[str]) -> None:
    """Links the object code of a function; its callees are loaded already."""
    library = llvm.JITLibraryBuilder().add_object_img(data).export_symbol(name)
    for other in called:
        library = library.import_symbol(other, _Loaded.addresses[other])
    library = library.add_current_process()
    code = library.link(linker(), name)
    _Loaded.code[name] = code
    _Loaded.addresses[name] = code[name]


def entry(name: str, count: int) -> Callable[[int], None]:
    """A function that takes the address of a list of pointers."""
    door = f"door_{name}"
    if door not in _Loaded.addresses:
        text = _door_text(door, name, count)
        put_in_process(door, object_code(text, Effort(level=0)), [name])
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_Loaded.addresses[door])

    def watched(pointers: int) -> None:
        if _Loaded.watch is None:
            call(pointers)
        else:
            began = time.process_time()
            call(pointers)
            _Loaded.watch.seconds += time.process_time() - began
        raise_failure()

    return watched


class Stopwatch:
    """Processor seconds spent in machine code."""

    seconds = 0.0


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Context that counts processor time in machine code alone, without Python's overhead."""
    _Loaded.watch = Stopwatch()
    try:
        yield _Loaded.watch
    finally:
        _Loaded.watch = None


FLUSH = 0x8040  # of x86: numbers too small for full precision are zero, as under XLA


def _door_text(door: str, name: str, count: int) -> str:
    """A wrapper that sets the floating-point mode as XLA does, unpacks the pointers, and restores the mode."""
    is_x86 = target_machine().triple.startswith(("x86_64", "i686"))
    types = ", ".join(["ptr"] * count)
    lines = [
        "declare void @llvm.x86.sse.stmxcsr(ptr)",
        "declare void @llvm.x86.sse.ldmxcsr(ptr)",
    ]
    lines = lines if is_x86 else []
    lines.append(f"declare void @{name}({types})")
    lines.append(f"define void @{door}(ptr %list) nounwind {{")
    if is_x86:
        lines += [
            "  %before = alloca i32",
            "  %during = alloca i32",
            "  call void @llvm.x86.sse.stmxcsr(ptr %before)",
            "  %old = load i32, ptr %before",
            f"  %new = or i32 %old, {FLUSH}",
            "  store i32 %new, ptr %during",
            "  call void @llvm.x86.sse.ldmxcsr(ptr %during)",
        ]
    for k in range(count):
        lines.append(f"  %p{k} = getelementptr ptr, ptr %list, i64 {k}")
        lines.append(f"  %a{k} = load ptr, ptr %p{k}")
    pointers = ", ".join(f"ptr %a{k}" for k in range(count))
    lines.append(f"  call void @{name}({pointers})")
    if is_x86:
        lines.append("  call void @llvm.x86.sse.ldmxcsr(ptr %before)")
    return "\n".join([*lines, "  ret void", "}", ""])
