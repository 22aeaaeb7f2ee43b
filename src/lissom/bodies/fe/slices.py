"""Nodes between the interfaces: slices of the mesh across the way from inner node to tip, and their mean motion."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.linalg import lstsq, norm
from scipy.sparse.csgraph import dijkstra

from ..body import rigid_shapes
from .elements import FiniteElements, Sparse

CORNERS = 16  # of the outline of a slice
FEWEST = 4  # nodes that make a slice
RIM = 1.3  # nodes within this multiple of the least distance belong to a face's rim
TINY = 1e-300  # stands for zero where something is divided by it
ALONG = 0.1  # part of a unit vector across the way below which another one is taken


@dataclass(frozen=True)
class Slice:
    """Nodes of one slice, its middle, and the map from their displacements to its mean motion."""

    nodes: np.ndarray  # positions
    middle: np.ndarray  # (3,)
    outline: np.ndarray  # (CORNERS, 3) around the middle

    def motion(self, fe: FiniteElements, values: np.ndarray) -> np.ndarray:
        """Mean displacement and rotation (6, ...) of the slice, in the sense of least squares (as RBE3)."""
        arms = fe.points[self.nodes] - self.middle
        B = rigid_shapes(arms)[:, :3].reshape(-1, 6)
        u = fe.at_nodes(values)[self.nodes, :3]
        u = u.reshape(len(B), -1)
        motion, *_ = lstsq(B, u, rcond=None)
        return motion


def cut_slices(
    fe: FiniteElements, start: np.ndarray, end: np.ndarray, count: int
) -> list[Slice]:
    """`count` slices between two points and one at each of them; fewer where the mesh is too coarse to be sliced."""
    if fe.surface is None or not len(fe.surface):
        return []
    # The surface is enough: nodes inside move with those around them.
    nodes = np.unique(fe.surface)
    share = _shares(fe, nodes, start, end)
    width = 1 / (count + 1)
    groups = []
    middles = []
    for number in range(count + 2):
        distance = np.abs(share - number * width)
        members = nodes[distance <= width / 2]
        if len(members) < FEWEST:
            continue
        # The outer slices belong to the interface nodes, which need not sit in their middles.
        if number == 0:
            middle = start
        elif number == count + 1:
            middle = end
        else:
            middle = _middle(fe.points[members])
        groups.append(members)
        middles.append(middle)
    frames = _frames(_directions(np.array(middles)))
    slices = []
    for members, middle, axes in zip(groups, middles, frames, strict=True):
        outline = _outline(fe.points[members] - middle, axes)
        slices.append(Slice(members, middle, outline))
    return slices


def _directions(path: np.ndarray) -> np.ndarray:
    """Directions of the way at its points; a single point has none."""
    if len(path) > 1:
        return np.gradient(path, axis=0)
    return np.zeros((len(path), 3))


def _shares(
    fe: FiniteElements, nodes: np.ndarray, start: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """Position of each node between start (0) and end (1), by distances over the surface."""
    graph = _edge_graph(fe, nodes)
    points = fe.points[nodes]

    def distance_from(point):
        return dijkstra(graph, indices=_rim(points, point), min_only=True)

    to_start = distance_from(start)
    to_end = distance_from(end)
    way = np.maximum(to_start + to_end, TINY)
    return np.asarray(to_start / way)


def _edge_graph(fe: FiniteElements, nodes: np.ndarray) -> Sparse:
    """Lengths of the edges of the surface between its nodes."""
    assert fe.surface is not None
    a, b, c = np.searchsorted(nodes, fe.surface).T
    first = np.concatenate([a, b, c])
    second = np.concatenate([b, c, a])
    points = fe.points[nodes]
    length = norm(points[first] - points[second], axis=1)
    # A length of zero would be no edge at all.
    length = np.maximum(length, 1e-12)
    size = (len(nodes), len(nodes))
    graph = sp.csr_matrix((length, (first, second)), shape=size)
    return graph.maximum(graph.T)


def _rim(points: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Nodes as close to a point as the rim of the face around it."""
    distance = norm(points - point, axis=1)
    limit = RIM * distance.min() + 1e-9
    return np.flatnonzero(distance <= limit)


def _middle(points: np.ndarray) -> np.ndarray:
    low = points.min(axis=0)
    high = points.max(axis=0)
    return (low + high) / 2


def _frames(directions: np.ndarray) -> list[np.ndarray]:
    """Axes (3, 3) along and across the way at each slice, carried on without turning about it."""
    frames = []
    across = np.array([0.0, 0.0, 1.0])
    for direction in directions:
        size = norm(direction)
        d = np.array([1.0, 0.0, 0.0])
        if size > 0:
            d = direction / size
        across = _part_across(across, d)
        if norm(across) < ALONG:
            # The way turned into the direction that was across it: start again with the best axis.
            axes = [_part_across(e, d) for e in np.eye(3)]
            across = max(axes, key=norm)
        across = across / norm(across)
        third = np.cross(d, across)
        frames.append(np.stack([d, across, third]))
    return frames


def _part_across(vector: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return vector - (vector @ direction) * direction


def _outline(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Outermost points across the way, one for each of `CORNERS` angles, all moved into the plane of the slice."""
    along, first, second = axes
    in_plane = points - np.outer(points @ along, along)
    number = np.arange(CORNERS) + 0.5
    angle = 2 * np.pi * number / CORNERS
    rays = np.outer(np.cos(angle), first)
    rays += np.outer(np.sin(angle), second)
    outermost = np.argmax(in_plane @ rays.T, axis=0)
    return in_plane[outermost]
