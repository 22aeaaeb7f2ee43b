"""The equations of motion under loads, as a residual R(t, x, xd, xdd) = 0 that every step method solves."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.linear import factorise, inverse, solve
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, Rates
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
    j = formulation.n_joints
    encoder, encoder_d = (
        formulation.configuration(x).encoder,
        formulation.rates(x, xd).encoder,
    )
    q, qd = formulation.joint_coordinates(x), formulation.joint_map(x) @ xd[:j]
    return State(
        q, qd, x[j:], xd[j:], encoder, encoder_d, torque, independent_of(formulation)
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
        return Problem(self.formulation.near(joints), self.loads)

    def joint_torque(self, t, x, xd) -> Float[Array, " j"]:
        """Commanded torques of tables and control law, cut at the joints' limits."""
        if self.loads.law is None:
            return self._limited(t, None)
        return self._limited(t, state_of(self.formulation, x, xd))

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

    def gains(self, t, x, xd, E) -> tuple[Float[Array, "j n"], Float[Array, "j n"]]:
        """Derivatives of the commanded torques with respect to x and xd; encoder readings move as E says."""
        slope: State = jax.jacfwd(lambda state: self._limited(t, state))(
            state_of(self.formulation, x, xd)
        )
        G = self.formulation.joint_map(x)
        on_x = jnp.concatenate([slope.q @ G, slope.elastic], axis=1) + slope.encoder @ E
        return on_x, jnp.concatenate(
            [slope.qd @ G, slope.elastic_d], axis=1
        ) + slope.encoder_d @ E

    def applied(self, t, x, xd) -> Rates:
        """Torques on the joints and wrenches on the nodes."""
        f = self.formulation
        place = f.configuration(x)
        total = Rates(
            jnp.zeros((place.q.shape[0], 6)),
            jnp.zeros_like(place.q),
            self.joint_torque(t, x, xd),
        )
        for load in self.loads.wrenches:
            wrench = node_wrench(
                f, place, load.link, load.node, load.wrench.value(t), load.in_world
            )
            total = jax.tree.map(jnp.add, total, wrench)
        return total

    def unbalanced(self, t, x, xd, xdd) -> Float[Array, " n"]:
        """Generalised force that is missing, reactions of prescribed joints not yet put in."""
        return engine.needed_force(self.formulation, x, xd, xdd, self.applied(t, x, xd))

    def reaction(self, x, force) -> tuple[Float[Array, " p"], Float[Array, " n"]]:
        """Torques of prescribed joints that carry their share of `force`, and what is left of it."""
        held, rows = self._prescribed
        E = engine.torque_map(self.formulation, x)[held]
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
        force = self.unbalanced(t, x, xd, xdd)
        if not self.loads.prescribed:
            return force
        held, rows = self._prescribed
        _, force = self.reaction(x, force)
        rates_d = self.formulation.motion(x, xd, xdd).rates_d
        wanted = jnp.stack(
            [piece.derivative().derivative().value(t) for piece in self.loads.motion]
        )
        return force.at[rows].set(rates_d.encoder[held] - wanted)

    def matrices(self, t, x, xd) -> Tangents:
        """Derivatives of the residual, the stiff part: inertia, structure and control law."""
        f = self.formulation
        N = engine.rate_map(f, x)
        M = engine.inertia(f, x, N)
        D, K = engine.structural_matrices(f, xd, N)
        if self.loads.law is not None:
            on_x, on_xd = self.gains(t, x, xd, N.encoder)
            D, K = D - N.encoder.T @ on_xd, K - N.encoder.T @ on_x
        if self.loads.prescribed:
            held, rows = self._prescribed
            E = N.encoder[held]
            share = E.T @ inverse(E[:, rows].T)
            M, D, K = (A - share @ A[rows] for A in (M, D, K))
            M, D, K = M.at[rows].set(E), D.at[rows].set(0.0), K.at[rows].set(0.0)
        return Tangents(M, D, K, N)

    def acceleration(self, t, x, xd) -> Float[Array, " n"]:
        """Solution xdd of the residual, which is affine in it."""
        force = self.residual(t, x, xd, jnp.zeros_like(x))
        return -solve(factorise(self.matrices(t, x, xd).M), force)

    def torque(self, t, x, xd, xdd) -> Float[Array, " j"]:
        """Torque on every joint, prescribed ones included."""
        torque = self.joint_torque(t, x, xd)
        if not self.loads.prescribed:
            return torque
        tau, _ = self.reaction(x, self.unbalanced(t, x, xd, xdd))
        return torque.at[jnp.asarray(self.loads.prescribed)].add(tau)

    def powers(self, t, x, xd, xdd) -> Float[Array, " 2"]:
        """Power put in by torques and wrenches, and power dissipated [W]."""
        f = self.formulation
        virtual, applied = f.virtual(x, xd), self.applied(t, x, xd)
        torque = self.torque(t, x, xd, xdd)
        power = (
            jnp.sum(applied.V * virtual.V)
            + jnp.sum(applied.q * virtual.q)
            + torque @ virtual.encoder
        )
        return jnp.stack([power, engine.damping_power(f, x, xd)])
