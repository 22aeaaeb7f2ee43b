"""Memory maps of a process: programs give theirs back, and long processes stay below the limit. Only Linux counts."""

import functools
import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom
from jaxnative import compilation
from jaxnative.compilation import used_maps


def drop_all_programs() -> None:
    compilation.STORE.drop_oldest(len(compilation.STORE))
    jax.clear_caches()
    gc.collect()


def test_maps_are_given_back_with_the_program():
    @functools.partial(compilation.CompiledAhead)
    def work(x):
        for _ in range(20):
            x = jnp.sin(x) @ jnp.cos(x)
        return x

    # Programs of other tests in this process could go while this one counts.
    drop_all_programs()
    before = used_maps()
    for size in range(2, 8):
        work(np.eye(size))
    more = used_maps() - before
    drop_all_programs()
    assert more > 20
    assert used_maps() - before < more / 2


# --- long processes ------------------------------------------------------------------------------------------------

ROD = lissom.Robot.load("simple-pendulum")
MOST_MAPS = 30_000  # ROOM of 65 530, and what one structure needs
MOST_MEMORY = 1000e6  # [bytes] that sixty structures take


def memory() -> float:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * 4096.0


def swing(model, law) -> float:
    run = lissom.simulate(model, t_end=0.002, output_dt=0.001, torque=law)
    return float(run.q[-1, 0])


@pytest.mark.slow
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
def test_sixty_meshes_fit_into_one_process():
    frequencies = []
    # Other tests were in this process before.
    before = memory()
    for elements in range(1, 61):
        robot = ROD.replace({"links.*.beam.elements": elements, "gravity": [0, 0, 0]})
        model = lissom.Model(robot, "erls-cms", modes=3)
        state = model.static([0.2])
        modes = lissom.modes(model, state, locked=True, count=1)
        frequencies.append(float(modes.frequency_hz[0]))
        # More than a thousand maps for each mesh up to here: sixty of them would be beyond the limit of the kernel.
        if elements % 10 == 0:
            lissom.linearize(model, state)
            lissom.simulate(model, state, t_end=0.002)
        assert used_maps() < MOST_MAPS
        assert memory() < before + MOST_MEMORY
    # The meshes are different robots to the compiler and the same one to physics.
    assert np.allclose(frequencies[5:], frequencies[-1], rtol=1e-3)
