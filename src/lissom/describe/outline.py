"""The names that a scenario may use for a robot: links, joints that move, nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..files.errors import nearest
from ..files.part import entry_of, is_list
from .link import Link
from .link_geometry import PartialLinks, branches, node_count

DOFS = ("x", "y", "z", "rx", "ry", "rz")
PLANAR = ("x", "y", "rz")  # what a planar robot keeps of them


class Outline(NamedTuple):
    """Names of a robot, whole or half-valid: enough to check what a scenario refers to."""

    links: tuple[str, ...]
    joints: tuple[str, ...]  # joints that move, named by their link
    actuated: tuple[str, ...]  # those of them that a motor drives
    # Nodes per link; None where the description leaves the number open.
    nodes: dict[str, int | None]
    components: tuple[str, ...] = DOFS  # displacements of a node
    # Joints that set the pose of a closed chain, where they are named.
    independent: tuple[str, ...] = ()
    closed: bool = False  # has loops
    branched: bool = False  # some link is not carried by the link before it
    segmented: tuple[str, ...] = ()  # links made of several bodies
    following: tuple[str, ...] = ()  # links whose joint follows that of another link
    # Links of finite elements whose file holds no second-order displacements, for geometric stiffening.
    without_second_order: tuple[str, ...] = ()

    def node_problem(self, node: Any) -> str | None:
        """What is wrong with a node name such as `upper/2` or `lower/tip`, `None` if nothing is."""
        link, slash, number = str(node).partition("/")
        if not slash:
            return "must be a node: link/number or link/tip"
        if link not in self.links:
            return _not_called("link", link, self.links)
        count = self.nodes[link]
        if number == "tip":
            return None
        if number.isdecimal():
            # Where the description leaves the count open, every number may be right.
            if count is None or int(number) < count:
                return None
        numbers = "" if count is None else f", 0 to {count - 1}"
        return f"no such node: those of link {link!r} are numbered from the joint{numbers}; the last is {link}/tip"

    def joint_problem(self, joint: Any) -> str | None:
        """What is wrong with the name of a moving joint, `None` if nothing is."""
        if joint in self.joints:
            return None
        if joint in self.links:
            how = "follows another one" if joint in self.following else "is fixed"
            return f"the joint of link {joint!r} {how}"
        return _not_called("joint", joint, self.joints)

    def is_passive(self, joint: Any) -> bool:
        """True for a moving joint that no motor drives."""
        return joint in self.joints and joint not in self.actuated

    def dof_problem(self, dof: Any) -> str | None:
        """What is wrong with the name of a nodal dof such as `upper/tip.rz`, `None` if nothing is."""
        node, dot, component = str(dof).rpartition(".")
        if dot and component in self.components:
            return self.node_problem(node)
        *first, last = self.components
        known = f"{', '.join(first)} or {last}"
        return (
            f"must be link/node.component with component {known}, such as upper/tip.rz"
        )


def _not_called(kind: str, name: Any, accepted: Sequence[str]) -> str:
    guess = nearest(name, accepted) or "."
    return f"no {kind} is called {name!r}{guess} {kind.capitalize()}s: {', '.join(accepted)}"


def outline(
    links: Sequence[Link],
    planar: bool = False,
    independent: Sequence[str] | None = None,
    closed: bool = False,
) -> Outline:
    """The names of a valid chain of links."""
    names = [link.name for link in links]
    counts = [node_count(links, i) for i in range(len(links))]
    moving = [link for link in links if link.joint.moves]
    driven = [link for link in moving if link.joint.actuated]
    return Outline(
        links=tuple(names),
        joints=tuple(link.name for link in moving),
        actuated=tuple(link.name for link in driven),
        nodes=dict(zip(names, counts, strict=True)),
        components=PLANAR if planar else DOFS,
        independent=tuple(independent or ()),
        closed=closed,
        branched=branches(links),
        segmented=_segmented(links),
        following=_following(links),
        without_second_order=_without_second_order(links),
    )


def _segmented(links: PartialLinks) -> tuple[str, ...]:
    names = []
    for link in links:
        beam = None if link is None else link.beam
        if link is not None and beam is not None and beam.segments is not None:
            names.append(link.name)
    return tuple(names)


def _following(links: PartialLinks) -> tuple[str, ...]:
    known = [link for link in links if link is not None]
    return tuple(link.name for link in known if link.joint.follows is not None)


def _without_second_order(links: PartialLinks) -> tuple[str, ...]:
    found = []
    for link in links:
        solid = None if link is None else link.fe
        if link is not None and solid is not None and not solid.has_second_order:
            found.append(link.name)
    return tuple(found)


def outline_of_data(data: Any) -> Outline | None:
    """The names of a robot as written, also where it is in error; `None` where even those cannot be read."""
    raw = entry_of(data, "links")
    if not is_list(raw):
        return None
    names = [entry_of(entry, "name") for entry in raw]
    if not all(isinstance(name, str) for name in names):
        return None
    joints = []
    actuated = []
    for name, entry in zip(names, raw, strict=True):
        if entry_of(entry, "joint", "type") == "fixed":
            continue
        if entry_of(entry, "joint", "follows") is not None:
            continue
        joints.append(name)
        if entry_of(entry, "joint", "actuated") is not False:
            actuated.append(name)
    links = lenient_links(raw)
    counts = [node_count(links, i) for i in range(len(links))]
    independent = data.get("independent")
    if not is_list(independent):
        independent = ()
    return Outline(
        links=tuple(names),
        joints=tuple(joints),
        actuated=tuple(actuated),
        nodes=dict(zip(names, counts, strict=True)),
        components=PLANAR if data.get("planar") is True else DOFS,
        independent=tuple(map(str, independent)),
        closed=bool(data.get("loops")),
        branched=branches(links),
        segmented=_segmented(links),
        following=_following(links),
        without_second_order=_without_second_order(links),
    )


def lenient_links(raw: Any) -> PartialLinks:
    """Each entry as a `Link`, or `None` where it is in error."""
    if not is_list(raw):
        return []
    links = []
    for entry in raw:
        link = _link_or_none(entry)
        if link is None:
            # A link with a valid geometry still places its neighbours.
            link = _link_or_none(_bones(entry))
        links.append(link)
    return links


def _link_or_none(entry: Any) -> Link | None:
    try:
        return Link.model_validate(entry)
    except ValueError:
        return None


def _bones(entry: Any) -> Any:
    """The geometry of a link as written, with stand-ins for whatever else may be in error."""
    written = entry_of(entry, "joint")
    if not isinstance(written, Mapping):
        return None
    joint = _only(written, "dh", "origin")
    joint["type"] = "revolute"
    bones = _only(entry, "name")
    bones["joint"] = joint
    if isinstance(entry.get("parent"), str):
        bones["parent"] = entry["parent"]
    return bones | _bones_of_body(entry)


def _bones_of_body(entry: Mapping) -> dict[str, Any]:
    fe = entry.get("fe")
    if isinstance(fe, Mapping):
        return {"fe": _only(fe, "file", "interface", "rpy")}
    rigid = entry.get("rigid")
    if isinstance(rigid, Mapping):
        point = {"mass": 0}
        return {"rigid": point | _only(rigid, "tip")}
    beam = entry.get("beam")
    if isinstance(beam, Mapping):
        return {"beam": _only(beam, "path", "elements", "segments") | STAND_INS}
    return {}


# A section and a material that are right: neither says where a beam is.
STAND_INS = {
    "section": {"shape": "circle", "diameter": 1},
    "material": {"E": 1, "nu": 0, "density": 1},
}


def _only(part: Mapping, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key in keys}
