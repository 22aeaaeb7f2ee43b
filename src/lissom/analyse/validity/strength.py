"""Warnings about strength: stress beyond yield, and axial loads near buckling, in links of beam elements."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...bodies.body import Body
from ...bodies.section_forces import section_force_shape, section_rigidities
from ...describe.link import Beam
from ...describe.link_geometry import link_length
from ...describe.section import section_at
from ...files.part import plain
from ...files.quantity import is_jax_value
from ...once import once_for_each
from ...solve.model import Model
from ...types import Float
from .bending import when
from .deformation import BentBody
from .fibres import FibresAlong, fibres
from .validity_warning import ValidityWarning, worst_warning

# An axial load changes the stiffness in bending by its share of the buckling load: without stiffening, the model does
# not see it.
AXIAL_LOAD = 0.2
BUCKLING = 1.0
# Effective length over length: clamped and free, as the links of an arm are at worst, or pinned at both ends.
OPEN, CLOSED = 2.0, 1.0
STRAINING = [0, 3, 4, 5]  # N, T, My, Mz among the forces in a section


class BeamBody(NamedTuple):
    """Strength of a body of beam elements, and strains and forces in its sections per unit of its coordinates."""

    beam: Beam
    # Strain along the axis, twist, and curvatures about y and z, at both ends of each element.
    unit_strains: Float[np.ndarray, "4 e 2 c"]
    # Normal force, the mean over each element: free of the slope that its own weight makes.
    unit_axial: Float[np.ndarray, "e c"]
    euler_load: float  # [N]
    fibres: FibresAlong  # at both ends of each element


class LoadedBeam(NamedTuple):
    """A body of beam elements, with its strains and forces over time."""

    bent: BentBody
    own: BeamBody

    @property
    def strains(self) -> Float[np.ndarray, "4 e 2 t"]:
        """Axial strain, twist rate [rad/m] and curvatures [1/m] at both ends of each element over time."""
        return _over_time(self.own.unit_strains, self.bent.coordinates)

    @property
    def most_strains(self) -> Float[np.ndarray, "4 e 2 1"]:
        """Upper bounds of the strains over time."""
        return _over_time(np.abs(self.own.unit_strains), self._most)

    @property
    def axial(self) -> Float[np.ndarray, "e t"]:
        """Normal forces over time, tension positive."""
        return self.own.unit_axial @ self.bent.coordinates

    @property
    def most_axial(self) -> float:
        """Upper bound of the normal forces over time [N]."""
        return float((np.abs(self.own.unit_axial) @ self._most).max())

    @property
    def _most(self) -> Float[np.ndarray, "c 1"]:
        return self.bent.most[: len(self.bent.coordinates)]


def _over_time(
    unit: Float[np.ndarray, "4 e 2 c"], coordinates: Float[np.ndarray, "c t"]
) -> Float[np.ndarray, "4 e 2 t"]:
    # One product of two matrices is many times as fast as a stack of small ones.
    flat = unit.reshape(-1, unit.shape[-1]) @ coordinates
    return flat.reshape(*unit.shape[:-1], -1)


def strength_warnings(
    model: Model, bodies: list[BentBody], t: np.ndarray | None = None
) -> Iterator[ValidityWarning]:
    """Links that yield or approach buckling: the worst of each, once."""
    beams = list(loaded_beams(model, bodies))
    yield from worst_warning(_yielding(beams, t))
    yield from worst_warning(_axial_loads(model, beams, t))


def loaded_beams(model: Model, bodies: list[BentBody]) -> Iterator[LoadedBeam]:
    """Every flexible link of beam elements, with the forces in it."""
    beams = beam_bodies(model)
    for bent in bodies:
        if bent.number in beams:
            yield LoadedBeam(bent, beams[bent.number])


@once_for_each
def beam_bodies(model: Model) -> dict[int, BeamBody]:
    """The bodies of beam elements by their numbers; those with traced numbers are not looked at."""
    found = {}
    for number, body in enumerate(model.bodies):
        beam = model.robot_in_bodies.links[number].beam
        if beam is None or body.element_stiffness is None:
            continue
        if is_jax_value(plain(beam), body.element_stiffness):
            continue
        forces = np.asarray(section_force_shape(body))
        rigidity = np.asarray(section_rigidities(body))
        critical = euler_load(model, number, rigidity)
        strains = forces[:, :, STRAINING] / rigidity[:, None, :, None]
        found[number] = BeamBody(
            beam=beam,
            unit_strains=np.ascontiguousarray(np.moveaxis(strains, 2, 0)),
            unit_axial=forces[:, :, 0].mean(axis=1),
            euler_load=critical,
            fibres=outermost_fibres(body, beam),
        )
    return found


# --- yield ---------------------------------------------------------------------------------------------------------


def _yielding(
    beams: list[LoadedBeam], t: np.ndarray | None
) -> Iterator[ValidityWarning]:
    for loaded in beams:
        limit = loaded.own.beam.material.yield_stress
        if limit is None:
            continue
        # Most links are far from yielding, as the bound shows without a look at every time.
        if float(_stress(loaded.own, loaded.most_strains).max()) <= limit:
            continue
        stress = largest_stress(loaded)
        largest = float(stress.max())
        if largest <= limit:
            continue
        message = (
            f"the stress in its outer fibres reaches {largest / 1e6:.4g} MPa{when(stress, t)}, "
            f"beyond the yield stress of {limit / 1e6:.4g} MPa"
        )
        remedy = "The material would yield, and no formulation models plasticity: use a larger section or less load"
        about = f"link {loaded.bent.link}"
        yield ValidityWarning("yield", about, message, largest, limit, remedy)


def largest_stress(loaded: LoadedBeam) -> Float[np.ndarray, " t"]:
    r"""Largest equivalent stress in a beam over time, after von Mises [Pa].

    $$ \sigma_v = \sqrt{\sigma^2 + 3 \tau^2} $$
    """
    return _stress(loaded.own, loaded.strains)


def _stress(
    own: BeamBody, strains: Float[np.ndarray, "4 e 2 t"]
) -> Float[np.ndarray, " t"]:
    material = own.beam.material
    normal, shear = _fibre_strains(own, strains)
    sigma = material.E * normal
    tau = material.shear_modulus * shear
    square = sigma**2 + 3 * tau**2
    return np.sqrt(square.max(axis=(0, 1)))


def largest_strain(loaded: LoadedBeam) -> Float[np.ndarray, " t"]:
    """Largest normal strain in the outer fibres of a beam over time."""
    normal, _ = _fibre_strains(loaded.own, loaded.strains)
    return normal.max(axis=(0, 1))


def largest_strain_in(beams: Iterable[LoadedBeam]) -> float:
    """Largest normal strain in the outer fibres of any of these beams, at any time; 0 where there are none."""
    return float(max((largest_strain(beam).max() for beam in beams), default=0.0))


def _fibre_strains(
    own: BeamBody, strains: Float[np.ndarray, "4 e 2 t"]
) -> tuple[Float[np.ndarray, "e 2 t"], Float[np.ndarray, "e 2 t"]]:
    """Normal and shear strain over time in the outer fibres, at both ends of each element."""
    outer = own.fibres
    axial, twist, curvature_y, curvature_z = np.abs(strains)
    across_y = outer.y * curvature_z
    across_z = outer.z * curvature_y
    if outer.is_round:
        # Strains are far from numbers whose squares a double cannot hold: ten times as fast as `np.hypot`.
        bending = np.sqrt(across_y * across_y + across_z * across_z)
    else:
        bending = across_y + across_z
    return axial + bending, outer.shear * twist


def outermost_fibres(body: Body, beam: Beam) -> FibresAlong:
    """The outermost fibres at both ends of each element."""
    places = _places_along(body)
    sections = [section_at(beam.section, s) for s in places.ravel()]
    outer = [fibres(section, beam.material.nu) for section in sections]
    y, z, shear = (
        np.array(values).reshape(*places.shape, 1)
        for values in zip(*[(f.y, f.z, f.shear) for f in outer], strict=True)
    )
    # A section that tapers keeps its kind.
    return FibresAlong(y, z, shear, outer[0].is_round)


def _places_along(body: Body) -> Float[np.ndarray, "e 2"]:
    """Both ends of each element as parts of the whole path: 0 at the joint, 1 at the tip."""
    points = np.asarray(body.points, dtype=float)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    return along[np.array(body.elements)]


# --- buckling ------------------------------------------------------------------------------------------------------


def _axial_loads(
    model: Model, beams: list[LoadedBeam], t: np.ndarray | None
) -> Iterator[ValidityWarning]:
    stiffened = model.choices.stiffening == "geometric"
    for loaded in beams:
        critical = loaded.own.euler_load
        limit = BUCKLING if stiffened else AXIAL_LOAD
        if loaded.most_axial <= limit * critical:
            continue
        axial = loaded.axial
        # Stiffening accounts for axial loads, until they buckle the link.
        load = -axial if stiffened else np.abs(axial)
        over_time = load.max(axis=0)
        share = float(over_time.max()) / critical
        if share <= limit:
            continue
        message = (
            f"its axial load reaches {share * critical:.3g} N{when(over_time, t)}, {100 * share:.0f} % of the Euler"
            f" load of {critical:.3g} N (accepted: {100 * limit:g} %)"
        )
        remedy = "Use stiffening: geometric, which includes stiffening and softening by axial loads"
        if stiffened:
            remedy = "The link buckles: use a larger section or less load"
        about = f"link {loaded.bent.link}"
        yield ValidityWarning("axial load", about, message, share, limit, remedy)


def euler_load(model: Model, number: int, rigidity: Float[np.ndarray, "e 4"]) -> float:
    r"""Load at which a link buckles, [Gere2004] sections 11.3 and 11.4, with its weakest section all along [N].

    $$ P = \frac{\pi^2 E I}{(k L)^2}, \qquad k = 2 \text{ clamped and free}, \quad k = 1 \text{ pinned} $$
    """
    length = link_length(model.robot.links, model.body_links[number])
    assert length is not None
    EI = float(rigidity[:, 2:].min())
    k = CLOSED if model.closed else OPEN
    return np.pi**2 * EI / (k * length) ** 2
