"""Machine code for this processor through LLVM, kept on disk for the next process."""

import ctypes
import functools
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from .llvm_text import function_text
from .program import Function


STRAIGHT = 4000  # nodes: a longer function has nothing for LLVM to improve, and would take it minutes


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
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    empty = llvm.parse_assembly("")
    return llvm.create_mcjit_compiler(empty, target_machine())


def object_code(text: str, loops: bool) -> bytes:
    """Machine code of a module."""
    module = llvm.parse_assembly(text)
    machine = target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = loops
    options.slp_vectorization = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    if loops:
        passes = builder.getModulePassManager()
        passes.run(module, builder)
    return machine.emit_object(module)


_loaded: set[str] = set()


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
        data = object_code(text, function.loops and len(function.op) < STRAIGHT)
        engine().add_object_file(llvm.ObjectFileRef.from_data(data))
        _loaded.add(name)
    return name


def address(name: str) -> int:
    """Where a function is."""
    engine().finalize_object()
    return engine().get_function_address(name)


def entry(name: str, count: int) -> Any:
    """A function of pointers that Python can call."""
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)
    return kind(address(name))


__all__ = ["address", "entry", "load", "np", "object_code"]
