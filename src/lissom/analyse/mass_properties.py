"""Mass, centre of mass and inertia of links and of the whole robot, in the world."""

from typing import Any, NamedTuple

import numpy as np

from jaxnative.compiled import compiled_quickly

from ..algebra.so3 import skew
from ..solve.model import Model
from ..solve.state import State
from ..types import Float


class MassProperties(NamedTuple):
    """Mass, centre and inertia of one body, or of several that move as one, in world axes."""

    mass: float  # [kg]
    centre: Float[np.ndarray, "3"]  # [m]
    inertia: Float[np.ndarray, "3 3"]  # about the centre [kg m^2]

    @property
    def principal(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3 3"]]:
        """Principal moments, smallest first [kg m^2], and their axes as columns, right-handed."""
        moments, axes = np.linalg.eigh(self.inertia)
        if np.linalg.det(axes) < 0:
            axes = axes * np.array([1.0, 1.0, -1.0])
        return moments, axes


def mass_properties(model: Model, state: State) -> tuple[MassProperties, ...]:
    """Of every link, its lumped masses and the payload on it included.

    The centre is that of the bent link. Its inertia is that of the link as it was made, turned with its frame: bending
    changes it in second order.
    """
    f = model.formulation_at(state)
    R, p, q = (np.asarray(part) for part in _places(f, state.x))
    M = np.asarray(f.links.mass)
    bodies = [_of_body(M[i], R[i], p[i], q[i]) for i in range(len(M))]
    links = []
    for link in range(len(model.robot.links)):
        own = [b for b, of in zip(bodies, model.body_links, strict=True) if of == link]
        links.append(combined(own))
    return tuple(links)


def combined(parts: Any) -> MassProperties:
    """Bodies as one, by Steiner's theorem; without any mass, a point where the first one stands."""
    mass = sum(part.mass for part in parts)
    if mass <= 0.0:
        return MassProperties(0.0, parts[0].centre, np.zeros((3, 3)))
    centre = sum(part.mass * part.centre for part in parts) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = skew(part.centre - centre)
        inertia = inertia + part.inertia + part.mass * arm.T @ arm
    return MassProperties(mass, np.asarray(centre), np.asarray(inertia))


def _of_body(M: np.ndarray, R, p, q) -> MassProperties:
    """M over (rigid twist, body coordinates), about the origin of the body's frame."""
    mass = float(M[0, 0])
    if mass <= 0.0:
        return MassProperties(0.0, p, np.zeros((3, 3)))
    # First moments m X stand in the coupling of v and w.
    undeformed = np.array([M[1, 5], M[2, 3], M[0, 4]]) / mass
    centre = undeformed + M[:3, 6:] @ q / mass
    arm = np.asarray(skew(undeformed))
    about_centre = M[3:6, 3:6] - mass * arm.T @ arm
    return MassProperties(mass, p + R @ centre, R @ about_centre @ R.T)


@compiled_quickly
def _places(f: Any, x: Any) -> tuple[Any, Any, Any]:
    """Rotation, origin and coordinates of every body."""
    place = f.configuration(x)
    return place.R, place.p, place.q
