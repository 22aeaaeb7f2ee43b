"""Deprecated: machine code is made by the package `jaxnative`, and its modules have the same names there."""

import sys
import warnings
from importlib import import_module

warnings.warn(
    "lissom.native is now the package jaxnative (lissom.native.compiled is jaxnative.compiled); "
    "the old name goes in lissom 0.4",
    DeprecationWarning,
    stacklevel=2,
)
# Those that pages of the documentation have named.
for _name in ("compiled", "export", "marks"):
    sys.modules[f"{__name__}.{_name}"] = import_module(f"jaxnative.{_name}")
