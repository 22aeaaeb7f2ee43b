"""Modes of robots as polynomials of named parameters."""

import functools
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import planar_manipulator
import pytest
from numpy.testing import assert_allclose

from helpers import compiled_once
from lissom import (
    Model,
    ModePolynomials,
    Robot,
    modes,
    parametric_eigenpairs,
    parametric_modes,
)
from lissom.algebra.eigen import modal_assurance
from lissom.analyse.modes.complex_modes import (
    damping_ratio,
    frequency_hz,
    vibration_pairs,
)
from lissom.analyse.polynomials.eigenseries import RepeatedEigenvalueError
from lissom.analyse.polynomials.expansion import AccuracyError
from lissom.bench import palomba2019
from lissom.describe import DescriptionError
from lissom.solve.model import UndefinedReferenceError

ZEROED = {
    "zeroed": ["upper/0.rz", "lower/0.rz"]
}  # what q1 and q2 of [Palomba2019] mean
ABSOLUTE = {
    "q1": {"q.upper": 1, "q.lower": -1},
    "q2": "q.lower",
    "q1d": {"qd.upper": 1, "qd.lower": -1},
    "q2d": "qd.lower",
}
TABLE = {  # time [s]: torques [N m], elastic frequencies [Hz], damping ratios; independent computation, chosen data
    0.0: ((0.3747, -0.0471), (64.75, 162.29, 239.45), (0.00437, 0.01074, 0.01589)),
    0.125: ((0.4607, 0.0007), (64.54, 161.74, 239.00), (0.00518, 0.01150, 0.01561)),
    0.25: ((0.3205, 0.0), (64.00, 160.53, 238.78), (0.00437, 0.01068, 0.01573)),
    0.375: ((0.4418, -0.0011), (64.74, 162.64, 241.08), (0.00508, 0.00999, 0.01526)),
    0.5: ((0.4699, 0.0484), (65.44, 164.57, 243.07), (0.00445, 0.01093, 0.01591)),
}
TIMES = np.linspace(0.0, palomba2019.DURATION, 51)
SQUARE = {
    "lissom": 1,
    "name": "square",
    "gravity": [0, 0, 0],
    "links": [
        {
            "name": "rod",
            "joint": {"type": "revolute", "axis": [0, 0, 1]},
            "beam": {
                "path": [[0, 0, 0], [0.5, 0, 0]],
                "section": {"shape": "rectangle", "y": 0.01, "z": 0.01},
                "material": "steel",
                "elements": 2,
            },
        }
    ],
}


@functools.cache
def manipulator(terms="published"):
    return Model("planar-2r", "erls-fem", reference=ZEROED, terms=terms)


@functools.cache
def mid_path():
    """The library's manipulator about the middle of the path, order 4, as in section 4 of the paper."""
    middle = palomba2019.path([0.25])
    at = dict(zip(ABSOLUTE, [*middle.q[0], *middle.qd[0]], strict=True))
    qdd = palomba2019.relative(middle.qdd)[0]
    return parametric_modes(
        manipulator(),
        ABSOLUTE,
        order=4,
        at=at,
        qdd=qdd,
        count=3,
        above_hz=10.0,
        hold="theta",
        over=path_points(),
    )


@functools.cache
def papers_own():
    """The same of the paper's own model, in its own coordinates."""
    q, qd, qdd = (part[0] for part in palomba2019.path([0.25]))
    at = dict(zip(("q1", "q2", "q1d", "q2d"), [*q, *qd], strict=True))
    return parametric_eigenpairs(
        lambda p: planar_manipulator.matrices(p[:2], p[2:], qdd),
        tuple(at),
        at=at,
        order=4,
        above_hz=10.0,
    )


@functools.cache
def path_points():
    path = palomba2019.path(TIMES)
    return np.concatenate([path.q, path.qd], axis=1)


@pytest.mark.parametrize("t", TABLE)
def test_the_papers_model_in_its_own_coordinates_gives_the_reference_table(t):
    torque, frequency, damping = TABLE[t]
    path = palomba2019.path([t])
    q, qd, qdd = (jnp.asarray(part[0]) for part in path)
    _, u = jax.jit(planar_manipulator.balance)(q, qd, qdd)
    M, C, K = (np.asarray(A) for A in jax.jit(planar_manipulator.matrices)(q, qd, qdd))
    pairs = vibration_pairs(M, C, K, above_hz=10.0)
    np.testing.assert_allclose(u, torque, atol=6e-5)
    np.testing.assert_allclose(frequency_hz(pairs.eigenvalue[:3]), frequency, atol=6e-3)
    np.testing.assert_allclose(damping_ratio(pairs.eigenvalue[:3]), damping, atol=6e-6)


def test_the_papers_model_has_the_printed_matrices():
    """Entries of (A2), (A4) and (A5) as printed, their errata corrected; L1, L2 and rho as there."""
    q, qd = jnp.array([0.4, -0.9]), jnp.array([1.3, -0.7])
    L1, L2, rho = *palomba2019.LENGTHS, planar_manipulator.DENSITY
    n = planar_manipulator.SIZE
    still = jnp.zeros(n)
    x, xd = jnp.concatenate([still, q]), jnp.concatenate([still, qd])

    def gamma(x, xd, xdd):
        return planar_manipulator.unbalanced(x, xd, xdd, jnp.zeros(2))

    derivatives = compiled_once(
        lambda x, xd: (
            gamma(x, xd, 0.0 * x),
            *jax.jacfwd(gamma, (1, 2))(x, xd, 0.0 * x),
        )
    )
    (f, C_rest, _), (_, C, M) = derivatives(x, 0.0 * xd), derivatives(x, xd)
    f, C = -f, C - C_rest  # forces at rest; speeds without alpha M and beta K
    s, c = np.sin(q), np.cos(q)
    m6, m7 = rho * L1**2 * s[0] / 8, rho * L1**2 * c[0] / 8
    m8, m14, m16 = rho * L1**3 / 960, rho * L2**2 * s[1] / 9, rho * L2**3 / 3
    m17 = rho * L1 * L2**2 * np.cos(q[0] - q[1]) / 2
    m18, m20 = rho * L1 * L2 * s[0] / 3, rho * L1**2 * (L1 + 3 * L2) / 3
    printed = {
        (0, 0): rho * L1 * (4 * s[0] ** 2 + 35) / 210,
        (0, 1): -rho * L1 * np.sin(2 * q[0]) / 105,
        (0, 5): 13 * m6 / 840,
        (2, 2): 2 * m8 / 7,
        (12, 12): 2 * rho * L2 * (4 * s[1] ** 2 + 35) / 315,
        (n, 0): -m6 / 2,
        (n, 1): m7 / 2,
        (n, 2): m8,
        (n, 6): -3 * m6 / 2,
        (n, 9): -(37 * m6 + 20 * m18) / 40,
        (n, 12): -m18,
        (n, 20): -m17 / 54,
        (n + 1, 9): -3 * m14 / 20,
        (n + 1, 20): -13 * m16 / 540,
        (n, n): m20,
        (n, n + 1): m17,
        (n + 1, n + 1): m16,
    }
    for (i, k), value in printed.items():
        np.testing.assert_allclose(M[i, k], value, rtol=1e-12, err_msg=f"M[{i}, {k}]")
    c13 = rho * L1 * L2**2 * np.sin(q[0] - q[1]) / 2
    c5 = rho * L1**2 * c[0] * qd[0] / 8
    # in the rigid columns the derivative with respect to the speeds counts their product twice, eq. (5)
    for (i, k), value in {
        (n, n + 1): 2 * c13 * qd[1],
        (n + 1, n): -2 * c13 * qd[0],
        (0, n): -c5,
        (2, 3): c5 / 420,
        (0, 3): -rho * L1 * np.sin(2 * q[0]) * qd[0] / 105,
    }.items():
        np.testing.assert_allclose(C[i, k], value, rtol=1e-9, err_msg=f"C[{i}, {k}]")
    g = planar_manipulator.GRAVITY
    np.testing.assert_allclose(f[1], -rho * L1 * g / 4, rtol=1e-12)
    np.testing.assert_allclose(f[10], -rho * (3 * L1 + 4 * L2) * g / 24, rtol=1e-12)
    np.testing.assert_allclose(f[11], rho * L1**2 * g * c[0] / 192, rtol=1e-12)
    np.testing.assert_allclose(
        f[n:], [-rho * L1 * (L1 + 2 * L2) * g * c[0] / 2, -rho * L2**2 * g * c[1] / 2]
    )


# Other terms than the paper's own differ by what is of second order in the displacements.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("terms", "times", "hz_off", "torque_off"),
    [
        ("published-planar", tuple(TABLE), 1e-4, 2e-4),
        ("published", tuple(TABLE), 0.005, 0.01),
        ("consistent", tuple(TABLE), 0.005, 0.01),
    ],
)
def test_the_librarys_manipulator_has_the_frequencies_and_torques_of_the_table(
    terms, times, hz_off, torque_off
):
    points = np.concatenate(palomba2019.path(times), axis=1)
    names = [*ABSOLUTE, "q1dd", "q2dd"]
    quantities = ABSOLUTE | {
        "q1dd": {"qdd.upper": 1, "qdd.lower": -1},
        "q2dd": "qdd.lower",
    }
    at = dict(zip(names, points[0], strict=True))
    found = parametric_modes(
        manipulator(terms),
        quantities,
        at=at,
        order=0,
        count=3,
        above_hz=10.0,
        hold="theta",
    )
    for point, t in zip(points, times, strict=True):
        known_torque, known, known_damping = TABLE[t]
        z, (M, C, K) = (
            found.source.balance(point),
            (A[0] for A in found.source.exact(point)),
        )
        pairs = vibration_pairs(M, C, K, above_hz=10.0)
        lam = pairs.eigenvalue[:3]
        np.testing.assert_allclose(frequency_hz(lam), known, rtol=hz_off)
        np.testing.assert_allclose(
            z[-2:], known_torque, atol=torque_off * np.abs(known_torque).max()
        )
        if terms == "published-planar":
            np.testing.assert_allclose(damping_ratio(lam), known_damping, atol=6e-6)


def compared(found, points):
    """Errors (30)-(33) at points: largest of frequency and damping in percent, smallest MAC, right and left."""
    values, exact = found(points), found.exact(points)
    lam = np.stack([pair.eigenvalue for pair in exact])
    f, xi = frequency_hz(lam), damping_ratio(lam)
    right = modal_assurance(values.right, np.stack([pair.right.T for pair in exact]))
    left = modal_assurance(values.left, np.stack([pair.left.T for pair in exact]))
    return (
        100 * abs(values.frequency_hz / f - 1).max(),
        100 * abs(values.damping_ratio / xi - 1).max(),
        right.min(),
        left.min(),
    )


@pytest.mark.parametrize(
    "expanded", [papers_own, pytest.param(mid_path, marks=pytest.mark.slow)]
)
def test_fourth_order_polynomials_follow_the_whole_path(expanded):
    found = expanded()
    assert found.terms == 70
    eps_f, eps_xi, right, left = compared(found, path_points())
    assert eps_f < 0.05
    assert eps_xi < 0.2
    assert min(right, left) > 0.9999


def test_the_error_is_largest_at_the_ends_of_the_path():
    estimate = papers_own().error_estimate(path_points())
    assert set(np.argmax(estimate.frequency, axis=0)) <= {*range(10), *range(41, 51)}
    assert estimate.frequency[20:31].max() < 1e-6


def test_the_residual_estimates_the_error_without_an_eigenproblem():
    found = papers_own()
    estimate = found.error_estimate(path_points())
    lam = np.stack([pair.eigenvalue for pair in found.exact(path_points())])
    true = np.abs(found.frequency_hz(path_points()) / frequency_hz(lam) - 1.0)
    np.testing.assert_allclose(estimate.frequency, true, rtol=0.05, atol=1e-8)


@pytest.mark.slow
def test_automatic_expansion_holds_its_accuracy_over_the_path():
    """With time as the only parameter; positions, speeds and accelerations all move with it."""

    def matrices(p):
        return planar_manipulator.matrices(*palomba2019.motion(p[0]))

    points = TIMES[::5, None]
    found = parametric_eigenpairs(
        matrices, ["t"], over=points, accuracy=1e-3, order=5, above_hz=10.0
    )
    eps_f, _, right, left = compared(found, points)
    assert eps_f < 0.1
    assert min(right, left) > 0.999
    assert 2 <= found.polynomial.pieces <= 8
    assert found.polynomial.pieces == len(found.centres)


def test_what_cannot_be_reached_is_said():
    def matrices(p):
        return (
            jnp.eye(1),
            jnp.zeros((1, 1)),
            jnp.exp(8.0 * p[0]) * jnp.eye(1),
        )

    with pytest.raises(AccuracyError, match="more than 2 expansion points"):
        parametric_eigenpairs(
            matrices,
            ["k"],
            over={"k": (-1, 1)},
            accuracy=1e-6,
            order=2,
            count=1,
            above_hz=0.0,
            max_pieces=2,
        )


def test_automatic_expansion_takes_the_lowest_order_that_is_good_enough():
    def matrices(p):
        return (
            jnp.eye(2),
            0.01 * jnp.eye(2),
            jnp.diag(jnp.array([1.0, 9.0])) * (1.0 + p[0]),
        )

    over = {"k": (-0.2, 0.2)}
    orders = [
        parametric_eigenpairs(
            matrices, ["k"], over=over, accuracy=accuracy, count=2, above_hz=0.0
        ).order
        for accuracy in (1e-2, 1e-4, 1e-7)
    ]
    assert orders == sorted(orders) and orders[0] < orders[-1]


@pytest.mark.slow
def test_frequencies_grow_with_the_root_of_the_modulus():
    """Without gravity and damping every frequency is proportional to sqrt(E): the binomial series."""
    robot = Robot.load("planar-2r").replace({"gravity": [0, 0, 0], "damping": None})
    found = parametric_modes(
        Model(robot, "erls-fem"),
        {"E": "links.*.beam.material.E"},
        q=[0.3, -1.0],
        order=5,
        locked=True,
        count=3,
        over={"E": (6e10, 8e10)},
    )
    c = found.coefficients("frequency_hz").coefficients[0]
    series = c * (7e10 ** np.arange(6))[:, None] / c[0]
    np.testing.assert_allclose(
        series,
        np.outer([1, 1 / 2, -1 / 8, 1 / 16, -5 / 128, 7 / 256], np.ones(3)),
        rtol=1e-7,
    )


@pytest.mark.slow
def test_payload_and_length_are_parameters():
    model = Model("planar-2r", "erls-fem")
    names = ["payload.mass", "links.lower.joint.dh.a", "lower"]
    at = dict(zip(names, (0.1, 0.3, -1.0), strict=True))
    options = {"count": 3, "above_hz": 10.0}
    found = parametric_modes(model, names, at=at, q=[0.3, 0.0], order=3, **options)
    point = np.array([0.12, 0.302, -1.05])
    robot = model.robot.replace(dict(zip(names[:2], point[:2], strict=True)))
    reference = parametric_modes(
        Model(robot, "erls-fem"), ["lower"], q=[0.3, -1.05], order=0, **options
    )
    np.testing.assert_allclose(
        found.frequency_hz(point), reference.frequency_hz([-1.05]), rtol=3e-4
    )
    assert (
        np.abs(found.frequency_hz(list(at.values())) - found.frequency_hz(point)).max()
        > 0.5
    )


@pytest.mark.parametrize(
    "reference",
    [None, pytest.param(ZEROED, marks=pytest.mark.slow)],
    ids=["tangent", "zeroed"],
)
def test_a_straight_locked_arm_is_a_cantilever(reference):
    robot = Robot.load("planar-2r").replace({"damping": None, "gravity": [0, 0, 0]})
    found = parametric_modes(
        Model(robot, "erls-fem", reference=reference),
        ["upper"],
        q=[0.2, 0.0],
        order=1,
        locked=True,
        count=3,
    )
    EJ, rho, L = (
        planar_manipulator.E_J,
        planar_manipulator.DENSITY,
        sum(palomba2019.LENGTHS),
    )
    known = (
        np.array([1.875104, 4.694091, 7.854757]) ** 2
        / (2 * np.pi * L**2)
        * np.sqrt(EJ / rho)
    )
    np.testing.assert_allclose(found.frequency_hz([0.2]), known, rtol=2e-3)
    np.testing.assert_allclose(found.sensitivity([0.2]).frequency_hz, 0.0, atol=1e-7)


@pytest.mark.slow
def test_slopes_are_those_of_differences_and_of_jax():
    found = mid_path()
    point = path_points()[20]
    sensitivity = found.sensitivity(point)
    h = 1e-6 * np.eye(4)
    for kind in ("frequency_hz", "damping_ratio"):
        value = getattr(found, kind)
        difference = np.stack(
            [(value(point + e) - value(point - e)) / 2e-6 for e in h], axis=-1
        )
        np.testing.assert_allclose(
            getattr(sensitivity, kind), difference, rtol=1e-5, atol=1e-6
        )
        by_jax = jax.jacfwd(value)(jnp.asarray(point))
        np.testing.assert_allclose(
            getattr(sensitivity, kind), by_jax, rtol=1e-9, atol=1e-12
        )


def test_points_may_be_named_and_batched():
    found = mid_path()
    points = path_points()
    named = {name: points[:, i] for i, name in enumerate(found.parameters)}
    np.testing.assert_array_equal(found(named).right, found(points).right)
    assert found(points.reshape(3, 17, 4)).left.shape == (3, 17, 3, 23)
    np.testing.assert_allclose(
        jax.vmap(found.frequency_hz)(jnp.asarray(points)),
        found.frequency_hz(points),
        rtol=1e-12,
    )


def test_polynomials_print_their_terms():
    found = mid_path()
    text = found.text(0, digits=4, smallest=1e-3)
    assert text.startswith("64") and "(q2 + 1.571)^2" in text
    assert "70 terms" in str(found) and "published" in str(found)


def test_saved_polynomials_load_equal(tmp_path):
    found = mid_path()
    found.save(tmp_path / "modes.npz")
    again = ModePolynomials.load(tmp_path / "modes.npz")
    np.testing.assert_array_equal(again(path_points()).left, found(path_points()).left)
    assert (again.parameters, again.coordinates, again.notes) == (
        found.parameters,
        found.coordinates,
        found.notes,
    )
    assert repr(again) == again.summary().text() and "70 terms" in repr(again)
    assert again.to_dict()["text"] == found.to_dict()["text"]
    assert again.warnings == ()
    with pytest.raises(ValueError, match="no matrices"):
        again.exact(path_points())
    with pytest.raises(ValueError, match=r"\.npz, \.c or \.py"):
        found.save(tmp_path / "modes.txt")


def test_polynomials_are_drawn_over_each_parameter(pieces):
    found, _ = pieces
    figure = found.plot()
    assert [axes.get_xlabel() for axes in figure.axes] == ["angle", "damping"]
    line = figure.axes[0].get_lines()[1]
    points = np.column_stack(
        [line.get_xdata(), np.full(len(line.get_xdata()), found.centres[0, 1])]
    )
    np.testing.assert_array_equal(line.get_ydata(), found.frequency_hz(points)[:, 1])


@pytest.fixture(scope="module")
def pieces():
    """A small system with two parameters and several expansion points."""
    K = np.array([[40.0, -7.0], [-5.0, 90.0]])

    def matrices(p):
        return (
            jnp.eye(2),
            jnp.diag(jnp.array([0.1, 0.3])) * p[1],
            K * (1.0 + 0.5 * jnp.sin(p[0])),
        )

    over = {"angle": (-1.0, 1.0), "damping": (0.5, 1.5)}
    found = parametric_eigenpairs(
        matrices, list(over), over=over, accuracy=1e-5, count=2, above_hz=0.1, order=3
    )
    assert found.polynomial.pieces > 1
    return found, np.random.default_rng(0).uniform([-1, 0.5], [1, 1.5], size=(7, 2))


def test_several_expansion_points_hold_the_accuracy_between_the_checked_points(pieces):
    found, points = pieces
    eps_f, _, right, left = compared(found, points)
    assert eps_f < 100 * 1.5e-5
    assert min(right, left) > 0.999
    assert "frequency error" in found.notes["checked"]


def test_exported_c_gives_the_same_numbers(pieces, tmp_path):
    found, points = pieces
    found.save(tmp_path / "arm.c")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "arm.c"\n'
        "int main(void) { double p[2], f[2], z[2], l[4], r[8], s[8];\n"
        'while (scanf("%lf %lf", p, p + 1) == 2) {\n'
        "arm_frequency_hz(p, f); arm_damping_ratio(p, z); arm_eigenvalue(p, l); arm_right(p, r); arm_left(p, s);\n"
        'for (int i = 0; i < 2; i++) printf("%.17g %.17g ", f[i], z[i]);\n'
        'for (int i = 0; i < 4; i++) printf("%.17g ", l[i]);\n'
        'for (int i = 0; i < 8; i++) printf("%.17g ", r[i]);\n'
        'for (int i = 0; i < 8; i++) printf("%.17g ", s[i]);\nputs(""); } return 0; }\n'
    )
    build = ["gcc", "-std=c99", "-Wall", "-Werror", "-O2", "main.c", "-o", "arm", "-lm"]
    subprocess.run(build, cwd=tmp_path, check=True)
    text = "\n".join(f"{a!r} {b!r}" for a, b in points.tolist())
    out = subprocess.run(
        [tmp_path / "arm"], input=text, capture_output=True, text=True, check=True
    ).stdout
    rows = np.array([[float(v) for v in line.split()] for line in out.splitlines()])
    values = found(points)
    ours = np.stack([values.frequency_hz, values.damping_ratio], axis=-1).reshape(
        len(points), -1
    )
    parts = [
        np.ascontiguousarray(part.reshape(len(points), -1)).view(float)
        for part in (values.eigenvalue, values.right, values.left)
    ]
    np.testing.assert_allclose(
        rows, np.concatenate([ours, *parts], axis=1), rtol=1e-12, atol=1e-13
    )


def test_exported_python_needs_numpy_alone(pieces, tmp_path):
    found, points = pieces
    found.save(tmp_path / "arm.py")
    program = (
        "import sys, arm, numpy as np\n"
        f"values = arm.evaluate(np.array({points.tolist()!r}))\n"
        "np.savez('out.npz', **values)\n"
        "assert not any(name in sys.modules for name in ('lissom', 'jax'))\n"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        check=True,
        env={"PYTHONPATH": ""},
    )
    values = found(points)
    with np.load(tmp_path / "out.npz") as out:
        for name in ("eigenvalue", "frequency_hz", "damping_ratio", "right", "left"):
            np.testing.assert_allclose(
                out[name], getattr(values, name), rtol=1e-13, atol=1e-15
            )


def test_evaluating_is_a_hundred_times_faster_than_solving():
    from time import perf_counter

    from lissom.bench.eigenpairs import all_eigenpairs

    found, points = papers_own(), path_points()
    M, C, K = found.source.exact(points)

    def best(function, repeat):
        spans = []
        for _ in range(repeat):
            start = perf_counter()
            function()
            spans.append(perf_counter() - start)
        return min(spans)

    polynomials = best(lambda: found(points), 30)
    exact = best(
        lambda: [all_eigenpairs(M[i], C[i], K[i]) for i in range(len(points))], 3
    )
    assert exact / polynomials > 100


def test_a_repeated_eigenvalue_is_refused():
    model = Model(Robot.from_dict(SQUARE), "erls-fem")
    with pytest.raises(RepeatedEigenvalueError, match="coincides"):
        parametric_modes(model, ["rod"], order=1, locked=True)
    with pytest.raises(ValueError, match="only 12 vibrating pairs lie above"):
        parametric_modes(model, ["rod"], order=0, locked=True, count=40)


def test_a_singular_reference_is_refused_by_name():
    model = Model(
        "double-pendulum",
        "erls-fem",
        reference={"zeroed": ["upper/0.rz", "upper/tip.y"]},
    )
    with pytest.raises(UndefinedReferenceError, match="lower"):
        parametric_modes(model, ["upper"], order=1)


def test_an_unstable_point_keeps_its_vibrating_pairs():
    """Upside down, free joints fall; the elastic pairs are expanded all the same."""
    found = parametric_modes(
        Model("planar-2r", "erls-fem"),
        ["upper"],
        q=[np.pi / 2, 0.0],
        order=1,
        count=2,
        above_hz=10.0,
    )
    M, C, K = (A[0] for A in found.source.exact(found.centres))
    assert vibration_pairs(M, C, K).others.real.max() > 1.0
    assert (found.frequency_hz(found.centres) > 10.0).all()


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        (["uper"], ValueError, "did you mean 'upper'"),
        (["qd.lowr"], ValueError, "no joint is called 'lowr', did you mean 'lower'"),
        (["links.upper.beam.material.G2"], DescriptionError, "G2"),
        (["links.uppr.beam.material.E"], DescriptionError, "upper"),
        ([], ValueError, "name at least one"),
    ],
)
def test_an_unknown_parameter_is_refused(names, kind, message):
    with pytest.raises(kind, match=message):
        parametric_modes(Model("planar-2r", "erls-fem"), names, order=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracy": 1e-3}, "give the range"),
        ({"at": {"q": 1.0}}, "is no parameter"),
        ({"over": {"upper": (1.0, 0.0)}}, "low < high"),
        ({"over": np.zeros((3, 2))}, "one row per point and 1 columns"),
        ({"hold": "motor"}, "'encoder' or 'theta'"),
        ({"q": [0.0]}, "q must have 2 values"),
    ],
)
def test_a_wrong_request_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        parametric_modes(Model("planar-2r", "erls-fem"), ["upper"], **options)


def test_a_joint_that_follows_others_is_refused():
    with pytest.raises(ValueError, match="'coupler' follows from crank"):
        parametric_modes(Model("four-bar", "erls-fem"), ["coupler"], order=1)


@pytest.mark.slow
def test_modes_of_a_closed_chain_are_expanded_about_any_pose():
    """The error of order t falls with the power t + 1 of the distance; 47.47 Hz at 0.5 rad."""
    model = Model("four-bar", "erls-fem")
    found = parametric_modes(model, ["crank"], q=[0.5], order=4, locked=True, count=2)
    assert found.frequency_hz([[0.5]])[0, 0] == pytest.approx(47.47, abs=0.005)
    errors = []
    for h in (0.1, 0.05):
        points = np.array([[0.5 + h]])
        exact = frequency_hz(found.exact(points)[0].eigenvalue)
        errors.append(np.abs(found.frequency_hz(points)[0] / exact - 1).max())
    assert np.log2(errors[0] / errors[1]) > 4.5
    assert "against exact modes" in found.notes["checked"]


def test_wrong_points_are_refused():
    with pytest.raises(ValueError, match="missing q2"):
        mid_path()({"q1": 0.0, "q1d": 0.0, "q2d": 0.0})
    with pytest.raises(ValueError, match="must hold 4 values"):
        mid_path()(np.zeros(3))


@pytest.mark.slow
def test_modes_of_reduced_links_are_expanded_in_the_data_of_the_links():
    """With 10 % more stiffness in one link, against a robot that is built with it."""
    key = "links.upper.beam.material.E"
    model = Model("planar-2r", "erls-cms", modes=6)
    found = parametric_modes(model, [key], q=[0.0, 1.0], order=4, locked=True, count=3)
    E = float(found.centres[0, 0])
    stiffer = model.replace({key: 1.1 * E})
    state = stiffer.static([0.0, 1.0])
    exact = modes(stiffer, state, locked=True, count=3, damped=True).frequency_hz
    assert_allclose(found.frequency_hz([[1.1 * E]])[0], exact, rtol=1e-6)
    values = found([[1.1 * E]])
    pairs = found.exact([[1.1 * E]])[0]
    mac = modal_assurance(values.right[0], pairs.right.T)
    assert mac.min() > 1 - 1e-9


@pytest.mark.slow
def test_the_spatial_arm_with_three_joints():
    model = Model("anthropomorphic", "erls-fem")
    centre = np.array([0.3, 0.6, -1.1])
    over = {
        name: (v - 0.2, v + 0.2)
        for name, v in zip(model.joint_names, centre, strict=True)
    }
    found = parametric_modes(
        model, model.joint_names, over=over, accuracy=1e-3, count=3, above_hz=1.0
    )
    points = np.random.default_rng(1).uniform(
        *np.array(list(over.values())).T, size=(20, 3)
    )
    eps_f, _, right, left = compared(found, points)
    assert eps_f < 0.1
    assert min(right, left) > 0.999
