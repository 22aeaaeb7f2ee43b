"""Motion of links that sit on the deformed tips of the links before them, finite elastic rotations included.

The point of link p that carries link i is displaced by u and turned by exp(phi x), phi the elastic rotation of the node
there; the joint's own motion follows. With b = (udot, J(phi) phidot) the motion of that point in the axes of link p, J
the left Jacobian of the rotation group, the body twist of link i is

    V_i = A_i V_p + B_i b_i + s_i theta_d_i

where A_i carries a twist from the frame of link p and B_i one from the point. A relative motion W changes a carried
twist at the rate -ad(W), which gives the accelerations; nothing is linearised. Where chains are closed, the dependent
joints keep the twists of the frames that meet equal, and so the rates of these twists.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.se3 import bracket
from ..algebra.so3 import Series, cross, left_jacobian, series_of
from ..types import Float
from .chain import Chain, relative_poses
from .mechanism import AbstractJointDependence, AbstractMechanism
from .recursion import Recursion, carry, transfer_matrices, transpose_carry


class Tips(eqx.Module):
    """Displacement (u, phi) of the point that carries each link, in its parent's axes, with its time derivatives."""

    value: Float[Array, "l 6"]
    rate: Float[Array, "l 6"]
    acceleration: Float[Array, "l 6"]


class Seats(eqx.Module):
    """Where every link sits on its parent: pose in the parent's frame, and what carries twists to it."""

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]
    twists: Recursion  # from the parent's frame to the link's, matrices A
    B: Float[Array, "l 6 6"]  # the same from the point that carries the link
    turn: Float[Array, "l 3 3"]  # left Jacobian J(phi) of that point
    series: Series  # of its rotation phi


@eqx.filter_jit  # of every finite motion, in many places: traced once
def seats_on_tips(
    chain: Chain, theta: Float[Array, " k"], displaced: Float[Array, "l 6"]
) -> Seats:
    """Pose of every link on the displaced point that carries it."""
    phi = displaced[:, 3:]
    series = series_of(phi)
    relative = relative_poses(chain, theta, displaced, series)
    A = transfer_matrices(relative.R, relative.p)
    return Seats(
        R=relative.R,
        p=relative.p,
        twists=Recursion(A, chain.parents),
        B=transfer_matrices(relative.R, relative.arm),
        turn=left_jacobian(phi, series),
        series=series,
    )


def tip_twist(
    seats: Seats, tips: Tips
) -> tuple[Float[Array, "l 6"], Float[Array, "l 6"]]:
    """Motion b = (udot, J(phi) phidot) of the points that carry the links, in their parents' axes, and its rate."""
    value, d, dd = tips.value, tips.rate, tips.acceleration
    phi, phi_d = value[:, 3:], d[:, 3:]
    s_d = 2.0 * jnp.sum(phi * phi_d, axis=1)[:, None]
    _, half, sixth, half_s, sixth_s = (part[:, None] for part in seats.series)
    once = cross(phi, phi_d)
    twice = cross(phi, once)
    w = phi_d + half * once + sixth * twice
    # Jdot phidot: the series change with s = |phi|^2, and phi turns in the second product.
    J_d = s_d * (half_s * once + sixth_s * twice) + sixth * cross(phi_d, once)
    w_d = jnp.einsum("lij,lj->li", seats.turn, dd[:, 3:]) + J_d
    b = jnp.concatenate([d[:, :3], w], axis=1)
    b_d = jnp.concatenate([dd[:, :3], w_d], axis=1)
    return b, b_d


class Twists(eqx.Module):
    """Rates of all joints of the chain and body twists of all links, with their rates."""

    theta_d: Float[Array, " k"]
    theta_dd: Float[Array, " k"]
    V: Float[Array, "l 6"]
    V_d: Float[Array, "l 6"]
    dependence: AbstractJointDependence


@eqx.filter_jit
def twists(
    mechanism: AbstractMechanism,
    seats: Seats,
    tips: Tips,
    rate_i: Float[Array, " i"],
    acceleration_i: Float[Array, " i"],
) -> Twists:
    """Twists and their rates, from the base outwards, the dependent joints following where chains are closed."""
    chain = mechanism.chain
    b, b_d = tip_twist(seats, tips)

    def of_joints(rate):
        return chain.screw * chain.below_links(rate)[:, None]

    def following(motion_i, own):
        """Motion of all joints while `own` moves every link on its parent."""
        (others,) = seats.twists.solve(own)
        return dependence.follow(motion_i, others)

    screws = chain.screw[:, :, None] * chain.selection[:, None, :]
    dependence = mechanism.dependence(seats.twists.solve_columns(screws))
    seat = carry(seats.B, b)
    theta_d = following(rate_i, seat)
    joint = of_joints(theta_d)
    W = seat + joint  # of the link on its parent
    (V,) = seats.twists.solve(W)
    # The tip carries its own motion in axes that do not turn with it: only its rotation and the joint change B.
    spin = carry(seats.B, b.at[:, :3].set(0.0)) + joint
    own = carry(seats.B, b_d) - bracket(spin, seat) + bracket(V, W)
    theta_dd = following(acceleration_i, own)
    (V_d,) = seats.twists.solve(own + of_joints(theta_dd))
    return Twists(theta_d, theta_dd, V, V_d, dependence)


@eqx.filter_jit
def twists_pull_back(
    chain: Chain,
    seats: Seats,
    dependence: AbstractJointDependence,
    on_V: Float[Array, "l 6"],
    on_joints: Float[Array, " k"],
) -> tuple[Float[Array, " i"], Float[Array, "l 6"]]:
    """Transpose of the twists and joint rates: forces on the independent joints and on the displacements (u, phi)."""
    (on_W,) = seats.twists.solve_transpose(on_V)
    on_theta = on_joints + chain.on_joints(jnp.sum(chain.screw * on_W, axis=1))
    wrenches = dependence.closing_wrenches(on_theta)
    if wrenches is not None:
        # Closing joints push on the frames until no force is left on the dependent joints.
        (push,) = seats.twists.solve_transpose(wrenches)
        on_W = on_W + push
    on_b = transpose_carry(seats.B, on_W)
    on_phi = jnp.einsum("lij,li->lj", seats.turn, on_b[:, 3:])
    on_tip = jnp.concatenate([on_b[:, :3], on_phi], axis=1)
    return dependence.forces(on_theta), on_tip
