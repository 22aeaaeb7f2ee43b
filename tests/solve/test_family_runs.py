"""Runs of a family in lanes are those of its members: to rounding, or in common steps and as exact."""

import functools
import logging

import equinox as eqx
import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from jaxnative.lanes import LanesAhead, at_most_lanes
from lissom.solve import family_runs
from lissom.solve.family import Family
from lissom.solve.family_runs import running_vectors, similarity_order
from lissom.solve.inputs import inputs_of_torque
from lissom.solve.simulate import integrate, output_times, solver_of
from lissom.types import RESULTS

MASSES = np.linspace(0.1, 1.5, 9)


@functools.cache
def pendulum():
    return ls.Model("simple-pendulum", "erls-fem")


@functools.cache
def family():
    return Family(pendulum(), {"payload.mass": MASSES})


def runs_alone(start, members, **options):
    models = [pendulum().with_formulation(family().member(k)) for k in members]
    return [
        ls.simulate(model, start, solver={"backend": "native"}, **options)
        for model in models
    ]


def test_every_member_can_take_the_steps_that_it_takes_alone():
    start, options = pendulum().at([0.4]), {"t_end": 0.2, "output_dt": 0.05}
    together = family().rollout(start, **options, common_steps=False)
    assert together.x.shape[:2] == (9, 5) and (together.filled == 5).all()
    for k, alone in zip(
        (0, 4, 8), runs_alone(start, (0, 4, 8), **options), strict=True
    ):
        assert together.counts.steps[k] == alone.data.attrs["steps"]
        assert_allclose(together.joints[k], alone.q, rtol=0, atol=1e-9)
    assert np.ptp(np.asarray(together.joints)[:, -1]) > 1e-4


def test_members_in_common_steps_are_as_exact_as_alone():
    start, options = pendulum().at([0.4]), {"t_end": 0.2, "output_dt": 0.05}
    together = family().rollout(start, **options)
    assert together.x.shape[:2] == (9, 5) and (together.filled == 5).all()
    exact = family().rollout(start, **options, solver={"rtol": 1e-10, "atol": 1e-12})
    members = (0, 4, 8)
    alone = np.stack([run.q for run in runs_alone(start, members, **options)])
    wanted = np.asarray(exact.joints)[list(members)]
    error_alone = np.abs(alone - wanted).max()
    error = np.abs(np.asarray(together.joints)[list(members)] - wanted).max()
    # Of a tolerance of 1e-6: by 5e-7 at the most, alone and together.
    assert 0.0 < error < 5e-7 and 0.0 < error_alone < 5e-7
    assert np.ptp(np.asarray(together.joints)[:, -1]) > 1e-4


def test_members_of_one_vector_take_common_steps():
    states = [pendulum().at([angle]) for angle in (0.1, 1.4, 0.7, 0.2)]
    stacked = jax.tree.map(lambda *rows: np.stack(rows), *states)
    four = Family(pendulum(), {"payload.mass": MASSES[:4]})
    with at_most_lanes(4):
        runs = four.rollout(stacked, t_end=0.1, output_dt=0.05)
    tries = np.stack(jax.tree.leaves(runs.counts))
    assert (tries == tries[:, :1]).all()


def test_equal_members_take_the_steps_that_one_takes_alone():
    twins = Family(pendulum(), {"payload.mass": [MASSES[0]] * 3})
    start, options = pendulum().at([0.4]), {"t_end": 0.2, "output_dt": 0.05}
    runs = twins.rollout(start, **options)
    (alone,) = runs_alone(start, (0,), **options)
    assert (np.asarray(runs.counts.steps) == alone.data.attrs["steps"]).all()
    assert_allclose(runs.joints, np.stack([alone.q] * 3), rtol=0, atol=1e-9)


@pytest.mark.parametrize("common_steps", [True, False])
def test_a_member_that_fails_leaves_the_others_alone(common_steps):
    speeds = np.zeros((9, 1))
    speeds[3] = np.nan
    states = [pendulum().at([0.4])] * 9
    stacked = jax.tree.map(lambda *rows: np.stack(rows), *states)
    broken = eqx.tree_at(lambda s: s.qd, stacked, speeds)
    options = {"t_end": 0.1, "output_dt": 0.05, "common_steps": common_steps}
    runs = family().rollout(broken, **options)
    is_well = np.asarray(runs.result == RESULTS.successful)
    assert is_well.tolist() == [k != 3 for k in range(9)]
    wanted = np.asarray(family().rollout(stacked, **options).joints)
    found = np.asarray(runs.joints)
    assert_allclose(found[is_well], wanted[is_well], rtol=0, atol=1e-6)
    assert np.isnan(found[3, -1]).all()


def test_a_member_that_needs_too_many_steps_costs_no_other_its_run():
    # At this speed it swings several times while the others hardly move.
    speeds = np.zeros((4, 1))
    speeds[2] = 200.0
    states = jax.tree.map(lambda *rows: np.stack(rows), *[pendulum().at([0.4])] * 4)
    states = eqx.tree_at(lambda s: s.qd, states, speeds)
    four = Family(pendulum(), {"payload.mass": MASSES[:4]})
    options = {"t_end": 0.2, "output_dt": 0.05}
    with at_most_lanes(4):
        free = four.rollout(states, **options)
        slow = four.rollout(pendulum().at([0.4]), **options)
        tries = tries_of(slow).max()
        assert tries_of(free).min() > 2 * tries
        runs = four.rollout(states, **options, solver={"max_steps": int(2 * tries)})
    result = runs.result == RESULTS.too_many_steps
    assert np.asarray(result).tolist() == [False, False, True, False]
    others = [0, 1, 3]
    wanted = np.asarray(slow.joints)[others]
    assert_allclose(np.asarray(runs.joints)[others], wanted, rtol=0, atol=1e-6)
    assert np.isnan(np.asarray(runs.joints)[2, -1]).all()


def tries_of(runs):
    return np.asarray(runs.counts.steps) + np.asarray(runs.counts.rejected)


def test_members_under_way_stay_in_their_vectors():
    members = np.array([7, 1, 2, 5, 0, 3, 4])
    is_under_way = np.array([1, 0, 1, 0, 0, 0, 0], dtype=bool)
    assert running_vectors(members, is_under_way, 2).tolist() == [7, 7, 2, 2]
    is_under_way[-1] = True
    assert running_vectors(members, is_under_way, 4).tolist() == [7, 7, 2, 7, 4, 4, 4]
    assert not len(running_vectors(members, np.zeros(7, dtype=bool), 4))


def test_members_in_any_order_get_their_own_runs():
    mixed = np.random.default_rng(4).permutation(len(MASSES))
    shuffled = Family(pendulum(), {"payload.mass": MASSES[mixed]})
    start, options = pendulum().at([0.4]), {"t_end": 0.2, "output_dt": 0.05}
    runs, wanted = (
        shuffled.rollout(start, **options),
        family().rollout(start, **options),
    )
    assert_allclose(runs.x, np.asarray(wanted.x)[mixed], rtol=0, atol=1e-12)
    assert (
        np.asarray(runs.counts.steps) == np.asarray(wanted.counts.steps)[mixed]
    ).all()


def test_similar_members_are_neighbours():
    which = np.array([2, 0, 1, 0])
    angles = np.array([[0.1], [0.3], [0.0], [0.2]])
    state = eqx.tree_at(lambda s: s.q, pendulum().at([0.0]), angles)
    assert similarity_order(which, state).tolist() == [3, 1, 2, 0]


@pytest.mark.slow
def test_with_fixed_steps_lanes_and_single_runs_agree_to_rounding():
    # The longest step, which is the first one too, is shorter than the tolerance asks for.
    steps = {"rtol": 1e-5, "atol": 1e-7, "max_step": 1e-4, "first_step": 1e-4}
    model = ls.Model("double-pendulum", "erls-fem")
    robots = Family(model, {"payload.mass": MASSES})
    start = model.at([0.3, 0.2])
    together = robots.rollout(start, t_end=0.03, output_dt=0.005, solver=steps)
    assert (np.asarray(together.counts.rejected) == 0).all()
    for k in (0, 3, 8):
        alone = run_alone(model.with_formulation(robots.member(k)), start, steps)
        assert int(together.counts.steps[k]) == int(alone.counts.steps) >= 300
        size = np.abs(alone.x).max()
        assert_allclose(together.x[k], alone.x, rtol=0, atol=1e-10 * size)


def run_alone(model, start, steps):
    """A single run in machine code."""
    times = output_times(0.03, 0.005)
    solver = solver_of({**steps, "backend": "native"})
    return integrate(model, start, inputs_of_torque(model, None), times, solver)


def test_members_may_start_from_states_of_their_own():
    angles = np.linspace(0.0, 0.8, 9)
    states = [pendulum().at([angle]) for angle in angles]
    stacked = jax.tree.map(lambda *rows: np.stack(rows), *states)
    together = family().rollout(stacked, t_end=0.01, output_dt=0.01)
    assert_allclose(np.asarray(together.joints)[:, 0, 0], angles)


@pytest.mark.slow
def test_outputs_beyond_one_window_are_stored_and_agree_with_xla():
    options = {"t_end": 0.6, "output_dt": 0.001}
    start = pendulum().at([0.4])
    native = family().rollout(start, **options, common_steps=False)
    xla = family().rollout(start, **options, solver={"backend": "xla"})
    assert np.isfinite(native.x).all()
    assert_allclose(native.x, xla.x, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_law_in_python_is_mapped_by_xla_and_says_so(caplog):
    caplog.set_level(logging.INFO, "jaxnative")

    def law(t, state):
        return -0.5 * state.qd

    run = family().rollout(t_end=0.02, output_dt=0.01, torque=law)
    assert np.isfinite(run.x).all()


def test_where_machine_code_fails_xla_runs_the_family_and_one_line_says_so(
    monkeypatch, caplog
):
    def fails(*arguments):
        raise KeyError("num_consts")

    march = LanesAhead(family_runs.march, family_runs.numbers_of_robot)
    monkeypatch.setattr(march, "_build", fails)
    monkeypatch.setattr(family_runs, "_march_in_step", march)
    pair = Family(pendulum(), {"payload.mass": MASSES[:2]})
    run = pair.rollout(pendulum().at([0.4]), t_end=0.002, output_dt=0.001)
    assert np.isfinite(run.x).all() and run.x.shape[:2] == (2, 3)
    (line,) = [record.getMessage() for record in caplog.records]
    assert "KeyError: 'num_consts'" in line and "XLA" in line


def test_a_torque_drives_all_members():
    run = family().rollout(t_end=0.05, output_dt=0.05, torque=np.array([3.0]))
    free = family().rollout(t_end=0.05, output_dt=0.05)
    assert (np.asarray(run.joints)[:, -1] > np.asarray(free.joints)[:, -1]).all()
