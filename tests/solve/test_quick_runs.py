"""Runs in code that is compiled quickly first, and well where they turn out long: which code, and what numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lissom as ls
from jaxnative.compiled import compiling, is_compiling_quickly
from lissom.control.pd import PD
from lissom.describe.scenario import Solver
from lissom.runs.checkpoint_file import CheckpointFile
from lissom.solve import simulate as solve_simulate
from lissom.solve.inputs import Inputs, Table
from lissom.solve.outputs import outputs_of
from lissom.solve.simulate import integrate, output_times
from lissom.types import RESULTS

TIMES = output_times(0.03, 1e-4)
COLUMNS = ("x", "xd", "work", "joints", "command")
CHANGE = 37  # tries in quick code: no multiple of anything


@pytest.fixture(scope="module")
def reed():
    section = {"shape": "rectangle", "y": 0.004, "z": 0.03}
    beam = {"section": section, "material": "steel", "elements": 1}
    joint = {"type": "revolute", "dh": {"a": 0.6, "alpha": 0, "d": 0, "theta": 0}}
    link = {"name": "rod", "joint": joint, "beam": beam}
    robot = {"name": "reed", "gravity": [0, -9.81, 0], "links": [link]}
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


@pytest.fixture(scope="module")
def inputs():
    reference = Table([0.0, 0.01, 0.03], [[0.3], [0.5], [0.1]], after="hold")
    return Inputs(1, law=PD([4.0], [0.3], reference, sample=0.01))


def run(model, inputs, file=None, watch=lambda t: None, **solver):
    options = Solver(**solver)
    state = model.at([0.3])
    return integrate(model, state, inputs, TIMES, options, watch, file, resume=True)


def quick_run(*args, **kwargs):
    with compiling(quickly=True):
        return run(*args, **kwargs)


class Marches:
    """The march, and for each call of it the tries before and whether its code was compiled quickly."""

    def __init__(self):
        self.calls = []
        self._march = solve_simulate._march

    def prepare(self, *args):
        return self._march.prepare(*args)

    def __call__(self, step, robot, tolerance, at, *limits):
        self.calls.append((tries_of(at), is_compiling_quickly()))
        return self._march(step, robot, tolerance, at, *limits)


def tries_of(at):
    return int(at.counts.steps) + int(at.counts.rejected)


@pytest.fixture
def marches(monkeypatch):
    found = Marches()
    monkeypatch.setattr(solve_simulate, "_march", found)
    return found


def assert_same_to_rounding(one, other):
    # Codes round differently, and stiff links make more of it: 3e-12 was found, where steps may be wrong by 1e-6.
    assert int(one.counts.steps) == int(other.counts.steps)
    for name in COLUMNS:
        wanted = np.asarray(getattr(other, name))
        scale = np.abs(wanted).max(initial=1.0)
        assert_allclose(getattr(one, name), wanted, atol=1e-10 * scale)


def assert_same(one, other):
    assert int(one.counts.steps) == int(other.counts.steps)
    for name in COLUMNS:
        assert_array_equal(getattr(one, name), getattr(other, name))


def test_quick_code_and_good_code_give_the_same_numbers_to_rounding(reed, inputs):
    quick, good = quick_run(reed, inputs), run(reed, inputs)
    assert_same_to_rounding(quick, good)
    with compiling(quickly=True):
        seen_quickly, torque_quickly = outputs_of(reed, inputs, good)
    seen, torque = outputs_of(reed, inputs, good)
    assert_allclose(torque_quickly, torque, rtol=1e-12, atol=1e-12)
    for name in ("position", "rotation", "energy"):
        wanted = getattr(seen, name)
        assert_allclose(getattr(seen_quickly, name), wanted, rtol=1e-12, atol=1e-14)


def test_a_run_is_in_good_code_unless_quick_code_is_asked_for(reed, inputs, marches):
    run(reed, inputs)
    assert not any(is_quick for _, is_quick in marches.calls)


def test_a_short_run_has_no_good_code(reed, inputs, marches):
    solution = quick_run(reed, inputs)
    assert tries_of(solution) < solve_simulate.QUICK_TRIES
    assert all(is_quick for _, is_quick in marches.calls)


@pytest.mark.parametrize("burst", [5, 400])
def test_a_long_run_changes_to_good_code_once_and_at_a_given_try(
    reed, inputs, marches, monkeypatch, burst
):
    monkeypatch.setattr(solve_simulate, "QUICK_TRIES", CHANGE)
    monkeypatch.setattr(solve_simulate, "BURST", burst)
    solution = quick_run(reed, inputs)
    assert tries_of(solution) > CHANGE
    quick = [is_quick for _, is_quick in marches.calls]
    assert quick == sorted(quick, reverse=True)
    first_in_good_code = marches.calls[quick.index(False)]
    assert first_in_good_code == (CHANGE, False)
    assert_same_to_rounding(solution, run(reed, inputs))


def test_bursts_do_not_move_the_change_to_good_code(reed, inputs, monkeypatch):
    monkeypatch.setattr(solve_simulate, "QUICK_TRIES", CHANGE)
    whole = quick_run(reed, inputs)
    assert_same(quick_run(reed, inputs), whole)
    monkeypatch.setattr(solve_simulate, "BURST", 5)
    assert_same(quick_run(reed, inputs), whole)


def test_a_run_interrupted_before_and_after_the_change_gives_the_same_numbers(
    reed, inputs, tmp_path, monkeypatch
):
    monkeypatch.setattr(solve_simulate, "QUICK_TRIES", CHANGE)
    whole = quick_run(reed, inputs)
    monkeypatch.setattr(solve_simulate, "BURST", 4)
    file = CheckpointFile(tmp_path / "run.checkpoint", {"run": 1})
    calls = []

    def stop_at_every_third_burst(t):
        calls.append(t)
        if len(calls) % 3 == 0:
            raise KeyboardInterrupt

    parts = [quick_run(reed, inputs, file, stop_at_every_third_burst)]
    while parts[-1].result != RESULTS.successful:
        parts.append(quick_run(reed, inputs, file, stop_at_every_third_burst))
    assert len(parts) > 5
    assert_same(parts[-1], whole)


def test_under_xla_nothing_changes(reed, inputs, monkeypatch):
    monkeypatch.setattr(solve_simulate, "QUICK_TRIES", CHANGE)
    quick = quick_run(reed, inputs, backend="xla")
    assert_same(quick, run(reed, inputs, backend="xla"))
