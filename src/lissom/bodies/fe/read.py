"""Reads finite elements from the files of all supported programs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .abaqus import read_mtx
from .ansys import read_full
from .array_files import read_array_file
from .calculix import read_calculix
from .elements import (
    UNITS,
    DofOrder,
    FeError,
    FiniteElements,
    in_si,
    with_both_triangles,
)
from .elements import (
    reading as reading_of,
)
from .nastran import read_dmig, read_op4

LARGEST = 1e100  # mass times length squared is still a number
GEOMETRIES = (".step", ".stp", ".brep", ".iges", ".igs", ".geo")
MESHES = (".msh", *GEOMETRIES)
UNITLESS = (".msh", ".brep", ".geo")  # meshes and geometries that name no unit
ARRAYS = (".npz", ".h5", ".hdf5")  # matrices with their coordinates, dofs unnamed
WITHOUT_COORDINATES = (".op4", ".pch", ".mtx", ".sti", ".full")


class Reading(NamedTuple):
    """Choices of the user that a file does not contain: units, further files, order of the dofs."""

    # file with the coordinates, where the matrices come without
    nodes: Path | None = None
    mass: Path | None = None  # file with the mass matrix, where it is another one
    units: str = "m-kg-s"  # of the numbers in the file
    order: DofOrder = "by-node"  # of the rows, where the file names no dofs
    mirror: bool = False  # own files: one triangle is stored, and meant to be both


def read_fe(path: str | Path, reading: Reading | None = None) -> FiniteElements:
    """The finite elements in a file, in SI.

    The ending tells the program: `.npz`, `.h5` (lissom's own), `.op4`, `.pch` (Nastran), `.mtx` (Abaqus), `.sti`
    (CalculiX), `.full` (Ansys). Meshes and geometry become matrices by `solid.solid_elements`.

    Raises:
        FeError: the file is missing, of an unknown kind, or not what its ending says.
    """
    path = Path(path)
    reading = reading or Reading()
    if reading.units not in UNITS:
        raise FeError(
            f"units {reading.units!r} are not known. Accepted: {', '.join(UNITS)}"
        )
    read = READERS.get(path.suffix.lower())
    if read is None:
        accepted = ", ".join([*READERS, *MESHES])
        ending = path.suffix or "(none)"
        raise FeError(
            f"files with the ending {ending} are not known. Accepted: {accepted}",
            str(path),
        )
    for file in (path, reading.nodes, reading.mass):
        if file is not None and not Path(file).is_file():
            raise FeError("no such file", str(file))
    with reading_of(path):
        fe = read(path, reading)
    if reading.mirror:
        K = with_both_triangles(fe.K)
        M = with_both_triangles(fe.M)
        fe = replace(fe, K=K, M=M)
    for values in (fe.K.data, fe.M.data, fe.points):
        if not np.isfinite(values).all():
            raise FeError("holds numbers that are not finite", str(path))
        if np.abs(values).max(initial=0.0) > LARGEST:
            raise FeError(
                f"holds numbers beyond {LARGEST:.0e}: is it broken?", str(path)
            )
    return in_si(fe, reading.units)


def _array_file(path: Path, reading: Reading) -> FiniteElements:
    return read_array_file(path, reading.order)


def _op4(path: Path, reading: Reading) -> FiniteElements:
    what = "the bulk data or punch file with the GRID cards"
    nodes = _node_file(path, reading.nodes, what)
    return read_op4(path, nodes)


def _punch(path: Path, reading: Reading) -> FiniteElements:
    return read_dmig(path, reading.nodes or path)


def _abaqus(path: Path, reading: Reading) -> FiniteElements:
    what = "the input file (.inp) with *NODE"
    nodes = _node_file(path, reading.nodes, what)
    return read_mtx(path, reading.mass, nodes)


def _calculix(path: Path, reading: Reading) -> FiniteElements:
    return read_calculix(path, reading.nodes)


def _ansys(path: Path, reading: Reading) -> FiniteElements:
    what = "the result (.rst) or archive (.cdb) file with the nodes"
    nodes = _node_file(path, reading.nodes, what)
    return read_full(path, nodes)


def _node_file(path: Path, nodes: Path | None, what: str) -> Path:
    if nodes is None:
        raise FeError(
            f"{path}: holds no coordinates. Give {what} as well (--nodes FILE)"
        )
    return Path(nodes)


READERS: dict[str, Callable[[Path, Reading], FiniteElements]] = {
    ".npz": _array_file,
    ".h5": _array_file,
    ".hdf5": _array_file,
    ".op4": _op4,
    ".pch": _punch,
    ".mtx": _abaqus,
    ".sti": _calculix,
    ".full": _ansys,
}
