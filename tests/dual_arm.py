"""Dual rotations, transformations, lines, screws and wrenches of an arm with elastic links, [Cibicik2021] III to V.

The paper's own route, frame by frame and in its order of components: a dual screw is (omega, v) or (f, n), each a dual
vector (real, dual); elastic coordinates and speeds are dual parts. It is here to be read beside the paper, and as the
second derivation that the stacked code of `dual_chain` is tested against. Frame i is that of link i, i' that of its
tip; 0 is the world.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dual_groups import g1_element, g1_hat, g2_ad, g2_adjoint, g2_element, g2_inverse
from lissom.kinematics.chain import Chain, relative_poses
from lissom.types import Real

Transform = Float[Array, "7 7"]
Screws = Float[Array, "12 *k"]


def dual_vector(
    real: Float[Array, "*n 3"], dual: Float[Array, "*n 3"]
) -> Float[Array, "*n 6"]:
    """(r, d), eq. (37)."""
    return jnp.concatenate([real, dual], axis=-1)


def dual_rotation(
    R: Float[Array, "*n 3 3"], theta: Float[Array, "*n 3"]
) -> Float[Array, "*n 6 6"]:
    """R after a small rotation theta, an element of G1, eqs. (24), (31)."""
    return g1_element(R, theta)


def dual_transform(R, theta, r, d) -> Float[Array, "*n 7 7"]:
    """Dual homogeneous transformation: rotation R turned by theta, position r displaced by d; eq. (50)."""
    return g2_element(g1_element(R, theta), dual_vector(r, d))


def reference_shift(p: Float[Array, " 6"]) -> Float[Array, "12 12"]:
    """U, eq. (60): moves the point of reference of a screw; p is the dual vector from the new point to the old one."""
    one, o = jnp.eye(6), jnp.zeros((6, 6))
    return jnp.concatenate(
        [jnp.concatenate([one, o], axis=1), jnp.concatenate([g1_hat(p), one], axis=1)]
    )


def coordinate_change(X: Float[Array, "6 6"]) -> Float[Array, "12 12"]:
    """R-bar, eq. (63): turns a screw into other axes."""
    o = jnp.zeros((6, 6))
    return jnp.concatenate(
        [jnp.concatenate([X, o], axis=1), jnp.concatenate([o, X], axis=1)]
    )


def screw_transform(T: Transform) -> Float[Array, "12 12"]:
    """V, eq. (66), for the dual displacement T of frame j in frame i: R-bar then U, which is Ad(T)."""
    return g2_adjoint(T)


EXCHANGE = np.kron(
    np.eye(2), np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(3))
)  # N, eq. (70)


def real_screws(twists: Float[Array, " 6 *k"]) -> Screws:
    """Dual screws without dual part of twists (v, w) in this program's order."""
    v, w = twists[:3], twists[3:]
    o = jnp.zeros_like(v)
    return jnp.concatenate([w, o, v, o])


def twists_of(screws: Screws) -> tuple[Float[Array, " 6 *k"], Float[Array, " 6 *k"]]:
    """Real and dual part of dual screws as twists (v, w)."""
    real = jnp.concatenate([screws[6:9], screws[:3]])
    return real, jnp.concatenate([screws[9:], screws[3:6]])


def dual_wrench(
    force: Float[Array, " 6"], torque: Float[Array, " 6"]
) -> Float[Array, " 12"]:
    """(f, n), eq. (80), of a dual force and a dual torque."""
    return jnp.concatenate([force, torque])


def differentiation_operator(t: Float[Array, " 12"]) -> Float[Array, "12 12"]:
    """[d], eq. (77): rate of a screw fixed in frame j and seen from point a of link i, t the twist of a from j.

    The screw moves with -t, so that [d] = -ad(t): omega_ij on the diagonal, and below it minus the auxiliary velocity
    (78), whose sums over joints and links are the sum of twists in t.
    """
    return -g2_ad(t)


class DualArm(eqx.Module):
    """What the frames of an arm need: the chain, and the tip shapes Psi_j' of its links."""

    chain: Chain
    tip: Float[Real, "l 6 m"]  # displacement (u, phi) of the tip, link axes, eq. (71)
    spread: Float[Real, "l m d"]  # coordinates of each link from eta


class ArmFrames(NamedTuple):
    """Dual poses of all link frames and tip frames in the world."""

    link: list[Transform]  # T_i^0
    tip: list[Transform]  # T_i'^0


def arm_frames(arm: DualArm, x: Float[Array, " n"]) -> ArmFrames:
    """Products of joint motions and elastic displacements, eqs. (45)-(49)."""
    j = arm.chain.selection.shape[1]
    relative = relative_poses(arm.chain, x[:j])
    u = jnp.einsum("ldm,lmn,n->ld", jnp.asarray(arm.tip), arm.spread, x[j:])
    none, here, links, tips = jnp.zeros(3), jnp.eye(7), [], []
    for i in range(len(relative.p)):
        here = here @ dual_transform(relative.R[i], none, relative.arm[i], none)
        links.append(here)
        reach = (
            jnp.asarray(arm.chain.position[i + 1]) if i + 1 < len(relative.p) else none
        )
        here = here @ dual_transform(jnp.eye(3), u[i, 3:], reach, u[i, :3])
        tips.append(here)
    base = dual_transform(jnp.eye(3), none, jnp.asarray(arm.chain.position[0]), none)
    return ArmFrames([base @ T for T in links], [base @ T for T in tips])


def seen_from(T: Transform, frame: Transform) -> Transform:
    """Displacement of a frame as seen from frame T: T^-1 frame."""
    return g2_inverse(T) @ frame


def joint_line(arm: DualArm, i: int) -> Float[Array, " 12"]:
    """Dual line of joint i in its own frame, eqs. (58), (115); of a prismatic joint, the free vector of its axis."""
    return real_screws(arm.chain.screw[i])


def elastic_screws(
    arm: DualArm, i: int, eta_tip: Float[Array, " 6"] | None = None
) -> Screws:
    """Screws of link i's tip in the axes of the tip, one for each coordinate of eta, in projecting form, eq. (95).

    With the tip's displacement they carry what first order does to them: (1 - phi x) udot and (1 - phi x / 2) phidot.
    """
    shapes = jnp.asarray(arm.tip)[i] @ jnp.asarray(arm.spread)[i]
    screws = real_screws(shapes)
    if eta_tip is None:
        return screws
    phi = eta_tip[3:]
    turned = [-jnp.cross(phi, shapes[:3].T).T, -0.5 * jnp.cross(phi, shapes[3:].T).T]
    return screws.at[9:].add(turned[0]).at[3:6].add(turned[1])


def projection_matrix(
    arm: DualArm,
    x: Float[Array, " n"],
    i: int,
    at: Transform,
    own: Float[Array, "12 d"] | None = None,
    projecting: bool = True,
) -> Float[Array, "12 n"]:
    """P-check, eq. (93), or with `projecting` false P-hat, eq. (92), of a point of link i.

    Args:
        arm: the arm.
        x: joint and elastic coordinates.
        i: number of the link.
        at: dual pose of the point's frame in the world.
        own: screws of the point by the link's own coordinates, in its frame, one for each of eta.
        projecting: partial velocities in full; otherwise elastic ones as dual parts, which they multiply speeds as.
    """
    j = arm.chain.selection.shape[1]
    frames = arm_frames(arm, x)
    tips = jnp.einsum("ldm,lmn,n->ld", jnp.asarray(arm.tip), arm.spread, x[j:])
    lines = jnp.zeros((12, j))
    elastic = jnp.zeros((12, x.shape[0] - j))
    for k in range(i + 1):
        line = screw_transform(seen_from(at, frames.link[k])) @ joint_line(arm, k)
        lines = lines + line[:, None] * jnp.asarray(arm.chain.selection)[k]
        if k < i:
            elastic = elastic + screw_transform(
                seen_from(at, frames.tip[k])
            ) @ elastic_screws(arm, k, tips[k])
    if own is not None:
        elastic = elastic + own
    if not projecting:
        elastic = EXCHANGE @ elastic * np.repeat([0.0, 1.0, 0.0, 1.0], 3)[:, None]
    return jnp.concatenate([lines, elastic], axis=1)


def relative_twist(arm: DualArm, x, xd, j: int, i: int) -> Float[Array, " 12"]:
    """Dual twist of frame i from frame j <= i, in i and referenced to it: the sum (74) over the joints between."""
    n = arm.chain.selection.shape[1]
    frames = arm_frames(arm, x)
    rate = jnp.asarray(arm.chain.selection) @ xd[:n]
    t = jnp.zeros(12)
    for k in range(j, i + 1):
        if k > j:
            t = (
                t
                + screw_transform(seen_from(frames.link[i], frames.link[k]))
                @ joint_line(arm, k)
                * rate[k]
            )
        if k < i:
            own = EXCHANGE @ elastic_screws(arm, k) @ xd[n:]  # elastic speeds are dual
            t = t + screw_transform(seen_from(frames.link[i], frames.tip[k])) @ own
    return t
