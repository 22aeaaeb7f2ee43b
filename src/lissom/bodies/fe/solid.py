"""The route with no licence: geometry -> 10-node tetrahedra (gmsh) -> stiffness and consistent mass (scikit-fem)."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...algebra.sparse import Progress
from ...describe.material import Material
from .elements import FeError, FiniteElements, Sparse
from .optional import needed
from .own import read_arrays

TETRAHEDRON, TRIANGLE = (
    11,
    9,
)  # gmsh's numbers of the 10-node tetrahedron and the 6-node triangle
EDGES = (
    (0, 1),
    (1, 2),
    (0, 2),
    (0, 3),
    (2, 3),
    (1, 3),
)  # of a tetrahedron, in gmsh's order of its middle nodes
QUARTERS = (
    (0, 3, 5),
    (3, 1, 4),
    (5, 4, 2),
    (3, 4, 5),
)  # of a 6-node triangle, so that pictures have all its nodes
STRAIGHT = 1e-9  # distance of a middle node from the middle of its edge, in edge lengths, that counts as none
GEOMETRY = (".step", ".stp", ".brep", ".iges", ".igs")


@dataclass(frozen=True)
class SolidMesh:
    """10-node tetrahedra: four corners, then the middles of `EDGES`; nodes as positions in `points`."""

    points: np.ndarray  # (k, 3) [m]
    labels: np.ndarray  # (k,)
    tets: np.ndarray  # (e, 10)
    triangles: np.ndarray  # (t, 6) outer faces: three corners, then their middles
    faces: np.ndarray  # (t,) number of the smooth face that each lies on
    sets: dict[str, np.ndarray] = field(
        default_factory=dict
    )  # physical groups of faces
    source: str = ""


def mesh_of(
    path: str | Path, size: float | None = None, scale: float = 1.0
) -> SolidMesh:
    """The mesh in a file, or of the geometry in a file.

    Args:
        path: `.msh` (4-node tetrahedra get their middle nodes here), `.geo`, `.step`, `.brep`, `.iges`; or an `.npz`
            file that `save_mesh` wrote, which needs no gmsh.
        size: edge length of the tetrahedra [m]; by default what the file says, or a tenth of the part's size.
        scale: metres in the file's unit of length; STEP and IGES files name theirs and are converted anyway.
    """
    path = Path(path)
    if not path.is_file():
        raise FeError(f"{path}: no such file")
    if path.suffix.lower() == ".npz":
        return load_mesh(path)
    gmsh = needed("gmsh", "Geometry and .msh files")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setString("Geometry.OCCTargetUnit", "M")
        if path.suffix.lower() in (".step", ".stp", ".iges", ".igs"):
            scale = 1.0
        _open(gmsh, path, None if size is None else size / scale)
        mesh = _collected(gmsh, path.name)
    except Exception as failure:
        if isinstance(failure, FeError):
            raise
        raise FeError(f"{path}: gmsh: {failure}") from failure
    finally:
        gmsh.finalize()
    return replace(mesh, points=mesh.points * scale)


def _open(gmsh: Any, path: Path, size: float | None) -> None:
    if path.suffix.lower() in GEOMETRY:
        gmsh.model.occ.importShapes(str(path))
        gmsh.model.occ.synchronize()
    else:
        gmsh.open(str(path))
    if len(gmsh.model.mesh.getElements(3)[1]) == 0:
        if not gmsh.model.getEntities(3):
            raise FeError(f"{path}: holds no volume")
        box = np.array(gmsh.model.getBoundingBox(-1, -1)).reshape(2, 3)
        if size is not None:
            for option in ("MeshSizeMin", "MeshSizeMax"):
                gmsh.option.setNumber(f"Mesh.{option}", size)
        elif gmsh.option.getNumber("Mesh.MeshSizeMax") > 1e20:
            gmsh.option.setNumber(
                "Mesh.MeshSizeMax", float(np.linalg.norm(box[1] - box[0])) / 10
            )
        gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)


def _collected(gmsh: Any, source: str) -> SolidMesh:
    labels, coordinates, _ = gmsh.model.mesh.getNodes()
    kinds, _, nodes = gmsh.model.mesh.getElements(3)
    if list(kinds) != [TETRAHEDRON]:
        raise FeError(
            f"{source}: the volume must be meshed with tetrahedra alone (gmsh's kinds {list(kinds)})"
        )
    where = np.zeros(int(labels.max()) + 1, dtype=int)
    where[labels.astype(int)] = np.arange(len(labels))

    def at(tags, width):
        return where[np.asarray(tags, dtype=int)].reshape(-1, width)

    triangles, faces = [np.zeros((0, 6), dtype=int)], [np.zeros(0, dtype=int)]
    for _, tag in gmsh.model.getEntities(2):
        for kind, _, tags in zip(*gmsh.model.mesh.getElements(2, tag), strict=True):
            if kind == TRIANGLE:
                triangles.append(at(tags, 6))
                faces.append(np.full(len(triangles[-1]), tag))
    sets = {}
    for dimension, tag in gmsh.model.getPhysicalGroups(2):
        name = gmsh.model.getPhysicalName(dimension, tag) or str(tag)
        sets[name.lower()] = np.unique(
            where[gmsh.model.mesh.getNodesForPhysicalGroup(2, tag)[0].astype(int)]
        )
    mesh = SolidMesh(
        coordinates.reshape(-1, 3), labels.astype(int), at(nodes[0], 10), np.concatenate(triangles),
        np.concatenate(faces), sets, source,
    )  # fmt: skip
    return _used_nodes(mesh)


def _used_nodes(mesh: SolidMesh) -> SolidMesh:
    """The same without nodes of no tetrahedron (ends of construction lines), and without faces between two volumes."""
    used = np.zeros(len(mesh.points), dtype=bool)
    used[mesh.tets] = True
    new = np.cumsum(used) - 1
    outer = used[mesh.triangles].all(axis=1) & _on_one_side(mesh)
    return replace(
        mesh,
        points=mesh.points[used],
        labels=mesh.labels[used],
        tets=new[mesh.tets],
        triangles=new[mesh.triangles[outer]],
        faces=mesh.faces[outer],
        sets={name: new[nodes[used[nodes]]] for name, nodes in mesh.sets.items()},
    )


def _on_one_side(mesh: SolidMesh) -> np.ndarray:
    """Which triangles belong to one tetrahedron alone."""
    count = len(mesh.points)

    def key(corners):
        return (
            (s := np.sort(corners, axis=-1))[..., 0] * count**2
            + s[..., 1] * count
            + s[..., 2]
        )

    faces = key(
        mesh.tets[:, [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]]].reshape(-1, 3)
    )
    keys, times = np.unique(faces, return_counts=True)
    return np.isin(key(mesh.triangles[:, :3]), keys[times == 1])


def save_mesh(mesh: SolidMesh, path: str | Path) -> None:
    """Writes a mesh to an `.npz` file, readable where gmsh is not."""
    sets = {f"set_{name}": nodes for name, nodes in mesh.sets.items()}
    arrays = {
        "tets": mesh.tets,
        "triangles": mesh.triangles,
        "faces": mesh.faces,
        "labels": mesh.labels,
        **sets,
    }
    small = {name: array.astype(np.int32) for name, array in arrays.items()}
    np.savez_compressed(path, points=mesh.points, allow_pickle=False, **small)


def load_mesh(path: Path) -> SolidMesh:
    """The mesh that `save_mesh` wrote."""
    arrays = read_arrays(path)
    if "tets" not in arrays:
        raise FeError(f"{path}: holds no mesh (`tets`). It holds: {', '.join(arrays)}")
    sets = {
        name.removeprefix("set_"): array.astype(int)
        for name, array in arrays.items()
        if name.startswith("set_")
    }
    whole = {
        name: arrays[name].astype(int)
        for name in ("labels", "tets", "triangles", "faces")
    }
    return SolidMesh(points=arrays["points"], sets=sets, source=path.name, **whole)


def solid_elements(
    mesh: SolidMesh, material: Material, progress: Progress | None = None
) -> FiniteElements:
    """Stiffness and consistent mass of a solid, sides as curved as the mesh has them.

    With the scalar integrals D_ab = int d_a phi_i d_b phi_j, the block of the stiffness for the components a, b is
    lambda D_ab + mu D_ba + delta_ab mu (D_xx + D_yy + D_zz), and the mass is m (x) I3, m = int rho phi_i phi_j.
    """
    skfem = needed("skfem", "Solid elements")
    basis, node = _basis(skfem, mesh)
    say = progress or (lambda text, share: None)
    say("assembling", 0.0)

    def integral(a: int, b: int) -> Sparse:
        say("assembling", (3 * a + b) / 10)
        return (
            skfem.BilinearForm(lambda u, v, w: u.grad[b] * v.grad[a])
            .assemble(basis)
            .tocsr()
        )

    upper = {(a, b): integral(a, b) for a in range(3) for b in range(a, 3)}
    D: Any = [
        [upper[a, b] if b >= a else upper[b, a].T for b in range(3)] for a in range(3)
    ]
    nu, E = float(material.nu), float(material.E)
    lame, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
    trace = D[0][0] + D[1][1] + D[2][2]
    blocks = [
        [
            lame * D[a][b] + mu * D[b][a] + (mu * trace if a == b else 0 * trace)
            for b in range(3)
        ]
        for a in range(3)
    ]
    m = skfem.BilinearForm(lambda u, v, w: float(material.density) * u * v).assemble(
        basis
    )
    say("assembling", 1.0)
    k = len(mesh.points)
    dof = np.empty(k, dtype=int)
    dof[node] = np.arange(k)  # scalar dof of each node of the mesh
    order = (dof[:, None] + k * np.arange(3)).reshape(-1)
    place = np.full((k, 6), -1)
    place[:, :3] = np.arange(3 * k).reshape(k, 3)
    K = sp.csr_matrix(sp.block_array(blocks))[order][:, order].tocsc()
    M = sp.kron(sp.csr_matrix(m)[dof][:, dof], sp.eye(3)).tocsc()
    notes = (
        f"{len(mesh.tets)} 10-node tetrahedra",
        f"E {E:g} Pa, nu {nu:g}, density {float(material.density):g} kg/m^3",
    )
    surface, faces = (
        mesh.triangles[:, QUARTERS].reshape(-1, 3),
        np.repeat(mesh.faces, len(QUARTERS)),
    )
    return FiniteElements(
        (K + K.T) / 2,
        M,
        mesh.points,
        mesh.labels,
        place,
        mesh.source,
        notes,
        surface,
        faces,
        mesh.sets,
    )


def _basis(skfem: Any, mesh: SolidMesh) -> tuple[Any, np.ndarray]:
    """Quadratic scalar functions on the mesh, and the node at each of their dofs."""
    corners, tets = np.unique(mesh.tets[:, :4], return_inverse=True)
    affine = skfem.MeshTet(
        np.ascontiguousarray(mesh.points[corners].T),
        np.ascontiguousarray(tets.reshape(-1, 4).T),
    )
    basis = skfem.Basis(affine, skfem.ElementTetP2(), intorder=4)
    count = len(corners)
    pairs = np.sort(
        np.stack([tets.reshape(-1, 4)[:, list(edge)] for edge in EDGES], axis=1), axis=2
    )
    keys, first = np.unique(pairs[..., 0] * count + pairs[..., 1], return_index=True)
    middles = mesh.tets[:, 4:].reshape(-1)[first]
    ends = np.sort(affine.edges, axis=0)
    node = np.empty(basis.N, dtype=int)
    node[basis.nodal_dofs[0]] = corners
    node[basis.edge_dofs[0]] = middles[np.searchsorted(keys, ends[0] * count + ends[1])]
    if len(np.unique(node)) != len(mesh.points):
        raise FeError(
            f"{mesh.source}: {len(mesh.points)} nodes, but the tetrahedra have {len(np.unique(node))}"
        )
    bent = np.linalg.norm(mesh.points[node] - basis.doflocs.T, axis=1).max()
    if bent <= STRAIGHT * np.ptp(mesh.points, axis=0).max():
        return basis, node
    curved = replace(
        skfem.MeshTet2.from_mesh(affine),
        doflocs=np.ascontiguousarray(mesh.points[node].T),
    )
    return skfem.Basis(curved, skfem.ElementTetP2(), intorder=5), node
