"""The matrices of the planar manipulator in [Palomba2019], eqs. (A2)-(A5), entry by entry, and Lagrange's equations.

Coordinates: x, y in world axes and rotation of nodes 2..5 of link 1 and 6..8 of link 2, then the absolute angles q1
and q2. `printed` are the entries as they stand in the paper (unreadable ones as their pattern asks), `errata` those to
be changed; `lagrange` derives the same matrices from the energies alone and decides.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from helpers import compiled_once

N = 23  # coordinates
Q1, Q2 = 21, 22


class Data(NamedTuple):
    """Numbers of the manipulator; rho is the mass per length."""

    L1: float
    L2: float
    A: float
    J: float
    E: float
    rho: float
    g: float
    alpha: float
    beta: float


class Matrices(NamedTuple):
    """K and M, C, f at a pose and speed."""

    K: np.ndarray
    M: np.ndarray
    C: np.ndarray
    f: np.ndarray


def stiffnesses(d: Data, q):
    """k1..k16 of eq. (A3)."""
    s1, c1, s2, c2 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1])
    AE1, EJ1, AE2, EJ2 = (
        4 * d.A * d.E / d.L1,
        768 * d.E * d.J / d.L1**3,
        3 * d.A * d.E / d.L2,
        324 * d.E * d.J / d.L2**3,
    )
    return {
        1: AE1 * s1**2 - EJ1 * (s1**2 - 1),
        2: AE1 * c1**2 - EJ1 * (c1**2 - 1),
        3: AE1 * (s1**2 - 1) - EJ1 * s1**2,
        4: AE1 * (c1**2 - 1) - EJ1 * c1**2,
        5: 2 * d.E * np.sin(2 * q[0]) * (-d.A * d.L1**2 + 192 * d.J) / d.L1**3,
        6: 96 * d.E * d.J * s1 / d.L1**2,
        7: 96 * d.E * d.J * c1 / d.L1**2,
        8: 8 * d.E * d.J / d.L1,
        9: AE2 * s2**2 - EJ2 * (s2**2 - 1),
        10: AE2 * c2**2 - EJ2 * (c2**2 - 1),
        11: AE2 * (s2**2 - 1) - EJ2 * s2**2,
        12: AE2 * (c2**2 - 1) - EJ2 * c2**2,
        13: 3 * d.E * np.sin(2 * q[1]) * (-d.A * d.L2**2 + 108 * d.J) / (2 * d.L2**3),
        14: 54 * d.E * d.J * s2 / d.L2**2,
        15: 54 * d.E * d.J * c2 / d.L2**2,
        16: 6 * d.E * d.J / d.L2,
    }


def masses(d: Data, q):
    """m1..m20 of eq. (A4)."""
    s1, c1, s2, c2 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1])
    r, L1, L2 = d.rho, d.L1, d.L2
    return {
        1: r * L1 * (4 * s1**2 + 35) / 210,
        2: r * L1 * (4 * c1**2 + 35) / 210,
        3: r * L1 * (8 * s1**2 - 35) / 840,
        4: r * L1 * (8 * c1**2 - 35) / 840,
        5: r * L1 * np.sin(2 * q[0]) / 105,
        6: r * L1**2 * s1 / 8,
        7: r * L1**2 * c1 / 8,
        8: r * L1**3 / 960,
        9: r * 2 * L2 * (4 * s2**2 + 35) / 315,
        10: r * 2 * L2 * (4 * c2**2 + 35) / 315,
        11: r * L2 * (8 * s2**2 - 35) / 630,
        12: r * L2 * (8 * c2**2 - 35) / 630,
        13: r * 4 * L2 * np.sin(2 * q[1]) / 315,
        14: r * L2**2 * s2 / 9,
        15: r * L2**2 * c2 / 9,
        16: r * L2**3 / 3,
        17: r * L1 * L2**2 * np.cos(q[0] - q[1]) / 2,
        18: r * L1 * L2 * s1 / 3,
        19: r * L1 * L2 * c1 / 3,
        20: r * L1**2 * (L1 + 3 * L2) / 3,
    }


def couplings(d: Data, q, qd):
    """c1..c13 of eq. (A5)."""
    s1, c1, s2, c2 = np.sin(q[0]), np.cos(q[0]), np.sin(q[1]), np.cos(q[1])
    r, L1, L2 = d.rho, d.L1, d.L2
    return {
        1: r * L1 * np.sin(2 * q[0]) / 105 * qd[0],
        2: r * L1 * (16 * s1**2 - 7) / 420 * qd[0],
        3: r * L1 * (16 * c1**2 - 7) / 420 * qd[0],
        4: r * L1**2 * s1 / 8 * qd[0],
        5: r * L1**2 * c1 / 8 * qd[0],
        6: r * 4 * L2 * np.sin(2 * q[1]) / 315 * qd[1],
        7: r * L2 * (16 * s2**2 - 7) / 315 * qd[1],
        8: r * L2 * (16 * c2**2 - 7) / 315 * qd[1],
        9: r * L2**2 * s2 / 9 * qd[1],
        10: r * L2**2 * c2 / 9 * qd[1],
        11: r * L1 * L2 * s1 / 3 * qd[0],
        12: r * L1 * L2 * c1 / 3 * qd[0],
        13: r * L1 * L2**2 * np.sin(q[0] - q[1]) / 2,
    }


def symmetric(rows):
    """A symmetric matrix from the entries on and right of its diagonal; `rows[i]` starts in column i."""
    A = np.zeros((21, 21))
    for i, row in enumerate(rows):
        A[i, i : i + len(row)] = row
    return A + np.triu(A, 1).T


def printed_stiffness(d: Data, q):
    """K11 of eq. (A3)."""
    k = stiffnesses(d, q)
    node = [
        [2 * k[2], -2 * k[5], 0, k[3], k[5], -k[6]],
        [2 * k[1], 0, k[5], k[4], k[7]],
        [2 * k[8], k[6], -k[7], k[8]],
    ]
    elbow = [[k[2] + k[10], -k[5] - k[13], k[6], k[11], k[13], -k[14]],
             [k[1] + k[9], -k[7], k[13], k[12], k[15]],
             [4 * k[8]]]  # fmt: skip
    other = [[2 * k[10], -2 * k[13], 0, k[11], k[13], -k[14]],
             [2 * k[9], 0, k[13], k[12], k[15]],
             [2 * k[16], k[14], -k[15], k[16]]]  # fmt: skip
    tip = [[k[10], -k[13], k[14]], [k[9], -k[15]], [4 * k[16]]]
    return symmetric([*node, *node, *node, *elbow, *other, *other, *tip])


def printed_mass(d: Data, q):
    """M of eq. (A4)."""
    m = masses(d, q)
    node = [[m[1], -m[5], 0, -m[3], m[5] / 2, 13 * m[6] / 840],
            [m[2], 0, m[5] / 2, -m[4], -13 * m[7] / 840],
            [2 * m[8] / 7, -13 * m[6] / 840, 13 * m[7] / 840, -3 * m[8] / 28]]  # fmt: skip
    elbow = [[(m[1] + m[9]) / 2, -(m[5] + m[13]) / 2, 11 * m[6] / 420, -m[11], m[13] / 2, 13 * m[14] / 420],
             [(m[2] + m[10]) / 2, -11 * m[7] / 420, m[13] / 2, -m[12], -13 * m[15] / 420],
             [m[8] / 7]]  # fmt: skip
    other = [[m[9], -m[13], 0, -m[11], m[13] / 2, 13 * m[14] / 420],
             [m[10], 0, m[13] / 2, -m[12], -13 * m[15] / 420],
             [2 * m[16] / 945, -13 * m[14] / 420, 13 * m[15] / 420, -m[16] / 1260]]  # fmt: skip
    tip = [
        [m[9] / 2, -m[13] / 2, 11 * m[14] / 210],
        [m[10] / 2, -11 * m[15] / 210],
        [m[16] / 945],
    ]
    M21 = np.array([
        [-m[6] / 2, m[7] / 2, m[8], -m[6], m[7], m[8], -3 * m[6] / 2, 3 * m[7] / 2, m[8],
         -(37 * m[6] + 20 * m[18]) / 40, (37 * m[7] + 20 * m[19]) / 40, -9 * m[8] / 2,
         -m[18], m[19], 0, -m[18], m[19], 0, -m[18] / 2, m[19] / 2, -m[17] / 54],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, -3 * m[14] / 20, 3 * m[15] / 20, 0,
         -m[14], m[15], m[16] / 135, -2 * m[14], 2 * m[15], m[16] / 135,
         -27 * m[14] / 20, 27 * m[15] / 20, -13 * m[16] / 540],
    ])  # fmt: skip
    M22 = np.array([[m[20], m[17]], [m[17], m[16]]])
    return np.block(
        [
            [symmetric([*node, *node, *node, *elbow, *other, *other, *tip]), M21.T],
            [M21, M22],
        ]
    )


def printed_damping(d: Data, q, qd, K11, M):
    """C of eq. (A5)."""
    c = couplings(d, q, qd)
    C11, C12, C21 = np.zeros((21, 21)), np.zeros((21, 2)), np.zeros((2, 21))
    before = [
        [-c[1], -c[2] / 2, -c[5] / 30],
        [c[3] / 2, c[1], -c[4] / 30],
        [-c[5] / 420, -c[4] / 420, 0],
    ]
    own = [[2 * c[1], c[2], 0], [-c[3], -2 * c[1], 0], [0, 0, 0]]
    after = [
        [-c[1], -c[2] / 2, c[5] / 30],
        [c[3] / 2, c[1], c[4] / 30],
        [c[5] / 420, c[4] / 420, 0],
    ]
    elbow = [[c[1] + c[6], -(c[2] + c[7]) / 2, c[5] / 20],
             [(c[3] + c[8]) / 2, -c[1] - c[6], c[4] / 20],
             [c[5] / 420, c[4] / 420, 0]]  # fmt: skip
    before_2 = [
        [-c[6], -c[7] / 2, -c[10] / 15],
        [c[8] / 2, c[6], -c[9] / 15],
        [-c[10] / 210, -c[9] / 210, 0],
    ]
    own_2 = [[2 * c[6], c[7], 0], [-c[8], -2 * c[6], 0], [0, 0, 0]]
    after_2 = [
        [-c[6], -c[7] / 2, c[10] / 15],
        [c[8] / 2, c[6], c[9] / 15],
        [c[10] / 210, c[9] / 210, 0],
    ]
    tip = [
        [c[6], c[7] / 2, c[10] / 10],
        [-c[8] / 2, -c[6], c[9] / 10],
        [c[10] / 210, c[9] / 210, 0],
    ]
    blocks = {
        0: (None, own, after),
        1: (before, own, after),
        2: (before, own, after),
        3: (before, elbow, after_2),
    }
    blocks |= {
        4: (before_2, own_2, after_2),
        5: (before_2, own_2, after_2),
        6: (before_2, tip, None),
    }
    for node, parts in blocks.items():
        for beside, part in zip((-1, 0, 1), parts, strict=True):
            if part is not None:
                C11[
                    3 * node : 3 * node + 3,
                    3 * (node + beside) : 3 * (node + beside) + 3,
                ] = part
    C11[11, 12:15] = 0.0  # the rotation of node 5 belongs to link 1
    C11[12:15, 11] = 0.0
    C12[:, 0] = [-c[5] / 2, -c[4] / 2, 0, -c[5], -c[4], 0, -3 * c[5] / 2, -3 * c[4] / 2, 0,
                 -(11 * c[5] + 6 * c[12]) / 12, -(11 * c[4] + 6 * c[11]) / 12, 0,
                 -c[12], -c[11], 0, -c[12], -c[11], 0, -c[12] / 2, -c[11] / 2, c[13] * qd[0] / 54]  # fmt: skip
    C12[9:, 1] = [
        -c[10] / 6,
        -c[9] / 6,
        0,
        -c[10],
        -c[9],
        0,
        -2 * c[10],
        -2 * c[9],
        0,
        -4 * c[10] / 3,
        -4 * c[9] / 3,
        0,
    ]
    C21[0, [9, 10, 20]] = [-c[5] / 60, -c[4] / 60, c[13] * qd[1] / 27]
    C21[1, [9, 10, 18, 19]] = [c[10] / 30, c[9] / 30, -c[10] / 30, -c[9] / 30]
    C22 = np.array([[0, c[13] * qd[1]], [c[13] * qd[0], 0]])
    return np.block(
        [
            [C11 + d.alpha * M[:21, :21] + d.beta * K11, C12],
            [C21 + d.alpha * M[21:, :21], C22],
        ]
    )


def printed_force(d: Data, q, u):
    """f of eq. (A2)."""
    f, r, L1, L2, g = np.zeros(N), d.rho, d.L1, d.L2, d.g
    f[[1, 4, 7]] = -r * L1 * g / 4
    f[10] = -r * (3 * L1 + 4 * L2) * g / 24
    f[11] = -u[1] + r * L1**2 * g * np.cos(q[0]) / 192
    f[[13, 16]] = -r * L2 * g / 3
    f[19] = -r * L2 * g / 6
    f[20] = r * L2**2 * g * np.cos(q[1]) / 108
    f[Q1] = u[0] - u[1] - r * L1 * (L1 + 2 * L2) * g * np.cos(q[0]) / 2
    f[Q2] = u[1] - r * L2**2 * g * np.cos(q[1]) / 2
    return f


def printed(d: Data, q, qd, u) -> Matrices:
    """Everything as printed."""
    K11, M = printed_stiffness(d, q), printed_mass(d, q)
    C = printed_damping(d, q, qd, K11, M)
    return Matrices(np.pad(K11, (0, 2)), M, C, printed_force(d, q, u))


def errata(d: Data, q, qd) -> dict[str, dict[tuple[int, int], float]]:
    """Entries to be replaced, by matrix: what Lagrange's equations give instead, in the paper's symbols."""
    k, c = stiffnesses(d, q), couplings(d, q, qd)
    K = {(i, i): 4 * k[8] for i in (2, 5, 8)} | {(11, 11): 2 * k[8]}
    K |= {(i, i): 4 * k[16] for i in (14, 17)} | {(20, 20): 2 * k[16]}
    C = {
        (9, 10): (c[2] + c[7]) / 2,
        (10, 9): -(c[3] + c[8]) / 2,
        (Q2, Q1): -c[13] * qd[0],
        (Q1, 20): -c[13] * qd[1] / 27,
    }
    return {"K": K, "C": C}


def corrected(d: Data, q, qd, u) -> Matrices:
    """The paper's matrices with the errata put in."""
    paper, change = printed(d, q, qd, u), errata(d, q, qd)
    K = paper.K.copy()
    for at, value in change["K"].items():
        K[at] = value
    # beta K enters the damping too
    C = paper.C + d.beta * (K - paper.K)
    damping = np.zeros((N, N))
    damping[:21, :21] = d.alpha * paper.M[:21, :21] + d.beta * K[:21, :21]
    damping[21:, :21] = d.alpha * paper.M[21:, :21]
    for at, value in change["C"].items():
        C[at] = value + damping[at]
    return Matrices(K, paper.M, C, paper.f)


# --- Lagrange's equations ------------------------------------------------------------------------------------------

GAUSS = np.polynomial.legendre.leggauss(4)


LINK, PLACE = (
    np.array([0, 0, 0, 0, 1, 1, 1]),
    np.array([0, 1, 2, 3, 0, 1, 2]),
)  # of the seven elements
STATION, WEIGHT = (1 + GAUSS[0]) / 2, GAUSS[1] / 2


def hermite(s):
    """Displacement (along, across) of a planar beam of unit length at s, from (u1, v1, r1, u2, v2, r2)."""
    return np.array([
        [1 - s, 0, 0, s, 0, 0],
        [0, 1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 0, 3 * s**2 - 2 * s**3, -(s**2) + s**3],
    ])  # fmt: skip


def turns(d: Data, x):
    """Rotation (7, 2, 2) and length (7,) of the elements."""
    angle = x[Q1 + LINK]
    c, s = jnp.cos(angle), jnp.sin(angle)
    R = jnp.stack([jnp.stack([c, -s], axis=-1), jnp.stack([s, c], axis=-1)], axis=-2)
    return R, jnp.stack([d.L1 / 4.0, d.L2 / 3.0])[LINK]


def ends(d: Data, x):
    """Displacements (7, 6) of the ends of every element in its own axes, rotations times its length."""
    R, l = turns(d, x)
    u = x[:21].reshape(7, 3)
    first = jnp.concatenate(
        [jnp.zeros((1, 3)), u[:3], u[3:4].at[0, 2].set(0.0), u[4:6]]
    )  # link 2 starts unturned
    local = [
        jnp.concatenate(
            [jnp.einsum("eji,ej->ei", R, a[:, :2]), l[:, None] * a[:, 2:]], axis=1
        )
        for a in (first, u)
    ]
    return jnp.concatenate(local, axis=1)


def points(d: Data, x):
    """World position and mass [kg] of every Gauss point."""
    R, l = turns(d, x)
    elbow = R[0] @ jnp.stack([d.L1, 0.0 * d.L1])
    N_s = np.stack([hermite(s) for s in STATION])
    along = (PLACE[:, None] + STATION) * l[:, None]
    place = jnp.stack([along, jnp.zeros_like(along)], axis=-1) + jnp.einsum(
        "gik,ek->egi", N_s, ends(d, x)
    )
    p = LINK[:, None, None] * elbow + jnp.einsum("eij,egj->egi", R, place)
    return p.reshape(-1, 2), (d.rho * l[:, None] * WEIGHT).reshape(-1)


def strain(d: Data, x):
    """Energy of stretching and bending of straight beams."""
    _, l = turns(d, x)
    u1, v1, r1, u2, v2, r2 = ends(d, x).T
    v = v2 - v1
    bending = 6 * v**2 - 6 * v * (r1 + r2) + 2 * (r1**2 + r1 * r2 + r2**2)
    return jnp.sum(0.5 * d.E * d.A / l * (u2 - u1) ** 2 + d.E * d.J / l**3 * bending)


def lagrange(d: Data, q, qd, u) -> Matrices:
    """The same matrices from kinetic, strain and potential energy at u = 0 by d/dt dL/dxd - dL/dx."""
    M, K, weight, slope, alone, whole = map(
        np.asarray,
        _lagrange(Data(*map(jnp.asarray, d)), jnp.asarray(q), jnp.asarray(qd)),
    )
    C = np.zeros((N, N))
    C[:, :21] = slope[:, :21]
    for j in range(
        2
    ):  # in absolute angles no product q1dot q2dot appears: each column has its own speed
        C[:, Q1 + j] = alone[j] / qd[j]
    np.testing.assert_allclose(C[:, 21:] @ qd, whole, atol=1e-12 * np.abs(whole).max())
    C[:21, :21] += d.alpha * M[:21, :21] + d.beta * K[:21, :21]
    C[21:, :21] += d.alpha * M[21:, :21]
    torque = np.zeros(N)
    torque[[11, Q1, Q2]] = [-u[1], u[0] - u[1], u[1]]
    return Matrices(np.pad(K[:21, :21], (0, 2)), M, C, weight + torque)


@compiled_once
def _lagrange(d: Data, q, qd):
    x0 = jnp.zeros(N).at[Q1:].set(q)

    def kinetic(x, xd):
        _, v = jax.jvp(lambda x: points(d, x)[0], (x,), (xd,))
        return 0.5 * jnp.sum(points(d, x)[1][:, None] * v**2)

    def inertial(xd):
        """d/dt dT/dxd - dT/dx without accelerations."""
        _, rate = jax.jvp(lambda x: jax.grad(kinetic, argnums=1)(x, xd), (x0,), (xd,))
        return rate - jax.grad(kinetic)(x0, xd)

    M = jax.jacfwd(jax.grad(kinetic, argnums=1), argnums=1)(x0, jnp.zeros(N))
    K = jax.hessian(lambda x: strain(d, x))(x0)
    weight = -jax.grad(
        lambda x: d.g * jnp.sum(points(d, x)[1] * points(d, x)[0][:, 1])
    )(x0)
    moving = jnp.zeros(N).at[Q1:].set(qd)
    alone = jnp.stack([inertial(jnp.zeros(N).at[Q1 + j].set(qd[j])) for j in range(2)])
    return M, K, weight, jax.jacfwd(inertial)(moving), alone, inertial(moving)
