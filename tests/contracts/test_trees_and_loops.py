"""The contract of every formulation over robots of random structure: trees, rings, prismatic joints, FE links."""

import functools

import jax
import numpy as np
import pytest

import lissom as ls
from helpers import relative, weightless
from motion_checks import checks, motion_near, node_places
from random_robots import random_loop, random_tree

SOLVED = 1e-9  # relative, behind the small solve of a loop whose condition is up to some hundreds
FINITE = {"formulation": "nonlinear", "basis": "nodal"}
STIFF = {**FINITE, "stiffening": "geometric"}
FIRST_ORDER = {"formulation": "erls-fem"}
STIFF_FIRST_ORDER = {**FIRST_ORDER, "stiffening": "geometric"}
SCREWS = {"formulation": "dual-screw", "basis": "nodal"}
STIFF_SCREWS = {**SCREWS, "stiffening": "geometric"}
LOOPS = ("four-bar", "slider-crank", "five-bar", "spatial-four-bar")


@functools.cache
def robot_of(kind: str, seed: int):
    if kind in LOOPS:
        return random_loop(kind, seed)
    return random_tree(seed, fe=kind == "fe-tree")


QUICK = [("tree", FINITE, 3), ("four-bar", STIFF, 3)]
SLOW = [
    ("tree", FINITE),
    ("tree", STIFF),
    ("tree", FIRST_ORDER),
    ("tree", STIFF_FIRST_ORDER),
    ("tree", SCREWS),
    ("tree", STIFF_SCREWS),
    ("fe-tree", FINITE),
    ("fe-tree", STIFF),
    ("fe-tree", FIRST_ORDER),
    ("four-bar", STIFF),
    ("four-bar", STIFF_FIRST_ORDER),
    ("slider-crank", STIFF),
    ("slider-crank", STIFF_FIRST_ORDER),
    ("five-bar", STIFF),
    ("spatial-four-bar", STIFF),
    ("spatial-four-bar", STIFF_FIRST_ORDER),
]
CASES = [
    *QUICK,
    *(pytest.param(*case, 8, marks=pytest.mark.slow) for case in SLOW),
]


@pytest.mark.parametrize("kind, choices, seed", CASES)
def test_motion_energy_and_inverse_dynamics_agree_on_a_random_robot(
    kind, choices, seed
):
    model = ls.Model(robot_of(kind, seed), **choices)
    f, x, xd, xdd = motion_near(model, seed)
    if choices["formulation"] == "dual-screw":
        # Weight works to first order only on screws of first order.
        f = weightless(f)
    found = checks(f, x, xd, xdd)
    pairs = zip(
        jax.tree.leaves(found["given"]),
        jax.tree.leaves(found["differentiated"]),
        strict=True,
    )
    for given, expected in pairs:
        assert relative(given, expected) < SOLVED
    assert abs(found["work"] - found["power"]) < SOLVED * found["size"]
    # The acceleration that the needed force gives is the one it was asked for.
    assert relative(found["acceleration"], xdd) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.parametrize("kind", ["tree", "fe-tree", *LOOPS])
def test_a_random_robot_keeps_its_energy(kind, seed):
    model = ls.Model(robot_of(kind, seed), "nonlinear", modes=3, basis="assumed")
    options = {"t_end": 0.05, "output_dt": 0.005}
    solver = {"rtol": 1e-9, "atol": 1e-11}
    run = ls.simulate(model, model.at(), solver=solver, **options)
    scale = np.abs(run.energy("kinetic")).max()
    assert np.abs(run.energy("residual")).max() < 1e-6 * scale


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.parametrize("kind", ["tree", "fe-tree", *LOOPS])
def test_finite_and_first_order_links_part_by_the_square_of_their_load(kind, seed):
    first = {"formulation": "erls-cms", "modes": 60, "reference": "tangent"}
    apart = []
    for share in (1.0, 0.5):
        robot = robot_of(kind, seed)
        weight = [share * part for part in robot.gravity]
        robot = robot.replace({"gravity": weight})
        models = [ls.Model(robot, **choices) for choices in (FINITE, first)]
        states = [model.static(q=model.at().q) for model in models]
        places = [
            node_places(model, state)
            for model, state in zip(models, states, strict=True)
        ]
        apart.append(np.abs(places[0] - places[1]).max())
    assert apart[0] > 1e-12
    assert 3.3 < apart[0] / apart[1] < 4.7, apart
