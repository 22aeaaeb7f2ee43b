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
from lissom.solve.march import DrivenRobot, MarchState, begin_march, march
from lissom.solve.radau import Radau
from lissom.solve.record import empty_record
from lissom.solve.schedule import one_piece
from lissom.solve.solution import Counts
from lissom.solve.step import Moment, Tolerance
from lissom.types import RESULTS, real, whole

MAX_STEPS = 200_000


def fall(f, x, times, rtol):
    """Free motion from rest at x: positions of the links' ends (t, l, 3), energies (t, 3), states, result, steps."""
    tolerance = Tolerance(rtol, 0.01 * rtol)
    robot = DrivenRobot(f, one_piece(Loads()))
    zero = whole(0)
    joints = x[: f.n_joints]
    start = MarchState(
        now=Moment(real(0.0), x, jnp.zeros_like(x), jnp.zeros(2)),
        joints=joints,
        piece=zero,
        h=real(1e-5),
        memory=None,
        control=None,
        contacts=None,
        counts=Counts(zero, zero, zero),
        record=empty_record(times, len(x), len(joints), 0),
        result=RESULTS.successful,
    )
    limits = (times[-1], times[-1], whole(MAX_STEPS), whole(MAX_STEPS))
    at = begin_march(Radau(), robot, tolerance, start)
    at = march(Radau(), robot, tolerance, at, *limits)

    def seen(x, xd):
        motion = f.motion(x, xd, jnp.zeros_like(x))
        energies = [
            engine.kinetic_energy(f, motion),
            engine.strain_energy(f, motion.place),
            engine.gravity_energy(f, motion.place),
        ]
        return node_poses(f, motion.place).position[:, -1], jnp.stack(energies)

    tips, energy = jax.vmap(seen)(at.record.x, at.record.xd)
    return tips, energy, at.record, at.result, at.counts.steps


fallen = compiled_once(fall)


@functools.cache
def double_pendulum(reference="tangent", terms="consistent", modulus=2e11):
    """The library's double pendulum without damping."""
    robot = robot_named("double-pendulum").replace({"damping": None})
    moduli = {f"links.{link}.beam.material.E": modulus for link in ("upper", "lower")}
    return Model(
        robot.replace(moduli),
        "erls-fem",
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
    tips, energy, record, result, _ = fallen(
        model.formulation, model.at([0.0, 0.0]).x, times, real(rtol)
    )
    assert result == RESULTS.successful
    return np.asarray(tips), np.asarray(energy), np.asarray(record.x)
