"""The planar manipulator of [Palomba2019], assembled by itself in the paper's own coordinates: an oracle of the engine.

Elastic coordinates are nodal displacements along world axes, q1 and q2 are absolute angles; the rotations at the base
of the first link and at the inner end of the second are zero. Written from virtual work with standard beam matrices,
it gives the matrices (A2)-(A5) of the paper with their errata: M (rdd + udd) + 2 M_G ud + alpha M ud + beta K ud + K u
on every element, no M_C, damping on elastic velocities alone. The data are those of the library's `planar-2r`.
"""

import jax
import jax.numpy as jnp
import numpy as np

from lissom.bench.palomba2019 import LENGTHS

ELEMENTS = (4, 3)  # of 0.1 m
DENSITY = 0.216  # [kg/m]
E_A = 5.6e6  # [N]
E_J = 70e9 * 0.02 * 0.004**3 / 12  # [N m^2]
ALPHA = 0.087  # Rayleigh damping [1/s]
BETA = 2.1e-5  # Rayleigh damping [s]
GRAVITY = 9.81  # [m/s^2]

SIZE = 3 * sum(ELEMENTS)  # elastic coordinates: x, y, rotation of nodes 2 to 8
ELBOW = 3 * ELEMENTS[0] - 1  # the rotation at the end of the first link


def _element(length: float):
    """Consistent mass, stiffness, and the gyroscopic matrix of a unit turning speed, in element axes."""
    return _mass(length), _stiffness(length), _gyroscopic(length)


def _mass(length: float) -> np.ndarray:
    L = length
    m = DENSITY * length
    # fmt: off
    return m * np.array([
        [1 / 3, 0, 0, 1 / 6, 0, 0],
        [0, 13 / 35, 11 * L / 210, 0, 9 / 70, -13 * L / 420],
        [0, 11 * L / 210, L**2 / 105, 0, 13 * L / 420, -(L**2) / 140],
        [1 / 6, 0, 0, 1 / 3, 0, 0],
        [0, 9 / 70, 13 * L / 420, 0, 13 / 35, -11 * L / 210],
        [0, -13 * L / 420, -(L**2) / 140, 0, -11 * L / 210, L**2 / 105],
    ])
    # fmt: on


def _stiffness(length: float) -> np.ndarray:
    L = length
    a = E_A / L
    b = E_J / L**3
    # fmt: off
    return np.array([
        [a, 0, 0, -a, 0, 0],
        [0, 12 * b, 6 * L * b, 0, -12 * b, 6 * L * b],
        [0, 6 * L * b, 4 * L**2 * b, 0, -6 * L * b, 2 * L**2 * b],
        [-a, 0, 0, a, 0, 0],
        [0, -12 * b, -6 * L * b, 0, 12 * b, -6 * L * b],
        [0, 6 * L * b, 2 * L**2 * b, 0, -6 * L * b, 4 * L**2 * b],
    ])
    # fmt: on


def _gyroscopic(length: float) -> np.ndarray:
    """Of a unit turning speed: the displacement field turned by a quarter, less the nodal displacements turned."""
    L = length
    points, weights = np.polynomial.legendre.leggauss(5)
    # From [-1, 1] to the element: s runs from 0 to 1, and the weights carry the mass.
    s = 0.5 * (points + 1)
    w = 0.5 * weights * DENSITY * length
    zero = np.zeros_like(s)
    along = np.stack([1 - s, zero, zero, s, zero, zero], axis=1)
    hermite = (
        1 - 3 * s**2 + 2 * s**3,
        L * (s - 2 * s**2 + s**3),
        3 * s**2 - 2 * s**3,
        L * (s**3 - s**2),
    )
    across = np.stack([zero, *hermite[:2], zero, *hermite[2:]], axis=1)
    mixed = np.einsum("g,gi,gj->ij", w, across, along)
    turned = mixed - np.einsum("g,gi,gj->ij", w, along, across)
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    both_nodes = np.kron(np.eye(2), quarter)
    return turned - _mass(length) @ both_nodes


def _turn(q):
    """From element to world axes, both nodes."""
    c = jnp.cos(q)
    s = jnp.sin(q)
    R = jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return jnp.kron(jnp.eye(2), R)


def _rigid(q, link: int, element: int):
    """Positions and rotations of the two nodes of an element of the rigid mechanism."""
    unit = jnp.stack([jnp.cos(q), jnp.sin(q)])
    # The first link starts at the base, the second at the end of the first.
    origin = jnp.zeros(2) if link == 0 else LENGTHS[0] * unit[:, 0]
    step = LENGTHS[link] / ELEMENTS[link]
    nodes = []
    for k in (element, element + 1):
        position = origin + k * step * unit[:, link]
        nodes.append(jnp.append(position, q[link]))
    return jnp.concatenate(nodes)


def _place(link: int, element: int) -> np.ndarray:
    """Which elastic coordinates an element's six displacements are; the rotation at the inner end of a link is zero."""
    S = np.zeros((6, SIZE))
    node = element + (ELEMENTS[0] if link else 0)  # counted from the base, 0
    for k in range(6):
        at = 3 * (node - 1) + k
        clamped = k < 3 and element == 0 and (link == 0 or k == 2)
        if not clamped:
            S[k, at] = 1.0
    return S


def unbalanced(x, xd, xdd, torque):
    """Gamma of eq. (2): x = (21 elastic, q1, q2), with the matrices of (A2)-(A5)."""
    u, q = x[:SIZE], x[SIZE:]
    ud, qd = xd[:SIZE], xd[SIZE:]
    udd, qdd = xdd[:SIZE], xdd[SIZE:]
    on_u = jnp.zeros(SIZE)
    on_q = jnp.zeros(2)
    gravity = jnp.array([0.0, -GRAVITY, 0.0, 0.0, -GRAVITY, 0.0])
    for link in (0, 1):
        M_e, K_e, G_e = _element(LENGTHS[link] / ELEMENTS[link])
        T = _turn(q[link])
        M = T @ M_e @ T.T
        K = T @ K_e @ T.T
        M_G = qd[link] * T @ G_e @ T.T
        for element in range(ELEMENTS[link]):
            S = _place(link, element)
            J, J_d = _sensitivity(q, qd, link, element)
            acceleration = S @ udd + J @ qdd + J_d @ qd - gravity
            force = M @ acceleration + (2 * M_G + ALPHA * M) @ S @ ud
            on_q += J.T @ force
            on_u += S.T @ (force + K @ S @ (u + BETA * ud))
    # The second motor sits on the first link's end: it turns the elbow back by what it gives the second link.
    on_u = on_u.at[ELBOW].add(torque[1])
    driven = jnp.stack([torque[0] - torque[1], torque[1]])
    return jnp.concatenate([on_u, on_q - driven])


def _sensitivity(q, qd, link: int, element: int):
    """J of the rigid mechanism's nodes to the absolute angles, and its rate."""

    def rigid(q):
        return _rigid(q, link, element)

    J = jax.jacfwd(rigid)(q)
    _, J_d = jax.jvp(jax.jacfwd(rigid), (q,), (qd,))
    return J, J_d


def balance(q, qd, qdd):
    """Quasi-static elastic displacements and torques of a motion: linear in both."""
    still = jnp.zeros(SIZE)
    xd = jnp.concatenate([still, qd])
    xdd = jnp.concatenate([still, qdd])

    def missing(z):
        x = jnp.concatenate([z[:SIZE], q])
        return unbalanced(x, xd, xdd, z[SIZE:])

    # `missing` is linear: one Newton step from zero is the solution.
    zero = jnp.zeros(SIZE + 2)
    slope = jax.jacfwd(missing)(zero)
    z = -jnp.linalg.solve(slope, missing(zero))
    return z[:SIZE], z[SIZE:]


def matrices(q, qd, qdd):
    """M, C, K of eqs. (4)-(6) at the balance of a motion."""
    u, torque = balance(q, qd, qdd)
    still = jnp.zeros(SIZE)
    point = jnp.concatenate([u, q, still, qd, still, qdd])
    n = SIZE + 2

    def gamma(y):
        return unbalanced(y[:n], y[n : 2 * n], y[2 * n :], torque)

    K, C, M = jnp.split(jax.jacfwd(gamma)(point), 3, axis=1)
    return M, C, K
