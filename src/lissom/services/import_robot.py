"""Robots from URDF files, with links that are made flexible."""

from pathlib import Path

from ..describe import DescriptionError, Problem, Robot
from ..describe.document import Document
from ..describe.files import build
from ..describe.urdf_flexible import beam_from_text, with_flexible_links
from .frozen_model import FrozenModel
from .output_files import check_outputs

ROBOT_FILE = (".yaml", ".yml")


class ImportRequest(FrozenModel):
    """A URDF file, the chain in it, and the links that bend."""

    file: str
    tip: str | None = None  # last link of the chain
    flexible: tuple[str, ...] = ()  # upper_arm_link=tube:100mm:90mm:aluminium
    beam_mass: bool = False  # flexible links have the mass of their beam alone
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
    """A robot file of a URDF file.

    Raises:
        DescriptionError: the file cannot be read, or a link cannot be made flexible.
    """
    # yourdfpy is slow to import.
    from ..describe.urdf import chain_from_urdf

    check_outputs({"output": (request.output, ROBOT_FILE)})
    path = Path(request.file)
    if not path.is_file():
        raise DescriptionError([Problem(request.file, None, "", None, "no such file")])
    beams = dict(beam_from_text(text) for text in request.flexible)
    data = chain_from_urdf(path, request.tip)
    data, made = with_flexible_links(data, beams, not request.beam_mass)
    robot = build(Robot, Document(request.file, data, {}))
    if request.output is not None:
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
        notes=tuple(str(link) for link in made),
        file=request.output,
    )
