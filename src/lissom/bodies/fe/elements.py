"""The contract between readers and everything after them: matrices, nodes, and which dof of which node is where."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp

from ..body import rigid_shapes
from .fe_error import FeError

T = TypeVar("T")
COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
NONE = -1  # in `place`: the node has no such dof
DofOrder = Literal["by-node", "by-component"]
Sparse = Any  # scipy.sparse, compressed columns or rows
SecondOrderLoads = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Length, mass and time of a consistent system of units, in m, kg and s; forces follow: mass length / time^2.
UNITS: Mapping[str, tuple[float, float, float]] = {
    "m-kg-s": (1.0, 1.0, 1.0),  # N, Pa: SI
    "mm-t-s": (1e-3, 1e3, 1.0),  # N, MPa: mm with tonnes
    "mm-kg-s": (1e-3, 1.0, 1.0),  # mN, kPa
    "mm-kg-ms": (1e-3, 1.0, 1e-3),  # kN, GPa
    "mm-g-ms": (1e-3, 1e-3, 1e-3),  # N, MPa
    "in-lbf-s": (0.0254, 175.126835, 1.0),  # lbf, psi: mass in lbf s^2/in
    "ft-lbf-s": (0.3048, 14.5939029, 1.0),  # lbf, psf: slugs
}


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Context in which any error while a file is read becomes one sentence with its name."""
    try:
        yield
    except FeError:
        raise
    except Exception as failure:
        # Readers of other packages raise all kinds of errors on broken files.
        reason = f"{type(failure).__name__}: {failure}".partition("\n")[0]
        message = f"{path}: is not a readable {path.suffix} file ({reason})"
        raise FeError(message) from failure


def names_its_file(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """A reader of one file whose failures name that file."""

    @wraps(read)
    def named(path: Path) -> T:
        with reading(path):
            return read(path)

    return named


@dataclass(frozen=True)
class FiniteElements:
    """Stiffness and mass of a free link, in its own axes, SI.

    `place[k, c]` is the row of K and M of component c (x, y, z, rx, ry, rz) of node k, `NONE` where the node has none.
    Rows that no node owns are generalised coordinates of a model that was reduced before (no rigid motion moves them).
    """

    K: Sparse  # stiffness, both triangles
    M: Sparse  # mass
    points: np.ndarray  # (k, 3) nodes [m]
    labels: np.ndarray  # (k,) numbers of the nodes in the program that they come from
    place: np.ndarray  # (k, 6) row of each dof
    source: str = ""
    notes: tuple[str, ...] = ()
    # (t, 3) triangles of the outer faces, as positions in `points`
    surface: np.ndarray | None = None
    # (t,) number of the smooth face that each triangle lies on
    faces: np.ndarray | None = None
    # named groups of nodes, as positions
    sets: Mapping[str, np.ndarray] = field(default_factory=dict)
    # forces (n, p) of the second-order strains of p pairs of displacements (n, p), where the elements are known
    second_order_loads: SecondOrderLoads | None = None

    def __post_init__(self):
        n = self.K.shape[0]
        square = (n, n)
        if self.K.shape != square or self.M.shape != square:
            raise FeError(
                f"{self.source}: K is {self.K.shape} and M is {self.M.shape}: both "
                "must be square and of the same size"
            )
        nodes = len(self.points)
        if self.place.shape != (nodes, 6) or len(self.labels) != nodes:
            raise FeError(
                f"{self.source}: {nodes} nodes have coordinates, {len(self.labels)} have numbers and "
                f"{len(self.place)} have dofs: these must be the same nodes"
            )
        if self.place.max(initial=NONE) >= n:
            raise FeError(
                f"{self.source}: the nodes have more dofs than the matrices ({n}) have rows"
            )

    @property
    def size(self) -> int:
        """Number n of dofs, rows of K and M."""
        return self.K.shape[0]

    @property
    def has_rotations(self) -> bool:
        """True if any node carries rotations."""
        rotations = self.place[:, 3:]
        return bool((rotations >= 0).any())

    @property
    def generalised(self) -> np.ndarray:
        """Rows that no node owns."""
        owned = self.place[self.place >= 0]
        return np.setdiff1d(np.arange(self.size), owned)

    @property
    def rigid(self) -> np.ndarray:
        """R (n, 6): a rigid displacement (v, w) about the origin, as dofs."""
        shapes = np.asarray(rigid_shapes(self.points))
        return self.at_dofs(shapes)

    @property
    def rigid_inertia(self) -> np.ndarray:
        """Inertia (6, 6) of the rigid link for a twist (v, w) about the origin: R^T M R."""
        R = self.rigid
        return R.T @ (self.M @ R)

    @property
    def dof_points(self) -> np.ndarray:
        """Position (n, 3) of the node of each dof; generalised coordinates sit at the centre."""
        centre = self.points.mean(axis=0)
        points = np.repeat(self.points[:, None], 6, axis=1)
        return self.at_dofs(points, centre)

    def at_dofs(self, nodal: np.ndarray, fill: float | np.ndarray = 0.0) -> np.ndarray:
        """Values (k, 6, ...) of nodes as values (n, ...) of dofs."""
        trailing = nodal.shape[2:]
        rows = np.full((self.size, *trailing), fill, dtype=float)
        has_dof = self.place >= 0
        rows[self.place[has_dof]] = nodal[has_dof]
        return rows

    def at_nodes(self, values: np.ndarray) -> np.ndarray:
        """Values (n, ...) of dofs as values (k, 6, ...) of nodes, zero where a node has no such dof."""
        # NONE is -1, which picks the last row: those entries are set to zero afterwards.
        nodal = values[self.place].astype(float)
        nodal[self.place < 0] = 0.0
        return nodal

    def dof_name(self, row: int) -> str:
        """A dof by the number of its node and its component: `57.rz`."""
        owners = np.argwhere(self.place == row)
        if not len(owners):
            return f"generalised {row}"
        node, component = owners[0]
        return f"{self.labels[node]}.{COMPONENTS[component]}"

    def position(self, label: int) -> int:
        """Position of the node with that number in the program it comes from.

        Raises:
            FeError: there is none; the nearest numbers are named.
        """
        rows = np.flatnonzero(self.labels == label)
        if len(rows):
            return int(rows[0])
        distance = np.abs(self.labels - label)
        by_distance = np.argsort(distance, kind="stable")
        nearest = np.sort(self.labels[by_distance[:3]])
        raise FeError(
            f"node {label} is not in the mesh: its {len(self.labels)} nodes are numbered {self.labels.min()} to "
            f"{self.labels.max()}; nearest: {', '.join(map(str, nearest))}"
        )


def elements_of(
    K,
    M,
    points: np.ndarray,
    labels: np.ndarray | None = None,
    dofs: np.ndarray | None = None,
    *,
    order: DofOrder = "by-node",
    source: str = "",
    notes: Sequence[str] = (),
    **more,
) -> FiniteElements:
    """Finite elements from matrices and nodes.

    Args:
        K: stiffness, dense or sparse.
        M: mass, dense or sparse.
        points: nodes, (k, 3).
        labels: numbers of the nodes; 1 to k without.
        dofs: (n, 2), node number and component (1 to 6) of each row; without it every node has n / k of them,
            in the order of `order`.
        order: `by-node` (x1, y1, z1, x2, ...) or `by-component` (x1, x2, ..., y1, ...).
        source: where it comes from, for messages.
        notes: what was found and done on the way.
        more: `surface` and `sets`.
    """
    points = np.asarray(points, dtype=float)
    if labels is None:
        labels = np.arange(1, len(points) + 1)
    labels = np.asarray(labels, dtype=int).reshape(-1)
    if dofs is None:
        rows = K.shape[0]
        place = _place_by_count(len(points), rows, order, source)
    else:
        dofs = np.asarray(dofs, dtype=int)
        place = _place_by_name(labels, dofs, source)
    fe = FiniteElements(
        K=sp.csc_matrix(K, dtype=float),
        M=sp.csc_matrix(M, dtype=float),
        points=points,
        labels=labels,
        place=place,
        source=source,
        notes=tuple(notes),
        **more,
    )
    return without_empty_dofs(fe)


def _place_by_count(nodes: int, size: int, order: DofOrder, source: str) -> np.ndarray:
    """Row of each dof where every node has the same number of them, in a regular order."""
    per_node, rest = divmod(size, max(nodes, 1))
    if rest or per_node not in (3, 6):
        raise FeError(
            f"{source}: {size} rows for {nodes} nodes: with 3 or 6 dofs per node it would be {3 * nodes} or "
            f"{6 * nodes}. Name node and component of each row (dofs), or give the nodes of these matrices"
        )
    place = np.full((nodes, 6), NONE)
    place[:, :per_node] = regular_rows(nodes, per_node, order)
    return place


def regular_rows(nodes: int, per_node: int, order: DofOrder) -> np.ndarray:
    """Rows (nodes, per_node) of the dofs of a matrix that counts them node by node, or component by component."""
    rows = np.arange(nodes * per_node)
    if order == "by-component":
        return rows.reshape(per_node, nodes).T
    return rows.reshape(nodes, per_node)


def _place_by_name(labels: np.ndarray, dofs: np.ndarray, source: str) -> np.ndarray:
    """Row of each dof where every row names its node and component; other components are generalised coordinates."""
    node, component = dofs.T
    # Found in the sorted numbers, reported by the place in the file.
    order = np.argsort(labels, kind="stable")
    sorted_labels = labels[order]
    where = np.searchsorted(sorted_labels, node)
    where = np.minimum(where, len(labels) - 1)
    is_known = sorted_labels[where] == node
    is_nodal = (component >= 1) & (component <= 6)
    missing = np.unique(node[is_nodal & ~is_known])
    if len(missing):
        raise FeError(
            f"{source}: no coordinates for node {missing[0]} ({len(missing)} nodes lack them)"
        )
    place = np.full((len(labels), 6), NONE)
    rows = np.flatnonzero(is_nodal & is_known)
    place[order[where[rows]], component[rows] - 1] = rows
    return place


def without_empty_dofs(fe: FiniteElements) -> FiniteElements:
    """The elements without dofs that have neither stiffness nor mass (rotations of solid elements), and their nodes."""
    used = row_sizes(fe.K) + row_sizes(fe.M) > 0
    has_dofs = (fe.place >= 0).any(axis=1)
    if used.all() and has_dofs.all():
        return fe
    new_row = np.where(used, np.cumsum(used) - 1, NONE)
    place = np.where(fe.place >= 0, new_row[fe.place], NONE)
    notes = fe.notes
    dropped = int((~used).sum())
    if dropped:
        notes = (*notes, f"{dropped} dofs without stiffness and mass left out")
    nonempty = np.flatnonzero(used)
    K = fe.K[nonempty][:, nonempty]
    M = fe.M[nonempty][:, nonempty]
    smaller = replace(fe, K=K, M=M, place=place, notes=notes)
    return without_empty_nodes(smaller)


def without_empty_nodes(fe: FiniteElements) -> FiniteElements:
    """The elements without nodes that have no dof."""
    has_dof: np.ndarray = np.max(fe.place, axis=1) >= 0
    if has_dof.all():
        return fe
    new = np.where(has_dof, np.cumsum(has_dof) - 1, NONE)
    surface, faces = fe.surface, fe.faces
    if surface is not None:
        # A triangle stays if all its corners do.
        whole = has_dof[surface].all(axis=1)
        surface = new[surface[whole]]
        faces = None if faces is None else faces[whole]
    sets = {}
    for name, nodes in fe.sets.items():
        still_there = nodes[has_dof[nodes]]
        sets[name] = new[still_there]
    return replace(
        fe,
        points=fe.points[has_dof],
        labels=fe.labels[has_dof],
        place=fe.place[has_dof],
        surface=surface,
        faces=faces,
        sets=sets,
    )


def in_si(fe: FiniteElements, units: str) -> FiniteElements:
    """The elements in SI; `units` names the length, mass and time of the numbers that it holds (`UNITS`)."""
    length, mass, time = UNITS[units]
    if units == "m-kg-s":
        return fe
    translations = fe.place[:, :3]
    translations = translations[translations >= 0]
    # u = length * u' for translations, rotations have no unit; energies carry mass length^2 / time^2.
    scale = np.ones(fe.size)
    scale[translations] = 1 / length
    D = sp.diags(scale)
    inertia_unit = mass * length**2
    energy_unit = inertia_unit / time**2
    return replace(
        fe,
        K=sp.csc_matrix(energy_unit * (D @ fe.K @ D)),
        M=sp.csc_matrix(inertia_unit * (D @ fe.M @ D)),
        points=fe.points * length,
        notes=(*fe.notes, f"numbers taken as {units}"),
    )


def matrix_of_entries(
    row: np.ndarray, column: np.ndarray, value: np.ndarray, n: int
) -> Sparse:
    """Symmetric matrix from its entries, counted from zero; one triangle of them stands for both."""
    place = (row.astype(int), column.astype(int))
    stored = sp.csc_matrix((value, place), shape=(n, n))
    return with_both_triangles(stored)


def with_both_triangles(A: Sparse) -> Sparse:
    """The symmetric matrix of which A stores one triangle; A itself where it stores both."""
    if stored_triangle(A) is None:
        return A
    # The sum has the diagonal twice.
    full = sp.csc_matrix(A + A.T)
    full.setdiag(A.diagonal())
    return full


def stored_triangle(A: Sparse) -> str | None:
    """`lower` or `upper` where a matrix stores one triangle alone, else `None`."""
    rows, cols = sp.coo_matrix(A).coords
    below = bool((rows > cols).any())
    above = bool((rows < cols).any())
    if below == above:
        return None
    return "lower" if below else "upper"


def row_sizes(A: Sparse) -> np.ndarray:
    """Sum of the magnitudes in each row of a symmetric matrix: zero where the row is empty."""
    sums = abs(A).sum(axis=0)
    return np.asarray(sums).reshape(-1)


def bounding_size(fe: FiniteElements) -> float:
    """Diagonal of the box around the nodes [m]."""
    box = np.ptp(fe.points, axis=0)
    return float(np.linalg.norm(box))


def point_text(point: np.ndarray, size: float) -> str:
    """A point in words, without the rounding of its zeros: (0.5, 0, 0)."""
    is_zero = np.abs(point) < 1e-9 * size
    rounded = np.where(is_zero, 0.0, point)
    numbers = ", ".join(f"{x:.6g}" for x in rounded)
    return f"({numbers})"
