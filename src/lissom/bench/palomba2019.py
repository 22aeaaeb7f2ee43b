"""The path of the planar manipulator of [Palomba2019]; the library's `planar-2r` is the robot.

Table 2 and Figure 2 of the paper are lost: the data are chosen. With `terms: published-planar` and the rotations at the
inner ends of both links zeroed, the robot is the paper's model, (A2)-(A5) with their errata.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

LENGTHS = (0.4, 0.3)  # [m]

# The tip's path, a horizontal line from START to END.
START = 0.25  # [m]
END = 0.55  # [m]
HEIGHT = -0.30  # [m]
DURATION = 0.5  # [s]


class PathPoint(NamedTuple):
    """A point of the path: absolute angles, speeds, accelerations."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


def tip_law(t):
    """Share of the path covered at time t: quintic, from rest to rest."""
    s = t / DURATION
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def angles(t):
    """Absolute angles (q1, q2) at time t, elbow up."""
    x = START + (END - START) * tip_law(t)
    y = HEIGHT
    l1, l2 = LENGTHS
    cosine = (x**2 + y**2 - l1**2 - l2**2) / (2 * l1 * l2)
    # The negative one of the two angles: elbow up.
    bend = -jnp.arccos(cosine)
    to_tip = jnp.arctan2(y, x)
    within = jnp.arctan2(l2 * jnp.sin(bend), l1 + l2 * jnp.cos(bend))
    q1 = to_tip - within
    return jnp.stack([q1, q1 + bend])


def motion(t):
    """Angles, speeds and accelerations at time t, traceable."""
    speed = jax.jacfwd(angles)
    return angles(t), speed(t), jax.jacfwd(speed)(t)


_motions = jax.jit(jax.vmap(motion))  # once: compiling it takes longer than the path


def path(times) -> PathPoint:
    """The path at several times, stacked."""
    instants = jnp.asarray(times, dtype=float)
    parts = _motions(instants)
    return PathPoint(*(np.asarray(part) for part in parts))


def relative(absolute):
    """Joint angles, speeds or accelerations of the library's robot from absolute ones."""
    return absolute @ np.array([[1.0, -1.0], [0.0, 1.0]])
