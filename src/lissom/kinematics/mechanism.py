"""A chain of links, and how its joints follow from the coordinates of the robot.

The coordinates x of a robot are those of its independent joints, then its elastic coordinates. In an open chain every
joint is independent; where links close to rings, some joints follow from the others (`kinematics.loops`).
"""

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..describe.robot import Robot
from ..types import Float, Real
from .chain import Chain
from .references import AbstractReference, Conditions, solved_conditions

# Motion of a joint per unit of an independent one at which that one is too near its dead point.
DEAD_POINT_GAIN = 30.0


class AbstractJointDependence(eqx.Module):
    """Dependence of the k joints of a chain on its i independent ones at one pose."""

    @abc.abstractmethod
    def follow(
        self,
        motion_i: Float[Array, " i"],
        others: Float[Array, "l 6"] | None = None,
    ) -> Float[Array, " k"]:
        """Rates, or accelerations, of all joints from those of the independent ones.

        Args:
            motion_i: rates or accelerations of the independent joints.
            others: what moves the frames of the chain beside this motion of the joints: their twists, or the rates of
                their twists, while it is zero.
        """

    @abc.abstractmethod
    def forces(self, on_joints: Float[Array, " k"]) -> Float[Array, " i"]:
        """Forces on the independent joints from forces on all: the transpose of `follow`."""

    @abc.abstractmethod
    def closing_wrenches(
        self, on_joints: Float[Array, " k"]
    ) -> Float[Array, "l 6"] | None:
        """Wrenches by which closing joints take forces off the dependent joints, on the frames; None in open chains."""

    @abc.abstractmethod
    def conditions(
        self, reference: AbstractReference, J: Float[Array, "l 6 k"]
    ) -> Conditions | None:
        """Conditions on the displacements of the links; None where theta is the encoders' reading."""


class AllIndependent(AbstractJointDependence):
    """Every joint is independent: an open chain."""

    @override
    def follow(
        self,
        motion_i: Float[Array, " i"],
        others: Float[Array, "l 6"] | None = None,
    ) -> Float[Array, " k"]:
        return motion_i

    @override
    def forces(self, on_joints: Float[Array, " k"]) -> Float[Array, " i"]:
        return on_joints

    @override
    def closing_wrenches(self, on_joints: Float[Array, " k"]) -> None:
        return None

    @override
    def conditions(
        self, reference: AbstractReference, J: Float[Array, "l 6 k"]
    ) -> Conditions | None:
        rows = reference.conditions(J)
        # A robot without moving joints has none to choose.
        if rows is None or len(rows) == 0:
            return None
        return solved_conditions(rows, J)


class AbstractSeats(eqx.Module):
    """Effect of the elastic coordinates on the points of the links that carry the frames of a chain."""

    @abc.abstractmethod
    def displaced(self, eta: Float[Array, " d"]) -> Float[Array, "l 6"]:
        """Displacement and rotation vector of the point that carries each frame, in its parent's axes."""


class AbstractMechanism(eqx.Module):
    """A chain, and how its joints follow from the coordinates x = (independent joints, elastic coordinates).

    The chain has k joints, the first j of them the moving joints of the robot.
    """

    chain: eqx.AbstractVar[Chain]

    @property
    @abc.abstractmethod
    def independent(self) -> tuple[int, ...]:
        """Numbers of the moving joints that are coordinates."""

    @property
    @abc.abstractmethod
    def home(self) -> Float[Any, " j"]:
        """Coordinates of all moving joints as the robot is put together."""

    @property
    @abc.abstractmethod
    def rigid(self) -> "AbstractMechanism":
        """The same mechanism of rigid links: its joints follow from the independent ones alone."""

    @abc.abstractmethod
    def on_seats(self, seats: AbstractSeats) -> "AbstractMechanism":
        """The same mechanism of links that bend: loops close at their deformed tips."""

    @abc.abstractmethod
    def chain_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " k"]:
        """Coordinates of all joints of the chain."""

    @abc.abstractmethod
    def joint_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " j"]:
        """Coordinates of all moving joints of the robot."""

    @abc.abstractmethod
    def joint_map(self, x: Float[Array, " n"]) -> Float[Array, "j n"]:
        """Rates of all moving joints for unit rates of all coordinates, joints and elastic."""

    @abc.abstractmethod
    def dependence(self, J: Float[Array, "l 6 k"]) -> AbstractJointDependence:
        """Dependence of the joints at a pose with this body Jacobian of the chain."""

    @abc.abstractmethod
    def on_branch_near(self, joints: Float[Real, " j"]) -> "AbstractMechanism":
        """The same mechanism on the branch near these coordinates of all moving joints."""

    @abc.abstractmethod
    def chain_coordinates_near(self, joints: Float[Real, " j"]) -> Float[Real, " k"]:
        """Coordinates of all joints of the chain near these of the moving joints of the robot."""

    @abc.abstractmethod
    def assemble(self, robot: Robot, joints: Float[Array, " q"]) -> Float[Array, " j"]:
        """Coordinates of all moving joints that fit together, from those of all or of the independent ones.

        Raises:
            AssemblyError: they cannot; the message names joints of the `robot`.
        """

    @abc.abstractmethod
    def with_independent(self, independent: Sequence[int]) -> "AbstractMechanism":
        """The same mechanism with other joints as coordinates."""

    @abc.abstractmethod
    def best_independent(
        self, x: Float[Any, " n"], wanted: Sequence[int] = ()
    ) -> tuple[int, ...] | None:
        """Independent joints that move all others least at x, those `wanted` among them; None if there are none."""

    @abc.abstractmethod
    def joint_gain(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """Largest motion of a joint per unit of an independent one: infinite at a dead point, 1 in an open chain."""

    @abc.abstractmethod
    def longest_step(self, xd: Float[Array, " n"]) -> Float[Array, ""]:
        """Longest step in time [s] over which the pose is a tame function of x; infinite in open chains."""


class OpenChain(AbstractMechanism):
    """Every moving joint is a coordinate."""

    chain: Chain

    @property
    @override
    def independent(self) -> tuple[int, ...]:
        return tuple(range(self.chain.n_joints))

    @property
    @override
    def home(self) -> Float[np.ndarray, " j"]:
        return np.zeros(self.chain.n_joints)

    @property
    @override
    def rigid(self) -> "OpenChain":
        return self

    @override
    def on_seats(self, seats: AbstractSeats) -> "OpenChain":
        return self

    @override
    def chain_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " k"]:
        return x[: self.chain.n_joints]

    @override
    def joint_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " j"]:
        return self.chain_coordinates(x)

    @override
    def joint_map(self, x: Float[Array, " n"]) -> Float[Array, "j n"]:
        return jnp.eye(self.chain.n_joints, x.shape[0])

    @override
    def dependence(self, J: Float[Array, "l 6 k"]) -> AllIndependent:
        return AllIndependent()

    @override
    def on_branch_near(self, joints: Float[Real, " j"]) -> "OpenChain":
        return self

    @override
    def chain_coordinates_near(self, joints: Float[Real, " j"]) -> Float[Real, " k"]:
        return joints

    @override
    def assemble(self, robot: Robot, joints: Float[Array, " q"]) -> Float[Real, " j"]:
        return joints

    @override
    def with_independent(self, independent: Sequence[int]) -> "OpenChain":
        return self

    @override
    def best_independent(
        self, x: Float[Any, " n"], wanted: Sequence[int] = ()
    ) -> tuple[int, ...] | None:
        return self.independent

    @override
    def joint_gain(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return jnp.ones(())

    @override
    def longest_step(self, xd: Float[Array, " n"]) -> Float[Array, ""]:
        return jnp.asarray(jnp.inf)
