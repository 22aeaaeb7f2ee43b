"""Modes followed from point to point by how the links move in them, and by their frequencies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Inexact, Int

from ...algebra.eigen import modal_assurance
from ...types import Float

FOLLOWED = 0.9  # MAC below which a mode counts as lost
LONGEST_STEP = 0.15  # relative change of a frequency between neighbours above which a mode counts as lost

GridIndex = tuple[int, ...]


@dataclass(frozen=True)
class PointModes:
    """Modes at one point that are not rigid motions; m modes of n coordinates."""

    size: Float[np.ndarray, " m"]  # |lambda|, or omega of an undamped mode [rad/s]
    # Damping ratio; -1 for a motion that grows without vibration, 1 for one that decays so.
    ratio: Float[np.ndarray, " m"]
    growth: Float[np.ndarray, " m"]  # real part of lambda [1/s]
    shapes: Inexact[np.ndarray, "n m"]  # over the coordinates, mass-normalised
    # Displacements of the links' mass in link axes, each times the root of its mass: see `weighted_motion`.
    motion: Inexact[np.ndarray, "s m"]
    displacement: Inexact[np.ndarray, "k 3 m"]  # of every node, world axes
    rigid: int  # number of rigid motions
    # Rate at which the inertia of the mode changes along the motion [1/s]: a slower mode is no vibration about it.
    change_rate: Float[np.ndarray, " m"]
    torque: Float[np.ndarray, " j"]
    tip: Float[np.ndarray, " 3"]


class FollowedModes(NamedTuple):
    """How the modes of a point continue those of its neighbour."""

    place: Int[np.ndarray, " m"]  # of each tracked mode among those of the point
    mac: Float[np.ndarray, " m"]  # likeness of the two motions
    step: Float[np.ndarray, " m"]  # relative change of the frequency


def weighted_motion(
    motion: Inexact[np.ndarray, "l e m"], inertia: Float[np.ndarray, "l e e"]
) -> Inexact[np.ndarray, "s m"]:
    """Motions of the links, weighted so that the length of a column is the root of twice its kinetic energy.

    With inertia = S S, the weighted motion is S times the twist and the rates of the body coordinates of each link: the
    displacements of all its mass, seen from its own axes. They mean the same in every pose, which coordinates do not.
    """
    values, vectors = np.linalg.eigh(inertia)
    # Coordinates that move no mass (shorter links are padded) have eigenvalues of rounding.
    roots = np.sqrt(np.maximum(values, 0.0))
    S = (vectors * roots[:, None, :]) @ vectors.swapaxes(1, 2)
    weighted = S @ motion
    return weighted.reshape(-1, motion.shape[-1])


def follow(
    before: PointModes, tracked: Int[np.ndarray, " m"], here: PointModes
) -> FollowedModes:
    """Assignment of the modes here to the tracked modes of the point before, with MAC and change of frequency.

    The best assignment of all modes together, by MAC and frequency: two modes never continue in the same one.
    """
    old = before.motion[:, tracked].T
    new = here.motion.T
    likeness = modal_assurance(old[:, None], new[None])
    step = here.size / before.size[tracked][:, None] - 1.0
    distance = np.minimum(np.abs(step), 1.0)
    cost = (1.0 - likeness) + distance
    rows, place = scipy.optimize.linear_sum_assignment(cost)
    return FollowedModes(place, likeness[rows, place], step[rows, place])


class TrackedModes(NamedTuple):
    """Modes numbered over a grid."""

    place: Int[np.ndarray, "*grid m"]  # of each mode among those of its point
    mac: Float[np.ndarray, "*grid m"]
    step: Float[np.ndarray, "*grid m"]


def track(
    at: Mapping[GridIndex, PointModes], grid: tuple[int, ...], m: int
) -> TrackedModes:
    """The first m modes of the first point, followed from neighbour to neighbour."""
    place = np.zeros((*grid, m), dtype=int)
    mac = np.ones((*grid, m))
    step = np.zeros((*grid, m))
    for index, point in at.items():
        if not any(index):
            place[index] = np.arange(m)
            continue
        back = neighbour(index)
        continuation = follow(at[back], place[back], point)
        place[index], mac[index], step[index] = continuation
    return TrackedModes(place, mac, step)


def neighbour(index: GridIndex) -> GridIndex:
    """The point from which a point of the grid is reached: one back along its last axis that is not at its start."""
    axis = max(k for k, i in enumerate(index) if i > 0)
    back = list(index)
    back[axis] -= 1
    return tuple(back)
