"""`lissom reduce` without its screen: a finite-element file becomes a link, a report and a page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import write_atomically
from ..bodies.fe.elements import FeError
from ..bodies.fe.importing import LinkImport, reduce_link
from ..bodies.fe.interface import INNER, TIP
from ..describe import DescriptionError, Problem
from ..describe.errors import refused
from ..show.link_figure import LinkPicture, plot_link
from .request import PICTURE, check_outputs, quantity


class FailedImport(Exception):
    """A report with failed checks; `answer` is what the command prints."""

    def __init__(self, answer: dict[str, Any]):
        failed = [
            line["name"]
            for line in answer["report"]["lines"]
            if line["verdict"] == "fail"
        ]
        super().__init__(f"{answer['report']['source']}: failed: {', '.join(failed)}")
        self.answer = answer


def reduce(
    file: str,
    interface: Mapping[str, str],
    *,
    output: str | None = None,
    report: str | None = None,
    picture: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Imports a link; writes link, report and page as far as asked for.

    Raises:
        DescriptionError: the request or the file is wrong.
        FailedImport: a check failed; the report and the page are written, the link is not.
    """
    check_outputs(
        {
            "-o": (output, (".npz",)),
            "--report": (report, (".json",)),
            "--plot": (picture, PICTURE),
        }
    )
    try:
        made = reduce_link(file, interface, **options)
    except FeError as failure:
        raise DescriptionError([Problem(None, None, "", None, str(failure))]) from None
    files: dict[str, str] = {}
    if report is not None:
        text = json.dumps(made.report.to_dict(), indent=2, ensure_ascii=False)
        write_atomically(report, lambda f: f.write(text.encode()))
        files["report"] = report
    if picture is not None and made.coupled is not None:
        plot_link(made.report.to_dict(), link_picture(made), picture)
        files["plot"] = picture
    if output is not None and made.link is not None and made.passed:
        write_atomically(output, lambda f: made.save(f))
        files["link"] = output
    answer = {"report": made.report.to_dict(), "text": str(made.report), "files": files}
    if not made.passed:
        raise FailedImport(answer)
    return answer


def link_picture(made: LinkImport) -> LinkPicture:
    """What there is to draw of an import."""
    assert made.coupled is not None and made.interface is not None
    base, fe, joints = made.coupled.base, made.coupled.fe, made.interface
    nodes = (
        np.unique(base.surface)
        if base.surface is not None
        else np.arange(len(base.points))
    )
    triangles = (
        np.zeros((0, 3), dtype=int)
        if base.surface is None
        else np.searchsorted(nodes, base.surface)
    )
    interface = {
        name: fe.points[node]
        for name, node in zip(joints.names, joints.nodes, strict=True)
    }
    faces = {
        name: _tied(made, node)
        for name, node in zip(joints.names, joints.nodes, strict=True)
    }
    modes, hz = _held_modes(made, nodes)
    return LinkPicture(base.points[nodes], triangles, faces, interface, modes, hz)


def _tied(made: LinkImport, node: int) -> np.ndarray:
    """Nodes that move with an interface node: those of its face, or itself."""
    coupled = made.coupled
    assert coupled is not None
    if node not in coupled.added:
        return coupled.fe.points[[node]]
    columns = coupled.fe.place[node]
    rows = np.unique(coupled.expand[:, columns].nonzero()[0])
    tied = np.isin(coupled.base.place, rows).any(axis=1)
    return coupled.base.points[tied]


def _held_modes(made: LinkImport, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if made.result is None or made.coupled is None:
        return np.zeros((0, len(nodes), 3)), np.zeros(0)
    from ..bodies.fe.reduce_elements import held_modes

    modes = made.result.modes
    omega2, v = held_modes(modes, made.coupled.fe.M)
    shapes = made.coupled.base.at_nodes(
        np.asarray(made.coupled.expand @ (modes.clamped @ v[:, :6]))
    )[nodes, :3]
    return np.moveaxis(shapes, -1, 0), np.sqrt(omega2) / (2 * np.pi)


def interfaces(text: str | None, inner: str | None, tip: str | None) -> dict[str, str]:
    """`inner=1,tip=57` and the options --inner and --tip, in one."""
    found: dict[str, str] = {}
    for part in (text or "").split(","):
        name, equals, place = part.partition("=")
        if part.strip() and not equals:
            raise refused(
                "--interface",
                text,
                "must be name=node, such as inner=1,tip=57 (points and planes: --inner, --tip)",
            )
        if part.strip():
            found[name.strip()] = place.strip()
    found |= {
        name: place for name, place in ((INNER, inner), (TIP, tip)) if place is not None
    }
    missing = [name for name in (INNER, TIP) if name not in found]
    if missing:
        raise refused(
            "--interface",
            text,
            f"{' and '.join(missing)} missing: inner is the end at the joint, tip the other",
        )
    return found


def length(option: str, text: str | None) -> float | None:
    """A length such as `5 mm` or `0.005` in metres."""
    return None if text is None else quantity(option, text, "m", above=0.0)


def frequency(option: str, text: str | None) -> float | None:
    """A frequency such as `500` or `500 Hz`."""
    return (
        None
        if text is None
        else quantity(option, text.removesuffix("Hz").strip(), "", above=0.0)
    )


def check_file(file: str) -> None:
    """Refuses a file that is not there."""
    if not Path(file).is_file():
        raise refused("FE_FILE", file, "no such file")
