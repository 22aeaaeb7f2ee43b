"""Links that close to rings: some joints follow from the others, and displacements close likewise.

The closing rows Z are constant in the frames of the links, and `Z V = 0` for the twists V of the closed chain. Its
derivative `Z V_d = 0` gives the accelerations of the dependent joints.

The elastic displacements obey `Z q = 0` beside the conditions that say what theta means; with the `tangent` choice
these rows alone say how the dependent joints give way. The minimum of a norm over closed displacements has multipliers
lambda, the wrenches of the closing joints,

    J^T (g(q) + Z^T lambda) = 0,      Z q = 0,

where g and Z are constant in the frames of the links, so that only J turns with the joints.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array
from typing_extensions import override

from jaxnative.compiled import compiled_quickly

from ...algebra.linear import inverse
from ...describe.robot import Robot
from ...types import Float, Real, picked, real, with_fields
from ..chain import Chain, body_jacobian, relative_poses
from ..mechanism import AbstractJointDependence, AbstractMechanism, AbstractSeats
from ..references import AbstractReference, Conditions, solved_conditions
from .assembly import close, lead_to
from .closure import Closure, all_joints, closed_joints, closing_guess
from .independent import choose_independent

# [rad, or part of the reach] An independent joint moves at most so far in one step of a run: the pose turns with all.
LONGEST_MOVE = 0.1

# Compiled, since a model calls them repeatedly; within other compiled code they are part of it.
_closing_guess = compiled_quickly(closing_guess)
_closed_joints = compiled_quickly(closed_joints)


class DependentJoints(AbstractJointDependence):
    """Dependence of all joints of a closed chain on its independent ones at a pose."""

    closure: Closure
    solve: Float[Array, "d r"]  # (Z J_d)^-1
    G: Float[Array, "k i"]  # d theta / d theta_i

    @property
    def _rows(self) -> Float[Array, "r l 6"]:
        """Z over the twists of all frames."""
        return jnp.asarray(self.closure.rows)[:, :, :6]

    def follow(
        self,
        motion_i: Float[Array, " i"],
        others: Float[Array, "l 6"] | None = None,
    ) -> Float[Array, " k"]:
        """Z (J theta_d + others) = 0, for the dependent joints."""
        motion = self.G @ motion_i
        if others is None:
            return motion
        # The dependent joints take back what the loops would open by.
        dependent = np.asarray(self.closure.dependent, dtype=int)
        opened = jnp.einsum("rlk,lk->r", self._rows, others)
        return motion.at[dependent].add(-self.solve @ opened)

    def forces(self, on_joints: Float[Array, " k"]) -> Float[Array, " i"]:
        """Forces on the independent joints, G^T f."""
        return self.G.T @ on_joints

    def closing_wrenches(self, on_joints: Float[Array, " k"]) -> Float[Array, "l 6"]:
        """Wrenches of the closing joints, -Z^T (Z J_d)^-T f_d."""
        dependent = np.asarray(self.closure.dependent, dtype=int)
        multipliers = -(on_joints[dependent] @ self.solve)
        return jnp.einsum("r,rlk->lk", multipliers, self._rows)

    def conditions(
        self, reference: AbstractReference, J: Float[Array, "l 6 k"]
    ) -> Conditions:
        """The closing rows, beside those of the reference."""
        closure = self.closure
        closing = jnp.asarray(closure.rows)
        links = J.shape[0] - closure.frames
        chosen = reference.conditions(J[:links])
        if chosen is None:
            return self._closing_conditions(J)
        chosen = jnp.pad(chosen, ((0, 0), (0, closure.frames), (0, 0)))
        rows = jnp.concatenate([chosen, closing])
        wrenches = None
        if reference.is_minimum:
            wrenches = closing[:, :, :6]
        return solved_conditions(rows, J, wrenches)

    def _closing_conditions(self, J: Float[Array, "l 6 k"]) -> Conditions:
        """Only dependent joints give way: phi of the independent ones is zero."""
        closure = self.closure
        rows = jnp.asarray(closure.rows)
        still = jnp.zeros((len(closure.independent), rows.shape[0]))
        ZJ = jnp.einsum("rlk,lkj->rj", rows[:, :, :6], J)
        matrix = ZJ[:, np.asarray(closure.dependent, dtype=int)]
        return Conditions(rows, all_joints(closure, still, self.solve), matrix)


class ClosedChain(AbstractMechanism):
    """A chain cut at the joints that close its loops, and how it is closed.

    Beyond the robot's links, the chain holds two massless frames for each loop, one on the tip of a link, the other on
    the ground or on a link, where it moves as the closing joint allows; they have to coincide. A closed chain can have
    several poses for the same independent joints; `closure.guess` says which branch this one is on, and
    `on_branch_near` puts it on another.
    """

    chain: Chain
    closure: Closure
    # Where loops close at deformed tips; None where they close as those of rigid links do.
    seats: AbstractSeats | None = None

    @property
    @override
    def independent(self) -> tuple[int, ...]:
        return self.closure.independent

    @property
    @override
    def home(self) -> Float[Any, " j"]:
        return self.closure.guess[: self.closure.joints]

    @property
    def rigid(self) -> "ClosedChain":
        """The same loops, closed by the joints alone."""
        return dataclasses.replace(self, seats=None)

    def on_seats(self, seats: AbstractSeats) -> "ClosedChain":
        """The same loops, closed at the deformed tips of the links."""
        return dataclasses.replace(self, seats=seats)

    def _displaced(self, x: Float[Array, " n"]) -> Float[Array, "l 6"] | None:
        if self.seats is None:
            return None
        return self.seats.displaced(x[len(self.independent) :])

    def chain_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " k"]:
        """All joints, those of the closing frames too, by Newton's iteration; NaN where the loops do not close."""
        theta_i = x[: len(self.independent)]
        return closed_joints(self.chain, self.closure, theta_i, self._displaced(x))

    @override
    def joint_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " j"]:
        return self.chain_coordinates(x)[: self.closure.joints]

    def joint_map(self, x: Float[Array, " n"]) -> Float[Array, "j n"]:
        """G of the moving joints; elastic coordinates move them where they move the tips that close a loop."""
        if self.seats is not None:
            return jax.jacfwd(self.joint_coordinates)(x)
        G = self._dependence_at(x).G[: self.closure.joints]
        return jnp.pad(G, ((0, 0), (0, x.shape[0] - G.shape[1])))

    def dependence(self, J: Float[Array, "l 6 k"]) -> DependentJoints:
        """The Jacobian of the dependent joints, from the body Jacobian of the chain as it is cut."""
        closure = self.closure
        ZJ = jnp.einsum("rlk,lkj->rj", jnp.asarray(closure.rows)[:, :, :6], J)
        independent = np.asarray(closure.independent, dtype=int)
        dependent = np.asarray(closure.dependent, dtype=int)
        solve = inverse(ZJ[:, dependent])
        follow = -solve @ ZJ[:, independent]
        G = all_joints(closure, jnp.eye(len(independent)), follow)
        return DependentJoints(closure, solve, G)

    def _dependence_at(self, x: Float[Array, " n"]) -> DependentJoints:
        theta = self.chain_coordinates(x)
        relative = relative_poses(self.chain, theta, self._displaced(x))
        return self.dependence(body_jacobian(self.chain, relative))

    @override
    def on_branch_near(self, joints: Float[Real, " j"]) -> "ClosedChain":
        closure = with_fields(self.closure, guess=self.chain_coordinates_near(joints))
        return with_fields(self, closure=closure)

    def chain_coordinates_near(self, joints: Float[Real, " j"]) -> Float[Array, " k"]:
        """All joints, the closing frames as near to their tips as they come."""
        joints = jnp.asarray(joints, dtype=float)
        return _closing_guess(self.chain, self.closure, joints)

    @override
    def assemble(self, robot: Robot, joints: Float[Array, " q"]) -> Float[Array, " j"]:
        home = real(self.home)
        independent = np.asarray(self.independent, dtype=int)
        is_concrete = not any(
            isinstance(part, Tracer) for part in (joints, home, self.chain.position)
        )
        count = self.closure.joints
        if joints.shape[0] == len(independent) and len(independent) != count:
            # Under a transformation nothing can be searched for: the branch of the guess must do.
            if is_concrete:
                target = np.asarray(joints)
                theta = lead_to(robot, self.chain, self.closure, target)
                return real(theta[:count])
            joints = home.at[independent].set(joints)
        theta = self._closed_near(joints)
        # Newton's iteration gives up far from closed loops; a search from other guesses may still find them.
        if is_concrete and not np.all(np.isfinite(theta)):
            guess = np.asarray(self.chain_coordinates_near(joints))
            theta = close(robot, self.chain, self.closure, guess, self.independent)
            return real(theta[:count])
        return theta

    def _closed_near(self, joints: Float[Array, " j"]) -> Float[Array, " j"]:
        here = self.on_branch_near(joints)
        theta_i = picked(joints, np.asarray(self.independent, dtype=int))
        theta = _closed_joints(here.chain, here.closure, theta_i)
        return picked(theta, slice(self.closure.joints))

    @override
    def with_independent(self, independent: Sequence[int]) -> "ClosedChain":
        chosen = tuple(sorted(independent))
        if chosen == self.independent:
            return self
        closure = dataclasses.replace(self.closure, independent=chosen)
        return dataclasses.replace(self, closure=closure)

    def best_independent(
        self, x: Float[Any, " n"], wanted: Sequence[int] = ()
    ) -> tuple[int, ...] | None:
        """Independent joints that move all others least at x, those `wanted` among them; None at a dead point."""
        x = jnp.asarray(x)
        theta_i, displaced = x[: len(self.independent)], self._displaced(x)
        theta = _closed_joints(self.chain, self.closure, theta_i, displaced)
        chain, closure = self.chain, self.closure
        return choose_independent(chain, closure, np.asarray(theta), wanted, displaced)

    def joint_gain(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """Largest motion of any joint for a unit motion of the independent ones: infinite at their dead point."""
        reach = jnp.asarray(self.closure.reach)
        own_reach = reach[np.asarray(self.independent, dtype=int)]
        G = self._dependence_at(x).G
        return jnp.max(jnp.abs(G / reach[:, None] * own_reach[None, :]))

    def longest_step(self, xd: Float[Array, " n"]) -> Float[Array, ""]:
        """A closed chain is stepped by at most `LONGEST_MOVE` of its independent joints."""
        reach = jnp.asarray(self.closure.reach)[jnp.asarray(self.independent)]
        speed = jnp.max(jnp.abs(xd[: len(self.independent)]) / reach)
        return LONGEST_MOVE / jnp.maximum(speed, 1e-12)
