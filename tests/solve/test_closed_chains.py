"""Closed chains: four-bar, five-bar, slider-crank and a spatial mechanism against closed forms and tables."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import (
    COUPLER,
    CRANK,
    FOLLOWER,
    doubled,
    four_bar,
    model_of,
    rigid_crank,
)
from numpy.testing import assert_allclose

import lissom as ls
from helpers import compiled_once, motion_of, relative
from lissom.dynamics import engine
from lissom.dynamics.coordinates import change_coordinates, with_independent_joints
from lissom.dynamics.formulation import on_branch_near
from lissom.dynamics.nodes import node_poses
from lissom.kinematics.loops.assembly import AssemblyError
from lissom.kinematics.loops.closure import closing_jacobian, opening
from lissom.solve.state import state_at

LONG = pytest.mark.slow


# Frequencies with the crank locked [Hz] by an independent assembly of beam matrices, given to four digits.
LOCKED = {
    0: ([45.94, 49.26, 109.73, 196.19], [42.94, 48.67, 61.06, 192.96]),
    45: ([47.03, 50.73, 178.72, 203.58], [46.95, 50.73, 114.38, 194.99]),
    90: ([46.89, 50.28, 144.64, 190.97], [46.61, 50.13, 81.04, 190.91]),
    180: ([47.37, 50.40, 150.52, 195.46], [47.30, 50.30, 86.87, 192.00]),
    270: ([46.98, 50.72, 179.45, 203.34], [46.89, 50.72, 112.82, 194.22]),
}
FIVE_BAR = {
    (120, 60): (
        [0.1500, 0.5244],
        [19.41, 19.60, 93.92, 96.40],
        [93.16, 95.24, 166.58, 167.69],
    ),
    (100, 60): (
        [0.2210, 0.5877],
        [18.86, 23.48, 88.56, 107.82],
        [88.51, 104.57, 168.31, 171.89],
    ),
    (90, 90): (
        [0.1500, 0.6708],
        [21.50, 31.10, 100.49, 136.88],
        [96.62, 121.27, 187.62, 199.85],
    ),
}


@pytest.mark.parametrize("bearings", [0, 1])
@pytest.mark.parametrize("degrees", LOCKED)
def test_frequencies_of_the_four_bar_with_its_crank_locked(degrees, bearings):
    model = model_of(("four-bar", "four-bar-bearings")[bearings])
    state = model.static(q=[np.radians(degrees)])
    found = ls.modes(model, state, locked=True, count=4).frequency_hz
    assert_allclose(found, LOCKED[degrees][bearings], rtol=1e-3)


def test_the_coupler_alone_vibrates_at_its_closed_form_frequency():
    EI, mass = 7.1016e10 * 8.6743e-12, 2714.47 * 4.0645e-5
    alone = np.pi / (2 * COUPLER**2) * np.sqrt(EI / mass)
    assert alone == pytest.approx(47.55, rel=1e-3)
    stiff = {
        f"links.{name}.beam.material.E": 7.1016e16 for name in ("crank", "follower")
    }
    model = ls.Model(ls.Robot.load("four-bar").replace(stiff), "erls-fem")
    found = ls.modes(model, model.static(q=[0.0]), locked=True, count=1).frequency_hz[0]
    assert found == pytest.approx(alone, rel=1e-3)


@pytest.mark.parametrize("angles", FIVE_BAR)
def test_frequencies_of_the_five_bar_with_motors_locked_and_free(angles):
    point, locked, free = FIVE_BAR[angles]
    model = model_of("five-bar")
    state = model.static(q=np.radians(angles))
    assert_allclose(model.position(state, "left-rod/tip")[:2], point, atol=6e-5)
    assert_allclose(
        ls.modes(model, state, locked=True, count=4).frequency_hz, locked, rtol=1e-3
    )
    found = ls.modes(model, state, count=6).frequency_hz
    assert_allclose(found[:2], 0, atol=1e-9)
    assert_allclose(found[2:], free, rtol=1e-3)


def test_joints_and_their_rates_are_those_of_the_closed_form_four_bar():
    model = model_of("four-bar")
    for crank in np.linspace(0.0, 2 * np.pi, 9):
        state = model.at([crank], [1.7])
        C, joints, speeds = four_bar(crank)
        turns = np.asarray(state.q) - joints
        assert_allclose(turns, 2 * np.pi * np.round(turns / (2 * np.pi)), atol=1e-10)
        assert_allclose(model.position(state, "coupler/tip")[:2], C, atol=1e-10)
        assert_allclose(np.cumsum(state.qd), 1.7 * speeds, atol=1e-10)


@pytest.mark.parametrize(
    "formulation", ["erls-fem", pytest.param("nonlinear", marks=LONG)]
)
def test_an_undeformed_closed_chain_moves_as_its_equations_say(formulation):
    # Loops close as those of the rigid robot, which is not how the state of any other motion is found.
    model = model_of("four-bar", formulation=formulation)
    state = model.at([0.7], [1.3])
    f = model.formulation_at(state)
    expected = state_at(f, state.x, state.xd)
    for given, other in zip(*map(jax.tree.leaves, (state, expected)), strict=True):
        assert_allclose(given, other, atol=1e-12)


@compiled_once
def rules(f, x, xd, xdd):
    """The geometric rule beside differentiation, for rates, accelerations and the transpose."""
    by_rule = f.motion(x, xd, xdd)
    rates, rates_d = jax.jvp(f.differentiated_rates, (x, xd), (xd, xdd))
    force = jax.tree.map(
        lambda part: jnp.cos(jnp.arange(part.size, dtype=float)).reshape(part.shape),
        rates,
    )
    _, transpose = jax.vjp(lambda dx: f.differentiated_rates(x, dx), xd)
    return (by_rule.rates, by_rule.rates_d, by_rule.pull_back(force)), (
        rates,
        rates_d,
        transpose(force)[0],
    )


FIVE, SPATIAL = "five-bar", "spatial-four-bar"


@pytest.mark.parametrize(
    "name, reference",
    [
        (FIVE, "minimum-norm"),
        pytest.param(FIVE, "tangent", marks=LONG),
        pytest.param(SPATIAL, "minimum-norm", marks=LONG),
        pytest.param(SPATIAL, "tangent", marks=LONG),
    ],
)
def test_motion_by_the_geometric_rule_is_motion_by_differentiation(name, reference):
    model = model_of(name, reference=reference)
    x, xd, xdd = motion_of(model.formulation, seed=2)
    state = model.at()
    x = x.at[: model.formulation.n_joints].set(
        state.x[: model.formulation.n_joints] + 0.1
    )
    for one, other in zip(
        *map(jax.tree.leaves, rules(model.formulation_at(state), x, xd, xdd)),
        strict=True,
    ):
        assert relative(one, other) < 1e-12


@compiled_once
def closing(f, guess, theta_i):
    """Openings after 0, 1, 2, ... of Newton's steps from a guess."""
    chain, closure = f.mechanism.chain, f.mechanism.closure
    d = np.asarray(closure.dependent)
    theta, sizes = guess.at[np.asarray(closure.independent)].set(theta_i), []
    for _ in range(6):
        g = opening(chain, closure, theta)
        sizes.append(jnp.max(jnp.abs(g)))
        theta = theta.at[d].add(
            -jnp.linalg.solve(closing_jacobian(chain, closure, theta)[:, d], g)
        )
    return jnp.stack(sizes)


@pytest.mark.parametrize("name", ["four-bar", "spatial-four-bar"])
def test_newtons_iteration_closes_loops_with_quadratic_convergence(name):
    f = model_of(name).formulation
    guess = jnp.asarray(f.mechanism.closure.guess)
    sizes = np.asarray(closing(f, guess, guess[np.asarray(f.independent)] + 0.2))
    assert sizes[-1] < 1e-14
    for before, after in zip(sizes[:-1], sizes[1:], strict=True):
        assert before > 0.05 or after < 20 * before**2 + 1e-15, (
            sizes
        )  # each step squares the opening


def test_a_torque_on_a_dependent_joint_does_the_same_work_as_one_on_the_crank():
    model = model_of("four-bar")
    _, _, speeds = four_bar(1.0)
    f, x = model.formulation_at(model.at([1.0])), model.at([1.0]).x
    E = np.asarray(torque_map(f, x))
    assert_allclose(
        E[:, 0], np.diff([0.0, *speeds]), atol=1e-12
    )  # relative joint speeds per unit crank speed


@compiled_once
def torque_map(f, x):
    return engine.torque_map(f, engine.at_rest(f, x))


def test_inverse_dynamics_moves_the_crank_as_asked():
    model = ls.Model(
        ls.Robot.load("four-bar").replace({"links.*.beam.material.E": 7.1016e16}),
        "erls-fem",
    )
    tau = model.inverse_dynamics([0.7], [12.0], [40.0])
    assert tau[1] == tau[2] == 0
    assert float(tau[0]) == pytest.approx(rigid_torque(0.7, 12.0, 40.0), rel=1e-6)
    bent = model_of("four-bar").inverse_dynamics([0.7], [12.0], [40.0])
    assert 1e-3 < abs(float(bent[0] / tau[0]) - 1) < 1e-2  # links that bend a little


def rigid_torque(crank, speed, acceleration):
    """Lagrange's equation of the rigid four-bar, I(crank) by energy and its slope by difference."""

    def inertia(angle):
        _, _, s = four_bar(angle)
        masses = (
            np.array([1.0774e-4 * CRANK, 4.0645e-5 * COUPLER, 4.0645e-5 * FOLLOWER])
            * 2714.47
        )

        def across(length, angle):
            return length * np.array([-np.sin(angle), np.cos(angle)])

        angles = np.cumsum(four_bar(angle)[1])
        B = across(CRANK, angles[0])
        centre = B + across(COUPLER, angles[1]) * s[1] / 2
        kinetic = masses[0] * CRANK**2 / 3 + masses[2] * FOLLOWER**2 / 3 * s[2] ** 2
        return kinetic + masses[1] * (centre @ centre + COUPLER**2 / 12 * s[1] ** 2)

    h = 1e-5
    slope = (inertia(crank + h) - inertia(crank - h)) / (2 * h)
    return inertia(crank) * acceleration + 0.5 * slope * speed**2


@pytest.mark.slow
def test_a_closed_chain_hangs_where_its_potential_is_least():
    robot = ls.Robot.load("four-bar").replace({"gravity": [0, -9.81, 0]})
    model = ls.Model(robot, "erls-fem")
    state = model.static(q=[-1.0], free=True)
    angles = np.linspace(-np.pi, 0, 2001)
    weight = [1.0774e-4 * CRANK, 4.0645e-5 * COUPLER, 4.0645e-5 * FOLLOWER]

    def height(crank):
        C = four_bar(crank)[0]
        B = CRANK * np.sin(crank)
        return weight[0] * B / 2 + weight[1] * (B + C[1]) / 2 + weight[2] * C[1] / 2

    lowest = angles[np.argmin([height(angle) for angle in angles])]
    assert np.asarray(state.torque) == pytest.approx(0, abs=0)
    assert float(state.encoder[0]) == pytest.approx(lowest, abs=5e-3)


def test_a_closed_chain_is_linearised_with_the_frequencies_of_its_modes():
    model = model_of("four-bar")
    state = model.static(q=[0.6])
    small = ls.linearize(model, [0.6], outputs=["follower.encoder"])
    eigenvalues = np.linalg.eigvals(small.A)
    lowest = np.sort(np.abs(eigenvalues[np.abs(eigenvalues) > 10]))[:4:2] / (2 * np.pi)
    assert_allclose(lowest, ls.modes(model, state, count=3).frequency_hz[1:], rtol=1e-3)
    # The pins of coupler and follower are passive: they offer no torque input.
    assert small.input_names == ("crank.torque",)


@pytest.mark.slow
def test_reduced_links_in_a_closed_chain_keep_its_lowest_frequencies():
    full, reduced = (
        model_of("four-bar"),
        ls.Model("four-bar", formulation="erls-cms", modes=6),
    )
    found = [
        ls.modes(m, m.static(q=[0.5]), locked=True, count=3).frequency_hz
        for m in (full, reduced)
    ]
    assert_allclose(found[1], found[0], rtol=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["minimum-norm", {"zeroed": ["crank/tip.rz"]}])
def test_frequencies_do_not_depend_on_the_choice_of_the_erls(reference):
    model = ls.Model("four-bar", "erls-fem", reference=reference)
    found = ls.modes(
        model, model.static(q=[np.pi / 2]), locked=True, count=4
    ).frequency_hz
    assert_allclose(found, LOCKED[90][0], rtol=1e-3)


# --- two loops -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_loops_on_one_crank_are_two_mechanisms():
    both, crank = ls.Model(ls.Robot.from_dict(doubled()), "erls-fem"), 0.7
    state = both.static(q=[crank])
    C, joints, _ = four_bar(crank)
    mirrored, joints_2, _ = four_bar(-crank)
    assert_allclose(state.q[:3], joints, atol=1e-10)
    assert_allclose(state.q[3:], -joints_2[1:], atol=1e-10)
    assert_allclose(both.position(state, "coupler/tip")[:2], C, atol=1e-10)
    assert_allclose(
        both.position(state, "coupler-2/tip")[:2], mirrored * [1, -1], atol=1e-10
    )
    one = ls.Model(ls.Robot.from_dict(rigid_crank()), "erls-fem")
    alone = [
        ls.modes(one, one.static(q=[q]), locked=True, count=3).frequency_hz
        for q in (crank, -crank)
    ]
    together = ls.modes(both, state, locked=True, count=6).frequency_hz
    assert_allclose(together, np.sort(np.concatenate(alone)), rtol=1e-8)


# --- refusals and dead points --------------------------------------------------------------------------------------


def test_a_loop_that_cannot_be_closed_says_which_and_how_far_it_is_open():
    robot = ls.Robot.load("four-bar")
    with pytest.raises(
        AssemblyError,
        match=r"link 'follower' to 'ground' cannot be closed with crank = 0.*coupler, fol",
    ):
        ls.Model(robot.replace({"loops.0.at": [0.9, 0, 0]}), "erls-fem")
    five = model_of("five-bar")
    with pytest.raises(
        AssemblyError, match=r"cannot be closed with left = 3.*, right = 0"
    ):
        five.at([3.1, 0.0])


def test_an_over_constrained_loop_names_its_joints_and_the_remedy():
    spatial = ls.Robot.load("four-bar").to_dict() | {"planar": False}
    with pytest.raises(
        AssemblyError,
        match=r"over-constrained: the joints crank, coupler, follower .* `planar: true`",
    ):
        ls.Model(ls.Robot.from_dict(spatial), "erls-fem")


def test_a_structure_that_cannot_move_is_refused():
    data = ls.Robot.load("four-bar").to_dict()
    data["loops"][0] |= {
        "type": "fixed",
        "rpy": [0, 0, -1.36118138],
    }  # as the follower stands when assembled
    data |= {"independent": None}
    with pytest.raises(
        AssemblyError, match="leaves no motion: 3 closing conditions on 3 joints"
    ):
        ls.Model(
            ls.Robot.from_dict({k: v for k, v in data.items() if v is not None}),
            "erls-fem",
        )


def test_independent_joints_are_chosen_by_conditioning_and_refused_at_a_dead_point():
    stretched = ls.Robot.load("slider-crank").replace(
        {"independent": None, "assembly": {"crank": 0.0}}
    )
    assert ls.Model(stretched, "erls-fem").independent_names == (
        "rod",
    )  # the rod turns most: 1.5 times as fast as the crank
    with pytest.raises(
        AssemblyError,
        match=r"independent: \[crank, rod\]: this closed chain has 1 independent joint",
    ):
        ls.Model(stretched.replace({"independent": ["crank", "rod"]}), "erls-fem")


def test_other_independent_joints_are_the_same_physical_state_of_bent_links():
    # Exactly: the joints of finite rotations are those of the deformed mechanism.
    model = ls.Model("four-bar", "nonlinear", basis="nodal", stiffening="geometric")
    state = model.at([0.7])
    here = on_branch_near(model.formulation, state.q)
    random = np.random.default_rng(4)
    bend = 3e-3 * random.normal(size=here.n_elastic)
    x = jnp.asarray(np.append(np.asarray(state.x)[:1], bend))
    xd = jnp.asarray(random.normal(size=here.size))
    there = on_branch_near(with_independent_joints(here, (1,)), state.q)
    other_x, other_xd = change_coordinates(here, there, x, xd)
    before = nodes_and_speeds(here, x, xd)
    after = nodes_and_speeds(there, other_x, other_xd)
    for given, expected in zip(after, before, strict=True):
        assert_allclose(given, expected, atol=1e-11 * np.abs(expected).max())


@compiled_once
def nodes_and_speeds(f, x, xd):
    motion = f.motion(x, xd, jnp.zeros_like(x))
    place = node_poses(f, motion.place).position
    return place, motion.rates.V, motion.rates.q, engine.kinetic_energy(f, motion)


def test_dual_screws_refuse_loops_by_name():
    with pytest.raises(
        ValueError, match="loops: the formulation dual-screw takes open chains only"
    ):
        ls.Model("four-bar", formulation="dual-screw")
