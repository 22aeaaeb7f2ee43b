"""Linear models against central differences of the nonlinear equations, at rest and moving."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from helpers import compiled_once, reference_named, robot_named
from lissom.analyse.linear.linearize import operating_point
from lissom.dynamics.nodes import node_poses
from lissom.solve.inputs import Loads, NodeLoad, PolynomialPiece
from lissom.solve.problem import MotionProblem

POINTS = 20
STENCIL = (
    np.array([1.0, -8.0, 8.0, -1.0]) / 12
)  # fourth-order central difference at -2h, -h, h, 2h
OFFSETS = np.array([-2.0, -1.0, 1.0, 2.0])
TIPS = {"double-pendulum": "lower/tip", "mixed": "hand/tip", "crane": "hook/tip"}
CHOICES = {
    "erls-fem": {"formulation": "erls-fem"},
    "zeroed": {"formulation": "erls-fem", "reference": "zeroed"},
    "erls-cms": {"formulation": "erls-cms", "modes": 7},
    "nonlinear": {"formulation": "nonlinear", "basis": "assumed", "modes": 6},
    "dual-screw": {"formulation": "dual-screw", "modes": 6},
}


@functools.cache
def model_of(robot, choice):
    chosen = dict(CHOICES[choice])
    if chosen.get("reference") == "zeroed":
        chosen["reference"] = reference_named(robot, "zeroed")
    return ls.Model(robot_named(robot), **chosen)


def names_of(robot):
    """Inputs and outputs of these tests, in the order of `nonlinear`."""
    joints, tip = robot_named(robot).joint_names, TIPS[robot]
    inputs = [f"{joint}.torque" for joint in joints] + [
        f"{tip}.{c}" for c in ("fx", "fy", "fz", "mx", "my", "mz")
    ]
    outputs = [
        f"{joint}.{what}"
        for what in ("encoder", "speed", "acceleration")
        for joint in joints
    ]
    return inputs, outputs + [f"{tip}.{what}{axis}" for what in "pva" for axis in "xyz"]


@compiled_once
def nonlinear(f, state, u, tau):
    """Rates of the states and outputs for many (state, u): what the simulation integrates, and plain kinematics."""

    link, node = (
        f.links.points.shape[0] - 1,
        1,
    )  # the last link has one element: node 1 is its tip

    def one(s, u):
        n, j = f.size, f.n_joints
        x, xd = s[:n], s[n:]

        def at(value):
            return PolynomialPiece(jnp.zeros(()), value[None])

        problem = MotionProblem(
            f,
            Loads(
                torque=at(tau + u[:j]),
                wrenches=(NodeLoad(link, node, True, at(u[j:])),),
            ),
        )
        xdd = problem.acceleration(0.0, x, xd)

        def place(x):
            at = f.configuration(x)
            return jnp.concatenate([at.encoder, node_poses(f, at).position[link, node]])

        def speed(x, xd):
            return jax.jvp(place, (x,), (xd,))[1]

        e, ed, edd = place(x), speed(x, xd), jax.jvp(speed, (x, xd), (xd, xdd))[1]
        return jnp.concatenate(
            [xd, xdd, e[:j], ed[:j], edd[:j], e[j:], ed[j:], edd[j:]]
        )

    return jax.lax.map(lambda pair: one(*pair), (state, u), batch_size=16)


# Steps in elastic rates: modes of unit mass turn joints faster than nodes do, and friction is smooth over 0.4 rad/s.
RATES = {"erls-cms": 1e-4}


def differences(model, lin, point, rate):
    """A, B, C, D by differences, `rate` the step in elastic rates."""
    f, n, s, u = model.formulation, model.formulation.size, len(lin.A), lin.B.shape[1]
    j = model.n_joints
    step = np.concatenate(
        [
            np.full(j, 2e-3),
            np.full(n - j, 2e-6),
            np.full(j, 5e-3),
            np.full(n - j, rate),
            np.full(u, 1.0),
        ]
    )
    base = np.concatenate([point.x, point.xd, np.zeros(u)])
    at = base + (OFFSETS[:, None, None] * np.diag(step)[None]).reshape(-1, s + u)
    values = np.asarray(
        nonlinear(f, jnp.asarray(at[:, :s]), jnp.asarray(at[:, s:]), point.tau)
    )
    slope = np.einsum("o,okr->rk", STENCIL, values.reshape(4, s + u, -1)) / step
    return slope[:s, :s], slope[:s, s:], slope[s:, :s], slope[s:, s:]


def points_of(model, count, moving):
    """Random joint motions, slides within a link's length: farther out these soft robots bend beyond small angles."""
    random = np.random.default_rng(7 + moving)
    slides = [
        link.joint.type == "prismatic" for link in model.robot.links if link.joint.moves
    ]
    for _ in range(count):
        q, qd, qdd = random.uniform(-1.2, 1.2, (3, model.n_joints)) * np.where(
            slides, 0.25, 1.0
        )
        yield (q, 2.0 * qd, 5.0 * qdd) if moving else (q, None, None)


QUICK = [("double-pendulum", "erls-fem")]
SLOW = [pair for pair in itertools.product(TIPS, CHOICES) if pair not in QUICK]


@pytest.mark.parametrize(
    "robot,choice",
    [*QUICK, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in SLOW)],
)
def test_a_b_c_d_are_central_differences_of_the_nonlinear_equations(robot, choice):
    model = model_of(robot, choice)
    inputs, outputs = names_of(robot)
    for moving in (False, True):
        for q, qd, qdd in points_of(model, POINTS // 2, moving):
            lin = ls.linearize(model, q, qd=qd, qdd=qdd, inputs=inputs, outputs=outputs)
            point = operating_point(model, q, qd, qdd)
            exact, found = (
                (lin.A, lin.B, lin.C, lin.D),
                differences(model, lin, point, RATES.get(choice, 5e-3)),
            )
            for A, B in zip(exact, found, strict=True):
                error = np.abs(A - B) / (
                    np.abs(A).max(axis=0) + 1.0
                )  # a column of zeros has rounding only
                assert error.max() < 1e-6
