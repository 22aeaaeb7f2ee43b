"""Robots from URDF and MJCF files, with links that are made flexible."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..files.description_files import build
from ..files.document import Document
from ..files.errors import DescriptionError, Problem, refuse_idle, refused, refused_file
from ..files.summary import Result, Summary, plain
from ..files.triangles import write_stl
from ..imports.mjcf import robot_from_mjcf
from ..imports.urdf import UrdfChoices, UrdfRobot, robot_from_urdf
from ..imports.urdf_visuals import MissingMesh, link_surface
from ..parameters import (
    BeamMass,
    Branches,
    FlexibleLinks,
    HeldJoints,
    MergeFixed,
    Meshes,
    RobotToImport,
    Tips,
)
from .flexible_links import (
    ESTIMATE,
    FlexibleLink,
    beam_from_text,
    with_flexible_links,
)
from .robot import Robot

MJCF = (".xml", ".mjcf")
BRANCHES = ("weld", "drop")

Surfaces = dict[str, Any]  # triangles by link


@dataclass(repr=False)
class ImportedRobot(Result):
    """A robot of a URDF or MJCF file, notes about its links, and their shapes for pictures."""

    file: Path
    data: Mapping[str, Any]  # of the robot, without shapes
    flexible: tuple[FlexibleLink, ...]
    remarks: tuple[str, ...]  # of the reader of the file
    shapes: "LinkShapes"

    @cached_property
    def robot(self) -> Robot:
        """The robot, without its shapes."""
        return build(Robot, Document(str(self.file), self.data, {}))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about flexible links, joints and missing shapes, as far as shapes were read."""
        return (*map(str, self.flexible), *self.remarks, *self.shapes.missing)

    def to_dict(self) -> dict[str, Any]:
        """Names of links and joints, and masses of flexible links [kg], as plain data."""
        return plain(
            {
                "robot": self.robot.name,
                "joints": self.robot.joint_names,
                "links": self.robot.link_names,
                "flexible": [_data_of(link) for link in self.flexible],
                "notes": self.notes,
            }
        )

    def summary(self) -> Summary:
        """Links, joints, and one line for each remark."""
        joints = ", ".join(self.robot.joint_names)
        title = (
            f"{self.robot.name}: {len(self.robot.link_names)} links, joints {joints}"
        )
        return Summary(title, parts=tuple(map(Summary, self.notes)))

    def save(self, path: Any) -> None:
        """Writes the robot file, and the shapes of its links in a folder beside it.

        Raises:
            DescriptionError: the file cannot be written.
        """
        data = _with_pictures(self.data, self.shapes.surfaces, Path(path))
        build(Robot, Document(None, data, {})).save(path)


@dataclass
class LinkShapes:
    """Shapes of links, read from their meshes at their first use."""

    found: "UrdfRobot"
    folder: Path
    file: str
    wanted: bool | None  # None: those whose meshes exist
    missing: tuple[str, ...] = ()  # one line about those that are missing

    @cached_property
    def surfaces(self) -> Surfaces:
        """Triangles by the names of links, read at their first use.

        Raises:
            DescriptionError: a mesh is missing, and meshes are required.
        """
        surfaces: Surfaces = {}
        if self.wanted is False:
            return surfaces
        problems = []
        for link, visuals in self.found.visuals.items():
            try:
                surfaces[link] = link_surface(visuals, self.folder)
            except MissingMesh as failure:
                problems.append(f"{link}: {failure}")
        if problems and self.wanted:
            named = [Problem(self.file, None, "visual", None, one) for one in problems]
            raise DescriptionError(named)
        if problems:
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            self.missing = (f"pictures are without the mesh of {problems[0]}{more}",)
        return surfaces


def import_robot(
    file: RobotToImport,
    *,
    tip: Tips = (),
    flexible: FlexibleLinks = (),
    beam_mass: BeamMass = False,
    branches: Branches = "weld",
    hold: HeldJoints = None,
    merge_fixed: MergeFixed = False,
    meshes: Meshes = None,
) -> ImportedRobot:
    """A robot of a URDF or MJCF file; links that are made flexible keep their mass, centre and inertia.

    Args:
        file: URDF, or MJCF (`.xml`, `.mjcf`).
        tip: last link of the chain, or of each branch; needed where the file has several ends.
        flexible: texts such as `upper_arm_link=tube:100mm:90mm:aluminium`, or beams by the names of their links.
        beam_mass: flexible links have the mass of their beam alone.
        branches: what becomes of links beside the chain: `weld` lets them ride along, `drop` leaves them out.
        hold: joints of the file that do not move, and where they stand [rad or m].
        merge_fixed: links on fixed joints become part of what carries them.
        meshes: shapes for pictures: True refuses a mesh that is missing, None goes on without it, False reads none.

    Returns:
        `ImportedRobot`: `robot`, `notes`, and `save(path)`, which writes a robot file.

    Raises:
        DescriptionError: the file cannot be read, or a link cannot be made flexible.

    Example:
        >>> import os, tempfile
        >>> import lissom as ls
        >>> file = os.path.join(tempfile.mkdtemp(), "arm.urdf")
        >>> text = '<robot name="arm"><link name="base"/><link name="boom"><inertial><mass value="2"/>'
        >>> text += '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
        >>> text += '<joint name="swing" type="continuous"><parent link="base"/><child link="boom"/></joint></robot>'
        >>> _ = open(file, "w").write(text)
        >>> ls.import_robot(file).robot.joint_names
        ('boom',)
    """
    if branches not in BRANCHES:
        raise refused("branches", branches, f"must be {' or '.join(BRANCHES)}")
    path = Path(file)
    if not path.is_file():
        raise refused_file(str(file), "no such file")
    if not flexible:
        why = "no link is made flexible: name one (--flexible), or leave this out"
        refuse_idle(import_robot, why, beam_mass=beam_mass)
    if path.suffix.lower() in MJCF:
        why = "is for URDF files: an MJCF file is read by Pinocchio, without shapes"
        refuse_idle(
            import_robot,
            why,
            branches=branches,
            merge_fixed=merge_fixed,
            meshes=meshes or None,
        )
    is_mapping = isinstance(flexible, Mapping)
    beams = dict(flexible if is_mapping else map(beam_from_text, flexible))
    found = _described(
        path,
        (tip,) if isinstance(tip, str) else tuple(tip),
        branches,
        hold,
        merge_fixed,
    )
    shapes = LinkShapes(found, path.parent, str(file), meshes)
    # Sections are estimated from the shapes.
    estimated = any(ESTIMATE in beam for beam in beams.values())
    surfaces = shapes.surfaces if meshes or estimated else {}
    data, made = with_flexible_links(found.data, beams, not beam_mass, surfaces)
    imported = ImportedRobot(path, data, tuple(made), tuple(found.notes), shapes)
    # Errors of the robot are reported now.
    imported.robot  # noqa: B018
    return imported


def _described(
    path: Path,
    tips: tuple[str, ...],
    branches: str,
    hold: Mapping[str, float] | None,
    merge_fixed: bool,
) -> "UrdfRobot":
    """The robot of the file, before links are made flexible."""
    held = dict(hold or {})
    if path.suffix.lower() in MJCF:
        return UrdfRobot(robot_from_mjcf(path, tips, held), [], {})
    return robot_from_urdf(path, UrdfChoices(tips, branches, held, merge_fixed))


def _data_of(link: FlexibleLink) -> dict[str, Any]:
    """A flexible link as plain data: its masses [kg], and the node that carries the rest."""
    return {
        "name": link.name,
        "mass": link.mass,
        "beam_mass": link.beam_mass,
        "beam_share": link.share,
        "rest_mass": link.rest_mass,
        "node": link.node,
    }


def _with_pictures(
    data: Mapping[str, Any], surfaces: Surfaces, output: Path
) -> dict[str, Any]:
    """The data of a robot with its surfaces in a folder beside its file."""
    folder = output.with_suffix("").with_name(f"{output.stem}-meshes")
    links = []
    for link in data["links"]:
        surface = surfaces.get(link["name"])
        if surface is not None and len(surface):
            folder.mkdir(exist_ok=True)
            path = write_stl(surface, folder / f"{link['name']}.stl")
            link = {**link, "visual": {"file": str(path.resolve())}}
        links.append(link)
    return {**data, "links": links}
