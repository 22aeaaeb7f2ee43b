"""C text of any function of arrays."""

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from . import marks
from .c_text import STORED, program_text
from .translate import Module
from .untranslatable import Untranslatable

# Folders of packages whose lines are not those of the function that is exported.
LIBRARIES = ("jax", "numpy", "equinox", "jaxtyping")


class ExportError(ValueError):
    """A function cannot be written in C; the text says why."""


def export_c(function: Callable[..., Any], *arguments: Any, name: str) -> str:
    """C99 text of a function of arrays: one file, no dependency but libm.

    Arrays in the arguments become parameters, in order, then come the results; all are pointers to their numbers, last
    axis fastest. A comment above the function names them with their shapes.

    Args:
        function: a JAX function of arrays and trees of arrays, pure.
        arguments: examples; their shapes and types count, not their numbers.
        name: of the function in C.

    Returns:
        The text of the C file.

    Raises:
        ExportError: the function uses an operation that has no form in C, is no function of JAX, or gives what is no
            array; or the name is none.

    Example:
        >>> import jax.numpy as jnp
        >>> text = export_c(lambda q: jnp.sin(q) * 2.0, jnp.zeros(3), name="twice_sine")
        >>> "void twice_sine(const double *q, double *result)" in text
        True
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ExportError(f"name: {name!r} is no name of a function in C")
    leaves, tree = jax.tree.flatten(arguments)
    leaves = [np.asarray(leaf) for leaf in leaves]

    def on_arrays(leaves: list[Any]) -> Any:
        found = function(*jax.tree.unflatten(tree, leaves))
        _check_results(name, found)
        return found

    try:
        with marks.tracing():
            traced, shape = jax.make_jaxpr(on_arrays, return_shape=True)(leaves)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as failure:
        raise ExportError(_why_not_traced(name, failure)) from None
    forms = [(variable.aval, None) for variable in traced.jaxpr.invars]
    try:
        translated, _ = Module(f"{name}_part").function(traced, forms, True)
        text, inner = program_text(translated)
    except Untranslatable as reason:
        raise ExportError(f"{name}: {reason} has no form in C") from None
    inputs = _names(function, arguments)
    outputs = _output_names(shape)
    return text + _door(name, inner, traced, inputs, outputs)


def _check_results(name: str, found: Any) -> None:
    """Refuses results that are no arrays and no trees of arrays."""
    for leaf in jax.tree.leaves(found):
        if not isinstance(leaf, jax.Array | np.ndarray | np.generic | int | float):
            kind = type(leaf).__name__
            message = f"gives {kind}, which is no array: return its arrays, such as `lambda x: f(x).M`"
            raise ExportError(f"{name}: the function {message}")


def _why_not_traced(name: str, failure: Exception) -> str:
    """Where a function asked for numbers of arrays that have none yet."""
    place = ""
    for frame in traceback.extract_tb(failure.__traceback__):
        if not Path(frame.filename).is_relative_to(Path(__file__).parent):
            # The last line that is no part of JAX or NumPy: theirs are deeper.
            if not any(part in LIBRARIES for part in Path(frame.filename).parts):
                place = f" ({frame.filename}:{frame.lineno}: {frame.line})"
    return (
        f"{name}: the function asks for the numbers of an array, which are not known when it is written in C{place}. "
        "Write it with `jax.numpy` in place of NumPy, and without float(), int(), and `if` on values"
    )


def _door(name: str, inner: str, traced: Any, inputs: list[str], outputs: list[str]):
    """The function that others call, with names of its parameters."""
    parameters, lines = [], []
    groups = (
        (inputs, traced.jaxpr.invars, True),
        (outputs, traced.jaxpr.outvars, False),
    )
    for names, variables, is_input in groups:
        for word, variable in zip(names, variables, strict=True):
            stored = STORED[np.dtype(variable.aval.dtype).name]
            const = "const " if is_input else ""
            parameters.append(f"{const}{stored} *{word}")
            shape = " x ".join(map(str, variable.aval.shape)) or "one number"
            lines.append(f" *   {word}: {'in' if is_input else 'out'}, {shape}")
    words = ", ".join([*inputs, *outputs])
    comment = "\n".join(["/*", *lines, " */"])
    return f"\n{comment}\nvoid {name}({', '.join(parameters)}) {{\n    {inner}({words});\n}}\n"


def _names(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[str]:
    """Names of the arrays in the arguments."""
    code = getattr(function, "__code__", None)
    known = code.co_varnames[: code.co_argcount] if code is not None else ()
    first = [*known, *[f"argument{k}" for k in range(len(known), len(arguments))]]
    words = []
    for word, argument in zip(first, arguments, strict=False):
        paths = jax.tree_util.tree_flatten_with_path(argument)[0]
        words += [_word(word, path) for path, _ in paths]
    return _unique(words)


def _output_names(shape: Any) -> list[str]:
    paths = jax.tree_util.tree_flatten_with_path(shape)[0]
    return _unique([_word("result", path) for path, _ in paths])


def _word(first: str, path: Any) -> str:
    parts = [first, *[re.sub(r"\W", "", str(key)) for key in path]]
    return "_".join(part for part in parts if part)


def _unique(words: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    out = []
    for word in words:
        count = seen.get(word, 0)
        seen[word] = count + 1
        out.append(f"{word}_{count}" if count else word)
    return out
