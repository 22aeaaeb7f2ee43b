"""One meaning of damping: Rayleigh's ratios in every formulation, nothing lost in a steady spin, never a gain.

That the energy audit closes with damping, in every formulation, is part of `tests/contracts/test_formulations.py`.
"""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from helpers import (
    CHOICES,
    compiled_once,
    motion_of,
    reference_named,
    robot_named,
)
from lissom import Model, Robot
from lissom.describe import library_names
from lissom.describe.supported import SUPPORT, structure_findings
from lissom.dynamics import engine

ALPHA, BETA = 1.3, 2.0e-4
# Damped in their own way, not by the same coefficients everywhere: one link alone, and ratios of the links' modes.
UNEVEN = ("slider-crank", "solid-arm")
QUICK = ("minimum-norm", "nonlinear")
SLOW = ("tangent", "zeroed", "stiffened", "stiffened-erls", "erls-cms", "dual-screw")
EVERY = pytest.mark.parametrize(
    "choice", [*QUICK, *(pytest.param(c, marks=pytest.mark.slow) for c in SLOW)]
)


@functools.cache
def uniform(name: str) -> Robot:
    """A robot with the same Rayleigh coefficients everywhere, no friction and no weight."""
    data = robot_named(name).to_dict()
    data["gravity"] = [0.0, 0.0, 0.0]
    data["damping"] = {"alpha": ALPHA, "beta": BETA}
    for link in data["links"]:
        link.pop("damping", None)
        link["joint"].pop("friction", None)
    return Robot.from_dict(data)


@functools.cache
def formulation(choice: str):
    """Rigid and bending links, lumped masses, a payload, every kind of joint: all mass is damped alike."""
    by_reference = {"formulation": "erls-fem", "reference": choice}
    options = CHOICES.get(choice, by_reference)
    if "reference" in options:
        zeroed = reference_named("mixed", options["reference"])
        options = options | {"reference": zeroed}
    return Model(uniform("mixed"), **options).formulation


@compiled_once
def damping_of(f, x, xd):
    """M, D, K, the encoders' map, and the power that damping takes."""
    motion = f.motion(x, xd, jnp.zeros_like(x))
    N = engine.rate_map(f, x)
    M = engine.inertia(f, motion.place, N)
    D, K = engine.structural_matrices(f, motion.place, xd, N)
    return M, D, K, N.encoder, engine.damping_power(f, motion)


def held(E):
    """Motions that no encoder sees."""
    _, _, Vt = np.linalg.svd(np.asarray(E))
    return Vt[len(E) :].T


@EVERY
def test_with_held_joints_damping_is_alpha_times_mass_and_beta_times_stiffness(choice):
    # Bent by a centimetre, at any speed: every mode then has zeta = alpha / (2 omega) + beta omega / 2.
    f = formulation(choice)
    x, xd, _ = motion_of(f, seed=1, bend=1e-2)
    M, D, K, E, _ = (np.asarray(part) for part in damping_of(f, x, xd))
    B = held(E)
    expected = B.T @ (ALPHA * M + BETA * K) @ B
    # Rounding, in units of the diagonal: rotations weigh much less than translations.
    size = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(
        B.T @ D @ B / np.outer(size, size),
        expected / np.outer(size, size),
        atol=1e-10,
    )
    np.testing.assert_allclose(D, D.T, atol=1e-10 * np.abs(D).max())


@EVERY
def test_damping_takes_energy_in_every_motion(choice):
    f = formulation(choice)
    for seed in range(5):
        x, xd, _ = motion_of(f, seed=seed, bend=0.02, speed=2.0)
        _, D, _, _, power = damping_of(f, x, xd)
        assert power > 0.0
        assert xd @ D @ xd == pytest.approx(float(power), rel=1e-9)


# Dual screws are the rates of the links' frames to first order only: they lose the fourth power of the deflection.
@pytest.mark.parametrize(
    ("choice", "lost"),
    [
        ("minimum-norm", 1e-24),
        ("nonlinear", 1e-24),
        pytest.param("tangent", 1e-24, marks=pytest.mark.slow),
        pytest.param("zeroed", 1e-24, marks=pytest.mark.slow),
        pytest.param("stiffened", 1e-24, marks=pytest.mark.slow),
        pytest.param("dual-screw", 1e-4, marks=pytest.mark.slow),
    ],
)
def test_a_steady_spin_with_constant_deflection_loses_nothing(choice, lost):
    f = formulation(choice)
    x, bending, _ = motion_of(f, seed=3, bend=1e-2)
    # The first joint turns all that it carries as one piece.
    spin = jnp.zeros_like(x).at[0].set(2.0)
    power = damping_of(f, x, spin)[-1]
    assert abs(power) < lost * damping_of(f, x, bending)[-1]


def choices_of(robot: Robot):
    """Every formulation and every choice of the ERLS that takes the robot, all modes kept."""
    yield {"formulation": "erls-fem", "reference": "tangent"}
    yield {"formulation": "erls-fem", "reference": "minimum-norm"}
    zeroed = inner_rotations(robot)
    if zeroed:
        yield {"formulation": "erls-fem", "reference": {"zeroed": zeroed}}
    yield {"formulation": "erls-cms", "modes": "all"}
    for name in ("nonlinear", "dual-screw"):
        if not structure_findings(SUPPORT[name], robot.outline):
            yield {"formulation": name, "basis": "nodal"}


def inner_rotations(robot: Robot) -> list[str]:
    """Rotations at the inner nodes of bending links, where they say what every joint's coordinate means."""
    rows = []
    for link in robot.links:
        joint = link.joint
        if joint.moves and (joint.type != "revolute" or link.rigid is not None):
            return []
        if joint.moves:
            # About the joint's own axis, by default z.
            axis = (0, 0, 1) if joint.axis is None else joint.axis
            rows.append(f"{link.name}/0.r{'xyz'[np.argmax(np.abs(axis))]}")
    return [] if robot.loops else rows


def held_modes(robot: Robot):
    """The lowest modes with held joints, by every choice."""
    for choice in choices_of(robot):
        model = Model(robot, **choice)
        q = None if model.closed else 0.3 + 0.4 * np.arange(model.n_joints)
        yield ls.modes(model, q, locked=True, count=6)


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_every_robot_of_the_library_has_rayleighs_ratios_in_every_formulation(name):
    for found in held_modes(uniform(name)):
        omega = 2 * np.pi * found.frequency_hz
        expected = ALPHA / (2 * omega) + BETA * omega / 2
        # Exact but for the rounding of eigenvectors; the frequencies themselves agree in other tests.
        np.testing.assert_allclose(found.damping_ratio, expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNEVEN)
def test_robots_with_damping_of_their_own_have_the_same_ratios_in_every_formulation(
    name,
):
    robot = robot_named(name).replace({"gravity": [0.0, 0.0, 0.0]})
    first, *others = [found.damping_ratio for found in held_modes(robot)]
    assert np.all(first > 0.0) and len(others) > 2
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-6)


@pytest.mark.slow
def test_the_double_pendulum_has_the_same_damping_ratios_under_gravity():
    found = []
    for choice in (
        {"formulation": "erls-fem"},
        {"formulation": "nonlinear", "basis": "nodal"},
    ):
        model = Model("double-pendulum", **choice)
        modes = ls.modes(model, [0.0, 0.5], locked=True, damped=True, count=2)
        found.append(modes.damping_ratio)
    # Weight shifts the frequencies a little, and the ratios with them.
    np.testing.assert_allclose(found[1], found[0], rtol=1e-3)
