"""The whole way of a link into lissom: read or mesh, check, couple, reduce, check again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ...algebra.sparse import Progress
from ...describe.material import Material, library_material
from .checks import check_elements
from .coupling import Coupled, Kind
from .elements import (
    UNITS,
    DofOrder,
    FeError,
    FiniteElements,
    bounding_size,
    point_text,
)
from .interface import Interface, with_interface
from .link import ReducedLink, commutes, reduced_link, save_link
from .own import read_arrays
from .read import MESHES, Reading, read_fe
from .reduction import METHODS, Check, Reduced, Wanted, reduced
from .report import FAIL, PASS, WARN, Line, Report, Verdict
from .solid import mesh_of, solid_elements

SLICES = 9  # nodes between inner node and tip of a meshed link, for pictures, outputs and loads
CLOSE, ALIKE = (
    0.01,
    0.9,
)  # error of a frequency, and likeness of a shape, that a reduction should keep


@dataclass(frozen=True)
class LinkImport:
    """What came of an import: the report and, if nothing failed, the link; what lies behind it for pictures."""

    report: Report
    link: ReducedLink | None
    coupled: Coupled | None = None
    interface: Interface | None = None
    result: Reduced | None = None

    @property
    def passed(self) -> bool:
        """True if every check passed."""
        return self.report.passed

    def save(self, path: Any) -> None:
        """Writes the link as `.npz`, for `fe: {file: ...}` in a robot file.

        Raises:
            FeError: a check failed; the report says which.
        """
        if self.link is None:
            raise FeError(
                f"{self.report.source}: there is no link to save: {_first_failure(self.report)}"
            )
        save_link(self.link, path)


def reduce_link(
    file: str | Path,
    interface: Mapping[str, int | str | Sequence[float]],
    *,
    modes: int | None = None,
    frequency: float | None = None,
    method: Any = "craig-bampton",
    coupling: Any = "rigid",
    material: Material | str | None = None,
    mesh_size: float | None = None,
    units: str = "m-kg-s",
    nodes: str | Path | None = None,
    mass_file: str | Path | None = None,
    dof_order: Any = "by-node",
    mirror: bool = False,
    mass: float | None = None,
    checked: int = 10,
    force: bool = False,
    progress: Progress | None = None,
) -> LinkImport:
    """A link from a file of a finite-element program, or from a mesh or geometry, reduced to few modes, with a report.

    Args:
        file: `.npz`, `.h5`, `.op4`, `.pch`, `.mtx`, `.sti`, `.full`; or `.msh`, `.geo`, `.step`, `.brep`, `.iges`
            (with `material`).
        interface: `inner` and `tip`, and further names: node number, face by name, point of a face, plane.
        modes: elastic modes kept; by default 18, which makes 24 with the six rigid ones.
        frequency: instead, all fixed-interface modes below [Hz], beside the motions of the interface itself.
        method: `craig-bampton`, `guyan` or `rubin` (free interface with residual flexibility).
        coupling: `rigid` (RBE2) or `distributing` (RBE3), for interfaces that are faces.
        material: of a meshed part: a library name or a `Material`.
        mesh_size: edge length of its tetrahedra [m].
        units: of the numbers in the file, see `UNITS`; of a mesh or geometry only its length is used.
        nodes: file with the coordinates, where the matrices come without.
        mass_file: file with the mass matrix, where it cannot be found by its name.
        dof_order: `by-node` or `by-component`, where the file names no dofs.
        mirror: one stored triangle stands for both.
        mass: what the link should weigh [kg]; the report compares.
        checked: modes of the full model that the reduced one is compared with.
        force: reduce although checks of the matrices failed.
        progress: called with a text and the share of that part that is done.

    Raises:
        FeError: the file cannot be read, or the request makes no sense.
    """
    _check_request(
        modes,
        frequency,
        {
            "method": method,
            "coupling": coupling,
            "units": units,
            "dof_order": dof_order,
        },
    )
    fe = _elements(
        Path(file),
        material,
        mesh_size,
        Reading(_path(nodes), _path(mass_file), units, dof_order, mirror),
        progress,
    )
    lines = check_elements(fe, mass)
    sound = all(line.verdict != FAIL for line in lines)
    try:
        coupled, joints = with_interface(fe, interface, coupling)
    except FeError as failure:
        lines.append(Line("interface", FAIL, *_split_fix(str(failure))))
        return LinkImport(Report(fe.source, tuple(lines)), None)
    lines.append(_interface_line(coupled, joints, coupling))
    if not (sound or force):
        lines.append(
            Line(
                "reduction",
                FAIL,
                "not done: the matrices are not those of a free link",
                "see the lines that failed",
            )
        )
        return LinkImport(Report(fe.source, tuple(lines)), None, coupled, joints)
    try:
        result = reduced(
            coupled, joints, Wanted(method, modes, frequency, checked), progress
        )
    except FeError as failure:
        lines.append(Line("reduction", FAIL, *_split_fix(str(failure))))
        return LinkImport(Report(fe.source, tuple(lines)), None, coupled, joints)
    lines += _reduction_lines(fe, result)
    report = Report(fe.source, tuple(lines))
    link = reduced_link(coupled, joints, result, report.to_dict(), SLICES)
    return LinkImport(report, link, coupled, joints, result)


ACCEPTED = {
    "method": METHODS,
    "coupling": get_args(Kind),
    "units": tuple(UNITS),
    "dof_order": get_args(DofOrder),
}


def _check_request(
    modes: int | None, frequency: float | None, words: Mapping[str, str]
) -> None:
    if modes is not None and frequency is not None:
        raise FeError("give the number of modes or a frequency, not both")
    if modes is not None and modes < 0:
        raise FeError(
            f"modes: {modes}: must be zero or positive; it counts elastic modes"
        )
    if frequency is not None and not frequency > 0:
        raise FeError(f"frequency: {frequency:g}: must be positive [Hz]")
    for name, word in words.items():
        if word not in ACCEPTED[name]:
            raise FeError(f"{name}: {word}: must be one of {', '.join(ACCEPTED[name])}")


def _elements(
    path: Path,
    material: Material | str | None,
    size: float | None,
    reading: Reading,
    progress: Progress | None,
) -> FiniteElements:
    is_mesh = path.suffix.lower() in MESHES or (
        path.suffix.lower() == ".npz" and path.is_file() and "tets" in read_arrays(path)
    )
    if not is_mesh:
        return read_fe(path, reading)
    if material is None:
        raise FeError(
            f"{path}: a mesh needs a material: --material steel, or E, nu and density as a Material"
        )
    if isinstance(material, str):
        try:
            material = library_material(material)
        except ValueError as failure:
            raise FeError(f"material: {failure}") from None
    return solid_elements(
        mesh_of(path, size, UNITS[reading.units][0]), material, progress
    )


def _interface_line(coupled: Coupled, joints: Interface, kind: Kind) -> Line:
    fe = coupled.fe
    dofs = joints.dofs(fe)
    rank = int(np.linalg.matrix_rank(_scaled(fe)[dofs]))
    places = {
        name: fe.points[node]
        for name, node in zip(joints.names, joints.nodes, strict=True)
    }
    where = ", ".join(
        f"{name} at {point_text(p, bounding_size(fe))} m" for name, p in places.items()
    )
    text = f"{where}; {len(dofs)} dofs, rank {rank} of 6 rigid motions"
    if coupled.added:
        text += f"; {len(coupled.added)} faces coupled ({'RBE2, rigid' if kind == 'rigid' else 'RBE3, distributing'})"
    good = rank == 6 and (dofs >= 0).all() and len(np.unique(dofs)) == len(dofs)
    values = {
        "points": {name: p.tolist() for name, p in places.items()},
        "rank": rank,
        "dofs": len(dofs),
    }
    return Line(
        "interface",
        PASS if good else FAIL,
        text,
        "" if good else "choose other nodes or faces",
        values,
    )


def _scaled(fe: FiniteElements) -> np.ndarray:
    size = max(float(np.ptp(fe.points, axis=0).max()), 1e-300)
    return fe.rigid / np.array([1, 1, 1, size, size, size])


def _reduction_lines(fe: FiniteElements, result: Reduced) -> list[Line]:
    hz = np.asarray(result.modes.frequency_hz)
    dropped = result.record.frequency_hz[~result.record.kept]
    text = (
        f"{len(hz)} elastic modes kept, {hz[0]:.4g} to {hz[-1]:.4g} Hz ({result.wanted.method})"
        if len(hz)
        else "none: a rigid link"
    )
    text += (
        f"; dropped after the reduction: {', '.join(f'{f:.4g}' for f in dropped[:5])} Hz"
        if len(dropped)
        else ""
    )
    lines = [Line("modes", PASS, text, values={"kept_hz": hz, "dropped_hz": dropped})]
    for name, check in (
        ("frequencies free", result.free),
        ("frequencies held at inner", result.held),
    ):
        if check is not None and len(check.full_hz):
            lines.append(_frequency_line(name, check))
    exact = commutes(fe)
    shortcut = (
        "nodes turn as vectors ([Vidoni2015]'s nodal shortcut): exact for rigid motion, "
        "close for the elastic one"
    )
    text = (
        "integrals of the displacement field, exact: M = m (x) I3"
        if exact
        else shortcut
    )
    lines.append(
        Line(
            "inertia constants", PASS if exact else WARN, text, values={"exact": exact}
        )
    )
    return lines


def _frequency_line(name: str, check: Check) -> Line:
    lower = max(1, len(check.full_hz) // 2)
    error, mac = np.abs(check.error), check.mac
    good = bool(error[:lower].max() <= CLOSE and mac[:lower].min() >= ALIKE)
    text = (
        f"the lower {lower} of {len(error)} within {100 * error[:lower].max():.2g} %, "
        f"shapes alike to {mac[:lower].min():.4f} (MAC); all within {100 * error.max():.2g} %, {mac.min():.3f}"
    )
    values = {
        "full_hz": check.full_hz,
        "reduced_hz": check.reduced_hz,
        "error": check.error,
        "mac": mac,
    }
    verdict: Verdict = PASS if good else WARN
    return Line(
        name,
        verdict,
        text,
        "" if good else "keep more modes (--modes), or fewer are trustworthy",
        values,
    )


def _split_fix(message: str) -> tuple[str, str]:
    """What is wrong, and what to do: the second sentence of a message."""
    text, dot, fix = message.partition(". ")
    return (
        (text, fix)
        if dot
        else (message, "choose it among the nodes and faces of the mesh")
    )


def _first_failure(report: Report) -> str:
    return next(
        (f"{line.name}: {line.text}" for line in report.lines if line.verdict == FAIL),
        "",
    )


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
