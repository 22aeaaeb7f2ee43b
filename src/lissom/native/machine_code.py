"""Machine code for this processor through LLVM, in this process."""

import ctypes
import functools
from typing import Any

import llvmlite.binding as llvm

from . import code_cache
from .llvm_text import function_text
from .program import Function

STRAIGHT = 4000  # nodes: a longer function has little for LLVM to improve, and would take it minutes
# Functions of libm that LLVM may ask for under these names.
_loaded: set[str] = set()


@functools.cache
def target_machine() -> Any:
    """This processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="default",
    )


@functools.cache
def engine() -> Any:
    """Where functions of all programs live."""
    machine = target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def object_code(text: str, has_loops: bool) -> bytes:
    """Machine code of a module, from the cache or made now."""
    key = code_cache.key_of(text, f"loops {has_loops}")
    data = code_cache.find(key)
    if data is None:
        data = _made(text, has_loops)
        code_cache.keep(key, data)
    return data


def _made(text: str, has_loops: bool) -> bytes:
    module = llvm.parse_assembly(text)
    machine = target_machine()
    if has_loops:
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        options.slp_vectorization = False
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def load(function: Function, names: dict[Function, str] | None = None) -> str:
    """Puts a function and all it calls into this process; its name there."""
    names = {} if names is None else names
    if function in names:
        return names[function]
    for called in function.calls:
        load(called, names)
    name, text = function_text(function, names)
    names[function] = name
    if name not in _loaded:
        has_loops = function.loops and len(function.op) < STRAIGHT
        data = object_code(text, has_loops)
        engine().add_object_file(llvm.ObjectFileRef.from_data(data))
        _loaded.add(name)
    return name


def entry(name: str, count: int) -> Any:
    """A function of pointers that Python can call."""
    engine().finalize_object()
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)
    return kind(engine().get_function_address(name))
