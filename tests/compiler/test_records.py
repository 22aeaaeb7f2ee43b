"""Structures of results are read as they were written, or not written at all."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
import pytest

from jaxnative.records import NotPlainError, from_text, to_text

HERE = __name__.partition(".")[0]
PACKAGES = {HERE, "numpy", "builtins"}


class Pair(NamedTuple):
    left: Any
    right: Any


class Node(eqx.Module):
    value: Any
    name: str = eqx.field(static=True)
    function: Callable[..., Any] | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        if self.name == "refused":
            raise ValueError("a check that ran")


def again(value):
    return from_text(to_text(value, PACKAGES), PACKAGES)


@pytest.mark.parametrize(
    "value",
    [
        None,
        (1, 1.0, True, "text", -0.0, float("inf")),
        [(), [], {}, {"a": (1,), 2: None, (3, "b"): [4.5]}],
        Pair(Pair(1, 2), ("x",)),
        jax.ShapeDtypeStruct((3, 0), np.dtype("complex128")),
        (Node, np.sin.__class__, len),
    ],
)
def test_what_is_read_is_what_was_written(value):
    found = again(value)
    assert found == value and type(found) is type(value)
    assert repr(found) == repr(value)


def test_modules_are_filled_field_by_field():
    node = Node(Node(jax.ShapeDtypeStruct((2,), np.float64), "inner"), "outer", len)
    found = again(node)
    assert jax.tree.structure(found) == jax.tree.structure(node)
    assert jax.tree.leaves(found) == jax.tree.leaves(node)


def test_numbers_keep_their_bits_and_types():
    numbers = {
        "nan": np.array([np.nan, -0.0, 5e-324]),
        "whole": np.arange(6, dtype=np.int32).reshape(2, 3),
        "one": np.float32(0.1),
        "complex": np.array([[1 + 2j]]),
        "empty": np.zeros((0, 3), dtype=bool),
    }
    for name, value in again(numbers).items():
        assert type(value) is type(numbers[name]) and value.dtype == numbers[name].dtype
        assert value.tobytes() == numbers[name].tobytes()
        assert np.shape(value) == np.shape(numbers[name])


@pytest.mark.parametrize(
    "value", [lambda: 0, object(), np.array([object()]), {1, 2}, Node(eqx, "module")]
)
def test_what_has_no_name_is_not_written(value):
    with pytest.raises(NotPlainError):
        to_text(value, PACKAGES)


def test_classes_of_other_packages_are_neither_written_nor_read():
    with pytest.raises(NotPlainError):
        to_text(Pair(1, 2), {"numpy"})
    text = to_text(Pair(1, 2), PACKAGES)
    with pytest.raises(NotPlainError, match="no known package"):
        from_text(text, {"numpy"})


@pytest.mark.parametrize(
    "text",
    [
        '["name", "os", "system"]',
        '["module", "builtins", "list", [], ["tuple"]]',
        '["named", "builtins", "eval", ["tuple"]]',
        '["name", "numpy", "no_such_name"]',
        '["call", "numpy", "sin"]',
        '["dict", [1], [1, 2]]',
        "[",
    ],
)
def test_a_record_that_was_not_written_here_is_refused(text):
    with pytest.raises(ValueError):
        from_text(text, PACKAGES)
