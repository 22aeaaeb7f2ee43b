"""A link from a finite-element program: its file, its interfaces, its modes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator

from .fe_file import FeNodes, fe_nodes
from .files import library_folder
from .joint import Vector
from .part import Finding, Part
from .quantity import Whole, error, kind_of, vector

INNER, TIP = "inner", "tip"


def _check_interface(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise error(
            f"must be a mapping of node numbers such as {{inner: 1, tip: 57}}, not {kind_of(value)}"
        )
    missing = [name for name in (INNER, TIP) if name not in value]
    if missing:
        raise error(
            f"{' and '.join(missing)} missing: a link has an inner node, at its joint, and a tip"
        )
    wrong = [
        name
        for name, label in value.items()
        if isinstance(label, bool) or not isinstance(label, int)
    ]
    if wrong:
        raise error(
            f"{wrong[0]} is {value[wrong[0]]}: must be the number of a node. Faces become nodes in `lissom reduce`, "
            "whose result needs no interface here"
        )
    names = [INNER, *(str(name) for name in value if name not in (INNER, TIP)), TIP]
    return {name: value[name] for name in names}


class FE(Part):
    """A flexible link from finite elements: a file of `lissom reduce`, or K, M and nodes with an interface."""

    file: str
    interface: Annotated[dict[str, int] | None, BeforeValidator(_check_interface)] = (
        None  # node numbers
    )
    rpy: Annotated[Vector, vector("rad")] = (
        0.0,
        0.0,
        0.0,
    )  # axes of the finite elements in the link frame
    modes: Annotated[int, Whole(0, 2000)] | None = (
        None  # elastic modes kept; default: all of the file, 18 of matrices
    )
    method: Literal["craig-bampton", "guyan", "rubin"] = (
        "craig-bampton"  # of reducing matrices
    )

    @property
    def path(self) -> Path:
        """Where the file is: as written, or in the library."""
        written = Path(self.file).expanduser()
        known = library_folder() / written
        return (
            known
            if not written.is_absolute() and not written.is_file() and known.is_file()
            else written
        )

    @property
    def nodes(self) -> FeNodes:
        """Interface nodes, in the axes of the finite elements."""
        return fe_nodes(self.path, self.interface)

    def findings(self) -> list[Finding]:
        """What is wrong with the file, or with the interface in it."""
        try:
            nodes = self.nodes
        except ValueError as failure:
            at = (
                "interface"
                if self.interface is not None
                and "node" in str(failure).partition(" ")[0]
                else "file"
            )
            return [Finding((at,), self.file if at == "file" else None, str(failure))]
        if (
            self.modes is not None
            and nodes.modes is not None
            and self.modes > nodes.modes
        ):
            message = f"the file holds {nodes.modes} elastic modes: reduce it again with more of them"
            return [Finding(("modes",), self.modes, message)]
        if not np.any(nodes.points[-1]):
            return [
                Finding(
                    ("interface",), None, "inner node and tip are at the same place"
                )
            ]
        return []


def with_folder(data: Any, folder: Path) -> Any:
    """Robot data whose relative finite-element files are looked for beside the robot file; library files stay names."""
    links = data.get("links") if isinstance(data, Mapping) else None
    if not isinstance(links, list) or folder == library_folder():
        return data
    return {**data, "links": [_placed(link, folder) for link in links]}


def _placed(link: Any, folder: Path) -> Any:
    fe = link.get("fe") if isinstance(link, Mapping) else None
    name = fe.get("file") if isinstance(fe, Mapping) else None
    if (
        not isinstance(fe, Mapping)
        or not isinstance(name, str)
        or Path(name).expanduser().is_absolute()
    ):
        return link
    beside = (folder / name).resolve()
    if not beside.is_file() and (library_folder() / name).is_file():
        return link
    return {**link, "fe": {**fe, "file": str(beside)}}
