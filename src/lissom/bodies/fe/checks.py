"""Checks of finite elements before they are reduced: is this a free link, whole, in SI, with its dofs in order?"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from .elements import (
    COMPONENTS,
    UNITS,
    FiniteElements,
    bounding_size,
    in_si,
    point_text,
    triangle_of,
)
from .report import FAIL, PASS, WARN, Line, Verdict

SYMMETRIC = 1e-8  # largest difference of the triangles, of the largest entry
RIGID, ROUGH = (
    1e-6,
    1e-4,
)  # unbalanced force of a rigid motion, of the forces that balance: passed, and failed above
SAME_MASS = 1e-6  # relative difference of the masses in x, y and z
MASSLESS = 0.02  # share of nodes without mass that is still a remark
EXPECTED = 0.01  # relative deviation from the mass that the user expects
SPEEDS = (
    300.0,
    20000.0,
)  # of sound in what links are made of [m/s]: rubber foam aside, lead 1200, steel 5900, CFRP 10000
MASSES = (1e-4, 1e5)  # of links [kg]
SIZES = (1e-3, 100.0)  # [m]
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
) -> list[Line]:
    """Lines on size, symmetry, dof order, rigid modes, mass, centre, inertia and units."""
    return [
        _contents(fe),
        *_symmetry(fe),
        *_rigid_modes(fe),
        _mass(fe, expected_mass),
        *_mass_properties(fe),
        _units(fe),
    ]


def _contents(fe: FiniteElements) -> Line:
    counts = {
        name: int((fe.place[:, c] >= 0).sum()) for c, name in enumerate(COMPONENTS)
    }
    present = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    more = (
        f"; {len(fe.generalised)} generalised coordinates"
        if len(fe.generalised)
        else ""
    )
    notes = "".join(f"; {note}" for note in fe.notes)
    text = f"{len(fe.points)} nodes, {fe.size} dofs ({present}){more}{notes}"
    return Line(
        "contents",
        PASS,
        text,
        values={"nodes": len(fe.points), "dofs": fe.size, "components": counts},
    )


def _symmetry(fe: FiniteElements) -> Iterator[Line]:
    found, stored = {}, {}
    for name, A in (("K", fe.K), ("M", fe.M)):
        found[name] = (
            float(abs(A - A.T).max() / max(abs(A).max(), 1e-300)) if A.nnz else 0.0
        )
        stored[name] = triangle_of(A)
    halves = {name: side for name, side in stored.items() if side and found[name] > 0}
    values = {"asymmetry": found, "triangle": stored}
    if halves:
        text = ", ".join(
            f"{name} stores its {side} triangle only" for name, side in halves.items()
        )
        fix = "one triangle stands for both in many programs: mirror it (--mirror), or export full matrices"
        yield Line("symmetry", FAIL, text, fix, values)
        return
    worst = max(found.values())
    text = f"K differs from its transpose by {found['K']:.1e}, M by {found['M']:.1e} of its largest entry"
    fix = "a link's matrices are symmetric: export without follower loads, friction and spin, or with more digits"
    yield Line(
        "symmetry",
        PASS if worst <= SYMMETRIC else FAIL,
        text,
        "" if worst <= SYMMETRIC else fix,
        values,
    )


def rigid_residuals(fe: FiniteElements) -> np.ndarray:
    """Largest unbalanced force of each rigid motion, against those that balance at its dof: zero for a free link."""
    R = fe.rigid
    size = abs(fe.K) @ np.abs(R)
    return (np.abs(fe.K @ R) / np.maximum(size, 1e-9 * size.max(axis=0) + 1e-300)).max(
        axis=0
    )


def _rigid_modes(fe: FiniteElements) -> Iterator[Line]:
    residual = rigid_residuals(fe)
    values = {"residual": dict(zip(MOTIONS, residual.tolist(), strict=True))}
    worst = float(residual.max())
    if worst <= ROUGH:
        verdict: Verdict = PASS if worst <= RIGID else WARN
        fix = "" if verdict == PASS else "export the matrices with more digits"
        text = f"all six rigid motions are free: the largest unbalanced force is {worst:.1e} of those that balance"
        yield Line(
            "dof order",
            PASS,
            "rows and nodes fit: rigid motions of the nodes leave K without forces",
        )
        yield Line("rigid modes", verdict, text, fix, values)
        return
    other = None if triangle_of(fe.K) else _other_order(fe)
    if other is not None:
        order, fix, remains = other
        text = f"K does not fit the nodes as its rows are taken, but does when taken {order} (residual {remains:.1e})"
        yield Line("dof order", FAIL, text, fix)
        yield Line(
            "rigid modes",
            FAIL,
            f"not free as it stands (residual {worst:.1e}): the dof order is wrong",
            "see dof order",
            values,
        )
        return
    stiff = [name for name, r in zip(MOTIONS, residual, strict=True) if r > ROUGH]
    yield Line("dof order", PASS, "no other order of the rows fits better")
    yield Line("rigid modes", FAIL, _held(fe, residual, stiff), _release(stiff), values)


def _held(fe: FiniteElements, residual: np.ndarray, stiff: list[str]) -> str:
    force = np.abs(fe.K @ fe.rigid[:, residual > ROUGH]).max(axis=1)
    nodes = [
        fe.dof_name(int(row))
        for row in np.argsort(-force)[:3]
        if force[row] > 1e-3 * force.max()
    ]
    missing = len(stiff)
    return (
        f"{6 - missing} of 6: K resists {', '.join(stiff)} (residual {residual.max():.1e}); "
        f"forces that nothing balances act at {', '.join(nodes)}"
    )


def _release(stiff: list[str]) -> str:
    what = (
        "springs to ground"
        if len(stiff) < 6
        else "springs to ground, or half of the matrix"
    )
    return f"a link floats freely: take supports (SPC, *BOUNDARY, D), {what} out of the model and export again"


def _other_order(fe: FiniteElements) -> tuple[str, str, float] | None:
    """Another order of rows, or of coordinates, in which K is that of a free link."""
    found: list[tuple[float, str, str]] = []
    width = (fe.place >= 0).sum(axis=1)
    if not len(fe.generalised) and (width == width[0]).all():
        w = int(width[0])
        place = fe.place.copy()
        place[:, :w] = np.arange(fe.size).reshape(w, -1).T
        found.append(
            _tried(
                replace(fe, place=place),
                "component by component",
                "--dof-order by-component",
            )
        )
        place = fe.place.copy()
        place[:, :w] = np.arange(fe.size).reshape(-1, w)
        found.append(
            _tried(replace(fe, place=place), "node by node", "--dof-order by-node")
        )
        if w == 6:
            place = place[:, [3, 4, 5, 0, 1, 2]]
            swap = "write translations before rotations (dofs: node number, component 1 to 6)"
            found.append(
                _tried(replace(fe, place=place), "rotations before translations", swap)
            )
    for axes in list(permutations(range(3)))[1:]:
        name = "".join(COMPONENTS[a] for a in axes)
        fix = f"the coordinates and the dofs name their axes differently: write the nodes as ({', '.join(name)})"
        found.append(
            _tried(
                replace(fe, points=fe.points[:, axes]),
                f"with coordinates in the order {name}",
                fix,
            )
        )
    remains, order, fix = min(found)
    return (order, fix, remains) if remains <= RIGID else None


def _tried(fe: FiniteElements, order: str, fix: str) -> tuple[float, str, str]:
    return float(rigid_residuals(fe).max()), order, fix


def _mass(fe: FiniteElements, expected: float | None) -> Line:
    per_axis = np.diag(fe.rigid.T @ (fe.M @ fe.rigid))[:3]
    total = float(per_axis.mean())
    values = {"mass": total, "per_axis": per_axis.tolist()}
    if not total > 0:
        return Line(
            "mass",
            FAIL,
            f"M holds no mass ({total:g} kg)",
            "give the material a density and export again",
            values,
        )
    if np.ptp(per_axis) > SAME_MASS * total:
        text = "differs with direction: " + ", ".join(
            f"{c} {m:.6g} kg" for c, m in zip("xyz", per_axis, strict=True)
        )
        return Line(
            "mass",
            FAIL,
            text,
            "rows of M are missing: export M for all dofs of K",
            values,
        )
    if fe.M.diagonal().min() < -1e-12 * fe.M.diagonal().max():
        row = int(fe.M.diagonal().argmin())
        return Line(
            "mass",
            FAIL,
            f"negative on the diagonal, at {fe.dof_name(row)}",
            "a mass matrix is positive: check its export",
            values,
        )
    bare = _massless(fe)
    if len(bare):
        share = len(bare) / len(fe.points)
        some = ", ".join(str(fe.labels[k]) for k in bare[:3])
        more = ", ..." if len(bare) > 3 else ""
        text = f"{total:.6g} kg, but {len(bare)} of {len(fe.points)} nodes carry none ({some}{more})"
        fix = (
            "elements without density, or rows of M missing: check materials and export; "
            "auxiliary nodes may go without"
        )
        return Line("mass", FAIL if share > MASSLESS else WARN, text, fix, values)
    if expected is not None and abs(total / expected - 1) > EXPECTED:
        text = f"{total:.6g} kg, {100 * (total / expected - 1):+.1f} % off the expected {expected:g} kg"
        return Line(
            "mass", FAIL, text, "check densities, non-structural mass and units", values
        )
    return Line("mass", PASS, f"{total:.6g} kg in every direction", values=values)


def _massless(fe: FiniteElements) -> np.ndarray:
    """Nodes whose translations have stiffness and no mass."""
    inertia = np.asarray(abs(fe.M).sum(axis=0)).reshape(-1)
    there = fe.place[:, :3] >= 0
    return np.flatnonzero(
        there.any(axis=1)
        & (np.where(there, inertia[fe.place[:, :3]], 0.0).max(axis=1) == 0)
    )


def _mass_properties(fe: FiniteElements) -> Iterator[Line]:
    I = fe.rigid.T @ (fe.M @ fe.rigid)
    if not I[0, 0] > 0:
        return
    centre = np.array([I[4, 2], I[5, 0], I[3, 1]]) / I[0, 0] * -1
    low, high = fe.points.min(axis=0), fe.points.max(axis=0)
    slack = 1e-6 * bounding_size(fe)
    inside = bool(((centre >= low - slack) & (centre <= high + slack)).all())
    text = f"{point_text(centre, bounding_size(fe))} m"
    fix = "it lies outside of the box around the nodes: coordinates and M do not belong together"
    yield Line(
        "centre",
        PASS if inside else FAIL,
        text,
        "" if inside else fix,
        {"centre": centre.tolist()},
    )
    about = I[3:, 3:] - I[0, 0] * (
        centre @ centre * np.eye(3) - np.outer(centre, centre)
    )
    moments = np.linalg.eigvalsh(about)
    real = (
        moments[0] >= -1e-9 * moments[2]
        and moments[0] + moments[1] >= (1 - 1e-6) * moments[2]
    )
    text = f"principal moments {', '.join(f'{m:.4g}' for m in moments)} kg m^2 about the centre"
    fix = "no body has such moments (each at most the sum of the others): M or its dof order is wrong"
    yield Line(
        "inertia",
        PASS if real else FAIL,
        text,
        "" if real else fix,
        {"tensor": about.tolist(), "principal": moments.tolist()},
    )


def sound_speed(fe: FiniteElements) -> float:
    """Speed of sound that K and M imply [m/s]: from the energy of a uniform strain along each axis, over the mass."""
    mass = float(np.diag(fe.rigid.T @ (fe.M @ fe.rigid))[:3].mean())
    extent = np.ptp(fe.points, axis=0)
    squares = []
    for axis in range(3):
        field = np.zeros((len(fe.points), 6))
        field[:, axis] = fe.points[:, axis] - fe.points[:, axis].mean()
        u = fe.gathered(field)
        if extent[axis] > 0:
            squares.append(float(u @ (fe.K @ u)) / max(mass, 1e-300))
    return float(np.sqrt(max(max(squares, default=0.0), 0.0)))


def enclosed_volume(fe: FiniteElements) -> float:
    """Volume inside the surface, or of the box around the nodes where no surface is known [m^3]."""
    if fe.surface is None:
        return float(np.prod(np.ptp(fe.points, axis=0)))
    a, b, c = np.moveaxis(fe.points[fe.surface] - fe.points.mean(axis=0), 1, 0)
    return float(abs(np.einsum("ti,ti->t", a, np.cross(b, c)).sum()) / 6)


def _plausible(fe: FiniteElements) -> dict[str, tuple[float, bool]]:
    mass = float(np.diag(fe.rigid.T @ (fe.M @ fe.rigid))[:3].mean())
    numbers = {
        "sound": (sound_speed(fe), SPEEDS),
        "mass": (mass, MASSES),
        "size": (bounding_size(fe), SIZES),
    }
    return {
        name: (value, low <= value <= high)
        for name, (value, (low, high)) in numbers.items()
    }


def _units(fe: FiniteElements) -> Line:
    found = _plausible(fe)
    speed, mass, size = (found[name][0] for name in ("sound", "mass", "size"))
    volume = enclosed_volume(fe)
    modulus = speed**2 * mass / volume if volume > 0 else float("nan")
    values = {
        "sound_m_s": speed,
        "mass_kg": mass,
        "size_m": size,
        "modulus_pa": modulus,
    }
    bound = "about" if fe.surface is not None else "at least"
    told = f"mass {mass:.3g} kg, size {size:.3g} m, modulus {bound} {modulus:.1e} Pa, sound at {speed:.3g} m/s"
    if all(good for _, good in found.values()):
        return Line("units", PASS, f"{told}: plausible in SI", values=values)
    odd = [name for name, (_, good) in found.items() if not good]
    reasons = {
        "sound": "steel has 5900 m/s and 2e11 Pa"
        + (", 2e5 would be its modulus in MPa" if speed < SPEEDS[0] else ""),
        "mass": "no robot link weighs that",
        "size": "no robot link is that large or small",
    }
    fitting = [
        name
        for name in UNITS
        if name != "m-kg-s"
        and all(good for _, good in _plausible(in_si(fe, name)).values())
    ]
    guess = (
        f"the numbers would fit {', '.join(fitting)}: --units {fitting[0]}"
        if fitting
        else "no consistent system fits: check E, density and lengths"
    )
    return Line(
        "units",
        FAIL,
        f"{told}: {'; '.join(reasons[name] for name in odd)}",
        guess,
        values | {"guess": fitting},
    )
