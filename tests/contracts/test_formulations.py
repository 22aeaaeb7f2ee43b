"""What every formulation promises the engine, and what the engine makes of it: one list of checks over all of them."""

import functools
import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import own_formulation  # noqa: F401 (registers itself: one more formulation to hold to the contract)
import pytest

from helpers import (
    ALL_CHOICES,
    ALL_REFERENCES,
    ALL_ROBOTS,
    CHOICES,
    EXACT_CHOICES,
    PUBLISHED_CHOICES,
    SCREW_CHOICES,
    bodies_of,
    compiled_once,
    conservative,
    model_named,
    motion_of,
    relative,
    weightless,
)
from lissom.dynamics import engine
from lissom.dynamics.engine import AbstractTerms, VirtualWork
from lissom.dynamics.formulation import AbstractEquations, AbstractFormulation, Rates
from lissom.dynamics.formulations import FORMULATIONS
from lissom.dynamics.nodes import node_poses, node_wrench
from lissom.dynamics.world_axes import WorldAxes

ROUND = 1e-11  # relative: sums of some hundred terms that cancel by one or two digits
FORCE = jnp.array([1.7, -0.9, 2.3])  # [N]
SOLVED = 1e-10  # the same behind the small solve of a minimum-norm or zeroed reference, condition up to 1e3


def differentiated(f, x, xd, xdd, force):
    """Rates, their derivatives and the pull-back of `force` by automatic differentiation of the coordinates alone."""
    j = f.n_joints
    rates, rates_d = jax.jvp(f.differentiated_rates, (x, xd), (xd, xdd))

    def slow(v):
        return v.at[:j].set(0.0)

    def virtual(dx):
        whole = f.differentiated_rates(x, dx)
        if not f.published:
            return whole
        elastic = f.differentiated_rates(x, slow(dx))
        return Rates(whole.V, elastic.q, dx[:j] + elastic.encoder)

    if f.published:
        _, frozen = jax.jvp(f.differentiated_rates, (x, xd), (xd, slow(xdd)))
        rates_d = Rates(rates_d.V, frozen.q, xdd[:j] + frozen.encoder)
    return rates, rates_d, jax.vjp(virtual, xd)[1](force)[0]


@compiled_once
def motions(f, x, xd, xdd, force):
    """Motion as the formulation gives it, and as differentiation does."""
    motion = f.motion(x, xd, xdd)
    return (
        (motion.rates, motion.rates_d, motion.pull_back(force)),
        differentiated(f, x, xd, xdd, force),
        f.virtual(x, xd),
        engine.power_of_forces(f, motion, force),
    )


@compiled_once
def energetics(f, x, xd, xdd):
    """Everything that virtual work and energy say about one motion; each derivative is written once and batched."""
    n, still = len(x), jnp.zeros_like(x)

    def potential(x):
        return engine.strain_energy(f, f.configuration(x)) + engine.gravity_energy(
            f, f.configuration(x)
        )

    def kinetic(x, xd):
        return engine.kinetic_energy(f, f.motion(x, xd, xdd))

    gradients = jax.grad(kinetic, argnums=(0, 1))
    slope, momentum = gradients(x, xd)
    changes = (
        jnp.concatenate([xd[None], jnp.zeros((n, n))]),
        jnp.concatenate([still[None], jnp.eye(n)]),
    )
    change = jax.vmap(lambda dx, dxd: jax.jvp(gradients, (x, xd), (dx, dxd))[1][1])(
        *changes
    )
    pull = jax.grad(potential)(x)
    motions = (jnp.stack([xd, xd, still]), jnp.stack([xdd, still, still]))
    needed, bias, at_rest = jax.vmap(
        lambda xd, xdd: engine.needed_force(f, f.motion(x, xd, xdd))
    )(*motions)
    node = (f.links.points.shape[0] - 1, 1)
    motion = f.motion(x, xd, xdd)

    def position(x):
        return node_poses(f, f.configuration(x)).position[node]

    load = node_wrench(
        f, f.configuration(x), *node, jnp.append(FORCE, jnp.zeros(3)), True
    )
    return {
        "wrench": motion.pull_back(load),
        "wrench_from_work": jax.grad(lambda x: position(x) @ FORCE)(x),
        "torque_map": engine.torque_map(f, motion),
        "encoder_slope": jax.jacfwd(lambda x: f.configuration(x).encoder)(x),
        "gravity": engine.gravity_energy(f, f.configuration(x)),
        "place": f.configuration(x),
        "inertia": engine.inertia_at(f, x),
        "hessian": change[1:],
        "bias": bias,
        "bias_from_energy": change[0] - slope + pull,
        "needed": needed,
        "resting": engine.resting_force(f, engine.at_rest(f, x), jnp.zeros(f.n_joints)),
        "bias_at_rest": at_rest,
        "kinetic": kinetic(x, xd),
        "power": slope @ xd + momentum @ xdd + pull @ xd,
        "dissipated": engine.damping_power(f, motion),
        "rates": f.rates(x, xd),
    }


@functools.cache
def motion_case(robot, reference, terms):
    f = model_named(robot, reference, terms).formulation
    x, xd, xdd = motion_of(f, seed=11)
    random = np.random.default_rng(2)
    shapes = f.links.node_shape.shape

    def draw(*shape):
        return jnp.asarray(random.normal(size=shape))

    force = Rates(draw(shapes[0], 6), draw(shapes[0], shapes[3]), draw(f.n_joints))
    return force, *motions(f, x, xd, xdd, force)


@functools.cache
def energy_case(robot, reference, damped):
    f = model_named(robot, reference).formulation
    f = f if damped else conservative(f)
    return balance_case(f)


@functools.cache
def balanced_case(robot, reference, damped):
    """The energy of a motion whose weight, if it is of first order only, is taken away."""
    if reference not in SCREW_CHOICES:
        return energy_case(robot, reference, damped)
    f = weightless(model_named(robot, reference).formulation)
    return balance_case(f if damped else conservative(f))


def balance_case(f):
    """A motion, and what virtual work and energy say about it."""
    x, xd, xdd = motion_of(f, seed=7)
    return xd, xdd, energetics(f, x, xd, xdd)


@functools.cache
def inertia_without_motors(robot, reference):
    f = model_named(robot, reference).formulation
    f = eqx.tree_at(lambda f: f.joints.motor_inertia, f, 0.0 * f.joints.motor_inertia)
    return energetics(f, *motion_of(f, seed=7))["inertia"]


CONSISTENT = (*ALL_CHOICES, *PUBLISHED_CHOICES, "stiffened-erls")
MOTIONS = [(choice, "consistent") for choice in CONSISTENT]
MOTIONS += [(choice, "published") for choice in ALL_REFERENCES]
# Compiling is what these tests cost. The quick suite has one robot, and of choices that share their code one: zeroed
# displacements stand for every general ERLS, `nonlinear` for the formulation of the recipe.
LONG = [("mixed", choice) for choice in CONSISTENT]
LONG += [("crane", "minimum-norm"), ("crane", "own")]
# Terms as printed are held to the papers' own matrices elsewhere.
LONG += [("crane", choice) for choice in PUBLISHED_CHOICES]


def cases(names, choices):
    """Every robot with every choice, those that compile long marked slow."""
    rows = [(robot, *choice) for robot in ALL_ROBOTS for choice in choices]
    marks = [[pytest.mark.slow] if row[:2] in LONG else [] for row in rows]
    return pytest.mark.parametrize(
        names, [pytest.param(*row, marks=m) for row, m in zip(rows, marks, strict=True)]
    )


all_motions = cases("robot, reference, terms", MOTIONS)
exact_choices = cases("robot, reference", [(choice,) for choice in EXACT_CHOICES])
all_choices = cases("robot, reference", [(choice,) for choice in ALL_CHOICES])
choices_and_published = cases(
    "robot, reference", [(choice,) for choice in (*ALL_CHOICES, *PUBLISHED_CHOICES)]
)


def final_classes(contract):
    """Every class that can be made under a contract."""
    found = set()
    for child in contract.__subclasses__():
        found |= final_classes(child)
        if not inspect.isabstract(child):
            found.add(child)
    return found


def test_every_formulation_and_every_kind_of_its_parts_is_in_these_lists():
    listed = {
        CHOICES.get(choice, {}).get("formulation", "erls-fem") for choice, _ in MOTIONS
    }
    assert listed == set(FORMULATIONS)
    found = [model_named("crane", *motion).formulation for motion in MOTIONS]
    equations = [f.equations for f in found]
    # Planar robots alone have world axes: tests/dynamics/test_palomba.py holds these to the printed matrices.
    kinds = {type(f) for f in found} | {WorldAxes}
    assert kinds == final_classes(AbstractFormulation)
    assert {type(part) for part in equations} == final_classes(AbstractEquations)
    terms = {type(part.terms) for part in equations if isinstance(part, VirtualWork)}
    assert terms == final_classes(AbstractTerms)


@all_motions
def test_the_geometric_rule_agrees_with_differentiation(robot, reference, terms):
    _, given, expected, *_ = motion_case(robot, reference, terms)
    for part, other in zip(
        jax.tree.leaves(given), jax.tree.leaves(expected), strict=True
    ):
        assert relative(part, other) < SOLVED


@all_motions
def test_pull_back_is_the_transpose_of_the_virtual_displacements(
    robot, reference, terms
):
    force, (_, _, pulled), _, virtual, power = motion_case(robot, reference, terms)
    xd = motion_of(model_named(robot, reference, terms).formulation, seed=11)[1]
    work = sum(
        np.sum(np.asarray(a) * np.asarray(b))
        for a, b in zip(*map(jax.tree.leaves, (force, virtual)), strict=True)
    )
    rounding = SOLVED * np.abs(np.asarray(pulled) * np.asarray(xd)).sum()
    assert abs(pulled @ xd - work) < rounding
    # Power is that work, whether it is taken at the links or in the coordinates.
    assert abs(power - work) < rounding


@exact_choices
def test_bias_matches_the_energy_oracle(robot, reference):
    *_, e = energy_case(robot, reference, False)
    assert relative(e["bias"], e["bias_from_energy"]) < SOLVED


@choices_and_published
def test_inertia_is_the_hessian_of_the_kinetic_energy_and_positive_definite(
    robot, reference
):
    *_, e = energy_case(robot, reference, False)
    M = np.asarray(e["inertia"])
    assert relative(M, e["hessian"]) < SOLVED
    assert relative(M, M.T) < ROUND
    scale = 1 / np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(scale[:, None] * M * scale).min() > 1e-6


@choices_and_published
def test_needed_force_is_inertia_times_acceleration_plus_bias(robot, reference):
    _, xdd, e = energy_case(robot, reference, True)
    assert relative(e["needed"], e["inertia"] @ xdd + e["bias"]) < SOLVED


@all_choices
def test_power_put_in_is_the_rate_of_energy_plus_dissipation(robot, reference):
    xd, _, e = balanced_case(robot, reference, True)
    power = e["power"] + e["dissipated"]
    assert e["dissipated"] > 0
    assert (
        abs(xd @ e["needed"] - power)
        < SOLVED * np.abs(np.asarray(xd) * np.asarray(e["needed"])).sum()
    )


@choices_and_published
def test_a_robot_at_rest_needs_its_weight_and_strain_alone(robot, reference):
    *_, e = energy_case(robot, reference, True)
    assert relative(e["resting"], e["bias_at_rest"]) < SOLVED


@choices_and_published
def test_torques_work_on_what_the_encoders_read(robot, reference):
    # Virtual work tau . d(encoder): exact in every choice of the ERLS.
    *_, e = energy_case(robot, reference, True)
    assert relative(e["torque_map"], e["encoder_slope"]) < SOLVED


@choices_and_published
def test_a_motor_adds_ratio_squared_inertia_to_the_encoder_rate(robot, reference):
    *_, e = energy_case(robot, reference, True)
    motors = [
        link.joint.motor for link in model_named(robot).robot.links if link.joint.moves
    ]
    added = np.diag(
        [0.0 if motor is None else motor.ratio**2 * motor.inertia for motor in motors]
    )
    E = np.asarray(e["encoder_slope"])
    assert (
        relative(
            np.asarray(e["inertia"])
            - np.asarray(inertia_without_motors(robot, reference)),
            E.T @ added @ E,
        )
        < SOLVED
    )


@exact_choices
def test_a_force_on_a_node_works_along_its_path(robot, reference):
    *_, e = energy_case(robot, reference, True)
    assert relative(e["wrench"], e["wrench_from_work"]) < SOLVED


@all_choices
def test_kinetic_and_gravity_energy_are_those_of_the_displaced_masses(robot, reference):
    # v = v_0 + w x (X + u) + udot at every inertia station of every link, summed by hand; motors beside it. Weight
    # acts there too.
    *_, e = energy_case(robot, reference, True)
    model = model_named(robot, reference)
    rates, place, total, weight = e["rates"], e["place"], 0.0, 0.0
    for i, body in enumerate(bodies_of(model)):
        V, c = np.asarray(rates.V[i]), body.coordinates
        u = np.einsum("sdc,c->sd", body.station_shape, np.asarray(place.q)[i, :c])
        field = body.station_rigid @ V + np.einsum(
            "sdc,c->sd", body.station_shape, np.asarray(rates.q)[i, :c]
        )
        field = field + np.concatenate(
            [np.cross(V[3:], u[:, :3]), np.cross(V[3:], u[:, 3:])], axis=1
        )
        total += 0.5 * np.einsum("sd,sde,se->", field, body.station_inertia, field)
        X = np.stack(
            [
                body.station_rigid[:, 1, 5],
                body.station_rigid[:, 2, 3],
                body.station_rigid[:, 0, 4],
            ],
            axis=1,
        )
        at = np.asarray(place.p)[i] + (X + u[:, :3]) @ np.asarray(place.R)[i].T
        weight -= body.station_inertia[:, 0, 0] @ at @ np.asarray(model.robot.gravity)
    joints = model.formulation.joints
    total += 0.5 * joints.motor_inertia @ np.asarray(rates.encoder) ** 2
    assert e["kinetic"] == pytest.approx(total, rel=ROUND)
    assert e["gravity"] == pytest.approx(weight, rel=ROUND)
