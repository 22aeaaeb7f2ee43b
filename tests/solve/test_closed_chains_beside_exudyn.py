"""Driven slider-crank and four-bar beside Exudyn: mid-span deflections within 2 % of their peak.

Key points by `benchmarks/physics/closed_chains_beside_exudyn.py --reference`: Exudyn 1.13, loops closed by Lagrange
multipliers, geometrically exact planar beams, 32 for each link.
"""

import numpy as np
import pytest

import lissom as ls
from helpers import DATA
from lissom.solve.inputs import Inputs, Spline

CASES = {
    "slider-crank": {"speed": 40.0, "ramp": 0.15, "t_end": 0.35, "links": ("rod",)},
    "four-bar": {
        "speed": 6.0,
        "ramp": 0.4,
        "t_end": 1.2,
        "links": ("coupler", "follower"),
    },
    # Inertia loads the links axially to some percent of their buckling load.
    "slider-crank-fast": {
        "speed": 125.0,
        "ramp": 0.05,
        "t_end": 0.12,
        "links": ("rod",),
    },
    "four-bar-fast": {
        "speed": 340 * 2 * np.pi / 60,
        "ramp": 0.1,
        "t_end": 0.25,
        "links": ("coupler", "follower"),
    },
}
FINITE = {"formulation": "nonlinear", "basis": "nodal", "stiffening": "geometric"}
FIRST_ORDER = {"formulation": "erls-fem", "stiffening": "geometric"}


def crank_motion(speed, ramp, t_end):
    """The same knots as the reference's."""
    t = np.linspace(0.0, 1.3 * t_end, 31)
    s = np.minimum(t / ramp, 1.0)
    return t.tolist(), ramp * speed * (
        2.5 * s**4 - 3 * s**5 + s**6
    ) + speed * np.maximum(t - ramp, 0.0)


def key_points(name, link):
    rows = [
        line.split(",")
        for line in (DATA / "closed_chains_exudyn.csv").read_text().splitlines()[2:]
    ]
    return np.array(
        [[float(t), float(w)] for case, of, t, w in rows if (case, of) == (name, link)]
    ).T


def deflection(first, middle, last):
    along = (last - first) / np.linalg.norm(last - first, axis=1)[:, None]
    away = middle - first
    return along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]


def undamped(name):
    robot = ls.Robot.load(name)
    none = {f"links.{link.name}.damping": None for link in robot.links}
    return robot.replace({"damping": None, **none})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, choices",
    [
        ("slider-crank", {"formulation": "erls-fem"}),
        ("four-bar", {"formulation": "erls-fem"}),
        ("slider-crank-fast", FINITE),
        ("four-bar-fast", FINITE),
        ("four-bar-fast", FIRST_ORDER),
    ],
)
def test_deflections_are_those_of_a_program_with_multipliers(name, choices):
    case = CASES[name]
    model = ls.Model(undamped(name.removesuffix("-fast")), **choices)
    inputs = Inputs(
        model.n_joints,
        motion=[(0, Spline(*crank_motion(case["speed"], case["ramp"], case["t_end"])))],
    )
    options = {
        "t_end": case["t_end"],
        "output_dt": case["t_end"] / 600,
        "solver": {"rtol": 1e-8, "atol": 1e-10},
    }
    run = ls.simulate(model, model.at([0.0]), inputs=inputs, **options)
    for link in case["links"]:
        t, expected = key_points(name, link)
        bent = deflection(*(run.position(f"{link}/{k}")[:, :2] for k in (0, 2, "tip")))
        found = np.interp(t, run.t, bent)
        assert np.abs(expected).max() > 4e-5
        assert np.abs(found - expected).max() < 0.02 * np.abs(expected).max()
    assert np.abs(run.energy("residual")).max() < 1e-5 * run.energy("kinetic").max()
