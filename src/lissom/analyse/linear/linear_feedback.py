"""Control laws linearised about a point: change of the torques with the measured signals."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...dynamics.formulation import AbstractFormulation, Motion, Rates
from ...dynamics.nodes import node_wrench
from ...solve.channels import Channel, measure, observed_motion, output_named
from ...solve.feedback import WiredLaw, on_actuated, wire_law
from ...solve.model import Model
from ...types import Float

LOCKED_GAINS = "held joints feel no controller: leave out the gains, or --locked"


class LinearFeedback(eqx.Module):
    """d command = gain d measured, about a point: the law changes nothing at the point itself."""

    channels: tuple[Channel, ...]
    gain: Float[Array, "a m"]

    def signals(
        self, formulation: AbstractFormulation, motion: Motion
    ) -> Float[Array, " m"]:
        """Measured signals of the law in a motion."""
        observed = observed_motion(formulation, motion)
        none = jnp.zeros(formulation.n_encoders)
        return measure(formulation, self.channels, observed, None, none)

    def matrices(
        self, E: Float[np.ndarray, "j n"], actuated: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and damping that a law on encoders and their speeds adds, E being the encoders' map."""
        n = E.shape[1]
        on_x = np.zeros((len(actuated), n))
        on_xd = np.zeros((len(actuated), n))
        for column, channel in zip(np.asarray(self.gain).T, self.channels, strict=True):
            target = on_x if channel.kind == "encoder" else on_xd
            target += np.outer(column, E[channel.index])
        driven = E[list(actuated)]
        return -driven.T @ on_x, -driven.T @ on_xd

    def joint_stiffness(self, joints: int) -> Float[np.ndarray, " j"]:
        """Stiffness that the law gives each joint against its own encoder."""
        stiffness = np.zeros(joints)
        encoders = [c for c in self.channels if c.kind == "encoder"]
        for row, channel in enumerate(encoders):
            column = self.channels.index(channel)
            stiffness[channel.index] = -np.asarray(self.gain)[row, column]
        return stiffness


def joint_feedback(model: Model, kp: Any, kd: Any) -> LinearFeedback | None:
    """The feedback of joint controllers with these gains, one or one for each joint; None without."""
    if kp is None and kd is None:
        return None
    stiffness = _gains(model, "kp", 0.0 if kp is None else kp)
    damping = _gains(model, "kd", 0.0 if kd is None else kd)
    encoders = [output_named(model, f"{name}.encoder") for name in model.actuated_names]
    speeds = [output_named(model, f"{name}.speed") for name in model.actuated_names]
    gain = -jnp.concatenate([jnp.diag(stiffness), jnp.diag(damping)], axis=1)
    return LinearFeedback((*encoders, *speeds), gain)


def _gains(model: Model, name: str, value: Any) -> Float[Array, " a"]:
    """Gains of the actuated joints; those of passive joints must be zero where they are given."""
    actuated = list(model.actuated)
    gains = np.asarray(value, dtype=float)
    if gains.ndim == 0:
        gains = np.broadcast_to(gains, (len(actuated),))
    elif gains.shape != (len(actuated),):
        gains = np.asarray(model.joint_vector(name, gains))
        passive = np.delete(gains, actuated)
        if np.any(passive):
            raise ValueError(
                f"{name}: only {', '.join(model.actuated_names)} have a motor: the gains of the other joints must be 0"
            )
        gains = gains[actuated]
    if not np.all(np.isfinite(gains)):
        raise ValueError(f"{name} must be finite numbers")
    return jnp.asarray(gains)


def law_feedback(
    f: AbstractFormulation, wired_law: WiredLaw, motion: Motion, t: float = 0.0
) -> LinearFeedback:
    """A continuous law, differentiated at a motion."""

    def command(measured):
        return wired_law.law(jnp.asarray(t), measured, wired_law.memory)[0]

    measured = wired_law.measured(f, motion)
    return LinearFeedback(wired_law.channels, jax.jacfwd(command)(measured))


def require_law(model: Model, law: Any) -> WiredLaw:
    """The law wired to a robot.

    Raises:
        ValueError: it is something else than a law.
    """
    feedback = wire_law(model, law)
    if not isinstance(feedback, WiredLaw):
        raise ValueError(
            "controller must be a law such as PD: a function of the state names no channels to linearise"
        )
    return feedback


def driving_loads(
    formulation: AbstractFormulation,
    motion: Motion,
    inputs: tuple[Channel, ...],
    u: Float[Array, " u"],
    tau: Float[Array, " j"],
    feedback: LinearFeedback | None,
    at_point: Float[Array, " m"] | None,
) -> Rates:
    """Torques and wrenches: those of the point, those of the inputs u, and those of the law.

    `at_point` is what the law measures at the point itself. A set-point r shifts the zero of the law: it responds to e
    - r as it does to e.
    """
    place = motion.place
    torque = tau
    for channel, value in zip(inputs, u, strict=True):
        if channel.kind == "torque":
            torque = torque.at[channel.index].add(value)
    if feedback is not None:
        assert at_point is not None
        change = feedback.signals(formulation, motion) - at_point
        change = change - set_points(feedback.channels, inputs, u)
        torque = torque + on_actuated(formulation, feedback.gain @ change)
    total = Rates(jnp.zeros((place.q.shape[0], 6)), jnp.zeros_like(place.q), torque)
    for channel, value in zip(inputs, u, strict=True):
        if channel.kind == "wrench":
            wrench = value * jnp.eye(6)[channel.component]
            load = node_wrench(
                formulation,
                place,
                channel.index,
                channel.node,
                wrench,
                channel.in_world,
            )
            total = jax.tree.map(jnp.add, total, load)
    return total


def set_points(
    sensors: tuple[Channel, ...], inputs: tuple[Channel, ...], u: Float[Any, " u"]
) -> Float[Array, " m"]:
    """Change of each measured signal's zero by the set-points among the inputs."""
    return jnp.asarray(set_point_matrix(sensors, inputs)) @ jnp.asarray(u)


def set_point_matrix(
    sensors: tuple[Channel, ...], inputs: tuple[Channel, ...]
) -> Float[np.ndarray, "m u"]:
    """1 where an input is the set-point of a measured encoder, or the set-point rate of a measured speed."""
    measured_by = {"setpoint": "encoder", "setpoint_rate": "speed"}
    matrix = np.zeros((len(sensors), len(inputs)))
    for row, sensor in enumerate(sensors):
        for column, channel in enumerate(inputs):
            kind = measured_by.get(channel.kind)
            matrix[row, column] = kind == sensor.kind and channel.index == sensor.index
    return matrix
