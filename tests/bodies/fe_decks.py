"""Input decks for CalculiX, and its matrices: made by the real program where it is installed, else as committed."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np

from lissom.bodies.fe.solid import SolidMesh, load_mesh
from lissom.describe.material import Material

DATA = Path(__file__).parents[1] / "data" / "fe"
STEEL = Material(E=2e11, nu=0.33, density=7800.0)  # [Vidoni2015] Table 1
TO_CALCULIX = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]  # C3D10: middles of 12, 23, 31, 14, 24, 34


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
