"""The equations of motion under loads, as a residual R(t, x, xd, xdd) = 0 that every step method solves."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from jaxnative.marks import noinline, rarely_called, vmap_rows

from ..algebra.linear import inverse, solve
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, Motion, Rates, on_branch_near
from ..dynamics.nodes import node_wrench
from ..dynamics.stops import PUSHING
from ..types import Float, Real
from .channels import measure, observed_motion
from .feedback import WiredLaw, on_actuated
from .schedule import Loads


class Tangents(eqx.Module):
    """Derivatives of the residual: R = R_0 + M dxdd + D dxd + K dx."""

    M: Float[Array, "n n"]
    D: Float[Array, "n n"]
    K: Float[Array, "n n"]
    # K without what a continuous law adds to it; None where that is K itself.
    structure: Float[Array, "n n"] | None = None

    @property
    def elastic(self) -> Float[Array, "n n"]:
        """Stiffness of links and end stops: strain energy is half of x^T elastic x."""
        return self.K if self.structure is None else self.structure


class MotionProblem(eqx.Module):
    """A robot under loads on one smooth piece of time."""

    formulation: AbstractFormulation
    loads: Loads

    def on_branch_near(self, joints: Float[Real, " j"]) -> "MotionProblem":
        """The same problem with the robot on the assembly branch of these joint coordinates."""
        return MotionProblem(on_branch_near(self.formulation, joints), self.loads)

    def with_command(self, command: Float[Array, " a"] | None) -> "MotionProblem":
        """The same problem under the held command of a sampled law, if there is one."""
        if command is None:
            return self
        loads = eqx.tree_at(
            lambda loads: loads.held, self.loads, command, is_leaf=is_none
        )
        return MotionProblem(self.formulation, loads)

    def with_contact(self, contact: Float[Array, "2 j"] | None) -> "MotionProblem":
        """The same problem with the contact state of end stops, if there are any, held."""
        if contact is None:
            return self
        loads = eqx.tree_at(
            lambda loads: loads.contact, self.loads, contact, is_leaf=is_none
        )
        return MotionProblem(self.formulation, loads)

    @property
    def sampled_law(self) -> WiredLaw | None:
        """The law that acts at samples, None where there is none."""
        feedback = self.loads.feedback
        if feedback is None or feedback.sample is None:
            return None
        assert isinstance(feedback, WiredLaw)
        return feedback

    # --- joints

    @noinline
    def joint_coordinates(self, x) -> Float[Array, " j"]:
        """Coordinates of all moving joints."""
        return self.formulation.mechanism.joint_coordinates(x)

    @noinline
    def joint_gain(self, x):
        """Largest speed of a joint of a closed chain per unit of an independent one."""
        return self.formulation.mechanism.joint_gain(x)

    @noinline
    def longest_step(self, xd):
        """The longest step in which a closed chain keeps to its branch [s]."""
        return self.formulation.mechanism.longest_step(xd)

    # --- loads

    def joint_torque(self, t, motion: Motion) -> Float[Array, " j"]:
        """Commanded torques of tables and control law, cut at the joints' limits."""
        f, loads = self.formulation, self.loads
        torque = jnp.zeros(f.n_encoders)
        if loads.torque is not None:
            torque = torque + loads.torque.value(t)
        if loads.held is not None:
            torque = torque + on_actuated(f, loads.held)
        elif loads.feedback is not None and loads.feedback.sample is None:
            torque = torque + loads.feedback.torque(f, t, motion)
        limit = jnp.asarray(f.joints.torque_limit)
        return jnp.clip(torque, -limit, limit)

    def applied(self, t, motion: Motion) -> Rates:
        """Torques on the joints and wrenches on the nodes."""
        q = motion.place.q
        torque = self.joint_torque(t, motion)
        total = Rates(jnp.zeros((q.shape[0], 6)), jnp.zeros_like(q), torque)
        for load in self.loads.wrenches:
            wrench = node_wrench(
                self.formulation,
                motion.place,
                load.link,
                load.node,
                load.wrench.value(t),
                load.in_world,
            )
            total = jax.tree.map(jnp.add, total, wrench)
        return total

    # --- end stops

    def acting(self, t, motion: Motion) -> Rates:
        """Applied torques and wrenches, with those of the end stops."""
        total = self.applied(t, motion)
        stops = self.formulation.joints.stops
        if stops is None:
            return total
        encoder, encoder_d = motion.place.encoder, motion.rates.encoder
        push = stops.torque(encoder, encoder_d, self._contact(motion))
        return Rates(total.V, total.q, total.encoder + push)

    def _contact(self, motion: Motion) -> Float[Array, "2 j"]:
        """The contact with end stops: the one that the march holds to over a step, or that of this very motion."""
        stops = self.formulation.joints.stops
        assert stops is not None
        if self.loads.contact is not None:
            return self.loads.contact
        return stops.contact(motion.place.encoder, motion.rates.encoder)

    def _stop_matrices(self, motion: Motion, N: Rates):
        """Damping and stiffness of the end stops that push."""
        stops = self.formulation.joints.stops
        assert stops is not None
        share = jnp.sum(self._contact(motion) == PUSHING, axis=0)
        E = N.encoder
        D = jnp.einsum("jm,j,jn->mn", E, share * stops.damping, E)
        return D, jnp.einsum("jm,j,jn->mn", E, share * stops.stiffness, E)

    # --- equations of motion

    @noinline
    def residual(self, t, x, xd, xdd) -> Float[Array, " n"]:
        """M xdd + h - Q; the rows of prescribed joints say that the encoder follows its motion."""
        return self.residual_of(t, self.formulation.motion(x, xd, xdd))

    def residual_of(self, t, motion: Motion) -> Float[Array, " n"]:
        """The residual of a motion that is already evaluated."""
        force = engine.needed_force(self.formulation, motion, self.acting(t, motion))
        if not self.loads.prescribed:
            return force
        _, force = self._reaction(motion, force)
        joints, rows = self._prescribed
        pieces = self.loads.motion
        wanted = jnp.stack([p.derivative().derivative().value(t) for p in pieces])
        return force.at[rows].set(motion.rates_d.encoder[joints] - wanted)

    def _reaction(
        self, motion: Motion, force: Float[Array, " n"]
    ) -> tuple[Float[Array, " p"], Float[Array, " n"]]:
        """Torques of prescribed joints that carry their share of `force`, and the rest of it."""
        joints, rows = self._prescribed
        E = engine.torque_map(self.formulation, motion)[joints]
        tau = inverse(E[:, rows].T) @ force[rows]
        return tau, force - E.T @ tau

    @property
    def _prescribed(self) -> tuple[Array, Array]:
        """Numbers of the joints that follow a motion, and of their coordinates."""
        independent = self.formulation.independent
        rows = [independent.index(joint) for joint in self.loads.prescribed]
        return jnp.asarray(self.loads.prescribed), jnp.asarray(rows)

    @rarely_called
    def matrices(self, t, x, xd) -> tuple[Tangents, Rates]:
        """Derivatives of the residual, the stiff part: inertia, structure and control law; and the map of rates N."""
        motion = self.formulation.motion(x, xd, jnp.zeros_like(x))
        return self.matrices_of(t, motion)

    def matrices_of(self, t, motion: Motion) -> tuple[Tangents, Rates]:
        """`matrices` at a motion that is already evaluated."""
        f = self.formulation
        N = engine.rate_map(f, motion.x)
        M = engine.inertia(f, motion.place, N)
        D, K = engine.structural_matrices(f, motion.place, motion.xd, N)
        if f.joints.stops is not None:
            D_stop, K_stop = self._stop_matrices(motion, N)
            D, K = D + D_stop, K + K_stop
        feedback = self.loads.feedback
        structure = None
        if feedback is not None and feedback.sample is None:
            structure = K
            on_x, on_xd = self._gains(t, motion, N)
            D = D - N.encoder.T @ on_xd
            K = K - N.encoder.T @ on_x
        if self.loads.prescribed:
            M, D, K = self._prescribed_rows(M, D, K, N)
        return Tangents(M, D, K, structure), N

    def _gains(self, t, motion: Motion, N: Rates):
        """Derivatives of the commanded torques; a torque at its limit has none."""
        f, feedback = self.formulation, self.loads.feedback
        assert feedback is not None
        wanted, on_x, on_xd = feedback.gains(f, t, motion, N)
        if self.loads.torque is not None:
            wanted = wanted + self.loads.torque.value(t)
        is_free = jnp.abs(wanted) <= jnp.asarray(f.joints.torque_limit)
        answers = jnp.where(is_free, 1.0, 0.0)[:, None]
        return answers * on_x, answers * on_xd

    def _prescribed_rows(self, M, D, K, N: Rates):
        """The matrices with the equations of prescribed joints replaced by the encoders' accelerations."""
        joints, rows = self._prescribed
        E = N.encoder[joints]
        share = E.T @ inverse(E[:, rows].T)
        M, D, K = (A - share @ A[rows] for A in (M, D, K))
        return M.at[rows].set(E), D.at[rows].set(0.0), K.at[rows].set(0.0)

    @noinline
    def acceleration(self, t, x, xd) -> Float[Array, " n"]:
        """Solution xdd of the residual, which is affine in it."""
        motion = self.formulation.motion(x, xd, jnp.zeros_like(x))
        force = self.residual_of(t, motion)
        tangents, _ = self.matrices_of(t, motion)
        return -solve(tangents.M, force)

    def acceleration_by_parts(self, t, x, xd) -> Float[Array, " n"]:
        """`acceleration` by functions that implicit steps have anyway, so that nothing new is compiled."""
        tangents, _ = self.matrices(t, x, xd)
        (force,) = vmap_rows(self.residual)(
            t[None], x[None], xd[None], jnp.zeros_like(x)[None]
        )
        return -solve(tangents.M, force)

    # --- what a run records

    def torque(self, t, motion: Motion) -> Float[Array, " j"]:
        """Torque on every joint, prescribed ones included."""
        return self._loads_and_torque(t, motion)[1]

    def _loads_and_torque(self, t, motion: Motion) -> tuple[Rates, Float[Array, " j"]]:
        """Loads of tables and laws, and the torque on every joint."""
        applied = self.applied(t, motion)
        torque = applied.encoder
        if not self.loads.prescribed:
            return applied, torque
        force = engine.needed_force(self.formulation, motion, self.acting(t, motion))
        tau, _ = self._reaction(motion, force)
        return applied, torque.at[jnp.asarray(self.loads.prescribed)].add(tau)

    @noinline
    def powers(self, t, x, xd, xdd) -> Float[Array, " 2"]:
        """Power put in by torques and wrenches, and power dissipated [W]."""
        motion = self.formulation.motion(x, xd, xdd)
        applied, torque = self._loads_and_torque(t, motion)
        driving = Rates(applied.V, applied.q, torque)
        power = engine.power_of_forces(self.formulation, motion, driving)
        loss = engine.damping_power(self.formulation, motion)
        stops = self.formulation.joints.stops
        if stops is not None:
            encoder, encoder_d = motion.place.encoder, motion.rates.encoder
            loss = loss + stops.loss(encoder, encoder_d, self._contact(motion))
        return jnp.stack([power, loss])

    # --- samples

    def motion_at_sample(self, t, x, xd) -> Motion:
        """The motion that a sampled law measures at (x, xd), under the command held so far."""
        law = self.sampled_law
        assert law is not None
        xdd = jnp.zeros_like(x)
        if law.needs_acceleration:
            xdd = self.acceleration(t, x, xd)
        return self.formulation.motion(x, xd, xdd)

    def measured(self, t, motion: Motion) -> Float[Array, " m"]:
        """Measurements of a sampled law in a motion."""
        law, f = self.sampled_law, self.formulation
        assert law is not None
        applied, torque = self._loads_and_torque(t, motion)
        needed = None
        if law.needs_reactions:
            needed = engine.link_forces(f, motion, self.acting(t, motion))
        observed = observed_motion(f, motion)
        return measure(f, law.channels, observed, needed, torque)

    def force_jump(self, before: "MotionProblem", t, motion: Motion):
        """By how much the generalised forces jump when another command is held than in the problem `before`."""
        change = self.joint_torque(t, motion) - before.joint_torque(t, motion)
        jump = motion.pull_back(engine.on_joints(self.formulation, change))
        if not self.loads.prescribed:
            return jump
        # Prescribed joints carry their share, and keep to their motion.
        _, jump = self._reaction(motion, jump)
        _, rows = self._prescribed
        return jump.at[rows].set(0.0)


def is_none(leaf: Any) -> bool:
    """True for None: a leaf predicate for trees with missing parts."""
    return leaf is None
