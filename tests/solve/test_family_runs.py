"""Runs of a family in lanes are the runs of its members."""

import functools
import logging

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.solve.family import Family

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


def test_every_member_takes_the_steps_that_it_takes_alone():
    start, options = pendulum().at([0.4]), {"t_end": 0.2, "output_dt": 0.05}
    together = family().rollout(start, **options)
    assert together.x.shape[:2] == (9, 5) and (together.filled == 5).all()
    for k, alone in zip(
        (0, 4, 8), runs_alone(start, (0, 4, 8), **options), strict=True
    ):
        assert together.counts.steps[k] == alone.data.attrs["steps"]
        assert_allclose(together.joints[k], alone.q, rtol=0, atol=1e-9)
    assert np.ptp(np.asarray(together.joints)[:, -1]) > 1e-4


def test_members_may_start_from_states_of_their_own():
    angles = np.linspace(0.0, 0.8, 9)
    states = [pendulum().at([angle]) for angle in angles]
    stacked = jax.tree.map(lambda *rows: np.stack(rows), *states)
    together = family().rollout(stacked, t_end=0.01, output_dt=0.01)
    assert_allclose(np.asarray(together.joints)[:, 0, 0], angles)


@pytest.mark.slow
def test_outputs_beyond_one_window_are_kept_and_agree_with_xla():
    options = {"t_end": 0.6, "output_dt": 0.001}
    start = pendulum().at([0.4])
    native = family().rollout(start, **options)
    xla = family().rollout(start, **options, solver={"backend": "xla"})
    assert np.isfinite(native.x).all()
    assert_allclose(native.x, xla.x, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_a_law_in_python_is_mapped_by_xla_and_says_so(caplog):
    caplog.set_level(logging.INFO, "lissom.native")

    def law(t, state):
        return -0.5 * state.qd

    run = family().rollout(t_end=0.02, output_dt=0.01, torque=law)
    assert np.isfinite(run.x).all()


def test_a_torque_drives_all_members():
    run = family().rollout(t_end=0.05, output_dt=0.05, torque=np.array([3.0]))
    free = family().rollout(t_end=0.05, output_dt=0.05)
    assert (np.asarray(run.joints)[:, -1] > np.asarray(free.joints)[:, -1]).all()
