"""Input decks for CalculiX, and its matrices: made by the real program where it is installed, else as committed."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np

from lissom.bodies.beam import LineInertia, Rigidity, element_mass, element_stiffness
from lissom.bodies.fe.solid import SolidMesh, load_mesh
from lissom.describe.material import Material

DATA = Path(__file__).parents[1] / "data" / "fe"
STEEL = Material(E=2e11, nu=0.33, density=7800.0)  # [Vidoni2015] Table 1
TO_CALCULIX = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]  # C3D10: middles of 12, 23, 31, 14, 24, 34
LENGTH, E, RHO = 0.4, 7e10, 2700.0
RIGIDITY = Rigidity(
    *(np.array(value) for value in (E * 2e-4, 1e9, 1e9, 120.0, 150.0, 340.0))
)
LINE = LineInertia(*(np.array(value) for value in (RHO * 2e-4, 4e-5, 0.0, 0.0)))
DECK = "*HEADING\nbeam\n*NODE, NSET=ALL\n12, 0.5, 0.2, 0.3\n5, 0.1, 0.2, 0.3\n*NSET, NSET=END\n12\n*STEP\n"
WHOLE_MESH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 4 1 4
3 1 0 4
1 2 3 4
0 0 0  1 0 0  0 1 0  0 0 1
$EndNodes
$Elements
1 1 1 1
3 1 4 1
1 1 2 3 4
$EndElements
"""

# A cube of five tetrahedra.
CUBE_MESH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 8 1 8
3 1 0 8
1 2 3 4 5 6 7 8
0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1
$EndNodes
$Elements
1 5 1 5
3 1 4 5
1 1 3 6 8  2 1 2 3 6  3 1 3 4 8  4 1 6 5 8  5 3 7 6 8
$EndElements
"""


def write_deck(mesh: SolidMesh, path: Path, material: Material = STEEL) -> None:
    """The mesh as an input deck that makes CalculiX store its matrices."""
    lines = ["*NODE, NSET=NALL"]
    lines += [
        f"{label}, {x:.12e}, {y:.12e}, {z:.12e}"
        for label, (x, y, z) in zip(mesh.labels, mesh.points, strict=True)
    ]
    lines += ["*ELEMENT, TYPE=C3D10, ELSET=EALL"]
    lines += [
        f"{k + 1}, " + ", ".join(map(str, mesh.labels[tet[TO_CALCULIX]]))
        for k, tet in enumerate(mesh.tets)
    ]
    for name, nodes in mesh.sets.items():
        labels = mesh.labels[np.asarray(nodes)]
        lines += [
            f"*NSET, NSET={name.upper()}",
            *(
                ", ".join(map(str, row))
                for row in np.array_split(labels, -(-len(labels) // 8))
            ),
        ]
    lines += [
        "*MATERIAL, NAME=STEEL",
        "*ELASTIC",
        f"{material.E:g}, {material.nu:g}",
        "*DENSITY",
        f"{material.density:g}",
    ]
    lines += [
        "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL",
        "*STEP",
        "*FREQUENCY, SOLVER=MATRIXSTORAGE",
        "1",
        "*END STEP",
    ]
    path.write_text("\n".join(lines) + "\n")


def calculix_job(folder: Path, name: str = "l-beam-coarse") -> Path:
    """The `.sti` file of a mesh in the data folder, with its companions beside it.

    With `ccx` on the path the deck is written and run here and now; else the files that ccx 2.20 wrote are unpacked.
    """
    if shutil.which("ccx") is None:
        with tarfile.open(DATA / f"{name}.ccx.tar.xz") as packed:
            packed.extractall(folder, filter="data")
        return folder / f"{name}.sti"
    write_deck(load_mesh(DATA / f"{name}.npz"), folder / f"{name}.inp")
    subprocess.run(
        ["ccx", name], cwd=folder, check=True, capture_output=True, timeout=120
    )
    return folder / f"{name}.sti"


def one_beam() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stiffness, mass and nodes of one beam element along x, as printed: twelve dofs known in closed form."""
    K = element_stiffness(RIGIDITY, LENGTH, 0.0, 0.0)
    M = element_mass(LINE, LENGTH, 0.0, 0.0)
    return K, M, np.array([[0.1, 0.2, 0.3], [0.1 + LENGTH, 0.2, 0.3]])


def abaqus_lines(A: np.ndarray, form: str) -> str:
    """A symmetric matrix as *MATRIX GENERATE writes it; node 5 first, then 12."""
    names = [(node, c) for node in (5, 12) for c in range(1, 7)]
    lines = ["** ASSEMBLED MATRIX"]
    for i in range(12):
        for j in range(i + 1 if form == "MATRIX INPUT" else 12):
            if A[i, j] == 0:
                continue
            if form == "COORDINATE":
                lines.append(f"{i + 1} {j + 1} {A[i, j]:.15e}")
            else:
                lines.append(
                    f"{names[i][0]},{names[i][1]}, {names[j][0]},{names[j][1]},  {A[i, j]:.15e}"
                )
    return "\n".join(lines) + "\n"


def dmig(name: str, A: np.ndarray, labels: list[int]) -> str:
    """One symmetric matrix as DMIG entries in large fields, lower triangle, as Nastran punches it."""
    lines = [f"DMIG    {name:<8}{0:>8}{6:>8}{2:>8}{0:>8}"]
    names = [(label, c) for label in labels for c in range(1, 7)]
    for j, (label, c) in enumerate(names):
        rows = [i for i in range(j, len(names)) if A[i, j] != 0]
        if rows:
            lines.append(f"DMIG*   {name:<8}        {label:>16}{c:>16}")
            lines += [
                f"*       {names[i][0]:>16}{names[i][1]:>16}{A[i, j]:>16.9E}".replace(
                    "E", "D"
                )
                for i in rows
            ]
    return "\n".join(lines) + "\n"


def grid_cards(labels: list[int], points: np.ndarray) -> str:
    """Nodes as Nastran writes them."""
    pairs = zip(labels, points.tolist(), strict=True)
    return "".join(f"GRID,{k},,{x!r},{y!r},{z!r}\n" for k, (x, y, z) in pairs)
