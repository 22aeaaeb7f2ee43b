"""Controllable and uncontrollable motions of a linear model, such as bending out of the plane of a motor's rotation."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Int

from .design_model import UNSEEN, DesignModel, Matrix


class ControllableSubspace(NamedTuple):
    """Orthonormal bases of the states that torques reach, and of the directions that they do not."""

    controllable: Matrix
    uncontrollable: Matrix


def controllable_subspace(design: DesignModel) -> ControllableSubspace:
    """The states that torques reach, sample after sample: the staircase algorithm, [VanDooren1981]."""
    sizes = np.linalg.norm(design.B, axis=0)
    # Drives are compared by what they do, not by their units.
    fresh = design.B / np.where(sizes > 0, sizes, 1.0)
    size = 1.0
    controllable = np.zeros((design.states, 0))
    while True:
        # A second pass removes rounding errors.
        for _ in range(2):
            fresh = fresh - controllable @ (controllable.T @ fresh)
        U, singular, _ = np.linalg.svd(fresh, full_matrices=False)
        U = U[:, singular > UNSEEN * size]
        if not U.shape[1]:
            break
        controllable = np.concatenate([controllable, U], axis=1)
        fresh = design.A @ U
        size = np.linalg.norm(design.A, 2)
    whole, _ = np.linalg.qr(controllable, mode="complete")
    return ControllableSubspace(controllable, whole[:, controllable.shape[1] :])


def uncontrollable_poles(
    design: DesignModel, subspace: ControllableSubspace
) -> Complex[np.ndarray, " w"]:
    """Poles z of the uncontrollable motions: no feedback changes them."""
    alone = subspace.uncontrollable.T @ design.A @ subspace.uncontrollable
    return np.linalg.eigvals(alone).astype(complex)


def matching_places(
    wanted: Complex[np.ndarray, " w"], among: Complex[np.ndarray, " s"]
) -> Int[np.ndarray, " w"]:
    """Where values stand among others, each place once; of a conjugate pair both or none."""
    free = np.ones(len(among), dtype=bool)
    places = []

    def take(z: complex) -> int:
        away = np.where(free, np.abs(among - z), np.inf)
        place = int(np.argmin(away))
        free[place] = False
        places.append(place)
        return place

    for z in wanted[np.imag(wanted) >= 0]:
        place = take(z)
        if z.imag > 0:
            take(np.conj(among[place]))
    return np.array(places, dtype=int)
