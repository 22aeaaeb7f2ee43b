"""Motion of links that sit on the deformed tips of the links before them, finite elastic rotations included.

The tip of link i - 1 is displaced by u and turned by exp(phi x), phi the elastic rotation of its last node; the joint's
own motion follows. With b = (udot, J(phi) phidot) the motion of the tip in its link's axes, J the left Jacobian of the
rotation group, the body twist of link i is

    V_i = A_i V_(i-1) + B_i b_(i-1) + s_i theta_d_i

where A_i carries a twist from the frame of link i - 1 and B_i one from the tip. A relative motion W changes a carried
twist at the rate -ad(W), which gives the accelerations; nothing is linearised.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.so3 import axis_rotation, cross_matrix, rotation_series
from .chain import Chain, of_previous
from .erls_motion import chain_product, transfer


class Tips(eqx.Module):
    """Displacement (u, phi) of every link's tip in its own axes, with its first and second time derivative."""

    value: Float[Array, "l 6"]
    rate: Float[Array, "l 6"]
    acceleration: Float[Array, "l 6"]


class Seats(eqx.Module):
    """Where every link sits on its parent: pose in the parent's frame, and what carries twists to it."""

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]
    A: Float[Array, "l 6 6"]  # twist of the parent's frame -> of the link's
    B: Float[Array, "l 6 6"]  # the same from the parent's tip, in the parent's axes
    turn: Float[Array, "l 3 3"]  # left Jacobian J(phi) of the parent's tip


def seats_on_tips(
    chain: Chain, theta: Float[Array, " j"], tip: Float[Array, "l 6"]
) -> Seats:
    """Pose of every link on the deformed tip of its parent."""
    u, phi = jnp.split(of_previous(tip), 2, axis=1)
    # exp(phi x) and its left Jacobian from one set of series in |phi|^2: smooth at phi = 0.
    square = jnp.sum(phi**2, axis=1)[:, None, None]
    sinc, half, sixth, _, _ = rotation_series(square)
    K = cross_matrix(phi)
    KK = K @ K
    E = jnp.eye(3) + sinc * K + half * KK
    motion = chain.selection @ theta
    R_X = jnp.asarray(chain.rotation)
    axis = jnp.asarray(chain.axis)
    R = E @ R_X @ jax.vmap(axis_rotation)(axis, motion * chain.turns)
    slide = axis * (motion * chain.slides)[:, None]
    arm = jnp.einsum("lij,lj->li", E @ R_X, slide)
    p = jnp.asarray(chain.position) + u + arm
    turn = jnp.eye(3) + half * K + sixth * KK
    return Seats(R, p, transfer(R, p), transfer(R, arm), turn)


def turning(W: Float[Array, "l 6"], V: Float[Array, "l 6"]) -> Float[Array, "l 6"]:
    """ad(W) V = (w_W x v + v_W x w, w_W x w) of every link."""
    v_W, w_W = jnp.split(W, 2, axis=1)
    v, w = jnp.split(V, 2, axis=1)
    linear = jnp.cross(w_W, v) + jnp.cross(v_W, w)
    return jnp.concatenate([linear, jnp.cross(w_W, w)], axis=1)


def tip_twist(
    seats: Seats, tips: Tips
) -> tuple[Float[Array, "l 6"], Float[Array, "l 6"]]:
    """Motion b = (udot, J(phi) phidot) of the parent's tip in the parent's axes, and its rate."""
    value = of_previous(tips.value)
    d = of_previous(tips.rate)
    dd = of_previous(tips.acceleration)
    phi, phi_d = value[:, 3:], d[:, 3:]
    s = jnp.sum(phi**2, axis=1)[:, None]
    s_d = 2.0 * jnp.sum(phi * phi_d, axis=1)[:, None]
    _, half, sixth, half_s, sixth_s = rotation_series(s)
    once = jnp.cross(phi, phi_d)
    twice = jnp.cross(phi, once)
    w = phi_d + half * once + sixth * twice
    # Jdot phidot: the series change with s = |phi|^2, and phi turns in the second product.
    J_d = s_d * (half_s * once + sixth_s * twice) + sixth * jnp.cross(phi_d, once)
    w_d = jnp.einsum("lij,lj->li", seats.turn, dd[:, 3:]) + J_d
    b = jnp.concatenate([d[:, :3], w], axis=1)
    b_d = jnp.concatenate([dd[:, :3], w_d], axis=1)
    return b, b_d


class Twists(eqx.Module):
    """Body twists of all links with their rates, and the chain that carries a twist to the links outside."""

    V: Float[Array, "l 6"]
    V_d: Float[Array, "l 6"]
    Phi: Float[Array, "L L"]


def twists(
    chain: Chain,
    seats: Seats,
    tips: Tips,
    theta_d: Float[Array, " j"],
    theta_dd: Float[Array, " j"],
) -> Twists:
    """Twists and their rates, from the base outwards."""
    b, b_d = tip_twist(seats, tips)

    def from_tip(V):
        return jnp.einsum("lij,lj->li", seats.B, V)

    joint = chain.screw * (chain.selection @ theta_d)[:, None]
    joint_d = chain.screw * (chain.selection @ theta_dd)[:, None]
    seat = from_tip(b)
    W = seat + joint  # of the link on its parent
    # The tip carries its own motion in axes that do not turn with it: only its rotation and the joint change B.
    spin = from_tip(b.at[:, :3].set(0.0)) + joint
    Phi = chain_product(seats.A)
    V = (Phi @ W.reshape(-1)).reshape(W.shape)
    own = from_tip(b_d) + joint_d - turning(spin, seat) + turning(V, W)
    V_d = (Phi @ own.reshape(-1)).reshape(W.shape)
    return Twists(V, V_d, Phi)


def twists_pull_back(
    chain: Chain, seats: Seats, Phi: Float[Array, "L L"], on_V: Float[Array, "l 6"]
) -> tuple[Float[Array, " j"], Float[Array, "l 6"]]:
    """Transpose of the twists: forces on theta and on every link's tip displacement (u, phi)."""
    on_W = (on_V.reshape(-1) @ Phi).reshape(on_V.shape)
    on_theta = jnp.sum(chain.screw * on_W, axis=1) @ chain.selection
    on_b = jnp.einsum("lij,li->lj", seats.B, on_W)
    on_phi = jnp.einsum("lij,li->lj", seats.turn, on_b[:, 3:])
    on_tip = jnp.concatenate([on_b[:, :3], on_phi], axis=1)
    # A link's tip carries the next link; the last tip carries none.
    return on_theta, jnp.concatenate([on_tip[1:], jnp.zeros_like(on_tip[:1])])
