"""Parametric eigenpairs measured: the manipulator of [Palomba2019] along its path, with a payload, and an arm in space.

The data of the paper's Table 2 and Figure 2 are lost. The frequencies, damping ratios and torques of `TABLE` come from
an independent computation with chosen data. `terms: published-planar` are the paper's own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..algebra.eigen import modal_assurance
from ..analyse.modes.complex_modes import damping_ratio, frequency_hz, vibration_pairs
from ..analyse.polynomials.matched_pairs import match_pairs
from ..analyse.polynomials.mode_polynomials import ModePolynomials
from ..analyse.polynomials.parametric_modes import parametric_modes
from ..files.summary import plain
from ..solve.model import Model
from . import palomba2019
from .cases import Log
from .machine import one_core, timed

ZEROED = {"zeroed": ["upper/0.rz", "lower/0.rz"]}  # what q1 and q2 of the paper mean
ABSOLUTE = {"q1": {"q.upper": 1, "q.lower": -1}, "q2": "q.lower"}
SPEEDS = {"q1d": {"qd.upper": 1, "qd.lower": -1}, "q2d": "qd.lower"}
ACCELERATIONS = {"q1dd": {"qdd.upper": 1, "qdd.lower": -1}, "q2dd": "qdd.lower"}
MOTION = ABSOLUTE | SPEEDS | ACCELERATIONS
PAIRS = 3  # as in the paper's tables
ELASTIC = 10.0  # [Hz] pairs above are elastic, the pendulum-like one is below
ARM = "anthropomorphic"
TABLE = {
    0.0: {
        "torque": (0.3747, -0.0471),
        "hz": (64.75, 162.29, 239.45),
        "damping": (0.00437, 0.01074, 0.01589),
    },
    0.125: {
        "torque": (0.4607, 0.0007),
        "hz": (64.54, 161.74, 239.00),
        "damping": (0.00518, 0.01150, 0.01561),
    },
    0.25: {
        "torque": (0.3205, 0.0),
        "hz": (64.00, 160.53, 238.78),
        "damping": (0.00437, 0.01068, 0.01573),
    },
    0.375: {
        "torque": (0.4418, -0.0011),
        "hz": (64.74, 162.64, 241.08),
        "damping": (0.00508, 0.00999, 0.01526),
    },
    0.5: {
        "torque": (0.4699, 0.0484),
        "hz": (65.44, 164.57, 243.07),
        "damping": (0.00445, 0.01093, 0.01591),
    },
}
TIMES = np.linspace(0.0, palomba2019.DURATION, 51)
PAPER = "published-planar"
OTHER_TERMS = ("published", "consistent")


def measure_eigenpairs(log: Log = lambda text: None) -> dict[str, Any]:
    """All tables of this benchmark, as plain data."""
    report: dict[str, Any] = {
        "table": {},
        "path": {},
        "automatic": {},
        "timing": {},
    }
    log("the table at five times")
    report["table"] = {terms: table(terms) for terms in (PAPER, *OTHER_TERMS)}
    log("order 4 along the path")
    points = path_points(4)
    for terms in (PAPER, "published"):
        found = path_expansion(terms)
        report["path"][terms] = summary(errors(found, points))
        exact = errors(found, points, path_matrices(terms))
        with_accelerations = f"{terms}, exact with the accelerations of each time"
        report["path"][with_accelerations] = summary(exact)
        if terms == PAPER:
            report["timing"]["path"] = timing(lambda: path_expansion(PAPER), points)
    log("automatic along the path")
    for name, (found, points) in automatic_path().items():
        report["automatic"][name] = chosen(found, points)
    for name, (expand, over) in {"payload": PAYLOAD, ARM: SPATIAL}.items():
        log(f"automatic: {name}")
        points = _random(over)
        report["automatic"][name] = chosen(expand(), points)
        report["timing"][name] = timing(expand, points)
    return report


def manipulator(terms: str) -> Model:
    """The library's robot with the paper's choice of the ERLS."""
    return Model("planar-2r", "erls-fem", reference=ZEROED, terms=terms)


def path_points(columns: int) -> np.ndarray:
    """(q1, q2, q1d, q2d, q1dd, q2dd) at the 51 times, the first columns of it."""
    points = np.concatenate(palomba2019.path(TIMES), axis=1)
    return points[:, :columns]


def middle(columns: int) -> dict[str, float]:
    """The expansion point of the paper, at half time."""
    half_time = path_points(columns)[25]
    return dict(zip(list(MOTION)[:columns], half_time, strict=True))


def path_expansion(terms: str) -> ModePolynomials:
    """Order 4 in (q1, q2, q1d, q2d) about the middle of the path, accelerations as there."""
    qdd = palomba2019.relative(palomba2019.path([0.25]).qdd)[0]
    return parametric_modes(
        manipulator(terms),
        ABSOLUTE | SPEEDS,
        at=middle(4),
        qdd=qdd,
        order=4,
        count=PAIRS,
        above_hz=ELASTIC,
        hold="theta",
    )


def table(terms: str) -> dict[str, Any]:
    """Frequencies, damping and torques at the five times, and how far they are from the reference."""
    points = np.concatenate(palomba2019.path(list(TABLE)), axis=1)
    source: Any = _library_source(terms)
    M, C, K = source.exact(points)
    torque = np.stack([source.balance(point)[-2:] for point in points])
    rows = []
    for i, t in enumerate(TABLE):
        pairs = vibration_pairs(M[i], C[i], K[i], ELASTIC)
        rows.append(_table_row(t, pairs.eigenvalue[:3], torque[i]))
    keys = ("hz_off", "damping_off", "torque_off")
    worst = {key: max(row[key] for row in rows) for key in keys}
    return plain({"rows": rows, "worst": worst})


def _table_row(t: float, eigenvalue: np.ndarray, torque: np.ndarray) -> dict[str, Any]:
    known = TABLE[t]
    hz = frequency_hz(eigenvalue)
    damping = damping_ratio(eigenvalue)
    hz_off = np.abs(hz / np.array(known["hz"]) - 1)
    damping_off = np.abs(damping / np.array(known["damping"]) - 1)
    # A torque of the table is nearly zero: differences are relative to the larger one.
    largest = np.abs(known["torque"]).max()
    torque_off = np.abs(torque - known["torque"]) / largest
    return {
        "t": t,
        "torque": torque,
        "hz": hz,
        "damping": damping,
        "hz_off": hz_off.max(),
        "damping_off": damping_off.max(),
        "torque_off": torque_off.max(),
    }


def _library_source(terms: str) -> Any:
    """M, C, K of the library's robot in the six quantities of the path."""
    found = parametric_modes(
        manipulator(terms),
        MOTION,
        at=middle(6),
        order=0,
        count=PAIRS,
        above_hz=ELASTIC,
        hold="theta",
    )
    return found.source


def path_matrices(terms: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, C, K at the 51 times, each with its own accelerations."""
    return _library_source(terms).exact(path_points(6))


def errors(
    found: ModePolynomials, points: np.ndarray, matrices: Any = None
) -> dict[str, np.ndarray]:
    """Exact and approximate modal data at points with the errors (30)-(33), (N, m).

    Exact are the eigenpairs of the polynomials' own source, or of other matrices at the same points.
    """
    values = found(points)
    M, C, K = found.matrices.exact(points) if matrices is None else matrices
    exact = []
    for i in range(len(points)):
        pairs = vibration_pairs(M[i], C[i], K[i])
        exact.append(match_pairs(pairs, values.eigenvalue[i], values.right[i]))
    eigenvalue = np.stack([pair.eigenvalue for pair in exact])
    right = np.stack([pair.right.T for pair in exact])
    left = np.stack([pair.left.T for pair in exact])
    f = frequency_hz(eigenvalue)
    xi = damping_ratio(eigenvalue)
    return {
        "f": f,
        "f_poly": values.frequency_hz,
        "xi": xi,
        "xi_poly": values.damping_ratio,
        "eps_f": 100 * np.abs(values.frequency_hz / f - 1),
        "eps_xi": 100 * np.abs(values.damping_ratio / xi - 1),
        "mac_right": modal_assurance(values.right, right),
        "mac_left": modal_assurance(values.left, left),
    }


def summary(found: dict[str, np.ndarray]) -> dict[str, Any]:
    """Worst and mean of each error, mode by mode; eps in percent."""
    table = {}
    for name in ("eps_f", "eps_xi", "mac_right", "mac_left"):
        values = found[name]
        # Errors are bad when large, the likeness of shapes when small.
        largest_is_worst = name.startswith("eps")
        worst = values.max(axis=0) if largest_is_worst else values.min(axis=0)
        table[name] = {"worst": worst, "mean": values.mean(axis=0)}
    return plain(table)


def automatic_path() -> dict[str, tuple[ModePolynomials, np.ndarray]]:
    """0.1 % and 0.999 over the whole path: in positions, speeds and accelerations, and in time alone."""
    model = manipulator("published")
    options: dict[str, Any] = {
        "accuracy": 1e-3,
        "count": PAIRS,
        "above_hz": ELASTIC,
        "hold": "theta",
    }

    def motion(p):
        parts = {}
        for kind, absolute in zip(
            ("q", "qd", "qdd"), palomba2019.motion(p[0]), strict=True
        ):
            values = palomba2019.relative(absolute)
            for i, joint in enumerate(model.joint_names):
                parts[f"{kind}.{joint}"] = values[i]
        return parts

    six = path_points(6)
    time = TIMES[:, None]
    over_six = parametric_modes(model, MOTION, over=six, **options)
    over_time = parametric_modes(model, ["t"], motion=motion, over=time, **options)
    return {
        "path, six parameters": (over_six, six),
        "path, time": (over_time, time),
    }


PAYLOAD_RANGES = {"q1": (-0.15, 0.05), "q2": (-2.1, -1.0), "payload": (0.02, 0.2)}
ARM_RANGES = {"column": (-0.5, 0.5), "upper": (0.2, 0.8), "fore": (-1.2, -0.6)}


def with_payload() -> ModePolynomials:
    """The same robot, both joint angles and a payload of 0 to 0.2 kg as parameters."""
    quantities = {**ABSOLUTE, "payload": "payload.mass"}
    return parametric_modes(
        manipulator("published"),
        quantities,
        over=PAYLOAD_RANGES,
        accuracy=1e-3,
        count=PAIRS,
        above_hz=ELASTIC,
        hold="theta",
    )


def spatial_arm() -> ModePolynomials:
    """The anthropomorphic arm with its three joints as parameters, held."""
    return parametric_modes(
        Model(ARM, "erls-fem"),
        list(ARM_RANGES),
        over=ARM_RANGES,
        accuracy=1e-3,
        count=PAIRS,
        locked=True,
    )


# Expansions that are checked at random points of their ranges.
PAYLOAD = with_payload, PAYLOAD_RANGES
SPATIAL = spatial_arm, ARM_RANGES


def _random(over: dict[str, tuple[float, float]], count: int = 51) -> np.ndarray:
    low, high = np.array(list(over.values())).T
    random = np.random.default_rng(0)
    return random.uniform(low, high, size=(count, len(over)))


def chosen(found: ModePolynomials, points: np.ndarray) -> dict[str, Any]:
    """What the automatic mode chose, and the true errors at points that it did not all see."""
    return {
        "order": found.order,
        "terms": found.terms,
        "expansion_points": found.polynomial.pieces,
        "checked": found.notes["checked"],
        "errors": summary(errors(found, points)),
    }


def timing(
    expand: Callable[[], ModePolynomials], points: np.ndarray, repeat: int = 20
) -> dict[str, Any]:
    """Seconds for all points, best of the repeats: LAPACK one by one, LAPACK batched, polynomials.

    And of what is paid once: the expansion, against exact modes with the matrices that they take. From `break_even`
    points on the expansion is the shorter way.
    """
    with one_core():
        # Twice: the first one traces and imports.
        expansion, found = timed(expand, 2)
        found.exact(points)
        exact, _ = timed(lambda: found.exact(points), 3)
    M, C, K = found.matrices.exact(points)
    n = M.shape[1]
    companion = _companion(M, C, K)
    each: dict[str, Callable[[], Any]] = {
        "lapack": lambda: [all_eigenpairs(*one) for one in zip(M, C, K, strict=True)],
        "lapack_batched": lambda: np.linalg.eig(companion),
        "polynomials": lambda: found(points),
        "polynomials_eigenvalues_only": lambda: found.eigenvalues(points),
    }
    best = {}
    with one_core():
        for name, call in each.items():
            # LAPACK takes long enough to be timed in a few repeats.
            spent, _ = timed(call, 3 if "lapack" in name else repeat)
            best[name] = spent.best
    saved = (exact.best - best["polynomials"]) / len(points)
    report: dict[str, Any] = {
        "points": len(points),
        "coordinates": n,
        "expansion_s": expansion.best,
        "exact_s": exact.best,
        "break_even": int(np.ceil(expansion.best / saved)) if saved > 0 else None,
    }
    for name, span in best.items():
        report[f"{name}_s"] = span
    for name, span in best.items():
        if name != "lapack":
            report[f"factor_{name}"] = best["lapack"] / span
    return report


def all_eigenpairs(M, C, K):
    """All 2n eigenvalues with right and left vectors, by LAPACK's generalised solver (ggev)."""
    n = len(M)
    one = np.eye(n)
    zero = np.zeros((n, n))
    A = np.block([[zero, one], [-K, -C]])
    B = np.block([[one, zero], [zero, M]])
    solution: Any = scipy.linalg.eig(A, B, left=True, right=True)
    lam, z, w = solution
    return lam, w[:n], z[n:]


def _companion(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> np.ndarray:
    """First-order form of M xdd + C xd + K x = 0, at every point."""
    identity = np.broadcast_to(np.eye(M.shape[1]), M.shape)
    upper = np.concatenate([np.zeros_like(M), identity], axis=2)
    lower = -np.linalg.solve(M, np.concatenate([K, C], axis=2))
    return np.concatenate([upper, lower], axis=1)
