"""Parametric eigenpairs measured: the manipulator of [Palomba2019] along its path, with a payload, and an arm in space.

The data of the paper's Table 2 and Figure 2 are lost. The frequencies, damping ratios and torques of `TABLE` come from
an independent computation with chosen data; `palomba2019` is the paper's model in the paper's coordinates.
"""

from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from ..algebra.eigen import modal_assurance
from ..analyse.modes.complex_modes import damping_ratio, frequency_hz, vibration_pairs
from ..analyse.polynomials.parametric_modes import (
    ParametricModes,
    matched,
    parametric_eigenpairs,
    parametric_modes,
)
from ..solve.model import Model
from . import palomba2019
from .cases import Tell
from .machine import one_core

ZEROED = {"zeroed": ["upper/0.rz", "lower/0.rz"]}  # what q1 and q2 of the paper mean
ABSOLUTE = {"q1": {"q.upper": 1, "q.lower": -1}, "q2": "q.lower"}
SPEEDS = {"q1d": {"qd.upper": 1, "qd.lower": -1}, "q2d": "qd.lower"}
ACCELERATIONS = {"q1dd": {"qdd.upper": 1, "qdd.lower": -1}, "q2dd": "qdd.lower"}
ELASTIC = 10.0  # [Hz] pairs above are elastic, the pendulum-like one is below
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


def measure_eigenpairs(tell: Tell = lambda text: None) -> dict[str, Any]:
    """Everything, as plain data."""
    report: dict[str, Any] = {"table": {}, "path": {}, "automatic": {}, "timing": {}}
    tell("the table at five times")
    for name, source in {
        "paper": None,
        "published": "published",
        "consistent": "consistent",
    }.items():
        report["table"][name] = table(source)
    tell("order 4 along the path")
    own, library = papers_expansion(), library_expansion("published")
    for name, found in {"paper": own, "published": library}.items():
        report["path"][name] = summary(errors(found, path_points(4)))
        whole = summary(errors(found, path_points(4), path_matrices(name)))
        report["path"][f"{name}, exact with the accelerations of each time"] = whole
    report["timing"]["path"] = timing(own, path_points(4))
    tell("automatic along the path")
    for name, (found, points) in automatic_path().items():
        report["automatic"][name] = chosen(found, points)
    tell("payload")
    found, points = with_payload()
    report["automatic"]["payload"] = chosen(found, points)
    report["timing"]["payload"] = timing(found, points)
    tell("anthropomorphic arm")
    found, points = spatial_arm()
    report["automatic"]["anthropomorphic"] = chosen(found, points)
    report["timing"]["anthropomorphic"] = timing(found, points)
    return report


def manipulator(terms: str) -> Model:
    """The library's robot with the paper's choice of the ERLS."""
    return Model("planar-2r", reference=ZEROED, terms=terms)


def path_points(columns: int) -> np.ndarray:
    """(q1, q2, q1d, q2d, q1dd, q2dd) at the 51 times, the first columns of it."""
    return np.concatenate(palomba2019.path(TIMES), axis=1)[:, :columns]


def middle(columns: int) -> dict[str, float]:
    """The expansion point of the paper, at half time."""
    names = [*ABSOLUTE, *SPEEDS, *ACCELERATIONS][:columns]
    return dict(zip(names, path_points(6)[25], strict=False))


def papers_expansion() -> ParametricModes:
    """Order 4 in (q1, q2, q1d, q2d) of the paper's own model, accelerations as at half time."""
    qdd = palomba2019.path([0.25]).qdd[0]

    def matrices(p):
        return palomba2019.matrices(p[:2], p[2:], qdd)

    return parametric_eigenpairs(
        matrices, [*ABSOLUTE, *SPEEDS], at=middle(4), order=4, above_hz=ELASTIC
    )


def library_expansion(terms: str) -> ParametricModes:
    """The same of the library's robot."""
    qdd = palomba2019.relative(palomba2019.path([0.25]).qdd)[0]
    quantities = ABSOLUTE | SPEEDS
    return parametric_modes(
        manipulator(terms),
        quantities,
        at=middle(4),
        qdd=qdd,
        order=4,
        above_hz=ELASTIC,
        hold="theta",
    )


def table(terms: str | None) -> dict[str, Any]:
    """Frequencies, damping and torques at the five times, and how far they are from the reference."""
    path = palomba2019.path(list(TABLE))
    if terms is None:
        stack = [jnp.asarray(part) for part in path]
        M, C, K = (
            np.asarray(A) for A in jax.jit(jax.vmap(palomba2019.matrices))(*stack)
        )
        torque = np.asarray(jax.jit(jax.vmap(palomba2019.balance))(*stack)[1])
    else:
        points = np.concatenate(path, axis=1)
        quantities = ABSOLUTE | SPEEDS | ACCELERATIONS
        source = parametric_modes(
            manipulator(terms),
            quantities,
            at=middle(6),
            order=0,
            above_hz=ELASTIC,
            hold="theta",
        ).source
        M, C, K = source.exact(points)
        torque = np.stack([source.balance(p)[-2:] for p in points])  # pyright: ignore[reportAttributeAccessIssue]
    rows = []
    for i, (t, known) in enumerate(TABLE.items()):
        lam = vibration_pairs(M[i], C[i], K[i], ELASTIC).eigenvalue[:3]
        largest = np.abs(known["torque"]).max()
        rows.append({"t": t, "torque": torque[i], "hz": frequency_hz(lam), "damping": damping_ratio(lam),
                     "hz_off": np.abs(frequency_hz(lam) / np.array(known["hz"]) - 1).max(),
                     "damping_off": np.abs(damping_ratio(lam) / np.array(known["damping"]) - 1).max(),
                     "torque_off": np.abs(torque[i] - known["torque"]).max() / largest})  # fmt: skip
    worst = {
        key: max(row[key] for row in rows)
        for key in ("hz_off", "damping_off", "torque_off")
    }
    return plain({"rows": rows, "worst": worst})


def path_matrices(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, C, K at the 51 times, each with its own accelerations: `paper`, or the terms of the library's robot."""
    if name == "paper":
        stack = [jnp.asarray(part) for part in palomba2019.path(TIMES)]
        M, C, K = jax.jit(jax.vmap(palomba2019.matrices))(*stack)
        return np.asarray(M), np.asarray(C), np.asarray(K)
    quantities = ABSOLUTE | SPEEDS | ACCELERATIONS
    found = parametric_modes(
        manipulator(name),
        quantities,
        at=middle(6),
        order=0,
        above_hz=ELASTIC,
        hold="theta",
    )
    return found.source.exact(path_points(6))


def errors(
    found: ParametricModes, points: np.ndarray, matrices: Any = None
) -> dict[str, np.ndarray]:
    """Exact and approximate modal data at points with the errors (30)-(33), (N, m).

    Exact are the eigenpairs of the polynomials' own source, or of other matrices at the same points.
    """
    values = found(points)
    M, C, K = found.source.exact(points) if matrices is None else matrices
    exact = [matched(vibration_pairs(M[i], C[i], K[i]), values.eigenvalue[i], values.right[i])
             for i in range(len(points))]  # fmt: skip
    lam = np.stack([pair.eigenvalue for pair in exact])
    f, xi = frequency_hz(lam), damping_ratio(lam)
    return {
        "f": f, "f_poly": values.frequency_hz, "xi": xi, "xi_poly": values.damping_ratio,
        "eps_f": 100 * np.abs(values.frequency_hz / f - 1), "eps_xi": 100 * np.abs(values.damping_ratio / xi - 1),
        "mac_right": modal_assurance(values.right, np.stack([pair.right.T for pair in exact])),
        "mac_left": modal_assurance(values.left, np.stack([pair.left.T for pair in exact])),
    }  # fmt: skip


def summary(found: dict[str, np.ndarray]) -> dict[str, Any]:
    """Worst and mean of each error, mode by mode; eps in percent."""
    return plain({
        name: {"worst": found[name].max(axis=0) if name.startswith("eps") else found[name].min(axis=0),
               "mean": found[name].mean(axis=0)}
        for name in ("eps_f", "eps_xi", "mac_right", "mac_left")
    })  # fmt: skip


def automatic_path() -> dict[str, tuple[ParametricModes, np.ndarray]]:
    """0.1 % and 0.999 over the whole path: in positions, speeds and accelerations, and in time alone."""
    model = manipulator("published")
    options: dict[str, Any] = {"accuracy": 1e-3, "above_hz": ELASTIC, "hold": "theta"}
    six, time = path_points(6), TIMES[:, None]

    def motion(p):
        parts = [
            part @ jnp.array([[1.0, -1.0], [0.0, 1.0]])
            for part in palomba2019.motion(p[0])
        ]
        return {f"{kind}.{joint}": part[i] for kind, part in zip(("q", "qd", "qdd"), parts, strict=True)
                for i, joint in enumerate(model.joint_names)}  # fmt: skip

    quantities = ABSOLUTE | SPEEDS | ACCELERATIONS
    return {
        "path, six parameters": (
            parametric_modes(model, quantities, over=six, **options),
            six,
        ),
        "path, time": (
            parametric_modes(model, ["t"], motion=motion, over=time, **options),
            time,
        ),
    }


def with_payload() -> tuple[ParametricModes, np.ndarray]:
    """The same robot, both joint angles and a payload of 0 to 0.2 kg as parameters; checked at random points."""
    over = {"q1": (-0.15, 0.05), "q2": (-2.1, -1.0), "payload": (0.02, 0.2)}
    quantities = {**ABSOLUTE, "payload": "payload.mass"}
    found = parametric_modes(
        manipulator("published"),
        quantities,
        over=over,
        accuracy=1e-3,
        above_hz=ELASTIC,
        hold="theta",
    )
    return found, _random(over)


def spatial_arm() -> tuple[ParametricModes, np.ndarray]:
    """The anthropomorphic arm with its three joints as parameters, held; checked at random points."""
    model = Model("anthropomorphic")
    over = dict(
        zip(model.joint_names, ((-0.5, 0.5), (0.2, 0.8), (-1.2, -0.6)), strict=True)
    )
    return parametric_modes(
        model, list(over), over=over, accuracy=1e-3, locked=True
    ), _random(over)


def _random(over: dict[str, tuple[float, float]], count: int = 51) -> np.ndarray:
    low, high = np.array(list(over.values())).T
    return np.random.default_rng(0).uniform(low, high, size=(count, len(over)))


def chosen(found: ParametricModes, points: np.ndarray) -> dict[str, Any]:
    """What the automatic mode chose, and the true errors at points that it did not all see."""
    return {
        "order": found.order,
        "terms": found.terms,
        "expansion_points": found.polynomial.pieces,
        "checked": found.notes["checked"],
        "errors": summary(errors(found, points)),
    }


def timing(
    found: ParametricModes, points: np.ndarray, repeat: int = 20
) -> dict[str, Any]:
    """Seconds for all points, best of the repeats: LAPACK one by one, LAPACK batched, polynomials."""
    M, C, K = found.source.exact(points)
    n = M.shape[1]
    companion = np.concatenate(
        [np.concatenate([np.zeros_like(M), np.broadcast_to(np.eye(n), M.shape)], axis=2),
         -np.linalg.solve(M, np.concatenate([K, C], axis=2))], axis=1)  # fmt: skip
    each = {
        "lapack": lambda: [
            all_eigenpairs(M[i], C[i], K[i]) for i in range(len(points))
        ],
        "lapack_batched": lambda: np.linalg.eig(companion),
        "polynomials": lambda: found(points),
        "polynomials_eigenvalues_only": lambda: found.eigenvalues(points),
    }
    with one_core():
        best = {
            name: _best(call, 3 if "lapack" in name else repeat)
            for name, call in each.items()
        }
    ratios = {
        f"factor_{name}": best["lapack"] / best[name]
        for name in each
        if name != "lapack"
    }
    return {
        "points": len(points),
        "coordinates": n,
        **{f"{name}_s": span for name, span in best.items()},
        **ratios,
    }


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


def _best(call, repeat: int) -> float:
    spans = []
    for _ in range(repeat):
        start = perf_counter()
        call()
        spans.append(perf_counter() - start)
    return min(spans)


def plain(value: Any) -> Any:
    """Arrays and NumPy numbers as lists and floats, for JSON."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
