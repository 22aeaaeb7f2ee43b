"""Deprecated: compilation is the business of the package `jaxnative`."""

import warnings

from jaxnative.compilation import FullOfCodeError as FullOfCodeError

warnings.warn(
    "lissom.compilation.FullOfCodeError is now lissom.FullOfCodeError; the old name goes in lissom 0.4",
    DeprecationWarning,
    stacklevel=2,
)
