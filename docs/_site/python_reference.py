"""Names of the package `lissom` with their signatures and docstrings."""

import inspect

import lissom


def entry(name: str) -> str:
    """A function, or a class with its documented methods, as autodoc shows it."""
    if not inspect.isclass(getattr(lissom, name)):
        return f".. autofunction:: lissom.{name}\n"
    return f".. autoclass:: lissom.{name}\n   :members:\n"


def names(*wanted: str) -> str:
    """The names in this order."""
    return "```{eval-rst}\n" + "\n".join(map(entry, wanted)) + "```"
