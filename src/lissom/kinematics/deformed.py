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
from jaxtyping import Array, Float

from ..algebra.so3 import left_jacobian, rotation_series
from .chain import Chain, relative_poses
from .erls_motion import chain_product, transfer
from .mechanism import AbstractJointDependence, AbstractMechanism


class Tips(eqx.Module):
    """Displacement (u, phi) of the point that carries each link, in its parent's axes, with its time derivatives."""

    value: Float[Array, "l 6"]
    rate: Float[Array, "l 6"]
    acceleration: Float[Array, "l 6"]


class Seats(eqx.Module):
    """Where every link sits on its parent: pose in the parent's frame, and what carries twists to it.

    The chain of all links follows: `Phi` carries a twist of each link to all links outside.
    """

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]
    A: Float[Array, "l 6 6"]  # twist of the parent's frame -> of the link's
    B: Float[Array, "l 6 6"]  # the same from the point that carries the link
    turn: Float[Array, "l 3 3"]  # left Jacobian J(phi) of that point
    Phi: Float[Array, "L L"]


def seats_on_tips(
    chain: Chain, theta: Float[Array, " k"], displaced: Float[Array, "l 6"]
) -> Seats:
    """Pose of every link on the displaced point that carries it."""
    relative = relative_poses(chain, theta, displaced)
    A = transfer(relative.R, relative.p)
    return Seats(
        R=relative.R,
        p=relative.p,
        A=A,
        B=transfer(relative.R, relative.arm),
        turn=left_jacobian(displaced[:, 3:]),
        Phi=chain_product(A, chain.parents),
    )


def turning(W: Float[Array, "l 6"], V: Float[Array, "l 6"]) -> Float[Array, "l 6"]:
    """ad(W) V = (w_W x v + v_W x w, w_W x w) of every link."""
    v_W, w_W = jnp.split(W, 2, axis=1)
    v, w = jnp.split(V, 2, axis=1)
    linear = jnp.cross(w_W, v) + jnp.cross(v_W, w)
    return jnp.concatenate([linear, jnp.cross(w_W, w)], axis=1)


def tip_twist(
    seats: Seats, tips: Tips
) -> tuple[Float[Array, "l 6"], Float[Array, "l 6"]]:
    """Motion b = (udot, J(phi) phidot) of the points that carry the links, in their parents' axes, and its rate."""
    value, d, dd = tips.value, tips.rate, tips.acceleration
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
    """Rates of all joints of the chain and body twists of all links, with their rates."""

    theta_d: Float[Array, " k"]
    theta_dd: Float[Array, " k"]
    V: Float[Array, "l 6"]
    V_d: Float[Array, "l 6"]
    dependence: AbstractJointDependence


def twists(
    mechanism: AbstractMechanism,
    seats: Seats,
    tips: Tips,
    rate_i: Float[Array, " i"],
    acceleration_i: Float[Array, " i"],
) -> Twists:
    """Twists and their rates, from the base outwards, the dependent joints following where chains are closed."""
    chain, Phi = mechanism.chain, seats.Phi
    b, b_d = tip_twist(seats, tips)

    def from_tip(V):
        return jnp.einsum("lij,lj->li", seats.B, V)

    def of_joints(rate):
        return chain.screw * (chain.selection @ rate)[:, None]

    dependence = mechanism.dependence(_jacobian(chain, Phi))
    seat = from_tip(b)
    theta_d = dependence.follow(rate_i, Phi @ seat.reshape(-1))
    joint = of_joints(theta_d)
    W = seat + joint  # of the link on its parent
    V = (Phi @ W.reshape(-1)).reshape(W.shape)
    # The tip carries its own motion in axes that do not turn with it: only its rotation and the joint change B.
    spin = from_tip(b.at[:, :3].set(0.0)) + joint
    own = from_tip(b_d) - turning(spin, seat) + turning(V, W)
    theta_dd = dependence.follow(acceleration_i, Phi @ own.reshape(-1))
    own = own + of_joints(theta_dd)
    V_d = (Phi @ own.reshape(-1)).reshape(W.shape)
    return Twists(theta_d, theta_dd, V, V_d, dependence)


def _jacobian(chain: Chain, Phi: Float[Array, "L L"]) -> Float[Array, "l 6 k"]:
    """Body Jacobian of all joints."""
    screws = chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]
    J = Phi @ screws.reshape(Phi.shape[0], -1)
    return J.reshape(screws.shape)


def twists_pull_back(
    chain: Chain,
    seats: Seats,
    dependence: AbstractJointDependence,
    on_V: Float[Array, "l 6"],
    on_joints: Float[Array, " k"],
) -> tuple[Float[Array, " i"], Float[Array, "l 6"]]:
    """Transpose of the twists and joint rates: forces on the independent joints and on the displacements (u, phi)."""
    on_W = (on_V.reshape(-1) @ seats.Phi).reshape(on_V.shape)
    on_theta = on_joints + jnp.sum(chain.screw * on_W, axis=1) @ chain.selection
    wrenches = dependence.closing_wrenches(on_theta)
    if wrenches is not None:
        # Closing joints push on the frames until no force is left on the dependent joints.
        on_W = on_W + (wrenches @ seats.Phi).reshape(on_V.shape)
    on_b = jnp.einsum("lij,li->lj", seats.B, on_W)
    on_phi = jnp.einsum("lij,li->lj", seats.turn, on_b[:, 3:])
    on_tip = jnp.concatenate([on_b[:, :3], on_phi], axis=1)
    return dependence.forces(on_theta), on_tip
