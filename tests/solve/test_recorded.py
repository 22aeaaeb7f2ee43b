"""Steps that follow what a run records: no vibration of a recorded node is lost without a word."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.algebra.linear import factorise
from lissom.describe.scenario import Scenario, Solver
from lissom.runs.start import start_scenario
from lissom.solve.problem import Tangents
from lissom.solve.radau import (
    A2,
    MU_REAL,
    C,
    RadauMemory,
    iteration_matrix,
    stage_states,
    vibration_error,
)
from lissom.solve.simulate import settings_of_run
from lissom.solve.step import Moment
from lissom.studies.family_of_runs import measure_runs
from lissom.types import host_module

# Tight enough that the amplitudes below change by less than 0.2 % when everything is ten times tighter.
TIGHT = {"solver.rtol": 1e-9, "solver.atol": 1e-11, "solver.recorded": 1e-3}


def run_of(name, nodes, **changes):
    return ls.run_scenario(
        Scenario.load(name).replace({"record": nodes, **changes}), progress=False
    )


def spectrum(run, node):
    """Frequencies, and amplitudes of the acceleration vector, with a Hann window."""
    a = run.acceleration(node)
    window = np.hanning(len(a))[:, None]
    lines = np.abs(np.fft.rfft((a - a.mean(axis=0)) * window, axis=0)) * 4 / len(a)
    step = run.t[1] - run.t[0]
    return np.fft.rfftfreq(len(a), step), np.linalg.norm(lines, axis=1)


def amplitude_near(run, node, low, high):
    frequency, size = spectrum(run, node)
    return size[(frequency > low) & (frequency < high)].max()


@pytest.fixture(scope="module")
def torque_on_l():
    return run_of("l-shape-torque", ["beam/2"])


def test_the_acceleration_of_a_recorded_node_keeps_its_vibration_at_152_hz(torque_on_l):
    """Of the tight run within 5 %, in an eighth of its steps; steps for the motion alone leave a tenth of it."""
    tight = run_of("l-shape-torque", ["beam/2"], **TIGHT)
    wanted = amplitude_near(tight, "beam/2", 150, 154)
    found = amplitude_near(torque_on_l, "beam/2", 150, 154)
    assert wanted > 5.0
    assert_allclose(found, wanted, rtol=0.05)
    assert torque_on_l.facts["steps"] <= 3400 < tight.facts["steps"]
    # The state on the grid of a run that records nothing is that of steps which lose this vibration.
    coarse = run_of("l-shape-torque", ["beam/2"], **{"solver.recorded": 0.9})
    assert amplitude_near(coarse, "beam/2", 150, 154) < 0.2 * wanted


def test_what_a_run_may_lose_sets_its_steps(torque_on_l):
    closer = run_of("l-shape-torque", ["beam/2"], **{"solver.recorded": 0.002})
    assert closer.facts["steps"] > 1.5 * torque_on_l.facts["steps"]


def test_a_run_that_records_nothing_has_the_settings_that_it_would_have_without_the_key():
    """The same program with the same numbers: the same steps, to the bit."""
    start = start_scenario(Scenario.load("simple-pendulum"))
    plain = settings_of_run(start.model, Solver(), start.times)
    assert plain.tolerance.recorded is None
    other = settings_of_run(start.model, Solver(recorded=1e-4), start.times)
    assert other.tolerance == plain.tolerance
    explicit = Solver(method="dopri8")
    follows_all = settings_of_run(start.model, explicit, start.times, ("rod/tip",))
    assert follows_all.tolerance.recorded is None


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_a_share_is_a_part_of_one(share):
    message = r"solver\.recorded: .*must be above 0 and below 1"
    with pytest.raises(ls.DescriptionError, match=message):
        Scenario.load("simple-pendulum").replace({"solver.recorded": share})


@pytest.mark.slow
def test_a_node_without_acceleration_shortens_no_step():
    """Of a bearing at rest only roundings are recorded: they are not followed."""
    plain = run_of("four-bar", [])
    recorded = run_of("four-bar", ["follower/4"])
    assert np.abs(recorded.acceleration("follower/4")).max() < 1e-8
    assert recorded.facts["steps"] < 1.1 * plain.facts["steps"]


def step_of_oscillator(y, x0, v0):
    """One Radau step of length y of x'' = -x, its error as the method estimates it, and its true one."""
    one = jnp.eye(1)
    tangents = Tangents(one, 0.0 * one, one)
    now = Moment(jnp.asarray(0.0), jnp.array([x0]), jnp.array([v0]), jnp.zeros(2))
    force = x0 + y * C * v0
    stages = -np.linalg.solve(np.eye(3) + y**2 * A2, force)[:, None]
    memory = host_module(
        RadauMemory,
        tangents=tangents,
        xdd=-now.x,
        real=factorise(iteration_matrix(tangents, y, MU_REAL)),
    )
    estimate = vibration_error(now, y, memory, jnp.asarray(stages))
    x, xd, _ = stage_states(now, y, stages)
    exact = x0 * np.cos(y) + v0 * np.sin(y), v0 * np.cos(y) - x0 * np.sin(y)
    true = x[2, 0] - exact[0], xd[2, 0] - exact[1]
    return np.hypot(*estimate).item(), np.hypot(*true).item()


@pytest.mark.parametrize("y", [0.2, 0.5, 1.0])
def test_the_error_of_a_vibration_is_known_to_a_tenth(y):
    """The leading term of both is y^6 / 7200 of the amplitude; the next one is y^2 / 14 of it or less."""
    estimate, true = step_of_oscillator(y, np.cos(0.7), np.sin(0.7))
    assert_allclose(true, y**6 / 7200, rtol=y**2 / 14 + 1e-6)
    assert_allclose(estimate, true, rtol=0.1)


@pytest.mark.parametrize("y", [5.0, 30.0, 1e3])
def test_the_error_of_a_vibration_that_a_step_ignores_is_that_vibration(y):
    estimate, true = step_of_oscillator(y, np.cos(0.7), np.sin(0.7))
    assert 0.2 * true < estimate < 2.5 * true


@pytest.mark.slow
def test_sampled_laws_and_checkpoints_keep_the_account(tmp_path):
    """A run that is interrupted and resumed takes the same steps, under a law that acts at samples."""
    law = {
        "type": "pid",
        "sample": 2e-3,
        "reference": {"t": [0, 0.2], "value": [[0.0], [0.3]], "interpolation": "hold"},
        "gains": {"kp": [20], "kd": [1]},
    }
    scenario = Scenario.load("simple-pendulum").replace(
        {"controller": law, "t_end": 0.3, "record": ["rod/tip"]}
    )
    whole = ls.run_scenario(scenario, progress=False)
    file = tmp_path / "run.ckpt"

    def stop(t):
        raise KeyboardInterrupt

    part = ls.run_scenario(scenario, stop, False, progress=False, checkpoint=file)
    rest = ls.run_scenario(scenario, progress=False, checkpoint=file, resume=True)
    assert not part.complete and rest.complete
    assert rest.facts["steps"] == whole.facts["steps"]
    assert np.array_equal(rest.acceleration("rod/tip"), whole.acceleration("rod/tip"))


@pytest.mark.slow
def test_runs_of_a_sweep_follow_what_they_record():
    """In lanes too, where each run takes the steps that it takes alone."""
    scenario = Scenario.load("simple-pendulum").replace(
        {"t_end": 0.3, "record": ["rod/2"], "solver.recorded": 1e-4}
    )
    masses = [0.1, 0.2, 0.3, 0.4]
    family = {
        k: scenario.replace({"payload": {"mass": mass}})
        for k, mass in enumerate(masses)
    }
    runs = dict(measure_runs(family, lambda k: None, alone=False))
    for k, one in family.items():
        alone = ls.run_scenario(one, progress=False)
        without = ls.run_scenario(one.replace({"record": []}), progress=False)
        assert runs[k].run.facts["steps"] == alone.facts["steps"]
        assert alone.facts["steps"] > without.facts["steps"]


@pytest.mark.slow
def test_xla_follows_the_same_vibration(torque_on_l):
    run = run_of("l-shape-torque", ["beam/2"], **{"solver.backend": "xla"})
    assert_allclose(
        amplitude_near(run, "beam/2", 150, 154),
        amplitude_near(torque_on_l, "beam/2", 150, 154),
        rtol=0.01,
    )


ROBOTS = (
    "double-pendulum",
    "simple-pendulum",
    "planar-2r",
    "spin-up",
    "anthropomorphic",
    "anthropomorphic-wrist",
    "dlr-arm",
    "slider-crank",
    "five-bar",
    "spatial-double-pendulum",
    "de-luca-siciliano",
    "l-shape",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_large_peak_of_three_recorded_nodes_is_that_of_a_tight_run(name):
    """Within half a per cent of the largest acceleration, to which errors may add up, and in fewer steps.

    That is 5 % of a peak of a tenth of the largest acceleration. Looked at are all above a tenth of the largest peak.
    """
    names = start_scenario(Scenario.load(name)).model.node_names
    nodes = [names[len(names) // 3], names[2 * len(names) // 3], names[-1]]
    run, tight = run_of(name, nodes), run_of(name, nodes, **TIGHT)
    assert run.facts["steps"] < tight.facts["steps"]
    for node in dict.fromkeys(nodes):
        largest = np.linalg.norm(tight.acceleration(node), axis=1).max()
        _, ours = spectrum(run, node)
        _, theirs = spectrum(tight, node)
        inner = theirs[1:-1]
        is_peak = (inner > theirs[:-2]) & (inner >= theirs[2:])
        for k in 1 + np.flatnonzero(is_peak & (inner > 0.1 * theirs.max())):
            found = ours[k - 1 : k + 2].max()
            assert abs(found - theirs[k]) < 0.005 * largest, f"{node} line {k}"
