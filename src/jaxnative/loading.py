"""Compiles and links programs into this process: a function and all that it calls."""

import hashlib
import itertools
from typing import Any
from weakref import WeakKeyDictionary

from . import rows_side_by_side
from .lane_code import lane_count
from .llvm_lines import pointers
from .llvm_text import function_text
from .machine_code import Effort, effort_for, keep_address, load_text
from .program import Function
from .untranslatable import Untranslatable

# Names of functions in this process, optimised and quickly compiled.
_names: tuple[Any, Any] = (WeakKeyDictionary(), WeakKeyDictionary())
_hosts = itertools.count()


def load(function: Function, quick: bool = False, once: bool = False) -> str:
    """Compiles and links a function and all it calls; its name in this process.

    Args:
        function: to be called.
        quick: compile all of it without optimisation.
        once: only the function itself; what it calls runs often and is optimised.
    """
    return _load(function, _names[quick], quick, once)


def _load(function: Function, names: Any, quick: bool, once: bool = False) -> str:
    if function not in names:
        names[function] = _loaded(function, names, quick, once)
    return names[function]


def _loaded(function: Function, names: Any, quick: bool, once: bool) -> str:
    if function.host is not None:
        # Every Python function has a name of its own, and none is kept on disk.
        name = f"host{next(_hosts)}"
        keep_address(name, function.host.address)
        return name
    if function.rows is not None and not quick:
        try:
            return rows_side_by_side.load(function.rows)
        except (Untranslatable, RuntimeError):
            # One row after the other. LLVM says with a RuntimeError what it cannot do.
            pass
    if function.in_vectors is not None:
        return load_vectors(function, lane_count(), quick)
    for called in function.calls:
        _load(called, names, quick)
    # The same function may be there twice, quickly compiled and optimised.
    quickly = quick or once
    name, text = function_text(function, names, "quick" if quickly else "n")
    called = [names[other] for other in function.calls]
    load_text(name, text, effort_for(function, quickly), called)
    return name


def load_vectors(function: Function, width: int, quick: bool = False) -> str:
    """Compiles and links a function that is written in vectors and calls no other; its name in this process."""
    assert function.in_vectors is not None
    written = function.in_vectors(width)
    lines = "\n".join(written.lines)
    digest = hashlib.sha256(lines.encode()).hexdigest()[:24]
    name = f"quickw{digest}" if quick else f"w{digest}"
    text = written.text(name, pointers(len(function.arguments)))
    # Loops are written as they should run: there is little for LLVM to improve.
    load_text(name, text, Effort(level=0 if quick else 1), [])
    return name
