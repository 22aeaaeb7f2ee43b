"""Doubts about strength: stress beyond yield, and axial loads near buckling, in links of beam elements."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...bodies.body import Body
from ...bodies.section_forces import (
    displacements_of_ends,
    element_force_shape,
    section_rigidities,
)
from ...describe.doubt import Doubt, worst
from ...describe.link import Beam
from ...describe.link_geometry import link_length
from ...describe.once import once_for_each
from ...describe.part import plain
from ...describe.quantity import is_traced
from ...describe.section import section_at
from ...solve.model import Model
from .bending import when
from .deformation import BentBody
from .fibres import fibres

# An axial load changes the stiffness in bending by its share of the buckling load: without stiffening, the model does
# not see it.
AXIAL_LOAD = 0.2
BUCKLING = 1.0
# Effective length over length: clamped and free, as the links of an arm are at worst, or pinned at both ends.
OPEN, CLOSED = 2.0, 1.0


class LoadedBeam(NamedTuple):
    """A body of beam elements with the forces in its sections over time."""

    bent: BentBody
    beam: Beam
    # N, Vy, Vz, T, My, Mz at both ends of each element, for unit displacements of its own two nodes.
    unit_forces: Float[np.ndarray, "e 2 6 12"]

    @property
    def forces(self) -> Float[np.ndarray, "e 2 6 t"]:
        """The forces over time."""
        return self.unit_forces @ self._displacement[:, None]

    @property
    def axial(self) -> Float[np.ndarray, "e t"]:
        """Normal forces over time, tension positive; the mean over an element is free of its own weight's slope."""
        mean = self.unit_forces[:, :, 0].mean(axis=1)
        return (mean[:, None] @ self._displacement)[:, 0]

    @property
    def _displacement(self) -> Float[np.ndarray, "e 12 t"]:
        nodal = np.moveaxis(np.asarray(self.bent.strained), 0, -1)
        return np.asarray(displacements_of_ends(self.bent.body, nodal))


def strength_doubts(
    model: Model, bodies: list[BentBody], t: np.ndarray | None = None
) -> Iterator[Doubt]:
    """Links that yield or come near to buckling: the worst of each, once."""
    beams = list(loaded_beams(model, bodies))
    yield from worst(_yielding(beams, t))
    yield from worst(_axial_loads(model, beams, t))


def loaded_beams(model: Model, bodies: list[BentBody]) -> Iterator[LoadedBeam]:
    """Every flexible link of beam elements, with the forces in it."""
    for bent in bodies:
        beam = model.robot_in_bodies.links[bent.number].beam
        if beam is None or bent.body.element_stiffness is None:
            continue
        if is_traced(plain(beam), bent.body.element_stiffness):
            continue
        yield LoadedBeam(bent, beam, _unit_forces(bent.body))


@once_for_each
def _unit_forces(body: Body) -> Float[np.ndarray, "e 2 6 12"]:
    return np.asarray(element_force_shape(body))


# --- yield ---------------------------------------------------------------------------------------------------------


def _yielding(beams: list[LoadedBeam], t: np.ndarray | None) -> Iterator[Doubt]:
    for loaded in beams:
        limit = loaded.beam.material.yield_stress
        if limit is None:
            continue
        stress = largest_stress(loaded)
        largest = float(stress.max())
        if largest <= limit:
            continue
        message = (
            f"the stress in its outer fibres reaches {largest / 1e6:.4g} MPa{when(stress, t)}, "
            f"beyond the yield stress of {limit / 1e6:.4g} MPa"
        )
        remedy = "The material would stay bent, which no formulation here computes: use a larger section or less load"
        about = f"link {loaded.bent.link}"
        yield Doubt("yield", about, message, largest, limit, remedy)


def largest_stress(loaded: LoadedBeam) -> Float[np.ndarray, " t"]:
    r"""Largest equivalent stress in a beam over time, after von Mises [Pa].

    $$ \sigma_v = \sqrt{\sigma^2 + 3 \tau^2} $$
    """
    material = loaded.beam.material
    stress = np.zeros(len(loaded.bent.displacement))
    for normal, shear in _fibre_strains(loaded):
        sigma = material.E * normal
        tau = material.shear_modulus * shear
        stress = np.maximum(stress, np.sqrt(sigma**2 + 3 * tau**2))
    return stress


def largest_strain(loaded: LoadedBeam) -> Float[np.ndarray, " t"]:
    """Largest normal strain in the outer fibres of a beam over time."""
    strain = np.zeros(len(loaded.bent.displacement))
    for normal, _ in _fibre_strains(loaded):
        strain = np.maximum(strain, normal)
    return strain


def _fibre_strains(loaded: LoadedBeam) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Normal and shear strain over time in the outer fibres, at both ends of each element."""
    rigidity = np.asarray(section_rigidities(loaded.bent.body))
    strains = loaded.forces[:, :, [0, 3, 4, 5]] / rigidity[:, None, :, None]
    for element, ends in enumerate(_places_along(loaded)):
        for end, s in enumerate(ends):
            outer = fibres(section_at(loaded.beam.section, s), loaded.beam.material.nu)
            axial, twist, curvature_y, curvature_z = np.abs(strains[element, end])
            across_y = outer.y * curvature_z
            across_z = outer.z * curvature_y
            if outer.is_round:
                bending = np.hypot(across_y, across_z)
            else:
                bending = across_y + across_z
            yield axial + bending, outer.shear * twist


def _places_along(loaded: LoadedBeam) -> list[tuple[float, float]]:
    """Both ends of each element as parts of the whole path: 0 at the joint, 1 at the tip."""
    points = np.asarray(loaded.bent.body.points, dtype=float)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    return [(along[a], along[b]) for a, b in loaded.bent.body.elements]


# --- buckling ------------------------------------------------------------------------------------------------------


def _axial_loads(
    model: Model, beams: list[LoadedBeam], t: np.ndarray | None
) -> Iterator[Doubt]:
    stiffened = model.choices.stiffening == "geometric"
    for loaded in beams:
        critical = euler_load(model, loaded)
        axial = loaded.axial
        # Stiffening accounts for axial loads, until they buckle the link.
        load = -axial if stiffened else np.abs(axial)
        limit = BUCKLING if stiffened else AXIAL_LOAD
        over_time = load.max(axis=0)
        share = float(over_time.max()) / critical
        if share <= limit:
            continue
        message = (
            f"its axial load reaches {share * critical:.3g} N{when(over_time, t)}, {100 * share:.0f} % of the Euler"
            f" load of {critical:.3g} N; without doubt up to {100 * limit:g} %"
        )
        remedy = "Use stiffening: geometric, which lets axial loads stiffen and soften"
        if stiffened:
            remedy = "The link buckles: use a larger section or less load"
        about = f"link {loaded.bent.link}"
        yield Doubt("axial load", about, message, share, limit, remedy)


def euler_load(model: Model, loaded: LoadedBeam) -> float:
    r"""Load at which a link buckles, [Gere2004] sections 11.3 and 11.4, with its weakest section all along [N].

    $$ P = \frac{\pi^2 E I}{(k L)^2}, \qquad k = 2 \text{ clamped and free}, \quad k = 1 \text{ pinned} $$
    """
    length = link_length(model.robot.links, model.body_links[loaded.bent.number])
    assert length is not None
    rigidity = np.asarray(section_rigidities(loaded.bent.body))
    EI = float(rigidity[:, 2:].min())
    k = CLOSED if model.closed else OPEN
    return np.pi**2 * EI / (k * length) ** 2
