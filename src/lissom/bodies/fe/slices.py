"""Nodes between the interfaces: slices of the mesh across the way from inner node to tip, and their mean motion."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from ..body import rigid_shapes
from .elements import FiniteElements

CORNERS = 16  # of the outline of a slice
FEWEST = 4  # nodes that make a slice


@dataclass(frozen=True)
class Slice:
    """Nodes of one slice, its middle, and the map from their displacements to its mean motion."""

    nodes: np.ndarray  # positions
    middle: np.ndarray  # (3,)
    outline: np.ndarray  # (CORNERS, 3) around the middle

    def motion(self, fe: FiniteElements, values: np.ndarray) -> np.ndarray:
        """Mean displacement and rotation (6, ...) of the slice, in the sense of least squares (as RBE3)."""
        B = rigid_shapes(fe.points[self.nodes] - self.middle)[:, :3].reshape(-1, 6)
        u = fe.nodal(values)[self.nodes, :3].reshape(len(B), -1)
        return np.linalg.lstsq(B, u, rcond=None)[0]


def slices(
    fe: FiniteElements, start: np.ndarray, end: np.ndarray, count: int
) -> list[Slice]:
    """`count` slices between two points and one at each of them; fewer where the mesh is too coarse to be sliced."""
    if fe.surface is None or not len(fe.surface):
        return []
    nodes = np.unique(fe.surface)
    share = _shares(fe, nodes, start, end)
    width = 1 / (count + 1)
    found = []
    for number in range(count + 2):
        near = nodes[np.abs(share - number * width) <= width / 2]
        if len(near) >= FEWEST:
            middle = (
                start
                if number == 0
                else end
                if number == count + 1
                else _middle(fe.points[near])
            )
            found.append((near, middle))
    path = np.array([middle for _, middle in found])
    frames = _frames(
        np.gradient(path, axis=0) if len(path) > 1 else np.zeros((len(path), 3))
    )
    return [
        Slice(near, middle, _outline(fe.points[near] - middle, axes))
        for (near, middle), axes in zip(found, frames, strict=True)
    ]


def _shares(
    fe: FiniteElements, nodes: np.ndarray, start: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """How far along the way from start to end each node lies, 0 to 1, by distances over the surface."""
    assert fe.surface is not None
    triangles = np.searchsorted(nodes, fe.surface)
    edges = np.concatenate(
        [triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]
    )
    length = np.linalg.norm(
        fe.points[nodes[edges[:, 0]]] - fe.points[nodes[edges[:, 1]]], axis=1
    )
    graph = sp.csr_matrix(
        (np.maximum(length, 1e-12), (edges[:, 0], edges[:, 1])),
        shape=(len(nodes), len(nodes)),
    )
    graph = graph.maximum(graph.T)
    sources = [
        np.flatnonzero(_closest(fe.points[nodes], point)) for point in (start, end)
    ]
    to_start, to_end = (
        dijkstra(graph, indices=group, min_only=True) for group in sources
    )
    return np.asarray(to_start / np.maximum(to_start + to_end, 1e-300))


def _closest(points: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Nodes as near to a point as the rim of the face around it."""
    distance = np.linalg.norm(points - point, axis=1)
    return distance <= 1.3 * distance.min() + 1e-9


def _middle(points: np.ndarray) -> np.ndarray:
    return (points.min(axis=0) + points.max(axis=0)) / 2


def _frames(directions: np.ndarray) -> list[np.ndarray]:
    """Axes (3, 3) along and across the way at each slice, carried on without turning about it."""
    frames = []
    across = np.array([0.0, 0.0, 1.0])
    for direction in directions:
        size = np.linalg.norm(direction)
        d = direction / size if size > 0 else np.array([1.0, 0.0, 0.0])
        others = [across - (across @ d) * d, *(e - (e @ d) * d for e in np.eye(3))]
        across = (
            max(others[1:], key=np.linalg.norm)
            if np.linalg.norm(others[0]) < 0.1
            else others[0]
        )
        across = across / np.linalg.norm(across)
        frames.append(np.stack([d, across, np.cross(d, across)]))
    return frames


def _outline(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Outermost points across the way, one for each of `CORNERS` angles, all moved into the plane of the slice."""
    d = axes[0]
    across = points - np.outer(points @ d, d)
    angle = 2 * np.pi * (np.arange(CORNERS) + 0.5) / CORNERS
    rays = np.outer(np.cos(angle), axes[1]) + np.outer(np.sin(angle), axes[2])
    return across[np.argmax(across @ rays.T, axis=0)]
