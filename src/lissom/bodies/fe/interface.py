"""Interfaces of a link by node number, by named face, by the face nearest to a point, by a sphere or a plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.linalg import norm

from .coupling import CoupledElements, Coupling, Kind, couple_faces
from .elements import COMPONENTS, FeError, FiniteElements, bounding_size

INNER, TIP = "inner", "tip"
ON_PLANE = 1e-6  # distance from a plane that counts as on it, in sizes of the part
AS_NEAR = 1e-3  # difference of distances within which faces are equally close, in sizes of the part
HELP = (
    "a node number (57), a face by its name (hub), the face nearest to a point "
    "(0,0,0), all nodes within a radius of a point (0,0,0,0.02), or on a plane "
    "(x=0.5); with @x,y,z behind it, the interface node is at that point instead of "
    "the middle"
)


@dataclass(frozen=True)
class Interface:
    """The nodes by which a link is joined: the inner one first, the tip last."""

    names: tuple[str, ...]
    nodes: tuple[int, ...]  # positions in the points of the coupled finite elements

    def dofs(self, fe: FiniteElements) -> np.ndarray:
        """Rows of all their dofs, six per node."""
        rows = fe.place[list(self.nodes)]
        return rows.reshape(-1)

    def inner_dofs(self, fe: FiniteElements) -> np.ndarray:
        """Rows of the six dofs of the inner node."""
        return fe.place[self.nodes[0]]


def with_interface(
    fe: FiniteElements,
    wanted: Mapping[str, int | str | Sequence[float]],
    kind: Kind = "rigid",
) -> tuple[CoupledElements, Interface]:
    """Finite elements with the wanted interfaces, faces coupled to nodes of six dofs.

    Args:
        fe: the link.
        wanted: `inner`, `tip`, and names of one's own for nodes between them, each as `HELP` says.
        kind: how faces are coupled.

    Raises:
        FeError: an interface is not there, or cannot carry six motions.
    """
    for name in (INNER, TIP):
        if name not in wanted:
            raise FeError(
                f"interface: {name} is missing: a link has an inner node, at its joint, and a tip"
            )
    between = [name for name in wanted if name not in (INNER, TIP)]
    names = (INNER, *between, TIP)
    nodes: dict[str, int] = {}
    couplings: dict[str, Coupling] = {}
    for name in names:
        try:
            chosen = interface_at(fe, wanted[name], kind)
        except FeError as failure:
            raise FeError(f"interface {name}: {failure}") from None
        if isinstance(chosen, Coupling):
            couplings[name] = chosen
        else:
            nodes[name] = chosen
    coupled = couple_faces(fe, list(couplings.values()))
    new_nodes = zip(couplings, coupled.added, strict=True)
    nodes |= dict(new_nodes)
    in_order = tuple(nodes[name] for name in names)
    return coupled, Interface(names, in_order)


def interface_at(
    fe: FiniteElements, wanted: int | str | Sequence[float], kind: Kind
) -> int | Coupling:
    """The node of a number, or the nodes of a face as a coupling."""
    # True and False are whole numbers to Python.
    if isinstance(wanted, bool):
        raise FeError(f"{wanted} is not a place. Accepted: {HELP}")
    if isinstance(wanted, int | np.integer):
        return _node_with_six_dofs(fe, int(wanted))
    if not isinstance(wanted, str):
        numbers = [float(x) for x in wanted]
        return _near(fe, numbers, None, kind)
    text, _, where = wanted.partition("@")
    text = text.strip()
    at = np.array(_numbers(where)) if where else None
    # The command line gives texts: a number there is a node too.
    if text.isdecimal():
        return _node_with_six_dofs(fe, int(text))
    name = text.lower()
    if name in fe.sets:
        return _coupling(fe, fe.sets[name], at, kind)
    axis, equals, value = text.partition("=")
    axis = axis.strip().lower()
    if equals and axis in COMPONENTS[:3]:
        place = _numbers(value)[0]
        return _on_plane(fe, COMPONENTS.index(axis), place, at, kind)
    if "," not in text:
        known = ", ".join(fe.sets) or "none"
        raise FeError(
            f"no face is called {text!r} (named faces: {known}). Accepted: {HELP}"
        )
    return _near(fe, _numbers(text), at, kind)


def _node_with_six_dofs(fe: FiniteElements, label: int) -> int:
    node = fe.position(label)
    rows = zip(COMPONENTS, fe.place[node], strict=True)
    missing = [name for name, row in rows if row < 0]
    if missing:
        raise FeError(
            f"node {label} has no dof {', '.join(missing)}: a joint needs all six. Couple a face to a node instead: "
            "a face by name, by a point (x,y,z), or by a plane (x=0.5)"
        )
    return node


def _near(
    fe: FiniteElements, numbers: Sequence[float], at: np.ndarray | None, kind: Kind
) -> Coupling:
    """The face nearest to a point, or with a radius all nodes around it."""
    if len(numbers) not in (3, 4):
        raise FeError(
            f"{list(numbers)} is neither a point (3 numbers) nor a point and a radius (4). Accepted: {HELP}"
        )
    point = np.array(numbers[:3])
    if len(numbers) == 4:
        nodes = _within(fe, point, numbers[3])
        if at is None:
            at = point
        return _coupling(fe, nodes, at, kind)
    if fe.surface is None or fe.faces is None:
        raise FeError(
            "this file names no faces: give a radius as a fourth number, or a plane such as x=0.5"
        )
    nodes = _nearest_face(fe, point)
    return _coupling(fe, nodes, at, kind)


def _within(fe: FiniteElements, point: np.ndarray, radius: float) -> np.ndarray:
    distance = norm(fe.points - point, axis=1)
    nodes = np.flatnonzero(distance <= radius)
    if not len(nodes):
        raise FeError(
            f"no node lies within {radius:g} m of {point.tolist()}; the nearest is {distance.min():.4g} m away"
        )
    return nodes


def _nearest_face(fe: FiniteElements, point: np.ndarray) -> np.ndarray:
    """Nodes of the smooth face whose surface, and then whose middle, is nearest to a point."""
    assert fe.surface is not None and fe.faces is not None
    corners = fe.points[fe.surface]
    middles = corners.mean(axis=1, keepdims=True)
    places = np.concatenate([corners, middles], axis=1)
    distances = norm(places - point, axis=2)
    nearest = distances.min(axis=1)  # of each triangle
    faces = np.unique(fe.faces)
    # Faces that meet at the point are equally close: of these, the one with the nearest middle is taken.
    limit = nearest.min() + AS_NEAR * bounding_size(fe)
    to_middle = []
    for face in faces:
        inside = fe.faces == face
        is_near = nearest[inside].min() <= limit
        distance = norm(_centroid(fe, inside) - point)
        to_middle.append(distance if is_near else np.inf)
    chosen = faces[np.argmin(to_middle)]
    triangles = fe.surface[fe.faces == chosen]
    return np.unique(triangles)


def _on_plane(
    fe: FiniteElements, axis: int, value: float, at: np.ndarray | None, kind: Kind
) -> Coupling:
    distance = np.abs(fe.points[:, axis] - value)
    nodes = np.flatnonzero(distance <= ON_PLANE * bounding_size(fe))
    if not len(nodes):
        raise FeError(
            f"no node lies on {COMPONENTS[axis]} = {value:g} m; the nearest is {distance.min():.4g} m away"
        )
    return _coupling(fe, nodes, at, kind)


def _coupling(
    fe: FiniteElements, nodes: np.ndarray, at: np.ndarray | None, kind: Kind
) -> Coupling:
    # Nodes for construction alone carry nothing.
    place = fe.place[nodes]
    has_dofs = (place >= 0).any(axis=1)
    nodes = nodes[has_dofs]
    if at is None:
        at = _middle(fe, nodes)
    return Coupling(nodes, at, kind)


def _middle(fe: FiniteElements, nodes: np.ndarray) -> np.ndarray:
    """Centroid of the face's triangles; of its nodes where no triangles are known."""
    if fe.surface is not None:
        inside: np.ndarray = np.all(np.isin(fe.surface, nodes), axis=1)
        if inside.any():
            return _centroid(fe, inside)
    return fe.points[nodes].mean(axis=0)


def _centroid(fe: FiniteElements, which: np.ndarray) -> np.ndarray:
    """Centroid of some triangles of the surface, weighed by their areas."""
    assert fe.surface is not None
    corners = fe.points[fe.surface[which]]
    a, b, c = np.moveaxis(corners, 1, 0)
    area = norm(np.cross(b - a, c - a), axis=1)
    centres = (a + b + c) / 3
    return np.average(centres, axis=0, weights=area)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise FeError(f"{text!r} is not a list of numbers. Accepted: {HELP}") from None
