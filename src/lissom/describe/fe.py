"""A link from a finite-element program: its file, its interfaces, its modes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator

from ..files.array_file import ArrayFileError
from ..files.description_files import library_folder
from ..files.fe_file import FeNodes, UnknownNodeError, fe_nodes
from ..files.names import check_name
from ..files.part import Finding, Part, about, finding
from ..files.quantity import Whole, error, kind_of
from .joint import ZERO, Angles
from .reduction_names import AnyInterfaceMethod

INNER, TIP = "inner", "tip"
# A file that is none, or whose name is too long, or in a home that nobody has.
UNREADABLE = (ValueError, OSError, RuntimeError)


def _words(failure: Exception) -> str:
    """What is wrong with a file, without its name."""
    reason = failure.strerror if isinstance(failure, OSError) else None
    return f"cannot be opened: {reason}" if reason else str(failure)


def _check_interface(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise error(
            f"must be a mapping of node numbers such as {{inner: 1, tip: 57}}, not {kind_of(value)}"
        )
    ends = (INNER, TIP)
    missing = [name for name in ends if name not in value]
    if missing:
        raise error(
            f"{' and '.join(missing)} missing: a link has an inner node, at its joint, and a tip"
        )
    for name, label in value.items():
        if name not in ends:
            check_name(name)
        if isinstance(label, bool) or not isinstance(label, int):
            raise error(
                f"{name} is {label}: must be the number of a node. Faces become nodes in `lissom reduce`, "
                "whose result needs no interface here"
            )
    # Nodes are counted from the joint to the tip, whatever the order in the file.
    between = [str(name) for name in value if name not in ends]
    names = (INNER, *between, TIP)
    return {name: value[name] for name in names}


Interface = Annotated[dict[str, int] | None, BeforeValidator(_check_interface)]


class FE(Part):
    """A flexible link from finite elements: a file of `lissom reduce`, or K, M and nodes with an interface."""

    foreign_keys: ClassVar[dict[str, str]] = {
        "segments": "belongs to a beam: a link of finite elements is one body. Cut the mesh and join the parts by "
        "fixed joints, or describe the link as a beam"
    }

    file: str
    interface: Annotated[Interface, about("node numbers: {inner: 1, tip: 57}")] = None
    rpy: Annotated[Angles, about("axes of the finite elements in the link frame")] = (
        ZERO
    )
    modes: Annotated[
        Annotated[int, Whole(0, 2000)] | None,
        about("elastic modes kept; default: all of the file, 18 of matrices"),
    ] = None
    method: Annotated[AnyInterfaceMethod, about("how matrices are reduced")] = (
        "craig-bampton"
    )

    @property
    def path(self) -> Path:
        """Path of the file: as written, or in the library."""
        written = Path(self.file).expanduser()
        if written.is_absolute() or written.is_file():
            return written
        known = library_folder() / written
        return known if known.is_file() else written

    @property
    def nodes(self) -> FeNodes:
        """Interface nodes, in the axes of the finite elements."""
        return fe_nodes(self.path, self.interface)

    @property
    def has_second_order(self) -> bool:
        """Whether the file holds second-order displacements; False where it cannot be read."""
        try:
            return self.nodes.second_order
        except UNREADABLE:
            return False

    def findings(self) -> list[Finding]:
        """Errors in the file, or in the interface that names its nodes."""
        try:
            nodes = self.nodes
        except UnknownNodeError as failure:
            return [finding(str(failure), "interface")]
        except ArrayFileError as failure:
            return [finding(failure.words, "file", value=self.file)]
        except UNREADABLE as failure:
            return [finding(_words(failure), "file", value=self.file)]
        most = nodes.modes
        if self.modes is not None and most is not None and self.modes > most:
            message = f"the file holds {most} elastic modes: reduce it again with more of them"
            return [finding(message, "modes", value=self.modes)]
        if not np.any(nodes.points[-1]):
            message = "inner node and tip are at the same place"
            return [finding(message, "interface")]
        return []
