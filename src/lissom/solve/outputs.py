"""What is seen of a run: positions, frames, energies and torques at its output times."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..compilation import QUICK, CompiledAhead
from ..dynamics import engine
from ..dynamics.coordinates import with_coordinates
from ..dynamics.formulation import AbstractFormulation, near
from ..dynamics.nodes import node_poses
from .inputs import Inputs
from .model import Model
from .problem import MotionProblem
from .solution import Solution

# Energies of a run; the residual is what the balance of the others leaves over.
ENERGIES = ("kinetic", "strain", "gravity", "input", "dissipated", "residual")


class Outputs(eqx.Module):
    """Quantities over time; t times, l links, k nodes (padded), j moving joints."""

    qd: Any  # (t, j)
    encoder: Any  # (t, j)
    position: Any  # (t, l, k, 3) of the nodes, world axes [m]
    erls_position: Any  # (t, l, k, 3)
    rotation: Any  # (t, l, k, 3) from the ERLS [rad]
    frame: Any  # (t, l, 3, 3) axes of the bodies in the world
    # (t, l, 3, 3) the same of the rigid robot, from which rotations of nodes are counted
    rigid_frame: Any
    energy: Any  # (t, 5): kinetic, strain, gravity, input, dissipated [J]


def motion_outputs(formulation, joints, x, xd, work) -> Outputs:
    """Outputs of many states at once; `joints` say on which branch a closed chain is."""

    def one(joints, x, xd, work):
        f = near(formulation, joints)
        motion = f.motion(x, xd, jnp.zeros_like(x))
        place = motion.place
        poses = node_poses(f, place)
        kinetic = engine.kinetic_energy(f, motion)
        strain = engine.strain_energy(f, place)
        gravity = engine.gravity_energy(f, place)
        return Outputs(
            qd=motion.theta_d,
            encoder=place.encoder,
            position=poses.position,
            erls_position=poses.erls_position,
            rotation=poses.rotation,
            frame=place.R,
            rigid_frame=f.rigid_frames(place)[0],
            energy=jnp.stack([kinetic, strain, gravity, *work]),
        )

    return jax.vmap(one)(joints, x, xd, work)


def joint_torques(formulation, loads, piece, joints, command, t, x, xd):
    """Torques at many times; `loads` holds those of all pieces, `piece` the number of the one in force."""

    def one(piece, joints, command, t, x, xd):
        here = MotionProblem(formulation, jax.tree.map(lambda part: part[piece], loads))
        here = here.near(joints)
        if here.sampled_law is not None:
            here = here.holding(command)
        # Only the reaction of a prescribed joint depends on accelerations.
        xdd = here.acceleration(t, x, xd) if here.loads.prescribed else 0.0 * x
        return here.torque(t, here.formulation.motion(x, xd, xdd))

    return jax.vmap(one)(piece, joints, command, t, x, xd)


shown_motion = CompiledAhead(motion_outputs, **QUICK)
_torques = CompiledAhead(joint_torques, **QUICK)


def outputs_of(
    model: Model, inputs: Inputs, solution: Solution
) -> tuple[Outputs, np.ndarray]:
    """Outputs and joint torques at the output times reached, each segment of the run in its own coordinates."""
    inputs = inputs.wired(model)
    rows = [segment.row for segment in solution.segments]
    ends = [*rows[1:], int(solution.filled)]
    parts, torques = [], []
    for segment, end in zip(solution.segments, ends, strict=True):
        f = with_coordinates(model.formulation, segment.independent)
        own = slice(segment.row, end)
        states = (solution.joints, solution.x, solution.xd)
        part = shown_motion(f, *states, solution.work)
        parts.append(jax.tree.map(lambda a, own=own: np.asarray(a)[own], part))
        torques.append(np.asarray(_torques(*_torque_request(f, inputs, solution)))[own])
    whole = jax.tree.map(lambda *pieces: np.concatenate(pieces), *parts)
    return whole, np.concatenate(torques)


def prepare_outputs(model: Model, inputs: Inputs, solution: Solution) -> None:
    """Compile what `outputs_of` needs; `solution` may hold shapes in place of numbers, except for its times."""
    inputs = inputs.wired(model)
    f = with_coordinates(model.formulation, solution.segments[0].independent)
    shown_motion.prepare(f, solution.joints, solution.x, solution.xd, solution.work)
    _torques.prepare(*_torque_request(f, inputs, solution))


def _torque_request(f: AbstractFormulation, inputs: Inputs, solution: Solution):
    """Arguments of `joint_torques`: at each output time the piece that starts there or holds it."""
    times = np.asarray(solution.t)
    ends = inputs.breakpoints(float(times[-1]))
    piece = np.searchsorted(ends, times + 1e-12, side="right") - 1
    piece = np.clip(piece, 0, len(ends) - 2)
    pieces = [
        inputs.on(float(start), float(end))
        for start, end in zip(ends[:-1], ends[1:], strict=True)
    ]
    loads = jax.tree.map(lambda *parts: np.stack(parts), *pieces)
    return (
        f,
        loads,
        jnp.asarray(piece),
        solution.joints,
        solution.command,
        jnp.asarray(times),
        solution.x,
        solution.xd,
    )


def energy_audit(outputs: Outputs) -> np.ndarray:
    """Energies over time with the residual of their balance as last column [J]."""
    stored = outputs.energy[:, :3].sum(axis=1)
    put_in, dissipated = outputs.energy[:, 3], outputs.energy[:, 4]
    residual = stored - stored[:1] - put_in + dissipated
    return np.concatenate([outputs.energy, residual[:, None]], axis=1)
