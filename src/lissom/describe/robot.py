"""A robot: its links from the base outwards, gravity, damping, payload, loops."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from typing_extensions import override

from ..drawing import picture_of
from ..files.description_files import (
    ROBOT,
    as_numbers,
    build,
    build_from,
    check_kind,
    find_file,
    write_description,
)
from ..files.document import Document
from ..files.errors import shortened
from ..files.named_files import (
    Packages,
    known_packages,
    read_with_named_files,
    with_relative_files,
)
from ..files.names import Title
from ..files.part import (
    Entries,
    Finding,
    Part,
    about,
    entry_of,
    finding,
    is_list,
    plain,
)
from ..files.paths import with_values
from ..files.quantity import Quantity, Whole, error, vector
from ..files.summary import Summarised, Summary
from ..once import once_for_each
from .chain_checks import chain_findings
from .flexible_links import with_flexible_links
from .joint import Vector
from .link import Damping, Link, Payload
from .loop import Loop
from .loop_checks import loop_findings
from .outline import Outline, lenient_links, outline
from .planar_checks import planar_findings
from .robot_summary import robot_summary


def _check_version(value: Any) -> Any:
    # True equals 1 in Python.
    if value != 1 or isinstance(value, bool):
        raise error(
            f"this version reads files of schema version 1 (lissom: 1), not {value}"
        )
    return value


Coordinate = Annotated[float, Quantity("rad or m")]
Acceleration = Annotated[Vector, vector("m/s^2")]
Version = Annotated[Literal[1], BeforeValidator(_check_version)]


class Robot(Summarised, Part):
    """A robot with flexible and rigid links: a chain, a tree, or closed by loops."""

    lissom: Annotated[Version, about("version of the file format")] = 1
    name: Title
    gravity: Annotated[Acceleration, about("in the world frame")] = (0.0, 0.0, -9.81)
    # Nodes of a planar robot carry (x, y, rz) only.
    planar: Annotated[bool, about("motion in the world's x-y plane")] = False
    damping: Annotated[
        Damping | None, about("of links without damping of their own")
    ] = None
    links: tuple[Link, ...]
    count: Annotated[
        Annotated[int, Whole(1, 10_000)] | None,
        about("expected number of links; a truncated file is rejected"),
    ] = None
    payload: Payload | None = None
    loops: tuple[Loop, ...] = ()  # closed chains
    independent: Annotated[
        tuple[str, ...] | None,
        about("joints that are coordinates of a closed chain; default: the best ones"),
    ] = None
    assembly: Annotated[
        dict[str, Coordinate] | None,
        about("joint coordinates near which the loops are closed: {crank: 0}"),
    ] = None

    @classmethod
    def of(cls, robot: Any) -> "Robot":
        """The robot itself, or that of a library name, of a file, or of plain data.

        Raises:
            DescriptionError: with every problem of the file.
            TypeError: none of these.
        """
        if isinstance(robot, Robot):
            return robot
        if isinstance(robot, str | Path):
            return cls.load(robot)
        if isinstance(robot, Mapping):
            return cls.from_dict(robot)
        raise TypeError(
            f"robot: {shortened(robot)}: must be a Robot, the name of a library robot, the path of a robot file, "
            "or the data of one"
        )

    @classmethod
    def load(
        cls, name_or_path: str | Path, packages: Packages | None = None
    ) -> "Robot":
        """The robot of a library name, of a robot file, or of a URDF file.

        Args:
            name_or_path: of the robot.
            packages: folders by name that the file may name files in, beside its own; `package://NAME/path` is there.

        Raises:
            DescriptionError: with every problem of the file.
        """
        path = find_file(name_or_path)
        if path.suffix.lower() == ".urdf":
            return cls.from_urdf(path)
        with known_packages(packages):
            document = read_with_named_files(path)
        check_kind(document, ROBOT)
        return build(cls, document)

    @classmethod
    def from_urdf(
        cls,
        path: str | Path,
        tip: str | Sequence[str] | None = None,
        flexible: Mapping[str, Any] | None = None,
        beam_mass: bool = False,
        *,
        branches: str = "weld",
        hold: Mapping[str, float] | None = None,
        merge_fixed: bool = False,
    ) -> "Robot":
        """The links from the base of a URDF file to `tip` (needed where it has several ends), rigid or flexible.

        Args:
            path: of the file.
            tip: last link of the chain, or of each branch.
            flexible: beams by the names of their links, `{"boom": {"section": {...}, "material": "steel"}}`, or as text
                `tube:100mm:90mm:aluminium`, or an estimate from the link's inertia, `estimate:aluminium`; the link
                keeps the mass, the centre and the inertia of the file.
            beam_mass: flexible links have the mass of their beam alone.
            branches: what becomes of links beside: `weld` lets them ride along, their joints held, `drop` leaves them
                out.
            hold: joints of the file that do not move, and where they stand.
            merge_fixed: links on fixed joints become part of what carries them.
        """
        # Few robots need it.
        from ..imports.urdf import UrdfChoices, robot_from_urdf

        tips = (tip,) if isinstance(tip, str) else tuple(tip or ())
        choices = UrdfChoices(tips, branches, dict(hold or {}), merge_fixed)
        data = robot_from_urdf(Path(path), choices).data
        if flexible:
            data, _ = with_flexible_links(data, flexible, not beam_mass)
        document = Document(str(path), data, {})
        return build(cls, document)

    @classmethod
    def from_mjcf(
        cls,
        path: str | Path,
        tip: str | Sequence[str] | None = None,
        flexible: Mapping[str, Any] | None = None,
        beam_mass: bool = False,
        *,
        hold: Mapping[str, float] | None = None,
    ) -> "Robot":
        """The bodies of an MJCF file (MuJoCo), read by Pinocchio (the extra `peers`); see `from_urdf`."""
        from ..imports.mjcf import robot_from_mjcf

        tips = (tip,) if isinstance(tip, str) else tuple(tip or ())
        data = robot_from_mjcf(Path(path), tips, hold)
        if flexible:
            data, _ = with_flexible_links(data, flexible, not beam_mass)
        return build(cls, Document(str(path), data, {}))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Robot":
        """The robot of plain data, as a robot file would hold it."""
        return build_from(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` makes an equal robot of."""
        return {"lissom": 1, **as_numbers(plain(self))}

    def save(self, path: str | Path) -> None:
        """Writes the robot file that loads as an equal robot.

        Links of finite elements outside of its folder stay where they are: `load` then needs their `packages`.
        """
        write_description(with_relative_files(plain(self), Path(path).parent), path)

    def replace(self, changes: Mapping[str, Any]) -> "Robot":
        """A robot with other values at dotted paths: `{"links.upper.beam.material.E": 9e9, "payload.mass": 0.3}`.

        Links are reached by name or number, `*` reaches all of them; `None` takes an entry out. JAX arrays and tracers
        are put in as they are, so that results can be differentiated with respect to them.

        Raises:
            DescriptionError: an unknown path, or a value that is not accepted there.
        """
        data = with_values(plain(self), changes)
        return build_from(type(self), data)

    def plot(self, q: Any = None, path: Any = None) -> Any:
        """Figure of the robot in the pose q, undeformed; `path` writes it too."""
        return picture_of(self, q=q, path=path)

    def summary(self) -> Summary:
        """Links, joints and bodies in one table: what a robot prints as."""
        return robot_summary(self)

    @property
    def outline(self) -> Outline:
        """Names of links, moving joints and nodes."""
        return _outline(self)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, from the base outwards."""
        return tuple(link.name for link in self.links)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move: those of their links."""
        moving = [link for link in self.links if link.joint.moves]
        return tuple(link.name for link in moving)

    @property
    def actuated_names(self) -> tuple[str, ...]:
        """Names of the moving joints that a motor drives, in the order of `joint_names`."""
        moving = [link for link in self.links if link.joint.moves]
        return tuple(link.name for link in moving if link.joint.actuated)

    def findings(self) -> list[Finding]:
        """Errors between links, joints and loops, and in the number of links."""
        # Only given keys: gravity of a planar robot is not checked unless it was written.
        written = {name: getattr(self, name) for name in self.model_fields_set}
        return _robot_findings(written, self.links, list(self.link_names))

    @classmethod
    @override
    def partial_findings(cls, data: Any) -> list[Finding]:
        raw = entry_of(data, "links")
        if not is_list(raw):
            return []
        names = [entry_of(entry, "name") for entry in raw]
        return _robot_findings(data, lenient_links(raw), names)


@once_for_each
def _outline(robot: Robot) -> Outline:
    """The names in a robot, for checks and messages."""
    closed = bool(robot.loops)
    return outline(robot.links, robot.planar, robot.independent, closed)


def _robot_findings(entries: Entries, links: Any, names: list[Any]) -> list[Finding]:
    found = []
    if entries.get("planar") is True:
        found += planar_findings(entries, links)
    if not names:
        found.append(finding("a robot has at least one link", "links", value=[]))
    count = entries.get("count")
    if isinstance(count, int) and count != len(names):
        message = f"expected number of links differs: the file has {len(names)} links; it may be truncated"
        found.append(finding(message, "count", value=count))
    found += chain_findings(links, names)
    found += loop_findings(entries, links, names)
    return found
