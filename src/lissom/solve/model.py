"""A robot ready for computation: its formulation, its names, and the most common computations."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ..algebra.so3 import MOST_TURN, exponential, left_jacobian
from ..bodies.body import Body
from ..describe.geometry import node_names
from ..describe.modelled import Modelled, modelled
from ..describe.robot import Robot
from ..describe.scenario import Scenario
from ..describe.scenario_checks import choice_findings
from ..describe.segments import first_bodies, in_bodies, links_of_bodies
from ..describe.supported import (
    ALL_TERMS,
    DEFAULT_FORMULATION,
    SUPPORT,
    check_structure,
)
from ..drawing import picture_of
from ..dynamics import engine
from ..dynamics.basis import BASES, ModelOptions, link_bodies
from ..dynamics.coordinates import with_independent_joints
from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..dynamics.formulations import FORMULATIONS, formulation_of
from ..dynamics.nodes import Poses, find_node, node_displacements, node_poses
from ..files.errors import shortened
from ..files.summary import Summarised, Summary, count
from ..once import once_for_each
from ..types import Float, is_traced, joined, real, with_fields
from .balance import balanced_point, coordinate_scales, of_independent
from .robot_matrices import RobotMatrices, equation_arrays
from .state import State, independent_of
from .static import (
    NodeWrench,
    Wrenches,
    descend,
    descend_held,
    energy,
    energy_model,
    equilibrium_free,
    equilibrium_held,
    equilibrium_next_to,
    is_uphill,
    kept_rest_at,
    slope,
    with_stops,
)

REFERENCES = (None, "tangent", "minimum-norm")  # or a mapping {"zeroed": [...]}
BALANCE = 1e-7  # residual force in an equilibrium, relative to the largest force in it
LEAST_STEP = 1 / 128  # of growing loads: what needs smaller ones has no path to follow
SIX_PARTS = "must be six numbers: a force [N] and a moment [N m] along world axes"
SINGULAR = (
    1e-9  # reciprocal condition of J_0 below which zeroed displacements define no ERLS
)


class EquilibriumError(RuntimeError):
    """No equilibrium was found."""

    def __init__(self, message: str, robot: Robot | None = None):
        super().__init__(message)
        self.robot = robot  # whose data may say why


class IndefiniteInertiaError(RuntimeError):
    """The inertia matrix has a negative eigenvalue: some motion would have a negative kinetic energy."""


class UndefinedReferenceError(ValueError):
    """The zeroed displacements do not define an equivalent rigid-link system."""


class Model(Summarised):
    """A robot in one formulation.

    Args:
        robot: a `Robot`, the name of a library robot, the path of a robot file, or the data of one.
        formulation: `nonlinear` (finite elastic rotations), `erls-fem`, `erls-cms` or `dual-screw`.
        modes: kept elastic modes per link: a number, `all`, a `Reduction` or a mapping as in a scenario, one for all
            links or a list; default 12, or all if there are fewer, 0 is rigid. A nodal basis keeps all.
        reference: what the joint coordinates mean: `tangent`, `minimum-norm` or `{"zeroed": [...]}`; default `tangent`,
            with `erls-cms` `minimum-norm`.
        terms: `consistent` (complete virtual work), `published` (as printed in the papers), or `published-planar` (as
            printed for planar mechanisms, displacements along world axes; `erls-fem`).
        basis: shapes of the links: `craig-bampton`, `assumed` modes or `nodal`; default per formulation: Craig-Bampton
            modes in `nonlinear` and `erls-cms`.
        stiffening: `none`, or `geometric`: axial loads stiffen or soften bent links.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model("double-pendulum")
        >>> state = model.static(q=[0.0, 0.5])
        >>> model.position(state, "lower/tip").shape
        (3,)
    """

    def __init__(
        self,
        robot: Any,
        formulation: str = DEFAULT_FORMULATION,
        modes: Any = None,
        reference: Any = None,
        terms: str = "consistent",
        basis: str | None = None,
        stiffening: str = "none",
    ):
        choices = ModelOptions(modes, reference, terms, basis, stiffening)
        check_choices(formulation, choices)
        self.robot = Robot.of(robot)
        check_structure(SUPPORT[formulation], self.robot)
        self.formulation_name = formulation
        self.choices = choices
        # The bodies in the coordinates of the formulation: shapes, stiffness, section forces.
        # A link is one body, or one for each of its segments.
        self.bodies: tuple[Body, ...] = link_bodies(self.robot, formulation, choices)
        self.formulation: AbstractFormulation = formulation_of(
            self.robot, formulation, choices, self.bodies
        )
        self.joint_names = self.robot.joint_names
        self.link_names = self.robot.link_names
        self.actuated_names = self.robot.actuated_names
        self.robot_in_bodies = in_bodies(self.robot)
        self.body_links = links_of_bodies(self.robot)
        self.first_bodies = first_bodies(self.robot)
        self.node_names = node_names(self.robot)
        self.node_index = tuple(self.find_node(name) for name in self.node_names)

    @classmethod
    def of_scenario(cls, scenario: Scenario) -> "Model":
        """The robot of a scenario in its formulation."""
        basis = scenario.basis or SUPPORT[scenario.formulation].default_basis
        # A file may be run in another formulation than its own: nodal displacements are all kept.
        modes = None if basis == "nodal" else scenario.modes
        return cls(
            scenario.robot,
            scenario.formulation,
            modes,
            scenario.reference,
            scenario.terms,
            scenario.basis,
            scenario.stiffening,
        )

    def replace(self, changes: Mapping[str, Any]) -> "Model":
        """The same model of a robot with other values at dotted paths, traced ones too: see `Robot.replace`."""
        robot = self.robot.replace(changes)
        return Model(robot, self.formulation_name, **self.choices._asdict())

    def with_formulation(self, formulation: AbstractFormulation) -> "Model":
        """The same model with other numbers in its formulation, such as one member of a `Family`."""
        model = copy.copy(self)
        model.formulation = formulation
        return model

    def plot(self, state: Any = None, path: Any = None) -> Any:
        """Figure of the robot in a state or a pose; `path` writes it too."""
        return picture_of(self, state=state, path=path)

    def summary(self) -> Summary:
        """Formulation, shapes and number of coordinates of each link."""
        f = self.formulation
        facts = (
            ("formulation", str(self.modelled)),
            ("coordinates", f"{f.size}: {f.n_joints} of joints, {f.n_elastic} elastic"),
            ("joints", ", ".join(self.joint_names)),
        )
        title = f"Model of {self.robot.name}: {count(f.size, 'coordinate')}"
        return Summary(title, facts, *self._table_of_links())

    def _table_of_links(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        columns = ("link", "nodes", "elastic coordinates")
        elastic = [0] * len(self.link_names)
        for link, body in zip(self.body_links, self.bodies, strict=True):
            elastic[link] += len(body.names)
        nodes = [name.rpartition("/")[0] for name in self.node_names]
        rows = [
            (link, str(nodes.count(link)), str(many))
            for link, many in zip(self.link_names, elastic, strict=True)
        ]
        return columns, tuple(rows)

    # --- names and sizes

    @property
    def modelled(self) -> Modelled:
        """Formulation, shapes of the links and kept modes, as chosen or by default."""
        choices = self.choices
        return modelled(self.formulation_name, choices.basis, choices.modes)

    @property
    def reference(self) -> Any:
        """Choice of the ERLS, which defines the joint coordinates."""
        return self.choices.reference

    @property
    def terms(self) -> str:
        """Terms of the equations of motion: `consistent`, `published` or `published-planar`."""
        return self.choices.terms

    @property
    def n_joints(self) -> int:
        """Number of moving joints: each has an encoder."""
        return self.formulation.n_encoders

    @property
    def actuated(self) -> tuple[int, ...]:
        """Numbers of the moving joints that a motor drives."""
        return self.formulation.joints.actuated

    @property
    def independent_names(self) -> tuple[str, ...]:
        """Joints that are coordinates: all that move, unless a closed chain ties some of them to the others."""
        return tuple(self.joint_names[j] for j in self.formulation.independent)

    @property
    def closed(self) -> bool:
        """True if the links close to rings, which tie joints to each other."""
        return bool(self.robot.loops)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Elastic coordinates: displacements of nodes from the frame of their link's inner node, or modes of links."""
        return self.formulation.elastic_names

    def find_node(self, name: str) -> tuple[int, int]:
        """Numbers of the body and of its node, of a name such as `upper/2` or `upper/tip`."""
        return find_node(self.robot, name)

    def node_rows(self, padded: Any) -> np.ndarray:
        """Rows in the order of `node_names`, from an array (body, node, ...) padded to the longest body."""
        body, node = np.array(self.node_index).T
        return np.asarray(padded)[body, node]

    def joint_vector(self, name: str, value: Any) -> Float[Array, " j"]:
        """One number for each joint, zeros for None; `name` is what an error message calls them.

        Of a closed chain the independent joints alone may be given: the others are zero.
        """
        j = self.n_joints
        if value is None:
            return real(np.zeros(j))
        value = _as_array(value, name)
        independent = self.formulation.independent
        if value.shape == (len(independent),) and len(independent) != j:
            if is_traced(value):
                return jnp.zeros(j).at[jnp.asarray(independent)].set(value)
            whole = np.zeros(j)
            whole[list(independent)] = value
            return real(whole)
        if value.shape != (j,):
            names = ", ".join(self.joint_names)
            raise ValueError(
                f"{name} must have {j} values, one for each joint ({names}), got shape {value.shape}"
            )
        if not is_traced(value) and not np.all(np.isfinite(np.asarray(value))):
            raise ValueError(f"{name}: {np.asarray(value).tolist()}: must be finite")
        return value

    # --- states

    def formulation_at(self, state: Any) -> AbstractFormulation:
        """The formulation on the assembly branch of a state (in its coordinates) or of joint coordinates."""
        f = self.formulation
        if not self.closed:
            return f
        if not isinstance(state, State):
            return on_branch_near(f, real(state))
        return on_branch_near(self._in_coordinates(state), state.q)

    def _in_coordinates(self, state: State) -> AbstractFormulation:
        """The formulation with the independent joints of a state."""
        if state.independent is None:
            return self.formulation
        return with_independent_joints(self.formulation, state.independent)

    def at(self, q: Any = None, qd: Any = None) -> State:
        """State with undeformed links; q and qd default to zero.

        Of a closed chain q has one value for each moving joint, those of dependent joints being a guess that it is
        closed near, or one for each independent joint (`independent_names`); by default it is the assembled pose.

        Raises:
            AssemblyError: the chain cannot be closed there.
        """
        f = self.formulation
        theta = self.assemble(q)
        theta_d = self.joint_vector("qd", qd)
        if self.closed:
            rates = of_independent(f, theta_d)
            return _undeformed_state(on_branch_near(f, theta), theta, rates)
        still = real(np.zeros(f.n_elastic))
        return State(theta, theta_d, still, still, theta, theta_d)

    def assemble(self, q: Any = None) -> Float[Array, " j"]:
        """Coordinates of all moving joints, those of a closed chain closed; see `at`.

        Raises:
            AssemblyError: the chain cannot be closed there.
        """
        mechanism = self.formulation.mechanism
        if q is None:
            return real(mechanism.home)
        value = _as_array(q)
        if self.closed and value.shape == (len(mechanism.independent),):
            return mechanism.assemble(self.robot, value)
        return mechanism.assemble(self.robot, self.joint_vector("q", value))

    def static(
        self,
        q: Any = None,
        torque: Any = None,
        *,
        free: bool = False,
        wrench: Mapping[str, Any] | None = None,
    ) -> State:
        """Elastic equilibrium under gravity with the encoders held at q; the state carries the holding torques.

        With `free` the joints move too, under the given torques (zero by default): downhill from q to a stable
        equilibrium. `wrench` has constant forces and moments (fx, fy, fz, mx, my, mz) along world axes by the names of
        the nodes that they act on; the state knows nothing of them: a run from it starts when they are let go.

        Raises:
            ValueError: wrenches on free joints, or numbers that do not fit.
            EquilibriumError: no equilibrium was found (checked for concrete numbers only, so that the result can be
            differentiated).
        """
        encoder = self.assemble(q)
        f = on_branch_near(self.formulation, encoder)
        self.check_reference(encoder)
        wrenches = self._wrenches(wrench)
        if free and wrenches:
            raise ValueError("wrench: acts on held joints: leave it out, or free")
        if free:
            state, left = self._static_free(f, encoder, torque)
        else:
            state, left = _held_equilibrium(f, encoder, wrenches)
        if not is_traced(left) and not float(left) < BALANCE:
            pose = np.asarray(encoder).tolist()
            raise EquilibriumError(
                f"no equilibrium found near q = {pose}: {_imbalance_in_words(float(left))}",
                self.robot,
            )
        return state

    def _wrenches(self, given: Mapping[str, Any] | None) -> tuple[NodeWrench, ...]:
        """Wrenches by the names of their nodes, as the search for an equilibrium takes them."""
        wrenches = []
        for name, value in (given or {}).items():
            link, node = self.find_node(name)
            parts = _as_array(value, f"wrench.{name}", SIX_PARTS)
            known = () if is_traced(parts) else np.asarray(parts)
            if parts.shape != (6,):
                raise ValueError(f"wrench.{name}: {shortened(value)}: {SIX_PARTS}")
            if not np.all(np.isfinite(known)):
                raise ValueError(f"wrench.{name}: {shortened(value)}: must be finite")
            wrenches.append(NodeWrench(link, node, parts))
        return tuple(wrenches)

    def _static_free(
        self, f: AbstractFormulation, encoder: Float[Array, " j"], torque: Any
    ) -> tuple[State, Float[Array, ""]]:
        tau = self.joint_vector("torque", torque)
        start = _unbent(f, encoder)
        if is_traced(start, tau):
            return _static_free(f, tau, start)
        start, f = _downhill(f, start, tau)
        return _static_next_to(f, tau, start)

    def check_reference(self, theta: Any) -> None:
        """Refuse zeroed displacements that define no ERLS at theta, by name, [Boscariol2012] eq. (6)."""
        if is_traced(theta) or self.n_joints == 0:
            return
        if not _solves_for_reference(self.formulation):
            return
        theta = real(theta)
        J_0 = _reference_matrix(self.formulation, theta)
        if 1.0 / np.linalg.cond(np.asarray(J_0)) > SINGULAR:
            return
        raise UndefinedReferenceError(self._undefined_reference(theta, np.asarray(J_0)))

    def _undefined_reference(self, theta: Any, J_0: np.ndarray) -> str:
        """Which zeroed displacements define no ERLS, and why."""
        still = [
            joint
            for joint, column in zip(self.joint_names, J_0.T, strict=False)
            if np.abs(column).max() < 1e-9
        ]
        if not isinstance(self.reference, Mapping):
            moved = f"that {', '.join(still)} moves " if still else ""
            return (
                f"reference: the links {moved}have no mass, and the smallest motion of their nodes defines no ERLS. "
                "Give them mass, or choose the reference tangent."
            )
        names = ", ".join(self.reference["zeroed"])
        reason = "their motions with the joints are dependent"
        if still:
            reason = f"they do not move with joint {', '.join(still)}"
        return (
            f"reference.zeroed: {names} do not define an ERLS at q = {np.asarray(theta).tolist()}: {reason}. "
            "Zero, for each joint, a displacement that this joint moves."
        )

    # --- matrices and places

    def mass_matrix(self, q: Any) -> Float[Array, "n n"]:
        """M over all coordinates (joints first) at joint coordinates q (links undeformed), or at a State."""
        return _inertia(*self._formulation_and_coordinates(q))

    def inverse_dynamics(
        self, q: Any, qd: Any = None, qdd: Any = None
    ) -> Float[Array, " j"]:
        """Joint torques for a motion of the joints, the links in quasi-static balance with it.

        The independent joints of a closed chain set the motion and take the torques.
        """
        q = self.assemble(q)
        qd = self.joint_vector("qd", qd)
        qdd = self.joint_vector("qdd", qdd)
        return _balanced_point(on_branch_near(self.formulation, q), q, qd, qdd).tau

    def fkine(self, q: Any, frame: str | None = None) -> Float[Array, "4 4"]:
        """Pose of a node (default: the last link's tip) in the world, at joint coordinates q or at a State."""
        i, k = self.find_node(frame or f"{self.link_names[-1]}/tip")
        return _node_pose(*self._formulation_and_coordinates(q), i, k)

    def jacobian(self, q: Any, frame: str | None = None) -> Float[Array, "6 n"]:
        """Velocity (linear, angular) of a node in world axes per unit rate of each coordinate, joints first."""
        i, k = self.find_node(frame or f"{self.link_names[-1]}/tip")
        return _node_jacobian(*self._formulation_and_coordinates(q), i, k)

    def matrices(self, q: Any = None, qd: Any = None) -> RobotMatrices:
        """M, Coriolis, K, damping, Jacobians and force vectors at joint coordinates q (links undeformed) or at a State.

        Args:
            q: joint coordinates, or a `State` such as `model.static(q)`, which then brings its own rates.
            qd: joint speeds; elastic ones are zero.

        Example:
            >>> import lissom as ls
            >>> model = ls.Model("double-pendulum", "erls-fem")
            >>> found = model.matrices([0.0, 0.5], qd=[1.0, 0.0])
            >>> found.M.shape, found.coordinates[:2]
            ((14, 14), ('upper', 'lower'))
        """
        if isinstance(q, State) and qd is not None:
            raise ValueError("a state has its own speeds: give q instead, or no qd")
        state = q if isinstance(q, State) else self.at(q, qd)
        found = equation_arrays(self.formulation_at(state), state.x, state.xd)
        arrays: dict[str, Any] = found
        if not is_traced(*found.values()):
            arrays = {name: np.asarray(part) for name, part in found.items()}
        body, node = np.array(self.node_index).T
        for name in ("J", "position"):
            arrays[name] = arrays[name][body, node]
        return RobotMatrices(
            **arrays,
            coordinates=(*self.independent_names, *self.coordinate_names),
            joints=tuple(self.joint_names),
            links=tuple(self.link_names),
            nodes=tuple(self.node_names),
            robot=self.robot.name,
            formulation=self.formulation_name,
        )

    def poses(self, state: State) -> Poses:
        """Positions, ERLS positions and small rotations of all nodes, padded (link, node, 3)."""
        return poses_at(self.formulation_at(state), state.x)

    def position(self, state: State, node: str) -> Float[Array, " 3"]:
        """World position of a node [m]."""
        i, k = self.find_node(node)
        return self.poses(state).position[i, k]

    def displacement(self, state: State, node: str) -> Float[Array, " 3"]:
        """Displacement of a node from where rigid links with the same encoder readings put it, world axes [m]."""
        i, k = self.find_node(node)
        rigid = self.at(self._rigid_joints(state))
        return self.poses(state).position[i, k] - self.poses(rigid).position[i, k]

    def _rigid_joints(self, state: State) -> Float[Array, " j"]:
        """Joint coordinates of rigid links whose independent joints read what the encoders of a state do."""
        if not self.closed:
            return state.encoder
        independent = jnp.asarray(state.independent or self.formulation.independent)
        return state.q.at[independent].set(state.encoder[independent])

    def _formulation_and_coordinates(
        self, q: Any
    ) -> tuple[AbstractFormulation, Float[Array, " n"]]:
        """The formulation and the coordinates at joint coordinates or at a state."""
        if isinstance(q, State):
            return self.formulation_at(q), q.x
        value = _as_array(q)
        if value.shape == (self.formulation.size,) and not self.closed:
            return self.formulation, value
        state = self.at(value)
        return self.formulation_at(state), state.x


def check_choices(formulation: str, choices: ModelOptions) -> None:
    """Refuse what a formulation does not offer, and names that there are not."""
    accepted = {
        "formulation": (formulation, tuple(FORMULATIONS)),
        "terms": (choices.terms, ALL_TERMS),
        "basis": (choices.basis, (None, *BASES)),
        "stiffening": (choices.stiffening, ("none", "geometric")),
    }
    for name, (value, known) in accepted.items():
        if value not in known:
            raise ValueError(f"{name} must be {_alternatives(known)}, got {value!r}")
    reference = choices.reference
    if not isinstance(reference, Mapping) and reference not in REFERENCES:
        raise ValueError(
            f"reference must be tangent, minimum-norm or {{'zeroed': [...]}}, got {reference!r}"
        )
    basis = choices.basis or SUPPORT[formulation].default_basis
    if basis == "nodal" and choices.modes not in (None, "all"):
        raise ValueError(
            f"modes: {choices.modes!r}: {formulation} has a nodal basis here, which keeps every displacement: "
            "leave modes out, or choose basis='craig-bampton' or the formulation erls-cms"
        )
    entries = {"formulation": formulation, **choices._asdict()}
    for finding in choice_findings(entries):
        field = ".".join(map(str, finding.loc))
        raise ValueError(f"{field}: {finding.message}")


def _alternatives(known: tuple[Any, ...]) -> str:
    """`'none' or 'geometric'` of two, `one of a, b, c` of more."""
    names = [name for name in known if name is not None]
    if len(names) == 2:
        return " or ".join(repr(name) for name in names)
    return f"one of {', '.join(names)}"


def _imbalance_in_words(left: float) -> str:
    """How far a point is from equilibrium, in words."""
    if left == np.inf:
        return f"links would bend by more than {MOST_TURN:g} rad"
    if np.isnan(left):
        return "the forces overflow"
    return f"{left:.1e} of the forces remains unbalanced"


def _as_array(
    value: Any, name: str = "q", accepted: str = "must be one number for each joint"
) -> Float[Array, " n"]:
    """Numbers as an array; entries of a list may be traced one by one."""
    try:
        if not isinstance(value, Sequence):
            return real(value)
        if is_traced(value):
            return jnp.stack([real(entry) for entry in value])
        return real(np.array([float(entry) for entry in value]))
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {shortened(value)}: {accepted}") from None


def _held_equilibrium(
    f: AbstractFormulation, encoder: Float[Array, " j"], wrenches: Wrenches
) -> tuple[State, Float[Array, ""]]:
    """The state at rest with held joints, and its residual force: by Newton's iteration from unbent links.

    Where it diverges, as it does with links that bend far, the loads grow step by step; of links that are too soft for
    that, minimising the energy finds an equilibrium.
    """
    start = _unbent(f, encoder)
    state, left = _static_held(f, encoder, start, wrenches)
    if is_traced(left) or float(left) < BALANCE:
        return state, left
    reached = _with_growing_loads(f, encoder, start, wrenches)
    if reached is not None:
        return reached
    if wrenches:
        # No energy belongs to a moment.
        return state, left
    lowest, f = _downhill_held(f, encoder, start)
    return _static_held(f, encoder, lowest, ())


def _with_growing_loads(
    f: AbstractFormulation,
    encoder: Float[Array, " j"],
    start: Float[Array, " n"],
    wrenches: Wrenches,
) -> tuple[State, Float[Array, ""]] | None:
    """The state at rest under weight and wrenches that grow from nothing, and its residual force; None if lost."""
    x, reached, step = start, 0.0, 0.5
    while step >= LEAST_STEP:
        share = reached + step
        lighter, part = _under_loads(f, wrenches, share)
        state, left = _static_held(lighter, encoder, x, part)
        if not float(left) < BALANCE:
            step *= 0.5
        elif share == 1.0:
            return state, left
        else:
            x, reached = state.x, share
            f = _on_branch_of(f, x)
    return None


def _under_loads(
    f: AbstractFormulation, wrenches: Wrenches, share: float
) -> tuple[AbstractFormulation, Wrenches]:
    """The robot under a part of its weight, and that part of its wrenches."""
    part = tuple(NodeWrench(w.link, w.node, share * w.value) for w in wrenches)
    return with_fields(f, gravity=share * f.gravity), part


def _downhill(
    f: AbstractFormulation, start: Float[Array, " n"], tau: Float[Array, " j"]
) -> tuple[Float[Array, " n"], AbstractFormulation]:
    """Coordinates near a stable equilibrium, and the formulation on the branch that led there."""
    here = f

    def slope_at(x):
        nonlocal here
        here = _on_branch_of(here, real(x))
        return _slope(here, real(x), tau)

    x = real(descend(slope_at, np.asarray(start), f.n_joints))
    return x, _on_branch_of(here, x)


def _downhill_held(
    f: AbstractFormulation, encoder: Float[Array, " j"], start: Float[Array, " n"]
) -> tuple[Float[Array, " n"], AbstractFormulation]:
    """Coordinates near a stable equilibrium with held joints, and the formulation on the branch that led there."""
    here = f

    def model_at(x):
        nonlocal here
        here = _on_branch_of(here, jnp.asarray(x))
        return _energy_model(here, jnp.asarray(x), encoder)

    def energy_at(x):
        return float(_energy(here, jnp.asarray(x)))

    scales = np.asarray(coordinate_scales(f))
    x = jnp.asarray(descend_held(model_at, energy_at, np.asarray(start), scales))
    return x, _on_branch_of(here, x)


def _unbent(f: AbstractFormulation, encoder: Float[Array, " j"]) -> Float[Array, " n"]:
    """Coordinates of unbent links at joint coordinates."""
    return joined(of_independent(f, encoder), np.zeros(f.n_elastic))


def _on_branch_of(f: AbstractFormulation, x: Float[Array, " n"]) -> AbstractFormulation:
    """The formulation on the branch that x leads to from where it is."""
    if f.n_joints == f.n_encoders:
        return f
    return on_branch_near(f, _joint_coordinates(f, x))


@compiled_quickly
def _joint_coordinates(f: AbstractFormulation, x):
    return f.mechanism.joint_coordinates(x)


@compiled_quickly
def _reference_matrix(f: AbstractFormulation, theta):
    return f.reference_matrix(theta)


@once_for_each
def _solves_for_reference(f: AbstractFormulation) -> bool:
    """Whether theta follows from displacements, a property of the formulation."""
    return _reference_matrix(f, real(f.mechanism.home)) is not None


@compiled_quickly
def _undeformed_state(f: AbstractFormulation, theta, rates_i) -> State:
    """Straight links: loops close as those of the rigid robot do, and the encoders read theta."""
    mechanism = f.mechanism.rigid
    theta_i = theta[jnp.asarray(f.independent)]
    q = mechanism.joint_coordinates(theta_i)
    qd = mechanism.joint_map(theta_i) @ rates_i
    still = jnp.zeros(f.n_elastic)
    return State(q, qd, still, still, q, qd, independent=independent_of(f))


_balanced_point = compiled_quickly(balanced_point)
_slope = compiled_quickly(slope)
_energy_model = compiled_quickly(energy_model)
_energy = compiled_quickly(energy)


@compiled_quickly
def _inertia(f: AbstractFormulation, x) -> Float[Array, "n n"]:
    return engine.inertia_at(f, x)


@compiled_quickly
def _static_held(f: AbstractFormulation, encoder, start, wrenches: Wrenches):
    x, tau = equilibrium_held(f, encoder, start, wrenches)
    state, left = _checked_equilibrium(f, x, tau, wrenches)
    if wrenches or not f.support.finite_rotations:
        return state, left
    return state, jnp.where(is_uphill(f, x, start), jnp.inf, left)


@compiled_quickly
def _static_free(f: AbstractFormulation, tau, start):
    x = equilibrium_free(f, tau, start)
    return _checked_equilibrium(f, x, tau, stopped=True)


@compiled_quickly
def _static_next_to(f: AbstractFormulation, tau, start):
    x = equilibrium_next_to(f, tau, start)
    return _checked_equilibrium(f, x, tau, stopped=True)


def _checked_equilibrium(
    f: AbstractFormulation, x, tau, wrenches: Wrenches = (), stopped: bool = False
):
    """The state at rest, and its residual force: infinite where links rotate too far."""
    rest = kept_rest_at(f, x, with_stops(f, x, tau) if stopped else tau, wrenches)
    left = rest.imbalance
    if f.support.finite_rotations:
        phi = node_displacements(f, rest.q)[..., 3:]
        turn = jnp.max(jnp.sum(phi**2, axis=-1))
        left = jnp.where(turn > MOST_TURN**2, jnp.inf, left)
    state = State(
        q=rest.theta,
        qd=jnp.zeros_like(rest.theta),
        elastic=x[f.n_joints :],
        elastic_d=jnp.zeros(f.n_elastic),
        encoder=rest.encoder,
        encoder_d=jnp.zeros_like(rest.encoder),
        torque=tau,
        independent=independent_of(f),
    )
    return state, left


@compiled_quickly
def poses_at(f: AbstractFormulation, x) -> Poses:
    """Nodes at the coordinates x."""
    return node_poses(f, f.configuration(x))


@compiled_quickly
def _node_pose(f: AbstractFormulation, x, i: int, k: int) -> Float[Array, "4 4"]:
    place = f.configuration(x)
    p = node_poses(f, place).position[i, k]
    phi = node_displacements(f, place.q)[i, k, 3:]
    R = place.R[i] @ exponential(phi)
    return jnp.block([[R, p[:, None]], [jnp.array([[0.0, 0.0, 0.0, 1.0]])]])


@compiled_quickly
def _node_jacobian(f: AbstractFormulation, x, i: int, k: int) -> Float[Array, "6 n"]:
    N = engine.rate_map(f, x)
    place = f.configuration(x)
    U = jnp.asarray(f.links.node_shape)[i, k]
    u = U @ place.q[i]
    # v = v_0 + w x (X + u) + udot, in the axes of the link.
    arm = jnp.asarray(f.links.points)[i, k] + u[:3]
    turning = jnp.cross(N.V[i, 3:], arm[:, None], axis=0)
    linear = N.V[i, :3] + turning + U[:3] @ N.q[i]
    spin = left_jacobian(u[3:]) if f.support.finite_rotations else jnp.eye(3)
    angular = N.V[i, 3:] + spin @ U[3:] @ N.q[i]
    return jnp.concatenate([place.R[i] @ linear, place.R[i] @ angular])
