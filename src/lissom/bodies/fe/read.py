"""One door to every reader: finite elements from a file, whatever program wrote it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .elements import (
    UNITS,
    DofOrder,
    FeError,
    FiniteElements,
    in_si,
    mirrored,
    triangle_of,
)

MESHES = (".msh", ".geo", ".step", ".stp", ".brep", ".iges", ".igs")


class Reading(NamedTuple):
    """What a file alone does not say."""

    nodes: Path | None = (
        None  # file with the coordinates, where the matrices come without
    )
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
    path, reading = Path(path), reading or Reading()
    if reading.units not in UNITS:
        raise FeError(
            f"units {reading.units!r} are not known. Accepted: {', '.join(UNITS)}"
        )
    read = READERS.get(path.suffix.lower())
    if read is None:
        accepted = ", ".join([*READERS, *MESHES])
        raise FeError(
            f"{path}: files with the ending {path.suffix or '(none)'} are not known. Accepted: {accepted}"
        )
    for file in (path, reading.nodes, reading.mass):
        if file is not None and not Path(file).is_file():
            raise FeError(f"{file}: no such file")
    try:
        fe = read(path, reading)
    except FeError:
        raise
    except Exception as failure:  # readers of other packages raise what they like
        reason = f"{type(failure).__name__}: {failure}".partition("\n")[0]
        raise FeError(
            f"{path}: is not a readable {path.suffix} file ({reason})"
        ) from failure
    if reading.mirror:
        fe = replace(
            fe,
            **{
                name: mirrored(A)
                for name, A in (("K", fe.K), ("M", fe.M))
                if triangle_of(A)
            },
        )
    if (
        not np.isfinite(fe.K.data).all()
        or not np.isfinite(fe.M.data).all()
        or not np.isfinite(fe.points).all()
    ):
        raise FeError(f"{path}: holds numbers that are not finite")
    return in_si(fe, reading.units)


def _own(path: Path, reading: Reading) -> FiniteElements:
    from .own import read_own

    return read_own(path, reading.order)


def _op4(path: Path, reading: Reading) -> FiniteElements:
    from .nastran import read_op4

    return read_op4(
        path,
        _needed(path, reading.nodes, "the bulk data or punch file with the GRID cards"),
    )


def _punch(path: Path, reading: Reading) -> FiniteElements:
    from .nastran import read_dmig

    return read_dmig(path, reading.nodes or path)


def _abaqus(path: Path, reading: Reading) -> FiniteElements:
    from .abaqus import read_mtx

    return read_mtx(
        path,
        reading.mass,
        _needed(path, reading.nodes, "the input file (.inp) with *NODE"),
    )


def _calculix(path: Path, reading: Reading) -> FiniteElements:
    from .calculix import read_calculix

    return read_calculix(path, reading.nodes)


def _ansys(path: Path, reading: Reading) -> FiniteElements:
    from .ansys import read_full

    return read_full(
        path,
        _needed(
            path,
            reading.nodes,
            "the result (.rst) or archive (.cdb) file with the nodes",
        ),
    )


def _needed(path: Path, nodes: Path | None, what: str) -> Path:
    if nodes is None:
        raise FeError(
            f"{path}: holds no coordinates. Give {what} as well (--nodes FILE)"
        )
    return Path(nodes)


READERS: dict[str, Callable[[Path, Reading], FiniteElements]] = {
    ".npz": _own,
    ".h5": _own,
    ".hdf5": _own,
    ".op4": _op4,
    ".pch": _punch,
    ".mtx": _abaqus,
    ".sti": _calculix,
    ".full": _ansys,
}
