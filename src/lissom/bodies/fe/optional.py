"""Packages that only some readers need."""

import importlib
from typing import Any

from .elements import FeError

EXTRAS = {"pyyeti": "fe", "gmsh": "fe", "skfem": "fe", "ansys": "ansys"}


def optional_module(module: str, what: str) -> Any:
    """The module of an optional package.

    Raises:
        FeError: the package is not installed, or lacks a library of the system; the message says what to install.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as failure:
        extra = EXTRAS[package]
        raise FeError(
            f"{what} need the package {failure.name}: pip install 'lissom[{extra}]'"
        ) from failure
    except OSError as failure:
        # gmsh is a shared library and needs those of the graphics system.
        raise FeError(
            f"{what} need {package}, which cannot load a library of the system ({failure}). Debian, Ubuntu: "
            "apt install libglu1-mesa libxcursor1 libxinerama1 libxft2; or mesh elsewhere and give the .msh file"
        ) from failure
