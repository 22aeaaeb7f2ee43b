"""Small JAX functions as machine code (LLVM) and as C: see README.md in this folder.

Names are imported when they are first used: a program that finds its machine code on disk needs few of the modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .clients import add_client as add_client
    from .code_cache import keep_in as keep_in
    from .compiled import NativeAhead as NativeAhead
    from .compiled import compiled_quickly as compiled_quickly
    from .compiled import compiling as compiling
    from .compiled import using as using
    from .export import ExportError as ExportError
    from .export import export_c as export_c
    from .lanes import LanesAhead as LanesAhead
    from .marks import noinline as noinline

__version__ = "0.1.0.dev0"

_HOME = {
    "add_client": "clients",
    "keep_in": "code_cache",
    "NativeAhead": "compiled",
    "compiled_quickly": "compiled",
    "compiling": "compiled",
    "using": "compiled",
    "ExportError": "export",
    "export_c": "export",
    "LanesAhead": "lanes",
    "noinline": "marks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jaxnative' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
