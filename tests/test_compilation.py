"""Compiled code in one process: kept while it is used, let go before the process is full of it."""

import functools
import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom
from lissom import compilation
from lissom.compilation import (
    FullOfCodeError,
    Program,
    ProgramStore,
    UserCode,
    used_maps,
)
from lissom.native.compiled import compiled_quickly


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


@pytest.mark.skipif(not used_maps(), reason="the system does not tell memory maps")
def test_maps_are_given_back_with_the_program():
    @functools.partial(compilation.CompiledAhead)
    def work(x):
        for _ in range(20):
            x = jnp.sin(x) @ jnp.cos(x)
        return x

    before = used_maps()
    for size in range(2, 8):
        work(np.eye(size))
    more = used_maps() - before
    compilation.STORE.drop_oldest(len(compilation.STORE))
    jax.clear_caches()
    gc.collect()
    assert more > 20
    assert used_maps() - before < more / 2


# --- long processes ------------------------------------------------------------------------------------------------

ROD = lissom.Robot.load("simple-pendulum")
MOST_MAPS = 30_000  # ROOM of 65 530, and what one structure needs
MOST_MEMORY = 2500e6  # [bytes]


def memory() -> float:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * 4096.0


def swing(model, law) -> float:
    run = lissom.simulate(model, t_end=0.002, output_dt=0.001, torque=law)
    return float(run.q[-1, 0])


@pytest.mark.slow
@pytest.mark.skipif(not used_maps(), reason="the system does not tell memory maps")
def test_five_hundred_runs_with_new_functions_leave_the_process_as_it_was():
    model = lissom.Model(ROD, "erls-fem", modes=None)
    swings = {swing(model, lambda t, state: [0.1]) for _ in range(470)}
    assert len(swings) == 1
    settled_maps, settled_memory = used_maps(), memory()
    # Other enclosed values are other programs: each takes the place of an old one.
    ends = [
        swing(model, lambda t, state, push=push: [push])
        for push in np.linspace(0.1, 0.4, 30)
    ]
    assert np.all(np.diff(ends) > 0)
    # Room for the variants that are kept, and for what one program needs while another one goes.
    assert used_maps() < settled_maps + 8 * 1200
    assert memory() < settled_memory + 500e6


@pytest.mark.slow
@pytest.mark.skipif(not used_maps(), reason="the system does not tell memory maps")
def test_sixty_meshes_fit_into_one_process():
    frequencies = []
    for elements in range(1, 61):
        robot = ROD.replace({"links.*.beam.elements": elements, "gravity": [0, 0, 0]})
        model = lissom.Model(robot, "erls-cms", modes=3)
        state = model.static([0.2])
        modes = lissom.modes(model, state, locked=True, count=1)
        frequencies.append(float(modes.frequency_hz[0]))
        lissom.linearize(model, state)
        lissom.simulate(model, state, t_end=0.002)
        assert used_maps() < MOST_MAPS
        assert memory() < MOST_MEMORY
    # The meshes are different robots to the compiler and the same one to physics.
    assert np.allclose(frequencies[5:], frequencies[-1], rtol=1e-3)
