"""The paper's dual screws on its 4-dof arm: lines, their rates, twists, projection matrices, eq. (149), eq. (112)."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import dual_arm as k
from arms import arm
from dual_groups import g2_inverse, g2_vee
from helpers import compiled_once, motion_of, relative
from lissom import Model
from lissom.bodies.assumed_modes import assumed_modes_body
from lissom.bodies.link_body import bodies_of
from lissom.dynamics import engine

LINKS = 4


@functools.cache
def case():
    f = Model(
        arm("arm-4"), formulation="dual-screw", modes=6, terms="published"
    ).formulation
    x, xd, _ = motion_of(f, seed=4, bend=0.02, speed=1.3)
    return (
        f,
        k.DualArm(f.mechanism.chain, f.equations.links.tip, f.equations.links.spread),
        x,
        xd,
    )


@compiled_once
def line_rates(arm, x, xd):
    """Rates of the lines of all joints and of the screws of all tips, seen from every frame further out, twice."""

    def lines(x):
        frames = k.arm_frames(arm, x)
        pairs = [(j, i) for i in range(LINKS) for j in range(i + 1)]
        seen = {
            (j, i): k.screw_transform(k.seen_from(frames.link[i], frames.link[j]))
            @ k.joint_line(arm, j)
            for j, i in pairs
        }
        screws = {
            (j, i): k.EXCHANGE
            @ (
                k.screw_transform(k.seen_from(frames.link[i], frames.tip[j]))
                @ k.elastic_screws(arm, j)
            )
            * np.repeat([0.0, 1.0, 0.0, 1.0], 3)[:, None]
            for j, i in pairs
            if j < i
        }
        return seen, screws

    (seen, screws), (seen_d, screws_d) = jax.jvp(lines, (x,), (xd,))
    operator = {
        pair: k.differentiation_operator(k.relative_twist(arm, x, xd, *pair))
        for pair in seen
    }
    return (
        [(operator[pair] @ seen[pair], seen_d[pair]) for pair in seen],
        [(operator[pair] @ screws[pair], screws_d[pair]) for pair in screws],
    )


def test_rates_of_dual_lines_and_screws_follow_the_differentiation_operator():
    # Eqs. (76)-(79) against automatic differentiation, every pair of frames.
    _, arm, x, xd = case()
    lines, screws = line_rates(arm, x, xd)
    assert len(lines) == 10 and len(screws) == 6
    for found, expected in lines:
        assert np.abs(found - expected).max() < 1e-10
    for found, expected in screws:
        assert np.abs(found - expected).max() < 1e-10


@compiled_once
def twists(arm, x, xd):
    """Jacobian form times speeds, and the right velocity of the dual pose, for every link frame."""
    frames, frames_d = jax.jvp(lambda x: k.arm_frames(arm, x).link, (x,), (xd,))
    moved = [
        g2_vee(g2_inverse(T) @ T_d) for T, T_d in zip(frames, frames_d, strict=True)
    ]
    return moved, [
        k.projection_matrix(arm, x, i, T, projecting=False) @ xd
        for i, T in enumerate(frames)
    ]


def test_the_jacobian_form_gives_the_dual_twist():
    # Eqs. (53), (91): T^-1 dT/dt = [P-hat u]^.
    _, arm, x, xd = case()
    for moved, projected in zip(*twists(arm, x, xd), strict=True):
        assert np.abs(moved - projected).max() < 1e-12 * (1 + np.abs(moved).max())


@compiled_once
def projections(f, arm, x):
    frames = k.arm_frames(arm, x).link
    return f.equations.projecting_form(f, x), [
        k.twists_of(k.projection_matrix(arm, x, i, T)) for i, T in enumerate(frames)
    ]


def test_both_derivations_give_the_same_projecting_form():
    f, arm, x, _ = case()
    stacked, framewise = projections(f, arm, x)
    for i, (real, dual) in enumerate(framewise):
        assert relative(stacked.real[i, :6], real) < 1e-12
        assert np.abs(stacked.dual[i, :6] - dual).max() < 1e-13


@compiled_once
def integrated(f, arm, bodies, x):
    """M = sum over rigid links and over the points of elastic ones of P-check^T D-hat P-check, eqs. (99), (112)."""
    j = f.n_joints
    M = jnp.zeros((len(x), len(x)))
    frames = k.arm_frames(arm, x).link
    for i, body in enumerate(bodies):
        eta = arm.spread[i] @ x[j:]
        shapes = jnp.asarray(body.station_shape)[:, :, 6:]

        def at_station(N, B, D, i=i, eta=eta):
            X, u = jnp.stack([B[1, 5], B[2, 3], B[0, 4]]), N @ eta
            here = frames[i] @ k.dual_transform(jnp.eye(3), u[3:], X, u[:3])
            own = k.real_screws(N @ arm.spread[i])
            own = own.at[9:].add(-jnp.cross(u[3:], own[6:9].T).T)
            real, dual = k.twists_of(k.projection_matrix(arm, x, i, here, own))
            return real.T @ D @ real + real.T @ D @ dual + dual.T @ D @ real

        M = M + jnp.sum(
            jax.vmap(at_station)(
                shapes,
                jnp.asarray(body.station_rigid),
                jnp.asarray(body.station_inertia),
            ),
            axis=0,
        )
    return M, engine.inertia_at(f, x)


def test_the_mass_matrix_is_the_integral_of_the_projecting_form():
    f, arm_, x, _ = case()
    robot = arm("arm-4")
    plain = bodies_of(robot)
    bodies = [assumed_modes_body(robot, i, plain, 6) for i in range(LINKS)]
    found, expected = integrated(f, arm_, [padded(body, f) for body in bodies], x)
    assert relative(found, expected) < 1e-12


def padded(body, f):
    """The body with as many elastic columns as the longest one."""
    missing = f.equations.links.tip.shape[-1] + 6 - body.coordinates
    return eqx.tree_at(
        lambda b: b.station_shape,
        body,
        np.pad(body.station_shape, ((0, 0), (0, 0), (0, missing))),
    )


def printed_velocity(x, xd, place, r, theta, kay):
    """Eqs. (147), (149) as printed: velocity of a point of link 3; pairs (value, rate) of displacements."""
    (q2, q3), (u1, u2, u3) = x[1:3], xd[:3]
    s2, c2, s3, c3 = np.sin(q2), np.cos(q2), np.sin(q3), np.cos(q3)
    (_, r2, r3), (_, r2d, r3d) = r
    (t1, t2, t3), (t1d, t2d, t3d) = theta
    (_, k2, k3), (_, k2d, k3d) = kay
    along = {
        "x1": (0.0, u1 * place * (-s3 * t1 + c3 * t2) - u1 * k3 - u1 * r3),
        "y1": (
            u1 * place * (c3 * s2 + s3 * c2),
            u1 * place * (c3 * c2 * t3 - s3 * t3 * s2) + u1 * k2 * (c3 * c2 - s3 * s2),
        ),
        "x2": (
            -u2 * place * s3,
            -u2 * place * c3 * t3 - u2 * k2 * c3 - t3d * place * s3 - u2 * r2,
        ),
        "y2": (
            u2 * place * c3 + u2 * 2.0,
            -u2 * place * t3 * s3 - u2 * k2 * s3 + t3d * place * c3 + r2d,
        ),
        "z2": (u1 * 2.0 * s2, u1 * r2 * c2 + r3d + t1d * place * s3 - t2d * place * c3),
        "x3": (0.0, -u3 * k2),
        "y3": (u3 * place, k2d),
        "z3": (0.0, k3d),
    }
    return along


@compiled_once
def point_velocity(arm, N, x, xd, place):
    """The same by dual screws, world axes, and the axes of all frames."""
    frames = k.arm_frames(arm, x).link
    j = 4
    u = N @ (arm.spread[2] @ x[j:])
    here = frames[2] @ k.dual_transform(
        jnp.eye(3), jnp.zeros(3), jnp.stack([place, 0.0, 0.0]), u[:3]
    )
    own = k.real_screws(N @ arm.spread[2])
    t = k.projection_matrix(arm, x, 2, here, own, projecting=False) @ xd
    return here[:6, :6] @ t[6:], [T[:6, :6] for T in frames]


def test_equation_149_at_random_states():
    _, arm_, x, xd = case()
    robot = arm("arm-4")
    body = assumed_modes_body(robot, 2, bodies_of(robot), 6)
    for station in (3, 9):
        N, place = body.station_shape[station][:, 6:], body.station_rigid[station][1, 5]
        eta, eta_d = (np.asarray(v[4:]) for v in (x, xd))
        tip = np.asarray(arm_.tip[1])
        r, theta = (
            [tip[rows] @ v[:6] for v in (eta, eta_d)]
            for rows in (slice(0, 3), slice(3, 6))
        )
        kay = [N[:3] @ v[6:] for v in (eta, eta_d)]
        found, axes = point_velocity(arm_, jnp.asarray(N), x, xd, jnp.asarray(place))
        expected = np.zeros(6)
        for name, (real, dual) in printed_velocity(
            np.asarray(x), np.asarray(xd), place, r, theta, kay
        ).items():
            X = np.asarray(axes[int(name[1]) - 1])
            unit = np.eye(3)["xyz".index(name[0])]
            expected += X @ np.concatenate([real * unit, dual * unit])
        assert np.abs(np.asarray(found) - expected).max() < 1e-12


def test_a_screw_transformation_turns_and_moves_the_point_of_reference():
    # Eqs. (60), (63), (66): R-bar U = U R-bar = Ad(T).
    _, arm, x, _ = case()
    frames = k.arm_frames(arm, x).link
    T = k.seen_from(frames[3], frames[1])
    both = k.reference_shift(T[:6, 6]) @ k.coordinate_change(T[:6, :6])
    assert np.abs(both - k.screw_transform(T)).max() < 1e-13
