"""The physics audit: what must hold for any robot. Each audit gives its measured errors with their limits."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import lissom as ls
from helpers import compiled_once, conservative, relative, rigid_robot, weightless
from lissom.analyse.linear.linearize import operating_point
from lissom.dynamics.formulations import formulation_of
from lissom.solve.inputs import Loads, PolynomialPiece
from lissom.solve.problem import MotionProblem
from motion_checks import checks, motion_near, node_places, partings_of_orders
from pinocchio_robot import worst_differences
from random_robots import in_another_order

from .structures import Structure

FINITE = {"formulation": "nonlinear", "basis": "nodal"}
FIRST_ORDER = {"formulation": "erls-fem"}
ROUNDING = 1e-8  # relative, behind the small solve of a loop whose condition is up to some thousands
# Fourth-order central differences at -2h, -h, h, 2h.
STENCIL = np.array([1.0, -8.0, 8.0, -1.0]) / 12
OFFSETS = np.array([-2.0, -1.0, 1.0, 2.0])


class Measured(NamedTuple):
    """An error, and the largest that is right."""

    name: str
    error: float
    limit: float

    @property
    def is_right(self) -> bool:
        """True if it is; what is not a number is wrong."""
        return bool(self.error <= self.limit)


Findings = Iterator[Measured]


def motion_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """Energy balance, rates against their derivatives, forward against inverse dynamics; finite rotations."""
    yield from of_motion(ls.Model(robot, **FINITE), seed)


def first_order_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """The same on links of first order, stiffened by their loads where they can be."""
    choices = (
        FIRST_ORDER
        if structure.has_mesh
        else {**FIRST_ORDER, "stiffening": "geometric"}
    )
    yield from of_motion(ls.Model(robot, **choices), seed)


def zeroed_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """The same where zeroed displacements define the joint coordinates."""
    reference = {"zeroed": list(structure.zeroed)}
    yield from of_motion(ls.Model(robot, **FIRST_ORDER, reference=reference), seed)


def screw_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """The same with dual screws, on which weight works to first order only."""
    model = ls.Model(robot, formulation="dual-screw", basis="nodal")
    yield from of_motion(model, seed, weightless)


ORDERS = (
    {"formulation": "nonlinear", "basis": "assumed", "modes": 3},
    {"formulation": "erls-cms", "modes": 4},
    {"formulation": "dual-screw", "modes": 3, "terms": "published"},
)


def order_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """A tree is the same robot in whatever order a file lists its links; a chain has one order alone."""
    # One other order of each structure: compiled code is that of an order.
    other = in_another_order(robot, 1)
    if other.link_names == robot.link_names:
        return
    choices = ORDERS[seed % len(ORDERS)]
    models = (ls.Model(one, **choices) for one in (robot, other))
    inertia, force = partings_of_orders(*models, seed)
    yield Measured("inertia in another order of links", float(inertia), ROUNDING)
    yield Measured("force in another order of links", float(force), ROUNDING)


def of_motion(model: ls.Model, seed: int, change: Callable = lambda f: f) -> Findings:
    """What `checks` finds, as errors."""
    f, x, xd, xdd = motion_near(model, seed)
    found = checks(change(f), x, xd, xdd)
    given = jax.tree.leaves(found["given"])
    expected = jax.tree.leaves(found["differentiated"])
    rates = max(relative(a, b) for a, b in zip(given, expected, strict=True))
    yield Measured("rates", rates, ROUNDING)
    unbalanced = abs(found["work"] - found["power"]) / found["size"]
    yield Measured("power against energy", float(unbalanced), ROUNDING)
    forward = relative(found["acceleration"], xdd)
    yield Measured("forward dynamics", forward, max(1e-6, float(found["rounding"])))


def pinocchio_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """Links made rigid: inertia, forces and weight of Pinocchio."""
    rigid = rigid_robot(robot)
    f = conservative(formulation_of(rigid, "erls-fem"))
    for name, error in worst_differences(f, rigid, seed, poses=2).items():
        yield Measured(f"{name} of Pinocchio", float(error), 1e-9)


def formulation_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """Finite and first-order links part by the square of their load: a quarter at half the weight."""
    for share in (1.0, 0.3, 0.1, 0.03, 0.01):
        apart = _parting(robot, share)
        # Where links part by more, the third power shows as well.
        if apart < 1e-5:
            break
    # Balance is found to 1e-7 of the forces: what parts by less is the same.
    if apart > 1e-8:
        ratio = apart / _parting(robot, share / 2)
        yield Measured("order of the parting", abs(ratio - 4.0), 0.6)


def _parting(robot: ls.Robot, share: float) -> float:
    """Largest distance between the nodes of finite and of first-order links under a share of the weight."""
    first = {"formulation": "erls-cms", "modes": 60, "reference": "tangent"}
    light = robot.replace({"gravity": [share * part for part in robot.gravity]})
    places = []
    for choices in (FINITE, first):
        model = ls.Model(light, **choices)
        places.append(node_places(model, model.static(q=model.at().q)))
    return float(np.abs(places[0] - places[1]).max())


@compiled_once
def accelerations(f, states, tau):
    """Of many (x, xd) under the same torques."""
    torque = PolynomialPiece(jnp.zeros(()), tau[None])
    problem = MotionProblem(f, Loads(torque=torque))

    def one(state):
        x, xd = jnp.split(state, 2)
        return problem.acceleration(0.0, x, xd)

    return jax.lax.map(one, states)


def linear_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """Rows of A against differences of the accelerations, along joints, elastic coordinates and their rates."""
    model = ls.Model(robot, "nonlinear", basis="assumed", modes=2)
    random = np.random.default_rng(seed)
    q = 0.3 * random.uniform(-1.0, 1.0, model.n_joints)
    small = ls.linearize(model, q, outputs=[])
    point = operating_point(model, q)
    n, j = model.formulation.size, model.n_joints
    elastic = 1e-3 * np.abs(np.asarray(point.x[j:])).max(initial=1e-4)
    steps = {"joints": 2e-3, "elastic": elastic, "speeds": 5e-3, "elastic rates": 1e-2}
    parts = (slice(0, j), slice(j, n), slice(n, n + j), slice(n + j, 2 * n))
    base = np.concatenate([point.x, point.xd])
    for (name, step), part in zip(steps.items(), parts, strict=True):
        if part.start == part.stop:
            continue
        along = np.zeros(2 * n)
        along[part] = step * random.uniform(-1.0, 1.0, part.stop - part.start)
        at = jnp.asarray(base + OFFSETS[:, None] * along)
        slope = STENCIL @ np.asarray(accelerations(model.formulation, at, point.tau))
        expected = small.A[n:] @ along
        size = np.abs(expected).max() + 1e-9
        yield Measured(
            f"A along {name}", float(np.abs(slope - expected).max() / size), 1e-5
        )


def energy_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """A free run keeps its energy, but for what damping and friction take."""
    model = ls.Model(robot, "nonlinear", modes=3, basis="assumed")
    found = lost_energy(model, rtol=1e-9)
    # What steps lose falls with the tolerance, as of robots that hardly move; a term that is wrong does not.
    yield found if found.is_right else lost_energy(model, rtol=1e-11)


def lost_energy(model: ls.Model, rtol: float) -> Measured:
    """What a run at this tolerance cannot account for."""
    solver = {"rtol": rtol, "atol": 1e-2 * rtol}
    run = ls.simulate(model, model.at(), solver=solver, t_end=0.02, output_dt=0.002)
    # Against the largest energy that changes hands: what falls may go into bending more than into motion.
    energies = [run.energy(kind) for kind in ("kinetic", "strain", "gravity")]
    scale = max(np.ptp(energy) for energy in energies)
    left = np.abs(run.energy("residual")).max()
    return Measured("energy of a run", float(left / scale), 1e-6)


class NamesOfModel(eqx.Module):
    """A model as a key of compiled code: its names and choices, which robots of one structure share."""

    model: ls.Model = eqx.field(static=True)

    def __hash__(self) -> int:
        return hash(self.model.link_names)

    def __eq__(self, other) -> bool:
        alike = isinstance(other, NamesOfModel)
        return alike and self.model.link_names == other.model.link_names


@eqx.filter_jit
def slope_and_values(names, f, start, along, h):
    """Derivative of the end of a run with respect to its start and its weight, and the ends at four distances."""

    def end(p):
        gravity = (1.0 + p) * f.gravity
        heavy = eqx.tree_at(lambda f: f.gravity, f, gravity)
        model = names.model.with_formulation(heavy)
        solver = {"rtol": 1e-10, "atol": 1e-12}
        state = model.at(start + p * along)
        run = ls.rollout(model, state, t_end=0.01, output_dt=0.01, solver=solver)
        return run.x[-1]

    _, slope = jax.jvp(end, (jnp.zeros(()),), (jnp.ones(()),))
    return slope, jax.lax.map(end, h * OFFSETS)


def derivative_audit(structure: Structure, robot: ls.Robot, seed: int) -> Findings:
    """The derivative of a run with respect to its start and to the weight, against central differences."""
    model = ls.Model(robot, "nonlinear", basis="assumed", modes=2)
    random = np.random.default_rng(seed)
    start, along = jnp.asarray(random.uniform(0.2, 1.0, (2, model.n_joints)))
    h = 1e-3
    slope, values = slope_and_values(
        NamesOfModel(model), model.formulation, start, along, h
    )
    difference = STENCIL @ np.asarray(values) / h
    yield Measured("derivative of a run", relative(slope, difference), 1e-5)


class Audit(NamedTuple):
    """An audit, and the structures that it is for."""

    measure: Callable[[Structure, ls.Robot, int], Findings]
    suits: Callable[[Structure], bool] = lambda structure: True
    robots: int = 10  # numbers of one structure in one case


# The cheap ones for all structures first.
AUDITS = {
    "motion": Audit(motion_audit),
    "Pinocchio": Audit(pinocchio_audit, lambda s: not s.closed and not s.has_mesh),
    "zeroed reference": Audit(zeroed_audit, lambda s: bool(s.zeroed)),
    "derivatives in time": Audit(derivative_audit, lambda s: s.is_small, 4),
    "energy of runs": Audit(energy_audit, lambda s: s.is_small or s.closed, 4),
    "linear models": Audit(linear_audit, lambda s: not s.closed and not s.has_mesh, 6),
    "first order": Audit(first_order_audit),
    "formulations": Audit(formulation_audit, lambda s: not s.has_mesh, 4),
    "order of links": Audit(order_audit, lambda s: not s.closed, 4),
    "screws": Audit(screw_audit, lambda s: not s.closed and not s.has_mesh),
}
