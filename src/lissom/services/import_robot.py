"""Robots from URDF and MJCF files, with links that are made flexible."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..describe import DescriptionError, Problem, Robot
from ..describe.flexible_links import ESTIMATE, beam_from_text, with_flexible_links
from ..files.description_files import build
from ..files.document import Document
from ..runs.output_files import check_outputs
from .frozen_model import FrozenModel

if TYPE_CHECKING:
    from ..imports.urdf import UrdfRobot

ROBOT_FILE = (".yaml", ".yml")
MJCF = (".xml", ".mjcf")


class ImportRequest(FrozenModel):
    """A URDF or MJCF file, the chain in it, and the links that bend."""

    file: str
    tip: tuple[str, ...] = ()  # last links, of the chain or of each branch
    flexible: tuple[str, ...] = ()  # upper_arm_link=tube:100mm:90mm:aluminium
    beam_mass: bool = False  # flexible links have the mass of their beam alone
    branches: Literal["weld", "drop"] = "weld"  # links beside the chain
    hold: dict[str, float] = {}  # joints that do not move, and where they stand
    merge_fixed: bool = False  # links on fixed joints become part of what carries them
    # Shapes for pictures: True refuses a mesh that is missing, None goes on without it, False reads none.
    meshes: bool | None = None
    output: str | None = None  # robot file


class ImportedLink(FrozenModel):
    """What became of a link that was made flexible."""

    name: str
    mass: float  # [kg]
    beam_mass: float
    beam_share: float  # of the mass that section and material would have
    rest_mass: float
    node: int  # that carries the rest


class ImportResult(FrozenModel):
    """A robot."""

    robot: str
    joints: tuple[str, ...]
    links: tuple[str, ...]
    flexible: tuple[ImportedLink, ...]
    notes: tuple[str, ...]
    file: str | None


def import_robot(request: ImportRequest) -> ImportResult:
    """A robot file of a URDF or MJCF file.

    Raises:
        DescriptionError: the file cannot be read, or a link cannot be made flexible.
    """
    check_outputs({"output": (request.output, ROBOT_FILE)})
    path = Path(request.file)
    if not path.is_file():
        raise DescriptionError([Problem(request.file, None, "", None, "no such file")])
    beams = dict(beam_from_text(text) for text in request.flexible)
    found = _described(path, request)
    surfaces, missing = _surfaces(found, request)
    keeps_inertia = not request.beam_mass
    data, made = with_flexible_links(found.data, beams, keeps_inertia, surfaces)
    robot = build(Robot, Document(request.file, data, {}))
    if request.output is not None:
        robot = _with_pictures(data, surfaces, Path(request.output))
        robot.save(request.output)
    return ImportResult(
        robot=robot.name,
        joints=robot.joint_names,
        links=robot.link_names,
        flexible=tuple(
            ImportedLink(
                name=link.name,
                mass=link.mass,
                beam_mass=link.beam_mass,
                beam_share=link.share,
                rest_mass=link.rest_mass,
                node=link.node,
            )
            for link in made
        ),
        notes=(*map(str, made), *found.notes, *missing),
        file=request.output,
    )


def _described(path: Path, request: ImportRequest) -> "UrdfRobot":
    """What the file gives, before links are made flexible."""
    from ..imports.urdf import UrdfChoices, UrdfRobot, robot_from_urdf

    tips, hold = request.tip, request.hold
    if path.suffix.lower() in MJCF:
        from ..imports.mjcf import robot_from_mjcf

        return UrdfRobot(robot_from_mjcf(path, tips, hold), [], {})
    choices = UrdfChoices(tips, request.branches, hold, request.merge_fixed)
    return robot_from_urdf(path, choices)


Surfaces = dict[str, Any]  # triangles by link


def _surfaces(
    found: "UrdfRobot", request: ImportRequest
) -> tuple[Surfaces, tuple[str, ...]]:
    """Shapes of links by name, and one line about those that are missing.

    Raises:
        DescriptionError: a mesh is missing, and meshes are asked for.
    """
    surfaces: Surfaces = {}
    # Shapes are for the robot file, and for estimates of sections.
    is_wanted = request.output is not None or any(map(_is_estimate, request.flexible))
    if request.meshes is False or not (is_wanted or request.meshes):
        return surfaces, ()
    from ..imports.urdf_visuals import MissingMesh, link_surface

    problems = []
    for link, visuals in found.visuals.items():
        try:
            surfaces[link] = link_surface(visuals, Path(request.file).parent)
        except MissingMesh as failure:
            problems.append(f"{link}: {failure}")
    if not problems:
        return surfaces, ()
    if request.meshes:
        named = [Problem(request.file, None, "visual", None, one) for one in problems]
        raise DescriptionError(named)
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return surfaces, (f"pictures are without the mesh of {problems[0]}{more}",)


def _is_estimate(text: str) -> bool:
    return text.partition("=")[2].startswith(ESTIMATE)


def _with_pictures(data: dict[str, Any], surfaces: Surfaces, output: Path) -> Robot:
    """The robot with its surfaces in a folder beside its file."""
    from ..files.triangles import write_stl

    folder = output.with_suffix("").with_name(f"{output.stem}-meshes")
    links = []
    for link in data["links"]:
        surface = surfaces.get(link["name"])
        if surface is not None and len(surface):
            folder.mkdir(exist_ok=True)
            path = write_stl(surface, folder / f"{link['name']}.stl")
            link = {**link, "visual": {"file": str(path.resolve())}}
        links.append(link)
    return build(Robot, Document(None, {**data, "links": links}, {}))
