"""Compiled runs of the flexible double pendulum that several files share."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from helpers import compiled_once, reference_named, robot_named
from lissom import Model
from lissom.dynamics import engine
from lissom.dynamics.nodes import node_poses
from lissom.solve.inputs import Loads
from lissom.solve.march import Counts, march, new_record, set_off
from lissom.solve.problem import Problem
from lissom.solve.radau import Radau
from lissom.solve.step import Moment, Tolerance
from lissom.types import real, whole

MAX_STEPS = 200_000


def fall(f, x, times, rtol):
    """Free motion from rest at x: positions of the links' ends (t, l, 3), energies (t, 3), states, failure, steps."""
    tolerance, problem, zero = (
        Tolerance(rtol, 0.01 * rtol),
        Problem(f, Loads()),
        whole(0),
    )
    now = Moment(real(0.0), x, jnp.zeros_like(x), jnp.zeros(2))
    joints = x[: f.n_joints]
    record, counts = new_record(times, len(x), len(joints)), Counts(zero, zero, zero)
    walk = set_off(Radau(), problem, tolerance, now, joints, real(1e-5), record, counts)
    walk = march(
        Radau(),
        problem,
        tolerance,
        walk,
        times[-1],
        times[-1],
        whole(MAX_STEPS),
        whole(MAX_STEPS),
    )

    def seen(x, xd):
        motion = f.motion(x, xd, jnp.zeros_like(x))
        place = motion.place
        energy = jnp.stack(
            [
                engine.kinetic_energy(f, motion),
                engine.strain_energy(f, place),
                engine.gravity_energy(f, place),
            ]
        )
        return node_poses(f, place).position[:, -1], energy

    tips, energy = jax.vmap(seen)(walk.record.x, walk.record.xd)
    return tips, energy, walk.record, walk.failure, walk.counts.steps


fallen = compiled_once(fall)


@functools.cache
def double_pendulum(reference="tangent", terms="consistent", modulus=2e11):
    """The library's double pendulum without damping."""
    robot = robot_named("double-pendulum").replace({"damping": None})
    moduli = {f"links.{link}.beam.material.E": modulus for link in ("upper", "lower")}
    return Model(
        robot.replace(moduli),
        reference=reference_named("double-pendulum", reference),
        terms=terms,
    )


@functools.cache
def released(
    reference="tangent", terms="consistent", modulus=2e11, duration=0.5, rtol=1e-7
):
    """The pendulum let go from horizontal, undeformed, at rest; 51 output times."""
    model = double_pendulum(reference, terms, modulus)
    times = jnp.linspace(0.0, duration, 51)
    tips, energy, record, failure, _ = fallen(
        model.formulation, model.at([0.0, 0.0]).x, times, real(rtol)
    )
    assert int(failure) == 0
    return np.asarray(tips), np.asarray(energy), np.asarray(record.x)
