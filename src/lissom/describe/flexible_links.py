"""Links of a URDF made flexible: a beam to the next joint, and what is left of the link as a rigid body on it.

A URDF gives the mass, the centre and the inertia of a link, and nothing of its stiffness. The beam takes its share of
them, and a rigid remainder on one of its nodes the rest, so that the link as a whole keeps all three.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..files.description_files import build_from
from ..files.errors import nearest, refused
from ..files.part import plain
from ..imports.rigid_part import RigidPart, combined, remainder, scaled
from ..types import Float, Vector3
from .link import Beam, inertia_matrix
from .section import section_values
from .section_estimate import estimated_section

# Dimensions in the order in which they are written: tube:100mm:90mm:aluminium.
DIMENSIONS = {
    "tube": ("outer", "inner"),
    "circle": ("diameter",),
    "rectangle": ("y", "z"),
    "box": ("y", "z", "wall"),
}
ESTIMATE = "estimate"
ELEMENTS = 4
WITH_UNIT = re.compile(r"^([-+\d.]+(?:[eE][-+]?\d+)?)([a-zA-Z]+)$")  # 100mm
HALVINGS = 60  # of the interval in which the beam's share of the mass is looked for
LEAST_SHARE = 1e-3  # of its own mass, below which a beam is no beam any more
OFF_TIP = 1e-6  # [m] by which a path may miss the next joint
ROUNDING = 1e-12  # of the largest moment: a moment that is less below zero is zero


class FlexibleLink(NamedTuple):
    """Masses of a link that was made flexible, and of its beam and its rigid rest."""

    name: str
    mass: float  # of the URDF [kg]
    beam_mass: float  # of the beam [kg]
    share: float  # of the mass that section and material would have
    rest_mass: float  # of the rigid remainder [kg]
    node: int  # that carries it
    estimate: str = ""  # how section and wall were guessed, where they were

    def __str__(self) -> str:
        text = f"{self.name}: {self.mass:.4g} kg, {self.beam_mass:.4g} kg of them in the beam"
        if self.share < 1.0:
            text += f" ({100 * self.share:.3g} % of the density, since its inertia would exceed that of the link)"
        if self.rest_mass:
            text += f", {self.rest_mass:.4g} kg as a rigid body on node {self.node}"
        if self.estimate:
            text += f"; {self.estimate}"
        return text


def beam_from_text(text: str) -> tuple[str, dict[str, Any]]:
    """A link's name and its beam, of a text such as `upper_arm_link=tube:100mm:90mm:aluminium`.

    Raises:
        DescriptionError: it cannot be read.
    """
    name, equals, rest = text.partition("=")
    if not equals or not name:
        raise refused("flexible", text, _form("tube"))
    return name, section_from_text(rest, text)


def section_from_text(rest: str, text: str) -> dict[str, Any]:
    """A beam of a text such as `tube:100mm:90mm:aluminium` or `estimate:aluminium`; `text` is what was written."""
    shape, *sizes = rest.split(":")
    if shape == ESTIMATE:
        if len(sizes) != 1 or not sizes[0]:
            message = "an estimate needs a material: LINK=estimate:aluminium"
            raise refused("flexible", text, message)
        return {ESTIMATE: True, "material": sizes[0], "elements": ELEMENTS}
    if shape not in DIMENSIONS:
        shapes = (*DIMENSIONS, ESTIMATE)
        hint = nearest(shape, shapes)
        raise refused(
            "flexible", text, f"{_form('tube')}, shapes: {', '.join(shapes)}{hint}"
        )
    if len(sizes) != len(DIMENSIONS[shape]) + 1:
        raise refused("flexible", text, _form(shape))
    *lengths, material = sizes
    spaced = [WITH_UNIT.sub(r"\1 \2", size) for size in lengths]
    section = {"shape": shape, **dict(zip(DIMENSIONS[shape], spaced, strict=True))}
    return {"section": section, "material": material, "elements": ELEMENTS}


def _form(shape: str) -> str:
    sizes = ":".join(name.upper() for name in DIMENSIONS[shape])
    return f"must be LINK={shape}:{sizes}:MATERIAL, such as arm_link=tube:100mm:90mm:aluminium"


def with_flexible_links(
    data: Mapping[str, Any],
    beams: Mapping[str, Any],
    keeps_inertia: bool = True,
    surfaces: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], list[FlexibleLink]]:
    """The data of a rigid robot with some of its links flexible, and what became of each.

    Args:
        data: plain data of a robot, as read from a URDF.
        beams: by link: section, material and whatever else a `beam` has, or a text, see `beam_from_text`.
        keeps_inertia: the link keeps its mass, centre and inertia; else it has those of the beam alone.
        surfaces: triangles of links, where they are known: estimates follow them.

    Raises:
        DescriptionError: no such link, a link without length, or a beam heavier than its link.
    """
    names = [link["name"] for link in data["links"]]
    for name in beams:
        if name not in names:
            guess = nearest(name, names) or "."
            message = f"no such link{guess} Links: {', '.join(names)}"
            raise refused("flexible", name, message)
    links, reports = [], []
    for link in data["links"]:
        name = link["name"]
        if name in beams:
            beam, said = _beam_of(link, beams[name], (surfaces or {}).get(name))
            link, report = _flexible(link, beam, keeps_inertia)
            reports.append(report._replace(estimate=said))
        links.append(link)
    return {**data, "links": links}, reports


def _beam_of(
    link: Mapping[str, Any], beam: Any, surface: Any
) -> tuple[Mapping[str, Any], str]:
    """The beam of a link, and how it was estimated where it was."""
    if isinstance(beam, str):
        beam = section_from_text(beam, f"{link['name']}={beam}")
    if not isinstance(beam, Mapping):
        message = "must be a beam ({section, material}) or a text such as tube:100mm:90mm:aluminium"
        raise refused("flexible", link["name"], message)
    if ESTIMATE not in beam:
        return beam, ""
    others = {key: value for key, value in beam.items() if key != ESTIMATE}
    section, said = estimated_section(link, str(beam["material"]), surface)
    return {**others, "section": section}, said


def _flexible(
    link: Mapping[str, Any], beam: Mapping[str, Any], keeps_inertia: bool
) -> tuple[dict[str, Any], FlexibleLink]:
    name, rigid = link["name"], link["rigid"]
    tip = np.asarray(rigid.get("tip", np.zeros(3)), dtype=float)
    if not np.any(tip):
        message = "has no length: its tip, the next joint, lies on its own joint"
        raise refused("flexible", name, message)
    entry = {**beam, "path": _path(beam, tip, name)}
    built = build_from(Beam, entry)
    path = np.asarray(built.path, dtype=float)
    own = beam_part(built, path)
    whole = RigidPart(
        float(rigid["mass"]),
        np.asarray(rigid.get("com", np.zeros(3)), dtype=float),
        np.asarray(inertia_matrix(rigid.get("inertia", np.zeros(3)))),
    )
    made = {key: value for key, value in link.items() if key != "rigid"}
    made["beam"] = entry
    if not keeps_inertia:
        return made, FlexibleLink(name, own.mass, own.mass, 1.0, 0.0, 0)
    if own.mass > whole.mass:
        message = (
            f"its beam weighs {own.mass:.4g} kg, the link of the URDF {whole.mass:.4g} kg: choose a lighter "
            "section, or use the beam's own mass (--beam-mass)"
        )
        raise refused("flexible", name, message)
    share = _largest_share(whole, own)
    if share < LEAST_SHARE:
        message = (
            "its inertia in the URDF is too small for a beam from joint to tip: check it, or use the beam's own "
            "mass (--beam-mass)"
        )
        raise refused("flexible", name, message)
    lighter = scaled(own, share)
    rest = remainder(whole, lighter)
    if share < 1.0:
        density = share * built.material.density
        entry["material"] = {**plain(built.material), "density": density}
    node, mass = _on_nearest_node(rest, path, built.elements)
    made["masses"] = [mass]
    return made, FlexibleLink(name, whole.mass, lighter.mass, share, rest.mass, node)


def _path(beam: Mapping[str, Any], tip: Vector3, name: str) -> list[list[float]]:
    """The path that the beam is given, which ends at the tip of the link, or a straight one."""
    given = beam.get("path")
    if given is None:
        return [[0.0, 0.0, 0.0], tip.tolist()]
    corners = np.asarray(given, dtype=float)
    is_path = corners.ndim == 2 and corners.shape[1] == 3
    if not is_path or np.abs(corners[-1] - tip).max() > OFF_TIP:
        shown = ", ".join(f"{value:.6g}" for value in tip)
        message = f"its path must end at the next joint, [{shown}]"
        raise refused("flexible", name, message)
    return corners.tolist()


def beam_part(beam: Beam, path: Float[np.ndarray, "c 3"]) -> RigidPart:
    """A uniform beam along a polyline as a rigid body: lines with the twist inertia of their section."""
    values = section_values(beam.section, beam.material.nu)
    density = float(beam.material.density)
    area, polar = float(values.area), float(values.polar_moment)
    pieces = []
    for start, end in zip(path, path[1:], strict=False):
        L = float(np.linalg.norm(end - start))
        direction = (end - start) / L
        along = np.outer(direction, direction)
        mass = density * area * L
        inertia = mass * L**2 / 12 * (np.eye(3) - along) + density * polar * L * along
        pieces.append(RigidPart(mass, (start + end) / 2, inertia))
    return combined(pieces)


def _largest_share(whole: RigidPart, own: RigidPart) -> float:
    """Share of the beam's mass, at most 1, up to which the remainder is a body."""
    # Files often give moments that no body has: then the remainder need not be better than the link.
    is_body = _could_be_spread if _could_be_spread(whole) else _has_moments
    if is_body(remainder(whole, own)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = is_body(remainder(whole, scaled(own, middle)))
        low, high = (middle, high) if fits else (low, middle)
    return low


def _has_moments(part: RigidPart) -> bool:
    """True if no moment of inertia is negative."""
    moments = np.linalg.eigvalsh(part.inertia)
    return bool(moments.min() >= -ROUNDING * abs(moments).max())


def _could_be_spread(part: RigidPart) -> bool:
    """True if some distribution of mass in space has these moments of inertia: I1 + I2 >= I3."""
    moments = np.linalg.eigvalsh(part.inertia)
    spread = moments.sum() / 2 - moments
    return bool(spread.min() >= -ROUNDING * abs(moments).max())


def _on_nearest_node(
    rest: RigidPart, path: Float[np.ndarray, "c 3"], elements: int
) -> tuple[int, dict[str, Any]]:
    """Number of the node of the beam that is nearest to the centre of a body, and the lumped mass there."""
    pieces = zip(path, path[1:], strict=False)
    rows = [np.linspace(start, end, elements + 1)[1:] for start, end in pieces]
    places = np.concatenate([path[:1], *rows])
    node = int(np.argmin(np.linalg.norm(places - rest.centre, axis=1)))
    offset = np.asarray(rest.centre - places[node])
    mass = {
        "node": node,
        "mass": rest.mass,
        "inertia": rest.inertia.tolist(),
        "offset": offset.tolist(),
    }
    return node, mass
