"""A robot: its links from the base outwards, gravity, damping, payload, loops."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from .chain_checks import chain_findings
from .document import Document, read_document
from .fe import with_folder
from .files import build, concrete, find_file, write
from .joint import Vector
from .link import Damping, Link, Payload
from .loop import Loop
from .loop_checks import loop_findings
from .outline import Outline, lenient_links, outline
from .part import Finding, Part, plain
from .paths import assigned
from .planar_checks import planar_findings
from .quantity import Quantity, error, vector


def _check_version(value: Any) -> Any:
    if value != 1 or isinstance(value, bool):
        raise error(
            f"this version reads files of schema version 1 (lissom: 1), not {value}"
        )
    return value


Version = Annotated[Literal[1], BeforeValidator(_check_version)]


class Robot(Part):
    """A robot with flexible and rigid links: a chain, a tree, or closed by loops."""

    lissom: Version = 1
    name: str
    gravity: Annotated[Vector, vector("m/s^2")] = (0.0, 0.0, -9.81)  # world frame
    planar: bool = False  # motion in the world's x-y plane: nodes carry (x, y, rz) only
    damping: Damping | None = None  # for every flexible link; a link may override
    links: tuple[Link, ...]
    payload: Payload | None = None
    loops: tuple[Loop, ...] = ()  # closed chains
    independent: tuple[str, ...] | None = (
        None  # joints that are coordinates of a closed chain; default: the best ones
    )
    assembly: dict[str, Annotated[float, Quantity("rad or m")]] | None = (
        None  # joints near here close the loops
    )

    @classmethod
    def load(cls, name_or_path: str | Path) -> "Robot":
        """The robot of a library name, of a robot file, or of a URDF file.

        Raises:
            DescriptionError: with every problem of the file.
        """
        path = find_file(name_or_path)
        if path.suffix.lower() == ".urdf":
            return cls.from_urdf(path)
        document = read_document(path)
        return build(
            cls, document._replace(data=with_folder(document.data, path.parent))
        )

    @classmethod
    def from_urdf(cls, path: str | Path, tip: str | None = None) -> "Robot":
        """The chain of rigid links from the base of a URDF file to `tip` (needed where it has several)."""
        from .urdf import (
            chain_from_urdf,  # yourdfpy is slow to import and few robots need it
        )

        return build(cls, Document(str(path), chain_from_urdf(Path(path), tip), {}))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Robot":
        """The robot of plain data, as a robot file would hold it."""
        return build(cls, Document(None, data, {}))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` makes an equal robot of."""
        return {"lissom": 1, **concrete(plain(self))}

    def save(self, path: str | Path) -> None:
        """Writes the robot file that loads as an equal robot."""
        write(self, path)

    def replace(self, changes: Mapping[str, Any]) -> "Robot":
        """A robot with other values at dotted paths: `{"links.upper.beam.material.E": 9e9, "payload.mass": 0.3}`.

        Links are reached by name or number, `*` reaches all of them; `None` takes an entry out. JAX arrays and tracers
        are put in as they are, so that results can be differentiated with respect to them.

        Raises:
            DescriptionError: an unknown path, or a value that is not accepted there.
        """
        return build(type(self), Document(None, assigned(plain(self), changes), {}))

    @property
    def outline(self) -> Outline:
        """Names of links, moving joints and nodes."""
        return outline(self.links, self.planar, self.independent, bool(self.loops))

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, from the base outwards."""
        return tuple(link.name for link in self.links)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move: those of their links."""
        return tuple(link.name for link in self.links if link.joint.moves)

    @property
    def actuated_names(self) -> tuple[str, ...]:
        """Names of the moving joints that a motor drives, in the order of `joint_names`."""
        return self.outline.actuated

    def at_moving_joints(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """One value for each moving joint: passive joints get 0 where `values` holds the actuated ones alone."""
        if len(values) == len(self.joint_names):
            return tuple(values)
        value_of = dict(zip(self.actuated_names, values, strict=True))
        return tuple(value_of.get(name, 0.0) for name in self.joint_names)

    def findings(self) -> list[Finding]:
        """What is wrong between the links, and what this version does not know."""
        entries = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set
        }
        return _robot_findings(entries, self.links, list(self.link_names))

    @classmethod
    def partial_findings(cls, data: Any) -> list[Finding]:
        """The same on half-valid data."""
        raw = data.get("links") if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(raw, list | tuple):
            return []
        names = [
            entry.get("name")
            if isinstance(entry, Mapping)
            else getattr(entry, "name", None)
            for entry in raw
        ]
        return _robot_findings(data, lenient_links(raw), names)


def _robot_findings(
    entries: Mapping[str, Any], links: Any, names: list[Any]
) -> list[Finding]:
    found = []
    if entries.get("planar") is True:
        found += planar_findings(entries, links)
    if not names:
        found.append(Finding(("links",), [], "a robot has at least one link"))
    return [
        *found,
        *chain_findings(links, names),
        *loop_findings(entries, links, names),
    ]
