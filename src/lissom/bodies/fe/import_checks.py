"""Checks of finite elements before they are reduced: free link, complete matrices, SI units, dof order."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from .elements import (
    COMPONENTS,
    UNITS,
    FiniteElements,
    Sparse,
    bounding_size,
    in_si,
    point_text,
    regular_rows,
    row_sizes,
    stored_triangle,
)
from .report import FAIL, PASS, WARN, ReportLine, checked_line

SYMMETRIC = 1e-8  # largest difference of the triangles, of the largest entry
# Unbalanced force of a rigid motion, of the forces that balance: passed up to the first, failed above the second.
RIGID, ROUGH = 1e-6, 1e-4
SAME_MASS = 1e-6  # relative difference of the masses in x, y and z
MASSLESS = 0.02  # share of nodes without mass that is still a remark
EXPECTED = 0.01  # relative deviation from the mass that the user expects
# Speed of sound in what links are made of [m/s]: rubber foam aside, lead 1200, steel 5900, CFRP 10000.
SPEEDS = (300.0, 20000.0)
MASSES = (1e-4, 1e5)  # of links [kg]
SIZES = (1e-3, 100.0)  # [m]
TINY = 1e-300  # stands for zero where something is divided by it
MOTIONS = (
    "translation x",
    "translation y",
    "translation z",
    "rotation x",
    "rotation y",
    "rotation z",
)


def check_elements(
    fe: FiniteElements, expected_mass: float | None = None
) -> list[ReportLine]:
    """Lines on size, symmetry, dof order, rigid modes, mass, centre, inertia and units."""
    return [
        _contents(fe),
        _symmetry(fe),
        *_rigid_modes(fe),
        _mass(fe, expected_mass),
        *_mass_properties(fe),
        _units(fe),
    ]


def _contents(fe: FiniteElements) -> ReportLine:
    has_dof = fe.place >= 0
    per_component = has_dof.sum(axis=0).tolist()
    counts = dict(zip(COMPONENTS, per_component, strict=True))
    present = [f"{name} {count}" for name, count in counts.items() if count]
    text = f"{len(fe.points)} nodes, {fe.size} dofs ({', '.join(present)})"
    remarks = list(fe.notes)
    if len(fe.generalised):
        remarks.insert(0, f"{len(fe.generalised)} generalised coordinates")
    text = "; ".join([text, *remarks])
    values = {
        "nodes": len(fe.points),
        "dofs": fe.size,
        "components": counts,
    }
    return ReportLine("contents", PASS, text, values=values)


def _symmetry(fe: FiniteElements) -> ReportLine:
    asymmetry = {"K": _asymmetry(fe.K), "M": _asymmetry(fe.M)}
    triangle = {"K": stored_triangle(fe.K), "M": stored_triangle(fe.M)}
    values = {"asymmetry": asymmetry, "triangle": triangle}
    halves = []
    for name, side in triangle.items():
        if side and asymmetry[name] > 0:
            halves.append(f"{name} stores its {side} triangle only")
    if halves:
        fix = (
            "many programs store one triangle: mirror it (--mirror), or export full "
            "matrices"
        )
        return ReportLine("symmetry", FAIL, ", ".join(halves), fix, values)
    text = (
        f"K differs from its transpose by {asymmetry['K']:.1e}, M by {asymmetry['M']:.1e} "
        "of its largest entry"
    )
    fix = "a link's matrices are symmetric: export without follower loads, friction and spin, or with more digits"
    good = max(asymmetry.values()) <= SYMMETRIC
    return checked_line("symmetry", good, text, fix, values)


def _asymmetry(A: Sparse) -> float:
    """Largest difference of the two triangles, against the largest entry."""
    if not A.nnz:
        return 0.0
    largest = max(abs(A).max(), TINY)
    difference = abs(A - A.T).max()
    return float(difference / largest)


def rigid_residuals(fe: FiniteElements) -> np.ndarray:
    """Largest unbalanced force of each rigid motion, against those that balance at its dof: zero for a free link."""
    R = fe.rigid
    forces = abs(fe.K) @ np.abs(R)
    # A dof with hardly any force would only show rounding.
    least = 1e-9 * forces.max(axis=0) + TINY
    unbalanced = np.abs(fe.K @ R)
    share = unbalanced / np.maximum(forces, least)
    return share.max(axis=0)


def _rigid_modes(fe: FiniteElements) -> Iterator[ReportLine]:
    residual = rigid_residuals(fe)
    worst = float(residual.max())
    per_motion = dict(zip(MOTIONS, residual.tolist(), strict=True))
    values = {"residual": per_motion}
    if worst <= ROUGH:
        order = "rows and nodes fit: rigid motions of the nodes leave K without forces"
        yield ReportLine("dof order", PASS, order)
        text = f"all six rigid motions are free: the largest unbalanced force is {worst:.1e} of those that balance"
        if worst <= RIGID:
            yield ReportLine("rigid modes", PASS, text, values=values)
        else:
            fix = "export the matrices with more digits"
            yield ReportLine("rigid modes", WARN, text, fix, values)
        return
    # One triangle of a matrix is not balanced in any order.
    other = None if stored_triangle(fe.K) else _fitting_order(fe)
    if other is not None:
        text = (
            "K does not fit the nodes in this order of rows, but fits in the order "
            f"{other.order} (residual {other.residual:.1e})"
        )
        yield ReportLine("dof order", FAIL, text, other.fix)
        text = f"not free as it stands (residual {worst:.1e}): the dof order is wrong"
        yield ReportLine("rigid modes", FAIL, text, "see dof order", values)
        return
    # NaN is not free either.
    stiff = [name for name, r in per_motion.items() if not r <= ROUGH]
    yield ReportLine("dof order", PASS, "no other order of the rows fits better")
    text = _what_holds(fe, residual, stiff)
    fix = _how_to_release(stiff)
    yield ReportLine("rigid modes", FAIL, text, fix, values)


def _what_holds(fe: FiniteElements, residual: np.ndarray, stiff: list[str]) -> str:
    """Rigid motions that K resists, and the three dofs with the largest resisting forces."""
    resisted = fe.rigid[:, ~(residual <= ROUGH)]
    force = np.abs(fe.K @ resisted).max(axis=1)
    least = 1e-3 * force.max()
    dofs = []
    for row in np.argsort(-force)[:3]:
        if force[row] > least:
            dofs.append(fe.dof_name(int(row)))
    return (
        f"{6 - len(stiff)} of 6: K is not free in {', '.join(stiff)} (residual "
        f"{residual.max():.1e}); unbalanced forces act at {', '.join(dofs)}"
    )


def _how_to_release(stiff: list[str]) -> str:
    remedy = (
        "export a free link: remove supports (SPC, *BOUNDARY, D), springs to ground"
    )
    return f"{remedy}, or half of the matrix" if len(stiff) == 6 else remedy


class Trial(NamedTuple):
    """An order of rows or coordinates, and how far K is from that of a free link in it."""

    residual: float
    order: str
    fix: str


def _fitting_order(fe: FiniteElements) -> Trial | None:
    """Another order of rows, or of coordinates, in which K is that of a free link."""
    trials = [*_row_orders(fe), *_coordinate_orders(fe)]
    best = min(trials)
    return best if best.residual <= RIGID else None


def _row_orders(fe: FiniteElements) -> Iterator[Trial]:
    has_dof = fe.place >= 0
    widths = has_dof.sum(axis=1)
    width = int(widths[0])
    is_regular = (widths == width).all()
    if len(fe.generalised) or not is_regular:
        # Rows without a regular order cannot be in another one.
        return
    nodes = len(fe.points)
    place = fe.place.copy()
    place[:, :width] = regular_rows(nodes, width, "by-component")
    yield _trial(
        replace(fe, place=place),
        "component by component",
        "--dof-order by-component",
    )
    place = fe.place.copy()
    place[:, :width] = regular_rows(nodes, width, "by-node")
    yield _trial(replace(fe, place=place), "node by node", "--dof-order by-node")
    if width == 6:
        rotations_first = place[:, [3, 4, 5, 0, 1, 2]]
        swapped = replace(fe, place=rotations_first)
        fix = (
            "write translations before rotations (dofs: node number, component 1 to 6)"
        )
        yield _trial(swapped, "rotations before translations", fix)


def _coordinate_orders(fe: FiniteElements) -> Iterator[Trial]:
    # The first permutation is the order as it stands.
    _, *others = permutations(range(3))
    for axes in others:
        name = "".join(COMPONENTS[a] for a in axes)
        fix = f"the coordinates and the dofs name their axes differently: write the nodes as ({', '.join(name)})"
        turned = replace(fe, points=fe.points[:, axes])
        yield _trial(turned, f"with coordinates in the order {name}", fix)


def _trial(fe: FiniteElements, order: str, fix: str) -> Trial:
    residual = float(rigid_residuals(fe).max())
    return Trial(residual, order, fix)


def _mass(fe: FiniteElements, expected: float | None) -> ReportLine:
    per_axis = np.diag(fe.rigid_inertia)[:3]
    total = float(per_axis.mean())
    values = {"mass": total, "per_axis": per_axis.tolist()}

    def failed(text: str, fix: str) -> ReportLine:
        return ReportLine("mass", FAIL, text, fix, values)

    if not total > 0:
        fix = "give the material a density and export again"
        return failed(f"M holds no mass ({total:g} kg)", fix)
    if np.ptp(per_axis) > SAME_MASS * total:
        masses = [f"{c} {m:.6g} kg" for c, m in zip("xyz", per_axis, strict=True)]
        fix = "rows of M are missing: export M for all dofs of K"
        return failed("differs with direction: " + ", ".join(masses), fix)
    # The sum over all entries can be right although one of them is not.
    diagonal = fe.M.diagonal()
    if diagonal.min() < -1e-12 * diagonal.max():
        dof = fe.dof_name(int(diagonal.argmin()))
        fix = "a mass matrix is positive: check its export"
        return failed(f"negative on the diagonal, at {dof}", fix)
    bare = _massless(fe)
    if len(bare):
        return _massless_line(fe, bare, values)
    deviation = 0.0 if expected is None else total / expected - 1
    if abs(deviation) > EXPECTED:
        text = (
            f"{total:.6g} kg, {100 * deviation:+.1f} % off the expected {expected:g} kg"
        )
        return failed(text, "check densities, non-structural mass and units")
    return ReportLine("mass", PASS, f"{total:.6g} kg in every direction", values=values)


def _massless(fe: FiniteElements) -> np.ndarray:
    """Nodes whose translations have stiffness and no mass."""
    inertia = row_sizes(fe.M)
    translations = fe.place[:, :3]
    has_dof = translations >= 0
    nodal = np.where(has_dof, inertia[translations], 0.0)
    is_massless = nodal.max(axis=1) == 0
    return np.flatnonzero(has_dof.any(axis=1) & is_massless)


def _massless_line(fe: FiniteElements, bare: np.ndarray, values: dict) -> ReportLine:
    labels = [str(label) for label in fe.labels[bare[:3]]]
    if len(bare) > 3:
        labels.append("...")
    some = ", ".join(labels)
    nodes = len(fe.points)
    text = (
        f"{values['mass']:.6g} kg, but {len(bare)} of {nodes} nodes have none ({some})"
    )
    fix = (
        "elements without density, or rows of M missing: check materials and export; "
        "auxiliary nodes may go without"
    )
    verdict = FAIL if len(bare) / nodes > MASSLESS else WARN
    return ReportLine("mass", verdict, text, fix, values)


def _mass_properties(fe: FiniteElements) -> Iterator[ReportLine]:
    I = fe.rigid_inertia
    mass = I[0, 0]
    if not mass > 0:
        return
    first_moment = I[3:, :3]  # m [c x]
    m_x = first_moment[2, 1]
    m_y = first_moment[0, 2]
    m_z = first_moment[1, 0]
    centre = np.array([m_x, m_y, m_z]) / mass
    yield _centre_line(fe, centre)
    # Parallel axes: from the origin to the centre.
    square = centre @ centre * np.eye(3)
    lever = square - np.outer(centre, centre)
    about_centre = I[3:, 3:] - mass * lever
    yield _inertia_line(about_centre)


def _centre_line(fe: FiniteElements, centre: np.ndarray) -> ReportLine:
    size = bounding_size(fe)
    low = fe.points.min(axis=0) - 1e-6 * size
    high = fe.points.max(axis=0) + 1e-6 * size
    inside = bool(np.all(centre >= low) and np.all(centre <= high))
    text = f"{point_text(centre, size)} m"
    fix = "it lies outside of the box around the nodes: coordinates and M do not belong together"
    values = {"centre": centre.tolist()}
    return checked_line("centre", inside, text, fix, values)


def _inertia_line(tensor: np.ndarray) -> ReportLine:
    moments = np.linalg.eigvalsh(tensor)
    smallest, middle, largest = moments
    positive = smallest >= -1e-9 * largest
    # Of a real body no moment exceeds the sum of the other two.
    triangle = smallest + middle >= (1 - 1e-6) * largest
    listed = ", ".join(f"{m:.4g}" for m in moments)
    text = f"principal moments {listed} kg m^2 about the centre"
    fix = "no body has such moments (each at most the sum of the others): M or its dof order is wrong"
    values = {"tensor": tensor.tolist(), "principal": moments.tolist()}
    return checked_line("inertia", bool(positive and triangle), text, fix, values)


def sound_speed(fe: FiniteElements) -> float:
    """Speed of sound that K and M imply [m/s]: from the energy of a uniform strain along each axis, over the mass."""
    mass = max(_mean_mass(fe), TINY)
    extent = np.ptp(fe.points, axis=0)
    squares = [0.0]
    for axis in range(3):
        if extent[axis] > 0:
            # A unit strain: u = x - x_mean. Its energy is E times the volume, and E / rho is the speed squared.
            x = fe.points[:, axis]
            field = np.zeros((len(x), 6))
            field[:, axis] = x - x.mean()
            u = fe.at_dofs(field)
            energy = float(u @ (fe.K @ u))
            squares.append(energy / mass)
    return float(np.sqrt(max(squares)))


def enclosed_volume(fe: FiniteElements) -> float:
    """Volume inside the surface, or of the box around the nodes where no surface is known [m^3]."""
    if fe.surface is None:
        box = np.ptp(fe.points, axis=0)
        return float(np.prod(box))
    middle = fe.points.mean(axis=0)
    corners = fe.points[fe.surface] - middle
    a, b, c = np.moveaxis(corners, 1, 0)
    # Tetrahedra between the triangles and the middle of the part, each a sixth of its parallelepiped.
    parallelepipeds = np.einsum("ti,ti->t", a, np.cross(b, c))
    return float(abs(parallelepipeds.sum()) / 6)


def _mean_mass(fe: FiniteElements) -> float:
    per_axis = np.diag(fe.rigid_inertia)[:3]
    return float(per_axis.mean())


class Magnitudes(NamedTuple):
    """Numbers that reveal wrong units."""

    sound: float  # [m/s]
    mass: float  # [kg]
    size: float  # [m]

    def implausible(self) -> list[str]:
        """Names of the magnitudes that no robot link has."""
        limits = (SPEEDS, MASSES, SIZES)
        odd = []
        for name, value, (low, high) in zip(self._fields, self, limits, strict=True):
            if not low <= value <= high:
                odd.append(name)
        return odd


def _magnitudes(fe: FiniteElements) -> Magnitudes:
    return Magnitudes(
        sound=sound_speed(fe),
        mass=_mean_mass(fe),
        size=bounding_size(fe),
    )


def _units(fe: FiniteElements) -> ReportLine:
    magnitudes = _magnitudes(fe)
    volume = enclosed_volume(fe)
    modulus = float("nan")
    if volume > 0:
        modulus = magnitudes.sound**2 * magnitudes.mass / volume
    values = {
        "sound_m_s": magnitudes.sound,
        "mass_kg": magnitudes.mass,
        "size_m": magnitudes.size,
        "modulus_pa": modulus,
    }
    # The box around the nodes is larger than the part: its modulus is a lower bound.
    bound = "about" if fe.surface is not None else "at least"
    numbers = (
        f"mass {magnitudes.mass:.3g} kg, size {magnitudes.size:.3g} m, modulus {bound} {modulus:.1e} Pa, "
        f"sound at {magnitudes.sound:.3g} m/s"
    )
    odd = magnitudes.implausible()
    if not odd:
        return ReportLine("units", PASS, f"{numbers}: plausible in SI", values=values)
    fitting = _fitting_units(fe)
    fix = "no consistent system fits: check E, density and lengths"
    if fitting:
        fix = f"the numbers would fit {', '.join(fitting)}: --units {fitting[0]}"
    reasons = "; ".join(_reason(name, magnitudes) for name in odd)
    return ReportLine(
        "units", FAIL, f"{numbers}: {reasons}", fix, values | {"guess": fitting}
    )


def _reason(name: str, magnitudes: Magnitudes) -> str:
    """Why a number is not that of a robot link."""
    if name == "mass":
        return "no robot link has this mass"
    if name == "size":
        return "no robot link is that large or small"
    reason = "steel has 5900 m/s and 2e11 Pa"
    if magnitudes.sound < SPEEDS[0]:
        reason += ", 2e5 would be its modulus in MPa"
    return reason


def _fitting_units(fe: FiniteElements) -> list[str]:
    """Systems of units in which the numbers are those of a robot link."""
    fitting = []
    for name in UNITS:
        if name == "m-kg-s":
            continue
        in_these = _magnitudes(in_si(fe, name))
        if not in_these.implausible():
            fitting.append(name)
    return fitting
