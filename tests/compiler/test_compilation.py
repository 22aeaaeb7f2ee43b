"""Compiled code in one process: kept while it is used, let go before the process is full of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative import compilation
from jaxnative.compilation import (
    FullOfCodeError,
    Program,
    ProgramStore,
    UserCode,
)
from jaxnative.compiled import compiled_quickly


def program(*user_code) -> Program:
    return Program(lambda numbers: numbers, None, frozenset(user_code))


def filled_store(count: int, most: int = 100) -> ProgramStore:
    store = ProgramStore(most)
    for key in range(count):
        store.keep(key, program())
    return store


def test_programs_that_were_not_used_for_longest_go_first():
    store = filled_store(4)
    assert store.find(0) is not None
    store.drop_oldest(2)
    assert [store.find(key) is not None for key in range(4)] == [
        True,
        False,
        False,
        True,
    ]


def test_a_store_with_many_programs_makes_room(monkeypatch):
    monkeypatch.setattr(compilation, "used_maps", lambda: 0)
    store = filled_store(10, most=11)
    store.make_room()
    assert len(store) == 10
    store.keep("one more", program())
    store.make_room()
    assert len(store) == 6 and store.find("one more") is not None


def test_memory_maps_make_room_too(monkeypatch):
    monkeypatch.setattr(compilation, "used_maps", lambda: 40_000)
    monkeypatch.setattr(compilation, "most_maps", lambda: 65_530)
    store = filled_store(10)
    store.make_room()
    assert len(store) == 5


def test_a_full_process_says_so_before_it_dies(monkeypatch):
    monkeypatch.setattr(compilation, "used_maps", lambda: 64_000)
    monkeypatch.setattr(compilation, "most_maps", lambda: 65_530)
    with pytest.raises(FullOfCodeError, match="64000 of the 65530 memory maps"):
        filled_store(10).make_room()


def test_programs_go_with_the_function_inside_them():
    store = ProgramStore()
    law = UserCode()
    store.keep("a", program(law))
    store.keep("b", program(UserCode()))
    store.drop_users_of(law)
    assert store.find("a") is None and store.find("b") is not None


def test_a_quickly_compiled_function_takes_arrays_words_and_keywords():
    calls = []

    @compiled_quickly
    def scaled(x, *, kind: str, factor=2.0):
        """Doubled, or so."""
        calls.append(kind)
        return kind, factor * x

    for x in (np.arange(3.0), jnp.arange(3.0), np.arange(3.0)):
        word, value = scaled(x, kind="twice")
        assert word == "twice" and np.array_equal(value, [0, 2, 4])
    # Traced once: numbers are inputs, words are structure.
    assert calls == ["twice"]
    assert scaled(np.float64(1.5), kind="twice")[1] == 3.0
    assert jax.grad(lambda x: scaled(x, kind="twice", factor=5.0)[1])(1.0) == 5.0
    assert scaled.__doc__ == "Doubled, or so."


def test_an_option_that_the_compiler_does_not_know_is_left_out():
    work = compilation.CompiledAhead(
        lambda x: 2.0 * x, xla_backend_optimization_level=0, no_such_option=1
    )
    assert work(np.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_a_value_that_the_compiler_does_not_take_is_told():
    work = compilation.CompiledAhead(
        lambda x: 3.0 * x, xla_backend_optimization_level="much"
    )
    with pytest.raises(jax.errors.JaxRuntimeError, match="much"):
        work(np.ones(3))
