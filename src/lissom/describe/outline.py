"""The names that a scenario may use for a robot: links, joints that move, nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .chain import Links, branches, node_count
from .errors import nearest
from .link import Link
from .part import entry_of

DOFS = ("x", "y", "z", "rx", "ry", "rz")
PLANAR = ("x", "y", "rz")  # what a planar robot keeps of them


class Outline(NamedTuple):
    """Names of a robot, whole or half-valid: enough to check what a scenario refers to."""

    links: tuple[str, ...]
    joints: tuple[str, ...]  # joints that move, named by their link
    actuated: tuple[str, ...]  # those of them that a motor drives
    nodes: dict[
        str, int | None
    ]  # nodes per link; None where the description leaves the number open
    components: tuple[str, ...] = DOFS  # displacements of a node
    independent: tuple[
        str, ...
    ] = ()  # joints that set the pose of a closed chain, where they are named
    closed: bool = False  # has loops
    branched: bool = False  # some link is not carried by the link before it

    def node_problem(self, node: Any) -> str | None:
        """What is wrong with a node name such as `upper/2` or `lower/tip`, `None` if nothing is."""
        link, slash, number = str(node).partition("/")
        if not slash:
            return "must be a node: link/number or link/tip"
        if link not in self.links:
            return f"no link is called {link!r}{nearest(link, self.links) or '.'} Links: {', '.join(self.links)}"
        count = self.nodes[link]
        if number == "tip" or (
            number.isdecimal() and (count is None or int(number) < count)
        ):
            return None
        last = "" if count is None else f", 0 to {count - 1}"
        return f"no such node: those of link {link!r} are numbered from the joint{last}; the last is {link}/tip"

    def joint_problem(self, joint: Any) -> str | None:
        """What is wrong with the name of a moving joint, `None` if nothing is."""
        if joint in self.joints:
            return None
        if joint in self.links:
            return f"the joint of link {joint!r} is fixed"
        return f"no joint is called {joint!r}{nearest(joint, self.joints) or '.'} Joints: {', '.join(self.joints)}"

    def is_passive(self, joint: Any) -> bool:
        """True for a moving joint that no motor drives."""
        return joint in self.joints and joint not in self.actuated

    def dof_problem(self, dof: Any) -> str | None:
        """What is wrong with the name of a nodal dof such as `upper/tip.rz`, `None` if nothing is."""
        node, dot, component = str(dof).rpartition(".")
        if not dot or component not in self.components:
            known = f"{', '.join(self.components[:-1])} or {self.components[-1]}"
            return f"must be link/node.component with component {known}, such as upper/tip.rz"
        return self.node_problem(node)


def outline(
    links: Sequence[Link],
    planar: bool = False,
    independent: Sequence[str] | None = None,
    closed: bool = False,
) -> Outline:
    """The names of a valid chain of links."""
    nodes = {link.name: node_count(links, i) for i, link in enumerate(links)}
    moving = [link for link in links if link.joint.moves]
    return Outline(
        links=tuple(nodes),
        joints=tuple(link.name for link in moving),
        actuated=tuple(link.name for link in moving if link.joint.actuated),
        nodes=nodes,
        components=PLANAR if planar else DOFS,
        independent=tuple(independent or ()),
        closed=closed,
        branched=branches(links),
    )


def outline_of_data(data: Any) -> Outline | None:
    """The names of a robot as written, also where it is in error; `None` where even those cannot be read."""
    raw = data.get("links") if isinstance(data, Mapping) else None
    if not isinstance(raw, list | tuple):
        return None
    names = [entry_of(entry, "name") for entry in raw]
    if not all(isinstance(name, str) for name in names):
        return None
    links = lenient_links(raw)
    moving = [entry for entry in raw if entry_of(entry, "joint", "type") != "fixed"]
    driven = [
        entry for entry in moving if entry_of(entry, "joint", "actuated") is not False
    ]
    nodes = {str(name): node_count(links, i) for i, name in enumerate(names)}
    planar = data.get("planar") is True
    named = data.get("independent")
    independent = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
    return Outline(
        links=tuple(map(str, names)),
        joints=tuple(entry_of(entry, "name") for entry in moving),
        actuated=tuple(entry_of(entry, "name") for entry in driven),
        nodes=nodes,
        components=PLANAR if planar else DOFS,
        independent=independent,
        closed=bool(data.get("loops")),
        branched=branches(links),
    )


def lenient_links(raw: Any) -> Links:
    """Each entry as a `Link`, or `None` where it is in error."""
    if not isinstance(raw, list | tuple):
        return []
    return [_lenient(entry) or _lenient(_bones(entry)) for entry in raw]


def _lenient(entry: Any) -> Link | None:
    try:
        return Link.model_validate(entry)
    except ValueError:
        return None


def _bones(entry: Any) -> Any:
    """The geometry of a link as written, with stand-ins for whatever else may be in error."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("joint"), Mapping):
        return None
    kept = {k: v for k, v in entry["joint"].items() if k in ("dh", "origin")}
    bones: dict[str, Any] = {
        "name": entry.get("name"),
        "joint": {"type": "revolute", **kept},
    }
    if isinstance(entry.get("parent"), str):
        bones["parent"] = entry["parent"]
    beam, rigid, fe = entry.get("beam"), entry.get("rigid"), entry.get("fe")
    if isinstance(fe, Mapping):
        return bones | {
            "fe": {k: fe[k] for k in ("file", "interface", "rpy") if k in fe}
        }
    if isinstance(rigid, Mapping):
        return bones | {"rigid": {"mass": 0, "tip": rigid.get("tip")}}
    if not isinstance(beam, Mapping):
        return None
    stand_in = {
        "section": {"shape": "circle", "diameter": 1},
        "material": {"E": 1, "nu": 0, "density": 1},
    }
    return bones | {
        "beam": {
            "path": beam.get("path"),
            "elements": beam.get("elements", 4),
            **stand_in,
        }
    }
