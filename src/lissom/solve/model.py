"""A robot ready for computation: its formulation, its names, and the questions asked most often."""

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from ..algebra.so3 import exponential, left_jacobian
from ..bodies.body import Body
from ..describe.geometry import node_names
from ..describe.robot import Robot
from ..describe.scenario import Scenario
from ..describe.scenario_checks import choice_findings
from ..dynamics import engine
from ..dynamics.basis import BASES, link_bodies
from ..dynamics.build import BUILDERS, Choices, find_node, formulation_of
from ..dynamics.compile import compiled_quickly
from ..dynamics.formulation import AbstractFormulation
from ..dynamics.nodes import Poses, node_displacements, node_poses
from ..kinematics.compatibility import Tangent, reference_matrix
from .problem import State, state_of
from .static import balanced, descend, held, imbalance, settled, slope

BALANCE = 1e-7  # force left over in an equilibrium, against the largest force in it
SINGULAR = 1e-9  # reciprocal condition of J_0 below which zeroed displacements define no ERLS


class EquilibriumError(RuntimeError):
    """No equilibrium was found."""


class UndefinedReferenceError(ValueError):
    """The zeroed displacements do not define an equivalent rigid-link system."""


class Model:
    """A robot in one formulation.

    Args:
        robot: description, or the name of a library robot or file.
        formulation: `erls-fem`, `erls-cms` (modes of the links), `dual-screw` or `nonlinear`.
        modes: kept elastic modes per link, a number or a `Reduction`, one for all links or a list; default 12, or all
            if there are fewer, 0 is rigid. `erls-fem` keeps every nodal displacement and takes none.
        reference: what the joint coordinates mean: `tangent`, `minimum-norm` or `{"zeroed": [...]}`; default `tangent`,
            with `erls-cms` `minimum-norm`.
        terms: `consistent` (complete virtual work) or `published` (as printed in the papers).
        basis: shapes of the links (`nonlinear`, `dual-screw`): `assumed` modes (default), `craig-bampton`, or `nodal`.
        stiffening: `none`, or `geometric`: axial loads stiffen or soften bent links (`nonlinear`).

    Example:
        >>> import lissom as ls
        >>> model = ls.Model("double-pendulum")
        >>> state = model.static(q=[0.0, 0.5])
        >>> model.position(state, "lower/tip").shape
        (3,)
    """

    def __init__(
        self,
        robot: Robot | str,
        formulation: str = "erls-fem",
        modes: Any = None,
        reference: Any = None,
        terms: str = "consistent",
        basis: str | None = None,
        stiffening: str = "none",
    ):
        if formulation not in BUILDERS:
            raise ValueError(f"formulation must be one of {', '.join(BUILDERS)}, got {formulation!r}")
        if terms not in ("consistent", "published"):
            raise ValueError(f"terms must be 'consistent' or 'published', got {terms!r}")
        check_choices(formulation, reference, terms, basis, stiffening)
        self.robot = Robot.load(robot) if isinstance(robot, str) else robot
        self.formulation_name, self.reference, self.terms, self.modes = formulation, reference, terms, modes
        self.basis, self.stiffening = basis, stiffening
        self.choices = Choices(modes, reference, terms, basis, stiffening)
        self.formulation: AbstractFormulation = formulation_of(self.robot, formulation, self.choices)
        self.joint_names = self.robot.joint_names
        self.link_names = self.robot.link_names
        self.node_names = node_names(self.robot)
        self.node_index = tuple(find_node(self.robot, name) for name in self.node_names)

    @classmethod
    def of_scenario(cls, scenario: Scenario) -> "Model":
        """The robot of a scenario in its formulation."""
        s = scenario
        return cls(s.robot, s.formulation, s.modes, s.reference, s.terms, s.basis, s.stiffening)

    @property
    def n_joints(self) -> int:
        """Number of joint coordinates."""
        return self.formulation.n_joints

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Elastic coordinates: displacements of nodes from the frame of their link's inner node, or modes of links."""
        return self.formulation.elastic_names

    @functools.cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The links in the coordinates of the formulation: shapes, stiffness, section forces."""
        return tuple(link_bodies(self.robot, self.formulation_name, self.choices))

    def formulation_with(self, robot: Robot) -> AbstractFormulation:
        """Another robot in the same formulation, with the same choices."""
        return formulation_of(robot, self.formulation_name, self.choices)

    def at(self, q: Any = None, qd: Any = None) -> State:
        """State with undeformed links; q and qd default to zero."""
        j, d = self.formulation.n_joints, self.formulation.n_elastic
        theta, theta_d = self.joint_vector("q", q), self.joint_vector("qd", qd)
        x, xd = (jnp.concatenate([part, jnp.zeros(d)]) for part in (theta, theta_d))
        return State(x[:j], xd[:j], x[j:], xd[j:], theta, theta_d)

    def static(self, q: Any = None, torque: Any = None, *, free: bool = False) -> State:
        """Elastic equilibrium under gravity with the encoders held at q; the state carries the holding torques.

        With `free` the joints move too, under the given torques (zero by default): downhill from q to a stable
        equilibrium.

        Raises:
            EquilibriumError: no equilibrium was found (checked for concrete numbers only, so that the result can be
            differentiated).
        """
        f, encoder = self.formulation, self.joint_vector("q", q)
        self.check_reference(encoder)
        if free:
            tau = self.joint_vector("torque", torque)
            start = jnp.concatenate([encoder, jnp.zeros(f.n_elastic)])
            if _is_concrete(start) and _is_concrete(tau):
                start = jnp.asarray(descend(lambda x: _slope(f, jnp.asarray(x), tau), np.asarray(start), self.n_joints))
            state, left = _settled(f, tau, start)
        else:
            state, left = _held(f, encoder)
        if _is_concrete(left) and not float(left) < BALANCE:
            near = np.asarray(encoder).tolist()
            raise EquilibriumError(f"no equilibrium found near q = {near}: {left:.1e} of the forces is left over")
        return state

    def check_reference(self, theta: Any) -> None:
        """Refuse zeroed displacements that define no ERLS at theta, by name, [Boscariol2012] eq. (6)."""
        f: Any = self.formulation
        theta = jnp.asarray(theta, dtype=float)
        if isinstance(f.reference, Tangent) or not _is_concrete(theta) or self.n_joints == 0:
            return
        J_0 = np.asarray(_reference_matrix(f.chain, f.reference, theta))
        if not 1.0 / np.linalg.cond(J_0) > SINGULAR:
            names = ", ".join(self.reference["zeroed"]) if isinstance(self.reference, dict) else str(self.reference)
            still = [
                joint for joint, column in zip(self.joint_names, J_0.T, strict=True) if np.abs(column).max() < 1e-9
            ]
            reason = (
                f"they do not move with joint {', '.join(still)}"
                if still
                else "their motions with the joints are dependent"
            )
            raise UndefinedReferenceError(
                f"reference.zeroed: {names} do not define an ERLS at q = {np.asarray(theta).tolist()}: {reason}. "
                "Zero, for each joint, a displacement that this joint moves."
            )

    def mass_matrix(self, q: Any) -> Float[Array, "n n"]:
        """M over all coordinates (joints first) at joint coordinates q (links undeformed), or at a State."""
        return _inertia(self.formulation, self._x(q))

    def inverse_dynamics(self, q: Any, qd: Any = None, qdd: Any = None) -> Float[Array, " j"]:
        """Joint torques for a motion of the joints, the links in quasi-static balance with it."""
        q, qd, qdd = (self.joint_vector(name, value) for name, value in (("q", q), ("qd", qd), ("qdd", qdd)))
        return _balanced(self.formulation, q, qd, qdd)[1]

    def fkine(self, q: Any, frame: str | None = None) -> Float[Array, "4 4"]:
        """Pose of a node (default: the last link's tip) in the world, at joint coordinates q or at a State."""
        i, k = find_node(self.robot, frame or f"{self.link_names[-1]}/tip")
        return _node_pose(self.formulation, self._x(q), i, k)

    def jacobian(self, q: Any, frame: str | None = None) -> Float[Array, "6 n"]:
        """Velocity (linear, angular) of a node in world axes per unit rate of each coordinate, joints first."""
        i, k = find_node(self.robot, frame or f"{self.link_names[-1]}/tip")
        return _node_jacobian(self.formulation, self._x(q), i, k)

    def poses(self, state: State) -> Poses:
        """Positions, ERLS positions and small rotations of all nodes, padded (link, node, 3)."""
        return _poses(self.formulation, state.x)

    def position(self, state: State, node: str) -> Float[Array, " 3"]:
        """World position of a node [m]."""
        i, k = find_node(self.robot, node)
        return self.poses(state).position[i, k]

    def displacement(self, state: State, node: str) -> Float[Array, " 3"]:
        """Displacement of a node from where rigid links with the same encoder readings put it, world axes [m]."""
        i, k = find_node(self.robot, node)
        rigid = self.at(state.encoder)
        return self.poses(state).position[i, k] - self.poses(rigid).position[i, k]

    def _x(self, q: Any) -> Float[Array, " n"]:
        if isinstance(q, State):
            return q.x
        q = jnp.asarray(q, dtype=float)
        return q if q.shape == (self.formulation.size,) else self.at(q).x

    def joint_vector(self, name: str, value: Any) -> Float[Array, " j"]:
        """One number for each joint, zeros for None; `name` is what an error message calls them."""
        j = self.n_joints
        if value is None:
            return jnp.zeros(j)
        if isinstance(value, Sequence):
            value = jnp.stack([jnp.asarray(v, dtype=float) for v in value]) if len(value) else jnp.zeros(0)
        value = jnp.asarray(value, dtype=float)
        if value.shape != (j,):
            names = ", ".join(self.joint_names)
            raise ValueError(f"{name} must have {j} values, one for each joint ({names}), got shape {value.shape}")
        return value


def check_choices(formulation: str, reference: Any, terms: str, basis: str | None, stiffening: str) -> None:
    """Refuse what a formulation does not offer."""
    if basis is not None and basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, got {basis!r}")
    if stiffening not in ("none", "geometric"):
        raise ValueError(f"stiffening must be 'none' or 'geometric', got {stiffening!r}")
    entries = {"formulation": formulation, "reference": reference, "terms": terms, "basis": basis}
    entries |= {"stiffening": stiffening}
    for finding in choice_findings(entries):
        raise ValueError(f"{'.'.join(map(str, finding.loc))}: {finding.message}")


def _is_concrete(value: Any) -> bool:
    return not isinstance(value, Tracer)


_balanced = compiled_quickly(balanced)
_inertia = compiled_quickly(engine.inertia)
_slope = compiled_quickly(slope)
_reference_matrix = compiled_quickly(reference_matrix)


@compiled_quickly
def _held(f: AbstractFormulation, encoder) -> tuple[State, Float[Array, ""]]:
    x, tau = held(f, encoder)
    return state_of(f, x, jnp.zeros_like(x), tau), imbalance(f, x, tau)


@compiled_quickly
def _settled(f: AbstractFormulation, tau, start) -> tuple[State, Float[Array, ""]]:
    x = settled(f, tau, start)
    return state_of(f, x, jnp.zeros_like(x), tau), imbalance(f, x, tau)


@compiled_quickly
def _poses(f: AbstractFormulation, x) -> Poses:
    return node_poses(f, f.configuration(x))


def _pose_of(f: AbstractFormulation, x, i: int, k: int):
    place = f.configuration(x)
    position = node_poses(f, place).position[i, k]
    phi = node_displacements(f, place)[i, k, 3:]
    return place.R[i] @ exponential(phi), position


@compiled_quickly
def _node_pose(f: AbstractFormulation, x, i: int, k: int) -> Float[Array, "4 4"]:
    R, p = _pose_of(f, x, i, k)
    return jnp.block([[R, p[:, None]], [jnp.array([[0.0, 0.0, 0.0, 1.0]])]])


@compiled_quickly
def _node_jacobian(f: AbstractFormulation, x, i: int, k: int) -> Float[Array, "6 n"]:
    N, place = engine.rate_map(f, x), f.configuration(x)
    U = jnp.asarray(f.links.node_shape)[i, k]
    u = U @ place.q[i]
    arm = jnp.asarray(f.links.points)[i, k] + u[:3]
    linear = N.V[i, :3] + jnp.cross(N.V[i, 3:], arm[:, None], axis=0) + U[:3] @ N.q[i]
    spin = left_jacobian(u[3:]) if f.finite_rotations else jnp.eye(3)
    angular = N.V[i, 3:] + spin @ U[3:] @ N.q[i]
    return jnp.concatenate([place.R[i] @ linear, place.R[i] @ angular])
