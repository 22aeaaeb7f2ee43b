"""Eigenpairs in the order of others that they continue."""

import numpy as np
import scipy.optimize

from ...algebra.eigen import modal_assurance
from ..modes.complex_modes import Eigenpairs


def select_pairs(pairs: Eigenpairs, which: np.ndarray) -> Eigenpairs:
    """Some of the pairs; the rest joins the others."""
    everything = np.arange(len(pairs.eigenvalue))
    rest = np.setdiff1d(everything, which)
    return Eigenpairs(
        eigenvalue=pairs.eigenvalue[which],
        right=pairs.right[:, which],
        left=pairs.left[:, which],
        others=np.concatenate([pairs.others, pairs.eigenvalue[rest]]),
    )


def match_pairs(
    pairs: Eigenpairs, eigenvalue: np.ndarray, right: np.ndarray
) -> Eigenpairs:
    """The pairs that continue given ones: by MAC and distance of eigenvalues, with the vectors' phase preserved."""
    # Every given pair (rows) is compared with every pair here (columns).
    mac = modal_assurance(right[:, None], pairs.right.T[None])
    old = eigenvalue[:, None]
    distance = np.abs(old - pairs.eigenvalue) / np.abs(old)
    cost = (1.0 - mac) + np.minimum(distance, 1.0)
    _, which = scipy.optimize.linear_sum_assignment(cost)
    pairs = select_pairs(pairs, which)
    product = np.einsum("mn,nm->m", right, pairs.right.conj())
    # psi^* (2 lambda M + C) phi = 1 holds on if both vectors turn by the same phase.
    phase = product / np.maximum(np.abs(product), 1e-300)
    return pairs._replace(
        right=pairs.right * phase,
        left=pairs.left * phase,
    )
