"""Packages that only some designs need."""

import importlib
from typing import Any

from .design_error import DesignError

EXTRA = "control"


def optional_package(name: str, what: str) -> Any:
    """A package of the extra for control.

    Raises:
        DesignError: it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as failure:
        raise DesignError(
            f"{what} needs the package {failure.name}: pip install 'lissom[{EXTRA}]'"
        ) from failure
