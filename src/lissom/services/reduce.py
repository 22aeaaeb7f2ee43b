"""A link from finite elements: read, checked, reduced, reported and drawn."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from ..atomic import write_atomically
from ..bodies.fe.elements import FeError
from ..bodies.fe.importing import LinkImport, reduce_link
from ..bodies.fe.reduce_elements import held_modes
from ..describe import DescriptionError, Problem
from ..files.errors import refused
from ..runs.failures import FailedImport
from ..runs.output_files import PICTURE, check_outputs, written_files
from .frozen_model import FrozenModel

if TYPE_CHECKING:
    from ..show.link_figure import LinkPicture

LINK = (".npz",)
REPORT = (".json",)
DRAWN_MODES = 6

# Where a joint sits: a node number, a face by its name, a point of a face, or a text such as `x=0.5` for a plane.
Place = int | str | tuple[float, ...]


class ReduceRequest(FrozenModel):
    """A file, where the joints sit in it, and how it is reduced: see `lissom.reduce_link`."""

    file: str
    interface: Mapping[str, Place]  # inner, tip, and names of one's own
    modes: int | None = Field(default=None, ge=0)
    frequency: float | None = None  # [Hz]
    method: str = "craig-bampton"
    coupling: str = "rigid"
    material: str | None = None
    mesh_size: float | None = None  # [m]
    units: str = "m-kg-s"
    nodes: str | None = None
    mass_file: str | None = None
    dof_order: str = "by-node"
    mirror: bool = False
    mass: float | None = None  # [kg]
    force: bool = False
    trust_scripts: bool = False  # run .geo files
    max_wall: float | None = None  # [s] that gmsh may take
    link: str | None = None  # file for the reduced link
    report: str | None = None
    picture: str | None = None


class ReduceResult(FrozenModel):
    """The report of an import, and the files that were written."""

    report: dict[str, Any]
    text: str  # the report for the eye
    files: dict[str, str]


def reduce(
    request: ReduceRequest, watch: Callable[[str, float], None] | None = None
) -> ReduceResult:
    """Imports a link; writes link, report and page as far as asked for.

    Args:
        request: the file and how it is reduced.
        watch: called with what is going on and the share of that part that is done.

    Raises:
        DescriptionError: the request or the file is wrong.
        FailedImport: a check failed; the report and the page are written, the link is not.
    """
    if not Path(request.file).is_file():
        raise refused("file", request.file, "no such file")
    check_outputs(
        {
            "link": (request.link, LINK),
            "report": (request.report, REPORT),
            "picture": (request.picture, PICTURE),
        }
    )
    made = _imported(request, watch)
    report = made.report.to_dict()
    files = _write_files(made, report, request)
    result = ReduceResult(report=report, text=str(made.report), files=files)
    if not made.passed:
        raise FailedImport(_failure(report), result)
    return result


def _imported(
    request: ReduceRequest, watch: Callable[[str, float], None] | None
) -> LinkImport:
    own_fields = {"file", "interface", "link", "report", "picture"}
    how = request.model_dump(exclude=own_fields)
    try:
        return reduce_link(request.file, request.interface, **how, progress=watch)
    except FeError as failure:
        # The text already says file and field, as far as there are any.
        raise DescriptionError([Problem(None, None, "", None, str(failure))]) from None


def _write_files(
    made: LinkImport, report: dict[str, Any], request: ReduceRequest
) -> dict[str, str]:
    """What was written: the report always, the page if there is geometry, the link if every check passed."""
    picture = request.picture if made.coupled is not None else None
    link = request.link if made.link is not None and made.passed else None
    if request.report is not None:
        text = json.dumps(report, indent=2, ensure_ascii=False)
        write_atomically(request.report, lambda file: file.write(text.encode()))
    if picture is not None:
        from ..show.link_figure import plot_link  # slow to import

        plot_link(report, link_picture(made), picture)
    if link is not None:
        write_atomically(link, lambda file: made.save(file))
    return written_files(report=request.report, plot=picture, link=link)


def _failure(report: dict[str, Any]) -> str:
    lines = report["lines"]
    names = [line["name"] for line in lines if line["verdict"] == "fail"]
    return f"{report['source']}: failed: {', '.join(names)}"


def link_picture(made: LinkImport) -> "LinkPicture":
    """What there is to draw of an import."""
    from ..show.link_figure import LinkPicture

    assert made.coupled is not None and made.interface is not None
    base = made.coupled.base
    nodes = np.arange(len(base.points))
    triangles = np.zeros((0, 3), dtype=int)
    if base.surface is not None:
        # Inside a solid there is nothing to see: only nodes of the surface are drawn, numbered among themselves.
        nodes = np.unique(base.surface)
        triangles = np.searchsorted(nodes, base.surface)
    faces, interface = {}, {}
    for name, node in zip(made.interface.names, made.interface.nodes, strict=True):
        interface[name] = made.coupled.fe.points[node]
        faces[name] = _points_of_face(made, node)
    modes, hz = _clamped_modes(made, nodes)
    return LinkPicture(base.points[nodes], triangles, faces, interface, modes, hz)


def _points_of_face(made: LinkImport, node: int) -> np.ndarray:
    """Points that move with an interface node: those of its face, or itself."""
    coupled = made.coupled
    assert coupled is not None
    if node not in coupled.added:
        return coupled.fe.points[[node]]
    # `expand` gives the displacements of the mesh by those of the coupled model: a face has entries in the columns of
    # its interface node.
    columns = coupled.fe.place[node]
    rows = np.unique(coupled.expand[:, columns].nonzero()[0])
    on_face = np.isin(coupled.base.place, rows).any(axis=1)
    return coupled.base.points[on_face]


def _clamped_modes(
    made: LinkImport, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Shapes (mode, node, 3) with the inner end held, and their frequencies [Hz]."""
    if made.result is None or made.coupled is None:
        no_shapes = np.zeros((0, len(nodes), 3))
        return no_shapes, np.zeros(0)
    modes = made.result.modes
    omega2, v = held_modes(modes, made.coupled.fe.M)
    coordinates = modes.clamped @ v[:, :DRAWN_MODES]
    displacement = np.asarray(made.coupled.expand @ coordinates)
    shapes = made.coupled.base.at_nodes(displacement)[nodes, :3]
    hz = np.sqrt(omega2) / (2 * np.pi)
    return np.moveaxis(shapes, -1, 0), hz
