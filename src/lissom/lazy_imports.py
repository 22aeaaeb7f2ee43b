"""Modules of other packages that no robot needs, loaded when one of their names is first used.

Every start imports equinox, and equinox imports its neural networks and all of its inner tools; JAX's extensions import
Pallas. These modules only pass names on, `from ._conv import Conv as Conv`, so that a name can be fetched from where it
is defined when somebody asks for it. Asked for anything else, such a module is executed as it is written: whoever uses
`equinox.nn` finds it complete.
"""

import ast
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import resolve_name
from threading import RLock
from types import ModuleType
from typing import Any

LAZY = frozenset({"equinox.nn", "equinox.internal", "jax.extend.pallas"})

Home = tuple[str, str]  # the module that defines a name, and the name there


def load_lazily() -> None:
    """Load the modules of `LAZY` at their first use from now on; those already loaded stay as they are."""
    if not any(isinstance(finder, LazyFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, LazyFinder())


class LazyFinder(MetaPathFinder):
    """Finds the modules of `LAZY`, where they do nothing but pass names on."""

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, to be loaded lazily; None leaves it to Python."""
        if fullname not in LAZY:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        source = spec.loader.get_source(fullname)
        homes = names_passed_on(source, spec.parent or "")
        if homes is None:
            # Another version of the package, in which the module does something of its own.
            return None
        spec.loader = LazyLoader(spec.loader, homes)
        return spec


class LazyLoader(Loader):
    """Creates a module without executing it: names that it re-exports are imported on first use."""

    def __init__(self, loader: SourceFileLoader, homes: dict[str, Home]):
        self.loader = loader
        self.homes = homes

    def exec_module(self, module: ModuleType) -> None:
        """Turns an empty module into a lazy one."""
        # As if it had been loaded in the usual way, which `inspect` and others rely on.
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__class__ = LazyModule
        vars(module)[STATE] = (self.loader, self.homes, RLock())


# In a lazy module: its loader, the homes of its names, and a lock.
STATE = "__lissom_lazy__"


class LazyModule(ModuleType):
    """A module that has not been executed."""

    def __getattr__(self, name: str) -> Any:
        """A name that is not there yet: from its home, or else of the whole module."""
        _, homes, _ = vars(self).get(STATE, (None, {}, None))
        if name not in homes:
            load_whole(self)
            return getattr(self, name)
        home, name_there = homes[name]
        value = getattr(__import__(home, fromlist=[name_there]), name_there)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        load_whole(self)
        return dir(self)


def load_whole(module: ModuleType) -> None:
    """Executes a lazy module: from then on it is a module like others."""
    state = vars(module).get(STATE)
    if state is not None:
        loader, _, lock = state
        with lock:
            # Another thread may have loaded it while this one waited.
            if STATE in vars(module):
                loader.exec_module(module)
                del vars(module)[STATE]
    module.__class__ = ModuleType


def names_passed_on(source: str | None, package: str) -> dict[str, Home] | None:
    """Where a module imports its names from; None if it does anything but re-export names.

    Args:
        source: text of the module.
        package: where its relative imports begin.
    """
    homes: dict[str, Home] = {}
    for statement in ast.parse(source or "pass").body:
        if not isinstance(statement, ast.ImportFrom) or statement.module is None:
            return None
        relative = "." * statement.level + statement.module
        home = resolve_name(relative, package)
        for name in statement.names:
            # A star says no names, and what a module imports from itself is a part of it.
            if name.name == "*" or home == package:
                return None
            homes[name.asname or name.name] = (home, name.name)
    return homes
