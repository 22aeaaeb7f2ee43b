"""Import of a link: read or mesh, check, couple, reduce, check again."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ...atomic import write_atomically
from ...describe.material import Material, library_material
from ...describe.reduction_names import InterfaceMethod, method_name
from ...drawing import picture_of
from ...files.errors import refuse_idle, refused
from ...files.summary import Result, Summary, plain
from ...parameters import (
    DespiteFailures,
    ExpectedMass,
    FaceCoupling,
    FeFile,
    FileUnits,
    HighestFrequency,
    InnerPlace,
    Interfaces,
    KeptModes,
    LinkMaterial,
    MassFile,
    MeshSize,
    Mirror,
    NodeFile,
    NodeOrder,
    ReductionMethod,
    TipPlace,
    TrustScripts,
)
from ..reduce.component_modes import Progress
from .array_files import holds_array
from .coupling import CoupledElements, Kind
from .elements import (
    UNITS,
    DofOrder,
    FeError,
    FiniteElements,
    bounding_size,
    point_text,
)
from .gmsh_child import MESHING_SECONDS
from .import_checks import check_elements
from .interface import INNER, TIP, Interface, with_interface
from .link_of_elements import commutes, reduced_link
from .read import (
    ARRAYS,
    GEOMETRIES,
    MESHES,
    UNITLESS,
    WITHOUT_COORDINATES,
    Reading,
    read_fe,
)
from .reduce_elements import (
    FeReduction,
    ModeComparison,
    ReducedModes,
    reduce_elements,
)
from .reduced_link import ReducedLink, save_link
from .report import FAIL, PASS, WARN, ImportReport, ReportLine, Verdict, checked_line
from .solid import mesh_of, solid_elements

SLICES = 9  # nodes between inner node and tip of a meshed link, for pictures, outputs and loads
CLOSE = 0.01  # relative error of a frequency that a reduction should keep
TINY = 1e-300  # stands for zero where something is divided by it
ALIKE = 0.9  # MAC that it should keep
NOT_FREE = (
    "not computed: the matrices are not those of a free link. see the lines that failed"
)
ACCEPTED = {
    "method": get_args(InterfaceMethod),
    "coupling": get_args(Kind),
    "units": tuple(UNITS),
    "dof_order": get_args(DofOrder),
}


@dataclass(frozen=True, repr=False)
class LinkImport(Result):
    """Result of an import: the report; the link, if no check failed; the data of its pictures."""

    report: ImportReport
    link: ReducedLink | None
    coupled: CoupledElements | None = None
    interface: Interface | None = None
    result: ReducedModes | None = None

    @property
    def passed(self) -> bool:
        """True if every check passed."""
        return self.report.passed

    @property
    def nothing_to(self) -> tuple[str, ...]:
        """No link of failed checks, and no picture where there is no geometry."""
        link = () if self.passed and self.link is not None else ("save",)
        return (*link, "plot") if self.coupled is None else link

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return plain({"report": self.report.to_dict()})

    def summary(self) -> Summary:
        """The report line by line, and frequencies of the full and the reduced link."""
        title, *lines = str(self.report).splitlines()
        parts = (*map(Summary, lines), *self.report.tables())
        return Summary(title, parts=parts)

    def plot(self, path: Any = None) -> Any:
        """The report as one page, with mesh, interfaces and first modes; `path` writes it too."""
        return picture_of(self, path=path)

    def save_report(self, path: Any) -> None:
        """Writes the report as JSON."""
        text = json.dumps(plain(self.report.to_dict()), indent=2, ensure_ascii=False)
        write_atomically(path, lambda file: file.write(text.encode()))

    def save(self, path: Any) -> None:
        """Writes the link as `.npz`, for `fe: {file: ...}` in a robot file.

        Raises:
            FeError: a check failed; the report says which.
        """
        if self.link is None:
            raise FeError(
                f"{self.report.source}: no link was made, nothing to save: "
                f"{_first_failure(self.report)}"
            )
        link = self.link
        if hasattr(path, "write"):
            save_link(link, path)
            return
        # As NumPy names such files.
        name = f"{path}" if f"{path}".endswith(".npz") else f"{path}.npz"
        write_atomically(name, lambda file: save_link(link, file))


def reduce_link(
    file: FeFile,
    interface: Interfaces = None,
    *,
    inner: InnerPlace = None,
    tip: TipPlace = None,
    modes: KeptModes = None,
    frequency: HighestFrequency = None,
    method: ReductionMethod = "craig-bampton",
    coupling: FaceCoupling = "rigid",
    material: LinkMaterial = None,
    mesh_size: MeshSize = None,
    units: FileUnits = "m-kg-s",
    nodes: NodeFile = None,
    mass_file: MassFile = None,
    dof_order: NodeOrder = "by-node",
    mirror: Mirror = False,
    mass: ExpectedMass = None,
    checked: int = 10,
    force: DespiteFailures = False,
    trust_scripts: TrustScripts = False,
    max_wall: float | None = None,
    progress: Progress | None = None,
) -> LinkImport:
    """A link from a file of a finite-element program, or from a mesh or geometry, reduced to few modes, with a report.

    Args:
        file: `.npz`, `.h5`, `.op4`, `.pch`, `.mtx`, `.sti`, `.full`; or `.msh`, `.step`, `.brep`, `.iges`, `.geo`
            (with `material`).
        interface: `inner` and `tip`, and further names: node number, face by name, point of a face, plane.
        inner: the end at the joint, in place of `interface`.
        tip: the other end, in the same way.
        modes: elastic modes kept; by default 18, which makes 24 with the six rigid ones.
        frequency: instead, all fixed-interface modes below [Hz], beside the motions of the interface itself.
        method: `craig-bampton`, `guyan` or `free-interface` (Rubin's: free modes with residual flexibility).
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
        trust_scripts: run `.geo` files; they are scripts of gmsh, and can run commands and write files.
        max_wall: seconds that gmsh may take; 600 by default.
        progress: called with a text and the share of that part that is done.

    Returns:
        `LinkImport`: `report` with all checks, `passed`, and the reduced `link`, None where a check forbids one;
        `save(path)` writes the link for `fe: {file: ...}`.

    Raises:
        DescriptionError: the file cannot be read, or the options contradict each other.

    Example:
        >>> import os, tempfile
        >>> import numpy as np, lissom as ls
        >>> from lissom.bodies.link_body import body_of
        >>> beam = body_of(ls.Robot.load("simple-pendulum"), 0)
        >>> file = os.path.join(tempfile.mkdtemp(), "beam.npz")
        >>> np.savez(file, K=beam.stiffness, M=beam.mass_matrix, nodes=beam.points)
        >>> link = ls.reduce_link(file, {"inner": 1, "tip": 3}, modes=6)
        >>> link.passed, f"{link.link.frequency_hz[0]:.1f}"
        (True, '249.1')
    """
    places = _places(interface, inner, tip)
    method = method_name(method)
    choices = {
        "method": method,
        "coupling": coupling,
        "units": units,
        "dof_order": dof_order,
    }
    _check_request(modes, frequency, choices)
    reading = Reading(_path(nodes), _path(mass_file), units, dof_order, mirror)
    path = Path(file)
    is_mesh = _is_mesh(path)
    of_kind = {
        "material": (material, is_mesh),
        "mesh_size": (mesh_size, path.suffix.lower() in GEOMETRIES),
        "nodes": (nodes, path.suffix.lower() in WITHOUT_COORDINATES),
        "mass_file": (mass_file, path.suffix.lower() == ".mtx"),
        "dof_order": (dof_order, path.suffix.lower() in ARRAYS and not is_mesh),
        "mirror": (mirror, not is_mesh),
        "units": (units, not is_mesh or path.suffix.lower() in UNITLESS),
    }
    idle = {name: value for name, (value, used) in of_kind.items() if not used}
    refuse_idle(reduce_link, f"{path.name} needs none: leave this out", **idle)
    if method == "guyan":
        why = "Guyan's reduction has no fixed-interface modes: leave this out"
        refuse_idle(reduce_link, why, frequency=frequency)
    if is_mesh:
        matter = _material_of(path, material)
        metres = UNITS[units][0]
        wall = MESHING_SECONDS if max_wall is None else max_wall
        mesh = mesh_of(path, mesh_size, metres, trust_scripts, wall)
        fe = solid_elements(mesh, matter, progress)
    else:
        fe = read_fe(path, reading)
    lines = check_elements(fe, mass)
    is_free_link = all(line.verdict != FAIL for line in lines)

    def failed(name: str, message: str, *parts: Any) -> LinkImport:
        text, fix = _split_fix(message)
        lines.append(ReportLine(name, FAIL, text, fix))
        report = ImportReport(fe.source, tuple(lines))
        return LinkImport(report, None, *parts)

    try:
        coupled, joints = with_interface(fe, places, coupling)
    except FeError as failure:
        return failed("interface", str(failure))
    if not coupled.added:
        why = "no interface is a face: leave this out"
        refuse_idle(reduce_link, why, coupling=coupling)
    # From here on pictures can be drawn even of a link that fails.
    lines.append(_interface_line(coupled, joints, coupling))
    if not (is_free_link or force):
        return failed("reduction", NOT_FREE, coupled, joints)
    reduction = FeReduction(method, modes, frequency, checked)
    try:
        result = reduce_elements(coupled, joints, reduction, progress)
    except FeError as failure:
        return failed("reduction", str(failure), coupled, joints)
    lines += _reduction_lines(fe, result)
    # The report is saved in the file of the link.
    report = ImportReport(fe.source, tuple(lines))
    link = reduced_link(coupled, joints, result, report.to_dict(), SLICES)
    return LinkImport(report, link, coupled, joints, result)


def _places(
    interface: Mapping[str, Any] | None, inner: Any, tip: Any
) -> dict[str, Any]:
    """Positions of the joints, by the names of the interfaces [m]."""
    places = dict(interface or {})
    for name, place in {INNER: inner, TIP: tip}.items():
        if place is not None:
            places[name] = place
    missing = " and ".join(name for name in (INNER, TIP) if name not in places)
    if missing:
        message = f"{missing} missing: inner is the end at the joint, tip the other"
        raise refused("interface", places or None, message)
    return places


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


def _material_of(path: Path, material: Material | str | None) -> Material:
    """The material of a mesh, by its name or itself."""
    if material is None:
        raise FeError(
            f"{path}: a mesh needs a material: --material steel, or E, nu and density as a Material"
        )
    if not isinstance(material, str):
        return material
    try:
        return library_material(material)
    except ValueError as failure:
        raise FeError(f"material: {failure}") from None


def _is_mesh(path: Path) -> bool:
    """True for meshes and geometry; an `.npz` file holds a mesh or matrices."""
    ending = path.suffix.lower()
    if ending in MESHES:
        return True
    if ending != ".npz" or not path.is_file():
        return False
    return holds_array(path, "tets")


def _interface_line(
    coupled: CoupledElements, joints: Interface, kind: Kind
) -> ReportLine:
    fe = coupled.fe
    dofs = joints.dofs(fe)
    rank = _rigid_rank(fe, dofs)
    size = bounding_size(fe)
    points = {}
    places = []
    for name, node in zip(joints.names, joints.nodes, strict=True):
        point = fe.points[node]
        points[name] = point.tolist()
        places.append(f"{name} at {point_text(point, size)} m")
    text = f"{', '.join(places)}; {len(dofs)} dofs, rank {rank} of 6 rigid motions"
    if coupled.added:
        how = "RBE2, rigid" if kind == "rigid" else "RBE3, distributing"
        text += f"; {len(coupled.added)} faces coupled ({how})"
    # A dof that is missing, or that two interfaces share, cannot be held.
    present = np.unique(dofs[dofs >= 0])
    good = rank == 6 and len(present) == len(dofs)
    values = {"points": points, "rank": rank, "dofs": len(dofs)}
    return checked_line("interface", good, text, "choose other nodes or faces", values)


def _rigid_rank(fe: FiniteElements, dofs: np.ndarray) -> int:
    """Number of rigid motions that some dofs determine."""
    box = np.ptp(fe.points, axis=0)
    size = max(float(box.max()), TINY)
    shapes = fe.rigid[dofs]
    # Rotations are scaled by the size of the part, so that all columns are of one size.
    shapes[:, 3:] /= size
    return int(np.linalg.matrix_rank(shapes))


def _reduction_lines(fe: FiniteElements, result: ReducedModes) -> list[ReportLine]:
    lines = [_modes_line(result)]
    comparisons = {
        "frequencies free": result.free,
        "frequencies held at inner": result.held,
    }
    for name, comparison in comparisons.items():
        if comparison is not None and len(comparison.full_hz):
            lines.append(_frequency_line(name, comparison))
    lines.append(_inertia_line(commutes(fe)))
    return lines


def _modes_line(result: ReducedModes) -> ReportLine:
    hz = np.asarray(result.modes.frequency_hz)
    dropped = result.record.frequency_hz[~result.record.kept]
    text = "none: a rigid link"
    if len(hz):
        method = result.reduction.method
        text = (
            f"{len(hz)} elastic modes kept, {hz[0]:.4g} to {hz[-1]:.4g} Hz ({method})"
        )
    if len(dropped):
        first = ", ".join(f"{f:.4g}" for f in dropped[:5])
        text += f"; dropped after the reduction: {first} Hz"
    values = {"kept_hz": hz, "dropped_hz": dropped}
    return ReportLine("modes", PASS, text, values=values)


def _inertia_line(exact: bool) -> ReportLine:
    verdict: Verdict = PASS
    text = "exact: the mass is the same in x, y and z at every node (M = m (x) I3)"
    if not exact:
        # Nodes with rotations turn as vectors: the nodal shortcut of [Vidoni2015].
        verdict = WARN
        text = (
            "approximate: the inertia of the moving, bending link is summed over its nodes as [Vidoni2015] does; "
            "exact for rigid motion, close for the elastic one"
        )
    return ReportLine("inertia constants", verdict, text, values={"exact": exact})


def _frequency_line(name: str, comparison: ModeComparison) -> ReportLine:
    count = len(comparison.full_hz)
    error = np.abs(comparison.error)
    mac = comparison.mac
    # A reduction aims at the lower half of the modes.
    lower = max(1, count // 2)
    worst_error = error[:lower].max()
    worst_mac = mac[:lower].min()
    text = (
        f"the lower {lower} of {count} within {100 * worst_error:.2g} %, "
        f"shapes alike to {worst_mac:.4f} (MAC); all within {100 * error.max():.2g} %, {mac.min():.3f}"
    )
    values = {
        "full_hz": comparison.full_hz,
        "reduced_hz": comparison.reduced_hz,
        "error": comparison.error,
        "mac": mac,
    }
    if worst_error <= CLOSE and worst_mac >= ALIKE:
        return ReportLine(name, PASS, text, values=values)
    fix = "keep more modes (--modes): the higher ones of these are not those of the full model"
    return ReportLine(name, WARN, text, fix, values)


def _split_fix(message: str) -> tuple[str, str]:
    """Remedy of an error: the second sentence of its message."""
    text, dot, fix = message.partition(". ")
    if dot:
        return text, fix
    return message, "choose one of the nodes and faces of the mesh"


def _first_failure(report: ImportReport) -> str:
    for line in report.lines:
        if line.verdict == FAIL:
            return f"{line.name}: {line.text}"
    return ""


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
