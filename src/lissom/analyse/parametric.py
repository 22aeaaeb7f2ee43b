"""Modes as polynomials of named parameters: joint positions, speeds and accelerations, payload, stiffness, lengths."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.optimize

from ..algebra.monomials import monomials_of
from ..describe.errors import nearest
from ..solve.model import Model
from .accuracy import Box, ErrorEstimate, Points, Region, Wanted, expand_until, residual_errors
from .eigenseries import EigenSeries, eigen_series
from .mode_polynomials import ModePolynomials, mode_polynomials
from .operating import KINDS, OperatingPoints, linear_quantities
from .quadratic import RIGID, Eigenpairs, modal_assurance, vibration_pairs

ORDER = 4  # as in [Palomba2019] section 4
MOST = 8  # highest order that the automatic choice tries with one or two parameters
MAC = 0.999  # wanted of the vectors where only a frequency accuracy is given


@dataclass(frozen=True, eq=False, kw_only=True)
class ParametricModes(ModePolynomials):
    """Polynomial eigenpairs together with the model they came from: errors can be estimated at any point."""

    operating: OperatingPoints
    above_hz: float

    def error_estimate(self, points: Any) -> ErrorEstimate:
        """Errors at points, from the residual of the exact eigenproblem there; no eigenproblem is solved."""
        points = np.asarray(self.points(points)).reshape(-1, len(self.parameters))
        values = self(points)
        return residual_errors(self.operating.exact(points), values.eigenvalue, values.right, values.left)

    def exact(self, points: Any) -> list[Eigenpairs]:
        """The exact pairs at points by LAPACK, in the order of these polynomials (matched by their vectors)."""
        points = np.asarray(self.points(points)).reshape(-1, len(self.parameters))
        M, C, K = self.operating.exact(points)
        values = self(points)
        return [
            matched(vibration_pairs(M[i], C[i], K[i], self.above_hz), values.eigenvalue[i], values.right[i])
            for i in range(len(points))
        ]


def parametric_modes(
    model: Model,
    parameters: Sequence[str] | Mapping[str, str | Mapping[str, float]],
    *,
    order: int | None = None,
    at: Mapping[str, float] | None = None,
    over: Mapping[str, tuple[float, float]] | Any = None,
    accuracy: float | None = None,
    mac: float = MAC,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    motion: Callable[[Any], Mapping[str, Any]] | None = None,
    count: int = 3,
    above_hz: float = RIGID,
    locked: bool = False,
    hold: str = "encoder",
    biorthonormal: bool = True,
    max_pieces: int = 64,
    watch: Callable[[int, int], None] | None = None,
) -> ParametricModes:
    """Eigenvalues, right and left vectors as polynomials of parameters, by the recursion of [Palomba2019].

    At every value of the parameters the links are in quasi-static balance with the motion of the joints (elastic
    speeds and accelerations zero, torques from inverse dynamics), and M, C, K are the exact derivatives of the
    equations of motion there; all of that is expanded, the balance included.

    Without `accuracy` there is one expansion, of the given order (4). With it, the lowest order that reaches it is
    chosen and the range is cut into several expansions until it holds at every checked point.

    Args:
        model: the robot.
        parameters: names: a joint (`shoulder` or `q.shoulder`: position; `qd.shoulder`, `qdd.shoulder`: speed and
            acceleration) or a path in the robot (`payload.mass`, `links.upper.beam.material.E`). A mapping gives
            parameters names of their own, `{"E": "links.*.beam.material.E"}`, or lets one move several quantities,
            `{"q1": {"q.upper": 1, "q.lower": -1}, "q2": "q.lower"}`: each quantity is the sum of its parameters.
        order: total order of the polynomials; with `accuracy` the only one tried.
        at: expansion point; default: the middle of `over`, else q, qd, qdd and the values in the robot.
        over: range of each parameter, `{"shoulder": (-1, 1)}`, or an array of points (a trajectory), one per row.
        accuracy: wanted relative error of the frequencies over that range, such as 0.001.
        mac: wanted modal assurance of right and left vectors, with `accuracy`.
        q: joint positions where no parameter moves them; default zero. Likewise qd and qdd.
        qd: joint speeds.
        qdd: joint accelerations.
        motion: instead of named quantities, a JAX function from the parameters (an array, in order) to the quantities
            that they move, such as the joints' motion at a time; parameters are then free names.
        count: number of pairs, lowest frequency first.
        above_hz: skip pairs with lower frequencies at the expansion point, such as pendulum motion of free joints.
        locked: hold the joints.
        hold: what q means: `encoder` readings, or `theta`, the coordinates of the ERLS.
        biorthonormal: scale the left vectors so that psi^* (2 lambda M + C) phi = 1 as polynomials.
        max_pieces: most expansion points of the automatic mode.
        watch: called with the numbers of finished and waiting pieces.

    Raises:
        ValueError: an unknown parameter, or a point that lacks one.
        RepeatedEigenvalueError: an eigenvalue is repeated at an expansion point.
        AccuracyError: the accuracy needs more than `max_pieces` expansion points.
        SeriesError: a parameter enters in a way that has no Taylor series.
    """
    if hold not in ("encoder", "theta"):
        raise ValueError(f"hold must be 'encoder' or 'theta', got {hold!r}")
    operating, present = _operating(model, parameters, (q, qd, qdd), motion, hold == "encoder", locked)
    names = operating.parameters
    region = _region(over, names)
    start = _start(names, at, region, present)
    source = _Source(operating, count, above_hz, biorthonormal)
    if accuracy is None:
        order = ORDER if order is None else order
        low, high = (region.low, region.high) if region is not None else (start - 1.0, start + 1.0)
        found, boxes = [source.expand(start, None, order)], [(start, low, high)]
        checked = "nothing: one expansion of the given order"
    else:
        if region is None:
            raise ValueError("accuracy: say over which range of the parameters it has to hold (over=...)")
        orders = tuple(range(1, _highest(len(names)) + 1)) if order is None else (order,)
        wanted = Wanted(accuracy, mac, orders, max_pieces)
        expand = lambda centre, parent: source.expand(centre, parent, orders[-1])  # noqa: E731
        pieces = expand_until(region, expand, operating.exact, names, wanted, watch)
        order = max(piece.order for piece in pieces)
        size = monomials_of(len(names), order).size
        found = [EigenSeries(*(part[:size] for part in piece.found)) for piece in pieces]
        boxes = [(piece.centre, piece.low, piece.high) for piece in pieces]
        worst = [piece.errors.worst for piece in pieces]
        checked = (f"frequency error {max(w[0] for w in worst):.2g} and MAC {min(w[1] for w in worst):.6f} at "
                   f"{sum(len(piece.errors.frequency) for piece in pieces)} points, from residuals")  # fmt: skip
    notes = {"robot": model.robot.name, "formulation": f"{model.formulation_name}, {model.terms} terms",
             "joints": "locked" if locked else "free", "checked": checked}  # fmt: skip
    whole = mode_polynomials(names, order, boxes, found, source.coordinates, notes)
    return ParametricModes(
        polynomial=whole.polynomial,
        modes=whole.modes,
        coordinates=whole.coordinates,
        notes=whole.notes,
        operating=operating,
        above_hz=above_hz,
    )


class _Source:
    """Expansions of one model about different points, their modes in one order."""

    def __init__(self, operating: OperatingPoints, count: int, above_hz: float, biorthonormal: bool):
        self.operating, self.count, self.above_hz, self.biorthonormal = operating, count, above_hz, biorthonormal
        model = operating.model
        joints = () if operating.locked else model.joint_names
        self.coordinates = (*joints, *model.coordinate_names)

    def expand(self, centre: np.ndarray, parent: ModePolynomials | None, order: int) -> EigenSeries:
        """Series about a point; the modes are those of the parent expansion there, else the lowest ones."""
        M, C, K = self.operating.series(centre, order)
        pairs = vibration_pairs(M[0], C[0], K[0], self.above_hz if parent is None else 0.0)
        if parent is None:
            if len(pairs.eigenvalue) < self.count:
                raise ValueError(f"count: only {len(pairs.eigenvalue)} pairs vibrate above {self.above_hz:g} Hz, "
                                 f"{self.count} were asked for")  # fmt: skip
            pairs = chosen(pairs, np.arange(self.count))
        else:
            values = parent(centre)
            pairs = matched(pairs, values.eigenvalue, values.right)
        monomials = monomials_of(len(centre), order)
        return eigen_series(monomials, M, C, K, pairs, self.biorthonormal)


def chosen(pairs: Eigenpairs, which: np.ndarray) -> Eigenpairs:
    """Some of the pairs; the rest joins the others."""
    rest = np.setdiff1d(np.arange(len(pairs.eigenvalue)), which)
    others = np.concatenate([pairs.others, pairs.eigenvalue[rest]])
    return Eigenpairs(pairs.eigenvalue[which], pairs.right[:, which], pairs.left[:, which], others)


def matched(pairs: Eigenpairs, eigenvalue: np.ndarray, right: np.ndarray) -> Eigenpairs:
    """The pairs that continue given ones: likest vectors and nearest eigenvalues, with the vectors' phase kept."""
    mac = modal_assurance(right[:, None, :], pairs.right.T[None, :, :])
    distance = np.abs(eigenvalue[:, None] - pairs.eigenvalue[None, :]) / np.abs(eigenvalue[:, None])
    _, which = scipy.optimize.linear_sum_assignment((1.0 - mac) + np.minimum(distance, 1.0))
    pairs = chosen(pairs, which)
    product = np.einsum("mn,nm->m", right, pairs.right.conj())
    scale = product / np.maximum(np.abs(product), 1e-300)
    return Eigenpairs(pairs.eigenvalue, pairs.right * scale, pairs.left * scale, pairs.others)


def _highest(p: int) -> int:
    """Highest order worth trying: about as many terms whatever the number of parameters."""
    return {1: MOST + 2, 2: MOST, 3: 6, 4: 5}.get(p, 4)


def _operating(
    model: Model, parameters, motions, motion, encoders: bool, locked: bool
) -> tuple[OperatingPoints, Callable[[], np.ndarray] | None]:
    """What the parameters move, and how to find their values in the robot as it is."""
    if model.closed:
        raise ValueError("loops: eigenpairs are expanded for open chains; use `modes` pose by pose for this robot")
    base = {kind: np.zeros(model.n_joints) if value is None else np.asarray(value, dtype=float)
            for kind, value in zip(KINDS, motions, strict=True)}  # fmt: skip
    for kind, value in base.items():
        if value.shape != (model.n_joints,):
            joints = ", ".join(model.joint_names)
            raise ValueError(f"{kind} must have {model.n_joints} values, one for each joint ({joints})")
    names = tuple(parameters)
    if not names:
        raise ValueError("parameters: name at least one")
    if motion is not None:
        probe = motion(jnp.zeros(len(names)))
        for quantity in probe:
            _known(model, quantity)
        return OperatingPoints(model, names, motion, base, encoders, locked), None
    spec = parameters if isinstance(parameters, Mapping) else {name: name for name in names}
    parts = {name: ({what: 1.0} if isinstance(what, str) else dict(what)) for name, what in spec.items()}
    quantities = list(dict.fromkeys(_known(model, quantity) for part in parts.values() for quantity in part))
    A = np.array([[sum(c for what, c in parts[name].items() if _known(model, what) == quantity) for name in names]
                  for quantity in quantities], dtype=float)  # fmt: skip
    operating = OperatingPoints(model, names, linear_quantities(quantities, A), base, encoders, locked)
    return operating, lambda: _solved(A, quantities, names, model, base)


def _known(model: Model, quantity: str) -> str:
    """The full name of a quantity.

    Raises:
        ValueError: no joint and no place in the robot has this name.
    """
    kind, _, joint = quantity.partition(".")
    if quantity in model.joint_names:
        return f"q.{quantity}"
    known = [f"{k}.{name}" for k in KINDS for name in model.joint_names]
    if kind in KINDS:
        if joint in model.joint_names:
            return quantity
        raise ValueError(f"parameter {quantity!r}: no joint is called {joint!r}{nearest(joint, model.joint_names)} "
                         f"The joints are {', '.join(model.joint_names)}.")  # fmt: skip
    if "." not in quantity:
        raise ValueError(f"parameter {quantity!r} is neither a joint nor a path in the robot"
                         f"{nearest(quantity, [*model.joint_names, *known])} Joints: {', '.join(known)}; "
                         "paths are such as payload.mass or links.NAME.beam.material.E.")  # fmt: skip
    value = value_at(model, quantity)
    model.robot.replace({quantity: 1.0 if value is None else value})  # refuses unknown places, in the file's words
    return quantity


def value_at(model: Model, path: str) -> float | None:
    """The number that the robot has at a dotted path; None if there is none."""
    here: Any = model.robot.to_dict()
    for step in path.split("."):
        if isinstance(here, list):
            names = [item.get("name") if isinstance(item, Mapping) else None for item in here]
            place = 0 if step == "*" else names.index(step) if step in names else int(step) if step.isdecimal() else -1
            here = here[place] if 0 <= place < len(here) else None
        else:
            here = here.get(step) if isinstance(here, Mapping) else None
    return float(here) if isinstance(here, int | float) else None


def _solved(A, quantities, names, model, base) -> np.ndarray:
    """Parameters that give the quantities the values they have."""
    values = []
    for quantity in quantities:
        kind, _, joint = quantity.partition(".")
        value = base[kind][model.joint_names.index(joint)] if kind in KINDS else value_at(model, quantity)
        if value is None:
            raise ValueError(f"at: give the value of {quantity} at the expansion point; the robot has none")
        values.append(value)
    p, *_ = np.linalg.lstsq(A, np.array(values), rcond=None)
    if not np.allclose(A @ p, values, rtol=1e-9, atol=1e-12):
        raise ValueError(f"at: no values of {', '.join(names)} give the robot's present {', '.join(quantities)}; "
                         "say where to expand")  # fmt: skip
    return p


def _region(over: Any, names: tuple[str, ...]) -> Region | None:
    if over is None:
        return None
    if isinstance(over, Mapping):
        strange = [name for name in over if name not in names] + [name for name in names if name not in over]
        if strange:
            raise ValueError(f"over: {', '.join(strange)}: give a range for each of {', '.join(names)}, nothing else")
        low, high = (np.array([float(over[name][side]) for name in names]) for side in (0, 1))
        if not (high > low).all():
            raise ValueError("over: each range is (low, high) with low < high")
        return Box(low, high)
    points = np.asarray(over, dtype=float)
    if points.ndim != 2 or points.shape[1] != len(names):
        raise ValueError(f"over: an array of points has one row per point and {len(names)} columns "
                         f"({', '.join(names)}), got shape {points.shape}")  # fmt: skip
    return Points(points)


def _start(names, at, region: Region | None, present: Callable[[], np.ndarray] | None) -> np.ndarray:
    """The expansion point: as given, else the middle of the range, else where the robot is now."""
    given = dict(at or {})
    strange = [name for name in given if name not in names]
    if strange:
        raise ValueError(f"at: {', '.join(strange)} is no parameter; they are {', '.join(names)}")
    if all(name in given for name in names):
        return np.array([float(given[name]) for name in names])
    if region is None and present is None:
        raise ValueError(f"at: give the value of each of {', '.join(names)} at the expansion point")
    rest = region.centre() if region is not None else present() if present is not None else ()
    return np.array([float(given.get(name, value)) for name, value in zip(names, rest, strict=True)])


__all__ = ["EigenSeries", "ParametricModes", "matched", "parametric_modes"]
