"""Preview: feed-forward for the forces that a nominal motion neglects.

The links of a nominal motion are in quasi-static balance with it: the inertia forces of their bending are not in its
torques. About such a motion the deviations obey

    dx_(k+1) = A dx_k + B du_k + w_k,

with w known before the motion begins. The best control then does not wait for the vibration: with the value of a
deviation 1/2 dx^T P dx + v_k^T dx,

    v_k = (A - B K)^T (P w_k + v_(k+1)),        du_k = -K dx_k - (R + B^T P B)^-1 B^T (P w_k + v_(k+1)).
"""

from typing import NamedTuple

import numpy as np

from ..types import Float
from .design_model import DesignModel
from .regulator import Regulator


class Preview(NamedTuple):
    """Along the samples of a motion; all of it is zero after the last row."""

    push: Float[np.ndarray, "t s"]  # w
    value: Float[np.ndarray, "t s"]  # v
    torque: Float[
        np.ndarray, "t a"
    ]  # the part of du that does not wait for a deviation


def neglected_push(
    design: DesignModel, links: Float[np.ndarray, "t n"]
) -> Float[np.ndarray, "t s"]:
    """W: what the links' own acceleration and damping add to the state from sample to sample.

    Args:
        design: sampled model.
        links: coordinates of the nominal motion less the reference of the joints, at the samples; at rest at the end.
    """
    h = design.sample
    still = links[:1]
    speed = np.diff(links, axis=0, prepend=still, append=links[-1:]) / h
    acceleration = np.diff(speed, axis=0) / h
    missing = acceleration @ design.mass.T + speed[1:] @ design.damping.T
    return -missing @ design.on_coordinates.T


def preview(
    design: DesignModel, regulator: Regulator, push: Float[np.ndarray, "t s"]
) -> Preview:
    """Optimal feed-forward for known disturbances, from the end of the motion backwards."""
    A, B = design.A, design.B
    K, P, R = regulator.K, regulator.P, regulator.R
    closed = A - B @ K
    S = R + B.T @ P @ B
    v = np.zeros(design.states)
    values, torques = [], []
    for w in push[::-1]:
        ahead = P @ w + v
        torques.append(-np.linalg.solve(S, B.T @ ahead))
        v = closed.T @ ahead
        values.append(v)
    return Preview(push, np.array(values[::-1]), np.array(torques[::-1]))
