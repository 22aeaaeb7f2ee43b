"""The equations of motion under loads, as a residual R(t, x, xd, xdd) = 0 that every step method solves."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.linear import factorise, inverse, solve
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, Motion, Rates, near
from ..dynamics.nodes import node_wrench
from .inputs import Loads


class State(eqx.Module):
    """Joint coordinates of the ERLS, elastic coordinates, their rates, and what the encoders read.

    All moving joints are here; of a closed chain some follow from the others, and only the `independent` ones are
    coordinates of the model.
    """

    q: Float[Array, " j"]  # theta
    qd: Float[Array, " j"]
    elastic: Float[Array, " d"]  # eta
    elastic_d: Float[Array, " d"]
    encoder: Float[Array, " j"]
    encoder_d: Float[Array, " j"]
    torque: Float[Array, " j"] | None = (
        None  # holding torques, where a static solution has given them
    )
    independent: tuple[int, ...] | None = eqx.field(
        static=True, default=None
    )  # None: all joints

    @property
    def x(self) -> Float[Array, " n"]:
        """The coordinates of the model."""
        return jnp.concatenate([self._chosen(self.q), self.elastic])

    @property
    def xd(self) -> Float[Array, " n"]:
        """Their rates."""
        return jnp.concatenate([self._chosen(self.qd), self.elastic_d])

    def _chosen(self, joints: Float[Array, " j"]) -> Float[Array, " i"]:
        return (
            joints
            if self.independent is None
            else joints[jnp.asarray(self.independent)]
        )


def state_of(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    torque=None,
) -> State:
    """The state with its encoder readings."""
    return state_in(formulation, formulation.motion(x, xd, jnp.zeros_like(x)), torque)


def state_in(formulation: AbstractFormulation, motion: Motion, torque=None) -> State:
    """The state that a motion passes through."""
    _, eta = formulation.split(motion.x)
    _, eta_d = formulation.split(motion.xd)
    return State(
        motion.theta,
        motion.theta_d,
        eta,
        eta_d,
        motion.place.encoder,
        motion.rates.encoder,
        torque,
        independent_of(formulation),
    )


def independent_of(formulation: AbstractFormulation) -> tuple[int, ...] | None:
    """Joints that are coordinates, None where all are."""
    return (
        None
        if formulation.n_joints == formulation.n_encoders
        else formulation.independent
    )


class Tangents(eqx.Module):
    """Derivatives of the residual, R = R_0 + M dxdd + D dxd + K dx, and the map N of the links' rates."""

    M: Float[Array, "n n"]
    D: Float[Array, "n n"]
    K: Float[Array, "n n"]
    N: Rates


class Problem(eqx.Module):
    """A robot under loads on one smooth piece of time."""

    formulation: AbstractFormulation
    loads: Loads

    def near(self, joints: Float[Array, " j"]) -> "Problem":
        """The same problem with the robot's loops closed near these joint coordinates."""
        return Problem(near(self.formulation, joints), self.loads)

    def joint_torque(self, t, motion: Motion) -> Float[Array, " j"]:
        """Commanded torques of tables and control law, cut at the joints' limits."""
        if self.loads.law is None:
            return self._limited(t, None)
        return self._limited(t, state_in(self.formulation, motion))

    def _limited(self, t, state: State | None) -> Float[Array, " j"]:
        loads, joints = self.loads, self.formulation.joints
        torque = (
            jnp.zeros(self.formulation.n_encoders)
            if loads.torque is None
            else loads.torque.value(t)
        )
        if loads.law is not None:
            torque = torque + loads.law(t, state)
        limit = jnp.asarray(joints.torque_limit)
        return jnp.clip(torque, -limit, limit)

    def gains(
        self, t, motion: Motion, E
    ) -> tuple[Float[Array, "j n"], Float[Array, "j n"]]:
        """Derivatives of the commanded torques with respect to x and xd; encoder readings move as E says."""
        slope: State = jax.jacfwd(lambda state: self._limited(t, state))(
            state_in(self.formulation, motion)
        )
        x = motion.x
        G = self.formulation.mechanism.joint_map(x)
        eta = jnp.eye(len(x))[self.formulation.n_joints :]
        on_x = slope.q @ G + slope.elastic @ eta + slope.encoder @ E
        on_xd = slope.qd @ G + slope.elastic_d @ eta + slope.encoder_d @ E
        return on_x, on_xd

    def applied(self, t, motion: Motion) -> Rates:
        """Torques on the joints and wrenches on the nodes."""
        f, place = self.formulation, motion.place
        total = engine.on_joints(f, self.joint_torque(t, motion))
        for load in self.loads.wrenches:
            wrench = node_wrench(
                f, place, load.link, load.node, load.wrench.value(t), load.in_world
            )
            total = jax.tree.map(jnp.add, total, wrench)
        return total

    def unbalanced(self, t, motion: Motion) -> Float[Array, " n"]:
        """Generalised force that is missing, reactions of prescribed joints not yet put in."""
        return engine.needed_force(self.formulation, motion, self.applied(t, motion))

    def reaction(
        self, motion: Motion, force
    ) -> tuple[Float[Array, " p"], Float[Array, " n"]]:
        """Torques of prescribed joints that carry their share of `force`, and what is left of it."""
        held, rows = self._prescribed
        E = engine.torque_map(self.formulation, motion)[held]
        tau = inverse(E[:, rows].T) @ force[rows]
        return tau, force - E.T @ tau

    @property
    def _prescribed(self) -> tuple[Array, Array]:
        """Numbers of the joints that follow a motion, and of their coordinates."""
        coordinate = {
            joint: row for row, joint in enumerate(self.formulation.independent)
        }
        held = self.loads.prescribed
        return jnp.asarray(held), jnp.asarray([coordinate[joint] for joint in held])

    def residual(self, t, x, xd, xdd) -> Float[Array, " n"]:
        """M xdd + h - Q; the rows of prescribed joints say that the encoder follows its motion."""
        motion = self.formulation.motion(x, xd, xdd)
        return self.residual_of(t, motion)

    def residual_of(self, t, motion: Motion) -> Float[Array, " n"]:
        """The residual of a motion that is already evaluated."""
        force = self.unbalanced(t, motion)
        if not self.loads.prescribed:
            return force
        held, rows = self._prescribed
        _, force = self.reaction(motion, force)
        wanted = jnp.stack(
            [piece.derivative().derivative().value(t) for piece in self.loads.motion]
        )
        return force.at[rows].set(motion.rates_d.encoder[held] - wanted)

    def matrices(self, t, x, xd) -> Tangents:
        """Derivatives of the residual, the stiff part: inertia, structure and control law."""
        return self.matrices_of(t, self.formulation.motion(x, xd, jnp.zeros_like(x)))

    def matrices_of(self, t, motion: Motion) -> Tangents:
        """The same of a motion that is already evaluated."""
        f, x, xd = self.formulation, motion.x, motion.xd
        N = engine.rate_map(f, x)
        M = engine.inertia(f, motion.place, N)
        D, K = engine.structural_matrices(f, xd, N)
        if self.loads.law is not None:
            on_x, on_xd = self.gains(t, motion, N.encoder)
            D, K = D - N.encoder.T @ on_xd, K - N.encoder.T @ on_x
        if self.loads.prescribed:
            held, rows = self._prescribed
            E = N.encoder[held]
            share = E.T @ inverse(E[:, rows].T)
            M, D, K = (A - share @ A[rows] for A in (M, D, K))
            M, D, K = M.at[rows].set(E), D.at[rows].set(0.0), K.at[rows].set(0.0)
        return Tangents(M, D, K, N)

    def acceleration(self, t, x, xd, portable: bool = False) -> Float[Array, " n"]:
        """Solution xdd of the residual, which is affine in it; `portable` for code that will be batched."""
        motion = self.formulation.motion(x, xd, jnp.zeros_like(x))
        M = self.matrices_of(t, motion).M
        return -solve(factorise(M, portable), self.residual_of(t, motion))

    def torque(self, t, x, xd, xdd) -> Float[Array, " j"]:
        """Torque on every joint, prescribed ones included."""
        return self.torque_of(t, self.formulation.motion(x, xd, xdd))

    def torque_of(self, t, motion: Motion) -> Float[Array, " j"]:
        """The same of a motion that is already evaluated."""
        torque = self.joint_torque(t, motion)
        if not self.loads.prescribed:
            return torque
        tau, _ = self.reaction(motion, self.unbalanced(t, motion))
        return torque.at[jnp.asarray(self.loads.prescribed)].add(tau)

    def powers(self, t, x, xd, xdd) -> Float[Array, " 2"]:
        """Power put in by torques and wrenches, and power dissipated [W]."""
        motion = self.formulation.motion(x, xd, xdd)
        applied = self.applied(t, motion)
        driven = Rates(applied.V, applied.q, self.torque_of(t, motion))
        power = motion.pull_back(driven) @ xd
        return jnp.stack([power, engine.damping_power(self.formulation, motion)])
