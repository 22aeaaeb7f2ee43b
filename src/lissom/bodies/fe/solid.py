"""The route with no licence: geometry -> 10-node tetrahedra (gmsh) -> stiffness and consistent mass (scikit-fem)."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...describe.material import Material
from ..reduce.component_modes import Progress, report_progress
from .array_files import read_arrays
from .elements import NONE, FeError, FiniteElements, Sparse, regular_rows
from .optional import optional_module

# gmsh's numbers of the 10-node tetrahedron and the 6-node triangle
TETRAHEDRON, TRIANGLE = 11, 9
# Edges of a tetrahedron, in gmsh's order of its middle nodes.
EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (2, 3), (1, 3))
SIDES = ((0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3))  # corners of its faces
# A 6-node triangle in four, so that pictures have all its nodes.
QUARTERS = ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))
STRAIGHT = 1e-9  # distance of a middle node from the middle of its edge, in sizes of the part, that counts as none
GEOMETRY = (".step", ".stp", ".brep", ".iges", ".igs")
NAMES_ITS_UNIT = (".step", ".stp", ".iges", ".igs")
MASS_PRODUCTS = 4  # order of the product of two quadratic shape functions
GRADIENT_PRODUCTS = 3  # order of the product of three of their slopes
ELEMENTS = 500  # elements whose second-order stresses are held at a time
UNSET = 1e20  # gmsh's largest edge length is 1e22 where a file names none


@dataclass(frozen=True)
class SolidMesh:
    """10-node tetrahedra: four corners, then the middles of `EDGES`; nodes as positions in `points`."""

    points: np.ndarray  # (k, 3) [m]
    labels: np.ndarray  # (k,)
    tets: np.ndarray  # (e, 10)
    triangles: np.ndarray  # (t, 6) outer faces: three corners, then their middles
    faces: np.ndarray  # (t,) number of the smooth face that each lies on
    # physical groups of faces
    sets: dict[str, np.ndarray] = field(default_factory=dict)
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
    gmsh = optional_module("gmsh", "Geometry and .msh files")
    if path.suffix.lower() in NAMES_ITS_UNIT:
        scale = 1.0
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setString("Geometry.OCCTargetUnit", "M")
        in_file_units = None if size is None else size / scale
        _open(gmsh, path, in_file_units)
        mesh = _collect(gmsh, path.name)
    except FeError:
        raise
    except Exception as failure:  # gmsh has no error class of its own
        raise FeError(f"{path}: gmsh: {failure}") from failure
    finally:
        gmsh.finalize()
    return replace(mesh, points=mesh.points * scale)


def _open(gmsh: Any, path: Path, size: float | None) -> None:
    """Opens a mesh, or opens a geometry and meshes it; with middle nodes in both cases."""
    if path.suffix.lower() in GEOMETRY:
        gmsh.model.occ.importShapes(str(path))
        gmsh.model.occ.synchronize()
    else:
        gmsh.open(str(path))
    _, volume_elements, _ = gmsh.model.mesh.getElements(3)
    if not len(volume_elements):
        if not gmsh.model.getEntities(3):
            raise FeError(f"{path}: holds no volume")
        _set_edge_length(gmsh, size)
        gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)


def _set_edge_length(gmsh: Any, size: float | None) -> None:
    """Edge length as asked for, as the file says, or a tenth of the part's size."""
    if size is not None:
        gmsh.option.setNumber("Mesh.MeshSizeMin", size)
        gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    elif gmsh.option.getNumber("Mesh.MeshSizeMax") > UNSET:
        box = np.array(gmsh.model.getBoundingBox(-1, -1))
        diagonal = box[3:] - box[:3]
        tenth = float(np.linalg.norm(diagonal)) / 10
        gmsh.option.setNumber("Mesh.MeshSizeMax", tenth)


def _collect(gmsh: Any, source: str) -> SolidMesh:
    """The mesh that gmsh holds."""
    labels, coordinates, _ = gmsh.model.mesh.getNodes()
    kinds, _, nodes = gmsh.model.mesh.getElements(3)
    if list(kinds) != [TETRAHEDRON]:
        raise FeError(
            f"{source}: the volume must be meshed with tetrahedra alone (gmsh's kinds {list(kinds)})"
        )
    labels = labels.astype(int)
    where = np.zeros(labels.max() + 1, dtype=int)
    where[labels] = np.arange(len(labels))
    tets = np.asarray(nodes[0], dtype=int)
    triangles, faces = _surface_triangles(gmsh)
    sets = {}
    for dimension, tag in gmsh.model.getPhysicalGroups(2):
        name = gmsh.model.getPhysicalName(dimension, tag) or str(tag)
        members, _ = gmsh.model.mesh.getNodesForPhysicalGroup(2, tag)
        positions = where[members.astype(int)]
        sets[name.lower()] = np.unique(positions)
    mesh = SolidMesh(
        points=coordinates.reshape(-1, 3),
        labels=labels,
        tets=where[tets].reshape(-1, 10),
        triangles=where[triangles],
        faces=faces,
        sets=sets,
        source=source,
    )
    return _used_nodes(mesh)


def _surface_triangles(gmsh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Node numbers (t, 6) of the triangles on all faces of the geometry, and the number of the face of each."""
    triangles = [np.zeros((0, 6), dtype=int)]
    faces = [np.zeros(0, dtype=int)]
    for _, face in gmsh.model.getEntities(2):
        kinds, _, nodes = gmsh.model.mesh.getElements(2, face)
        for kind, numbers in zip(kinds, nodes, strict=True):
            if kind == TRIANGLE:
                rows = np.asarray(numbers, dtype=int)
                rows = rows.reshape(-1, 6)
                triangles.append(rows)
                faces.append(np.full(len(rows), face))
    return np.concatenate(triangles), np.concatenate(faces)


def _used_nodes(mesh: SolidMesh) -> SolidMesh:
    """The same without nodes of no tetrahedron (ends of construction lines), and without faces between two volumes."""
    used = np.zeros(len(mesh.points), dtype=bool)
    used[mesh.tets] = True
    new = np.cumsum(used) - 1
    is_used = used[mesh.triangles].all(axis=1)
    outer = is_used & _on_one_side(mesh)
    sets = {}
    for name, nodes in mesh.sets.items():
        still_there = nodes[used[nodes]]
        sets[name] = new[still_there]
    return replace(
        mesh,
        points=mesh.points[used],
        labels=mesh.labels[used],
        tets=new[mesh.tets],
        triangles=new[mesh.triangles[outer]],
        faces=mesh.faces[outer],
        sets=sets,
    )


def _on_one_side(mesh: SolidMesh) -> np.ndarray:
    """Which triangles belong to one tetrahedron alone."""
    count = len(mesh.points)

    def key(corners):
        # One number for three corners, whatever their order.
        low, middle, high = np.sort(corners, axis=1).T
        return low * count**2 + middle * count + high

    sides = mesh.tets[:, SIDES].reshape(-1, 3)
    keys, times = np.unique(key(sides), return_counts=True)
    outer = keys[times == 1]
    corners = mesh.triangles[:, :3]
    return np.isin(key(corners), outer)


def save_mesh(mesh: SolidMesh, path: str | Path) -> None:
    """Writes a mesh to an `.npz` file, readable where gmsh is not."""
    arrays = {
        "tets": mesh.tets,
        "triangles": mesh.triangles,
        "faces": mesh.faces,
        "labels": mesh.labels,
    }
    for name, nodes in mesh.sets.items():
        arrays[f"set_{name}"] = nodes
    small = {}
    for name, array in arrays.items():
        small[name] = array.astype(np.int32)
    np.savez_compressed(path, points=mesh.points, allow_pickle=False, **small)


def load_mesh(path: Path) -> SolidMesh:
    """The mesh that `save_mesh` wrote."""
    arrays = read_arrays(path)
    if "tets" not in arrays:
        raise FeError(f"{path}: holds no mesh (`tets`). It holds: {', '.join(arrays)}")
    sets = {}
    for name, array in arrays.items():
        if name.startswith("set_"):
            sets[name.removeprefix("set_")] = array.astype(int)
    return SolidMesh(
        points=arrays["points"],
        labels=arrays["labels"].astype(int),
        tets=arrays["tets"].astype(int),
        triangles=arrays["triangles"].astype(int),
        faces=arrays["faces"].astype(int),
        sets=sets,
        source=path.name,
    )


def solid_elements(
    mesh: SolidMesh, material: Material, progress: Progress | None = None
) -> FiniteElements:
    """Stiffness and consistent mass of a solid, sides as curved as the mesh has them.

    With the scalar integrals D_ab = int d_a phi_i d_b phi_j, the block of the stiffness for the components a, b is
    lambda D_ab + mu D_ba + delta_ab mu (D_xx + D_yy + D_zz), and the mass is m (x) I3, m = int rho phi_i phi_j.
    """
    skfem = optional_module("skfem", "Solid elements")
    basis, node = _basis(skfem, mesh)
    blocks = _stiffness_blocks(skfem, basis, material, progress)
    density = float(material.density)
    mass_form = skfem.BilinearForm(lambda u, v, w: density * u * v)
    m = sp.csr_matrix(mass_form.assemble(basis))
    report_progress(progress, "assembling", 1.0)
    k = len(mesh.points)
    dof = np.empty(k, dtype=int)
    dof[node] = np.arange(k)  # scalar dof of each node of the mesh
    # scikit-fem's blocks count all dofs of one component after those of the other; here the nodes come first.
    order = dof[:, None] + k * np.arange(3)
    order = order.reshape(-1)
    K = sp.csr_matrix(sp.block_array(blocks))
    K = K[order][:, order].tocsc()
    m = m[dof][:, dof]
    M = sp.kron(m, sp.eye(3)).tocsc()
    place = np.full((k, 6), NONE)
    place[:, :3] = regular_rows(k, 3, "by-node")
    E = float(material.E)
    nu = float(material.nu)
    notes = (
        f"{len(mesh.tets)} 10-node tetrahedra",
        f"E {E:g} Pa, nu {nu:g}, density {density:g} kg/m^3",
    )
    return FiniteElements(
        K=(K + K.T) / 2,
        M=M,
        points=mesh.points,
        labels=mesh.labels,
        place=place,
        source=mesh.source,
        notes=notes,
        surface=mesh.triangles[:, QUARTERS].reshape(-1, 3),
        faces=np.repeat(mesh.faces, len(QUARTERS)),
        sets=mesh.sets,
        second_order_loads=lambda u, v: second_order_loads(mesh, material, u, v),
    )


def second_order_loads(
    mesh: SolidMesh, material: Material, u: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Forces (n, p) of the stresses C : e, e the symmetric part of (grad u)^T grad v, of each pair of columns."""
    skfem = optional_module("skfem", "Solid elements")
    basis, node = _basis(skfem, mesh, GRADIENT_PRODUCTS)
    nodes = node[np.asarray(basis.element_dofs)].T
    count = len(mesh.points)
    pairs = u.shape[1]
    # Nodes have three dofs each, one node after the other.
    u = u.reshape(count, 3, pairs)
    v = v.reshape(count, 3, pairs)
    forces = np.zeros((count, 3, pairs))
    for start in range(0, len(nodes), ELEMENTS):
        part = slice(start, start + ELEMENTS)
        own = nodes[part]
        slopes = [shape[0].grad[:, part] for shape in basis.basis]
        dN = np.stack(slopes).transpose(2, 3, 0, 1)  # (e, q, k, 3)
        stress = _second_order_stress(material, dN, u[own], v[own])
        weighted = dN * np.asarray(basis.dx)[part][..., None, None]
        on_nodes = np.einsum("eqkj,eqijp->ekip", weighted, stress, optimize=True)
        np.add.at(forces, own, on_nodes)
    return forces.reshape(3 * count, pairs)


def _second_order_stress(
    material: Material, dN: np.ndarray, u: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """C : e at the quadrature points (e, q, 3, 3, p), from displacements (e, k, 3, p) of the elements' nodes."""
    lame, mu = _lame(material)
    grad_u = np.einsum("ekip,eqkj->eqijp", u, dN, optimize=True)
    grad_v = np.einsum("ekip,eqkj->eqijp", v, dN, optimize=True)
    product = np.einsum("eqijp,eqilp->eqjlp", grad_u, grad_v, optimize=True)
    strain = (product + product.swapaxes(2, 3)) / 2
    trace = np.einsum("eqjjp->eqp", strain)
    return 2 * mu * strain + lame * np.eye(3)[:, :, None] * trace[:, :, None, None]


def _lame(material: Material) -> tuple[float, float]:
    """Lame's constants."""
    E = float(material.E)
    nu = float(material.nu)
    return E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))


def _stiffness_blocks(
    skfem: Any, basis: Any, material: Material, progress: Progress | None
) -> list[list[Sparse]]:
    """Blocks (3 by 3) of the stiffness for the components x, y, z, over the scalar dofs of the basis."""
    lame, mu = _lame(material)

    def integral(a: int, b: int) -> Sparse:
        report_progress(progress, "assembling", (3 * a + b) / 10)

        def integrand(u, v, w):
            return u.grad[b] * v.grad[a]

        form = skfem.BilinearForm(integrand)
        return form.assemble(basis).tocsr()

    report_progress(progress, "assembling", 0.0)
    D: Any = {}
    for a in range(3):
        for b in range(a, 3):
            D_ab = integral(a, b)
            D[b, a] = D_ab.T
            D[a, b] = D_ab
    trace = D[0, 0] + D[1, 1] + D[2, 2]
    blocks = []
    for a in range(3):
        row = []
        for b in range(3):
            delta = 1 if a == b else 0
            block = lame * D[a, b] + mu * D[b, a]
            row.append(block + delta * mu * trace)
        blocks.append(row)
    return blocks


def _basis(
    skfem: Any, mesh: SolidMesh, order: int = MASS_PRODUCTS
) -> tuple[Any, np.ndarray]:
    """Quadratic scalar functions on the mesh, integrated exactly to `order` on straight sides; the node of each dof."""
    corners, tets = np.unique(mesh.tets[:, :4], return_inverse=True)
    tets = tets.reshape(-1, 4)
    affine = skfem.MeshTet(
        np.ascontiguousarray(mesh.points[corners].T),
        np.ascontiguousarray(tets.T),
    )
    quadratic = skfem.ElementTetP2()
    basis = skfem.Basis(affine, quadratic, intorder=order)
    node = np.empty(basis.N, dtype=int)
    node[basis.nodal_dofs[0]] = corners
    node[basis.edge_dofs[0]] = _middle_nodes(mesh, tets, affine.edges)
    in_tets = len(np.unique(node))
    if in_tets != len(mesh.points):
        raise FeError(
            f"{mesh.source}: {len(mesh.points)} nodes, but the tetrahedra have {in_tets}"
        )
    points = mesh.points[node]
    offset = np.linalg.norm(points - basis.doflocs.T, axis=1)
    size = np.ptp(mesh.points, axis=0).max()
    if offset.max() <= STRAIGHT * size:
        return basis, node
    curved = replace(
        skfem.MeshTet2.from_mesh(affine),
        doflocs=np.ascontiguousarray(points.T),
    )
    # Curved sides make the integrands rational: one order more.
    return skfem.Basis(curved, quadratic, intorder=order + 1), node


def _middle_nodes(mesh: SolidMesh, tets: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Node in the middle of each edge (2, n) of scikit-fem; both number the corners alike, but not the edges."""
    count = int(tets.max()) + 1

    def key(ends):
        low, high = np.sort(ends, axis=0)
        return low * count + high

    own_keys = []
    for edge in EDGES:
        ends = tets[:, list(edge)].T
        own_keys.append(key(ends))
    keys, first = np.unique(np.stack(own_keys, axis=1), return_index=True)
    # The same edge belongs to several tetrahedra: any of them names its middle node.
    middles = mesh.tets[:, 4:].reshape(-1)[first]
    return middles[np.searchsorted(keys, key(edges))]
