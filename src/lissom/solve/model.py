"""A robot ready for computation: its formulation, its names, and the questions asked most often."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from ..algebra.so3 import exponential, left_jacobian
from ..bodies.body import Body
from ..compilation import compiled_quickly
from ..describe.geometry import node_names
from ..describe.robot import Robot
from ..describe.scenario import Scenario
from ..describe.scenario_checks import choice_findings
from ..describe.supported import SUPPORT, check_structure
from ..dynamics import engine
from ..dynamics.basis import BASES, Choices, link_bodies
from ..dynamics.coordinates import with_coordinates
from ..dynamics.formulation import AbstractFormulation, near
from ..dynamics.formulations import FORMULATIONS, formulation_of
from ..dynamics.nodes import Poses, find_node, node_displacements, node_poses
from .problem import State, state_of
from .static import balanced, descend, held, imbalance, settled, slope

BALANCE = 1e-7  # force left over in an equilibrium, against the largest force in it
SINGULAR = (
    1e-9  # reciprocal condition of J_0 below which zeroed displacements define no ERLS
)


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
        if formulation not in FORMULATIONS:
            known = ", ".join(FORMULATIONS)
            raise ValueError(f"formulation must be one of {known}, got {formulation!r}")
        if terms not in ("consistent", "published"):
            raise ValueError(
                f"terms must be 'consistent' or 'published', got {terms!r}"
            )
        check_choices(formulation, reference, terms, basis, stiffening)
        self.robot = Robot.load(robot) if isinstance(robot, str) else robot
        self.formulation_name, self.reference, self.terms, self.modes = (
            formulation,
            reference,
            terms,
            modes,
        )
        self.basis, self.stiffening = basis, stiffening
        self.choices = Choices(modes, reference, terms, basis, stiffening)
        check_structure(SUPPORT[formulation], self.robot)
        # The links in the coordinates of the formulation: shapes, stiffness, section forces.
        self.bodies: tuple[Body, ...] = link_bodies(
            self.robot, formulation, self.choices
        )
        self.formulation: AbstractFormulation = formulation_of(
            self.robot, formulation, self.choices, self.bodies
        )
        self.joint_names = self.robot.joint_names
        self.link_names = self.robot.link_names
        self.node_names = node_names(self.robot)
        self.node_index = tuple(find_node(self.robot, name) for name in self.node_names)

    @classmethod
    def of_scenario(cls, scenario: Scenario) -> "Model":
        """The robot of a scenario in its formulation."""
        s = scenario
        return cls(
            s.robot, s.formulation, s.modes, s.reference, s.terms, s.basis, s.stiffening
        )

    def replace(self, changes: Mapping[str, Any]) -> "Model":
        """The same model of a robot with other values at dotted paths, traced ones too: see `Robot.replace`."""
        return Model(
            self.robot.replace(changes), self.formulation_name, **self.choices._asdict()
        )

    @property
    def n_joints(self) -> int:
        """Number of moving joints: each has an encoder and takes a torque."""
        return self.formulation.n_encoders

    @property
    def independent_names(self) -> tuple[str, ...]:
        """Joints that are coordinates: all that move, unless loops tie some of them to the others."""
        return tuple(self.joint_names[j] for j in self.formulation.independent)

    @property
    def closed(self) -> bool:
        """True if loops tie joints to each other."""
        return bool(self.robot.loops)

    def formulation_at(self, state: Any) -> AbstractFormulation:
        """The formulation on the branch of a state (and in its coordinates), or near coordinates of all joints."""
        f = self.formulation
        if not isinstance(state, State):
            return near(f, jnp.asarray(state, dtype=float))
        if state.independent is not None:
            f = with_coordinates(f, state.independent)
        return near(f, state.q)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Elastic coordinates: displacements of nodes from the frame of their link's inner node, or modes of links."""
        return self.formulation.elastic_names

    def formulation_with(self, robot: Robot) -> AbstractFormulation:
        """Another robot in the same formulation, with the same choices."""
        return formulation_of(robot, self.formulation_name, self.choices)

    def at(self, q: Any = None, qd: Any = None) -> State:
        """State with undeformed links; q and qd default to zero.

        Of a closed chain q has one value for each moving joint, those of dependent joints being a guess that the loops
        are closed near, or one for each independent joint (`independent_names`); by default it is the assembled pose.

        Raises:
            AssemblyError: the loops cannot be closed there.
        """
        d = self.formulation.n_elastic
        if self.closed:
            return self._closed_at(q, qd)
        theta, theta_d = self.joint_vector("q", q), self.joint_vector("qd", qd)
        return State(theta, theta_d, jnp.zeros(d), jnp.zeros(d), theta, theta_d)

    def _closed_at(self, q: Any, qd: Any) -> State:
        f, theta = self.formulation, self.assemble(q)
        rates = self.joint_vector("qd", qd)[jnp.asarray(f.independent)]
        return _undeformed(near(f, theta), theta, rates)

    def assemble(self, q: Any = None) -> Float[Array, " j"]:
        """Coordinates of all moving joints with the loops closed; see `at`.

        Raises:
            AssemblyError: the loops cannot be closed there.
        """
        f = self.formulation
        if q is None:
            return jnp.asarray(f.mechanism.home)
        value = _stacked(q) if isinstance(q, Sequence) else jnp.asarray(q, dtype=float)
        if value.shape != (f.n_joints,):
            value = self.joint_vector("q", value)
        return f.mechanism.assembled(self.robot, value)

    def static(self, q: Any = None, torque: Any = None, *, free: bool = False) -> State:
        """Elastic equilibrium under gravity with the encoders held at q; the state carries the holding torques.

        With `free` the joints move too, under the given torques (zero by default): downhill from q to a stable
        equilibrium.

        Raises:
            EquilibriumError: no equilibrium was found (checked for concrete numbers only, so that the result can be
            differentiated).
        """
        encoder = self.assemble(q)
        f: Any = near(self.formulation, encoder)
        self.check_reference(encoder)
        if free:
            tau = self.joint_vector("torque", torque)
            start = jnp.concatenate(
                [encoder[jnp.asarray(f.independent, dtype=int)], jnp.zeros(f.n_elastic)]
            )
            if _is_concrete(start) and _is_concrete(tau):
                start, f = self._downhill(f, start, tau)
            state, left = _settled(f, tau, start)
        else:
            state, left = _held(f, encoder)
        if _is_concrete(left) and not float(left) < BALANCE:
            pose = np.asarray(encoder).tolist()
            raise EquilibriumError(
                f"no equilibrium found near q = {pose}: {left:.1e} of the forces is left over"
            )
        return state

    def _downhill(self, f: Any, start: Any, tau: Any) -> tuple[Any, Any]:
        """Coordinates near a stable equilibrium, and the formulation with its loops closed there."""
        here = [f]

        def slope_at(x):
            here[0] = _followed(here[0], jnp.asarray(x))
            return _slope(here[0], jnp.asarray(x), tau)

        x = jnp.asarray(descend(slope_at, np.asarray(start), f.n_joints))
        return x, _followed(here[0], x)

    def check_reference(self, theta: Any) -> None:
        """Refuse zeroed displacements that define no ERLS at theta, by name, [Boscariol2012] eq. (6)."""
        theta = jnp.asarray(theta, dtype=float)
        if not _is_concrete(theta) or self.n_joints == 0:
            return
        matrix = _reference_matrix(self.formulation, theta)
        if matrix is None:
            return
        J_0 = np.asarray(matrix)
        if not 1.0 / np.linalg.cond(J_0) > SINGULAR:
            names = (
                ", ".join(self.reference["zeroed"])
                if isinstance(self.reference, dict)
                else str(self.reference)
            )
            still = [
                joint
                for joint, column in zip(self.joint_names, J_0.T, strict=False)
                if np.abs(column).max() < 1e-9
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
        return _inertia(*self._placed(q))

    def inverse_dynamics(
        self, q: Any, qd: Any = None, qdd: Any = None
    ) -> Float[Array, " j"]:
        """Joint torques for a motion of the joints, the links in quasi-static balance with it.

        The independent joints of a closed chain set the motion and take the torques.
        """
        q, qd, qdd = (
            self.assemble(q),
            self.joint_vector("qd", qd),
            self.joint_vector("qdd", qdd),
        )
        return _balanced(near(self.formulation, q), q, qd, qdd)[1]

    def fkine(self, q: Any, frame: str | None = None) -> Float[Array, "4 4"]:
        """Pose of a node (default: the last link's tip) in the world, at joint coordinates q or at a State."""
        i, k = find_node(self.robot, frame or f"{self.link_names[-1]}/tip")
        return _node_pose(*self._placed(q), i, k)

    def jacobian(self, q: Any, frame: str | None = None) -> Float[Array, "6 n"]:
        """Velocity (linear, angular) of a node in world axes per unit rate of each coordinate, joints first."""
        i, k = find_node(self.robot, frame or f"{self.link_names[-1]}/tip")
        return _node_jacobian(*self._placed(q), i, k)

    def poses(self, state: State) -> Poses:
        """Positions, ERLS positions and small rotations of all nodes, padded (link, node, 3)."""
        return _poses(self.formulation_at(state), state.x)

    def position(self, state: State, node: str) -> Float[Array, " 3"]:
        """World position of a node [m]."""
        i, k = find_node(self.robot, node)
        return self.poses(state).position[i, k]

    def displacement(self, state: State, node: str) -> Float[Array, " 3"]:
        """Displacement of a node from where rigid links with the same encoder readings put it, world axes [m]."""
        i, k = find_node(self.robot, node)
        rigid = self.at(self._closed_by(state))
        return self.poses(state).position[i, k] - self.poses(rigid).position[i, k]

    def _closed_by(self, state: State) -> Float[Array, " j"]:
        """Joint coordinates of rigid links whose independent joints read what the encoders of a state do."""
        if not self.closed:
            return state.encoder
        independent = state.independent or self.formulation.independent
        return state.q.at[jnp.asarray(independent)].set(
            state.encoder[jnp.asarray(independent)]
        )

    def _placed(self, q: Any) -> tuple[AbstractFormulation, Float[Array, " n"]]:
        """The formulation and the coordinates at joint coordinates or at a state."""
        if isinstance(q, State):
            return self.formulation_at(q), q.x
        q = jnp.asarray(q, dtype=float) if not isinstance(q, Sequence) else _stacked(q)
        if q.shape == (self.formulation.size,) and not self.closed:
            return self.formulation, q
        state = self.at(q)
        return self.formulation_at(state), state.x

    def joint_vector(self, name: str, value: Any) -> Float[Array, " j"]:
        """One number for each joint, zeros for None; `name` is what an error message calls them."""
        j = self.n_joints
        if value is None:
            return jnp.zeros(j)
        value = (
            _stacked(value)
            if isinstance(value, Sequence)
            else jnp.asarray(value, dtype=float)
        )
        drives = self.formulation.independent
        if (
            value.shape == (len(drives),) and len(drives) != j
        ):  # of a closed chain: the independent joints alone
            return jnp.zeros(j).at[jnp.asarray(drives)].set(value)
        if value.shape != (j,):
            names = ", ".join(self.joint_names)
            raise ValueError(
                f"{name} must have {j} values, one for each joint ({names}), got shape {value.shape}"
            )
        return value


def check_choices(
    formulation: str, reference: Any, terms: str, basis: str | None, stiffening: str
) -> None:
    """Refuse what a formulation does not offer."""
    if basis is not None and basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, got {basis!r}")
    if stiffening not in ("none", "geometric"):
        raise ValueError(
            f"stiffening must be 'none' or 'geometric', got {stiffening!r}"
        )
    entries = {
        "formulation": formulation,
        "reference": reference,
        "terms": terms,
        "basis": basis,
    }
    entries |= {"stiffening": stiffening}
    for finding in choice_findings(entries):
        raise ValueError(f"{'.'.join(map(str, finding.loc))}: {finding.message}")


def _is_concrete(value: Any) -> bool:
    return not isinstance(value, Tracer)


def _stacked(values: Sequence) -> Float[Array, " n"]:
    return (
        jnp.stack([jnp.asarray(v, dtype=float) for v in values])
        if len(values)
        else jnp.zeros(0)
    )


def _followed(f: Any, x: Any) -> Any:
    """The formulation on the branch where x leads it."""
    return f if f.n_joints == f.n_encoders else near(f, _all_joints(f, x))


@compiled_quickly
def _all_joints(f: AbstractFormulation, x):
    return f.mechanism.joint_coordinates(x)


@compiled_quickly
def _undeformed(f: AbstractFormulation, theta, rate_i) -> State:
    x, xd = (
        jnp.concatenate([part, jnp.zeros(f.n_elastic)])
        for part in (theta[jnp.asarray(f.independent)], rate_i)
    )
    return state_of(f, x, xd)


_balanced = compiled_quickly(balanced)
_inertia = compiled_quickly(engine.inertia_at)
_slope = compiled_quickly(slope)


@compiled_quickly
def _reference_matrix(f: AbstractFormulation, joints):
    return f.reference_matrix(joints)


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
    spin = left_jacobian(u[3:]) if f.support.finite_rotations else jnp.eye(3)
    angular = N.V[i, 3:] + spin @ U[3:] @ N.q[i]
    return jnp.concatenate([place.R[i] @ linear, place.R[i] @ angular])
