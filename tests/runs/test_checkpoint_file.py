"""Runs that are interrupted and go on: nothing is lost, and the numbers are those of a run in one go."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lissom as ls
from lissom.control.pd import PD
from lissom.describe.scenario import Solver
from lissom.runs.checkpoint_file import CheckpointFile
from lissom.solve import simulate as solve_simulate
from lissom.solve.checkpoint import CheckpointError
from lissom.solve.inputs import Inputs, Table
from lissom.solve.simulate import integrate, output_times
from lissom.types import RESULTS

TIMES = output_times(0.4, 5e-4)


@pytest.fixture(scope="module")
def rotor():
    body = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    link = {"name": "arm", "joint": joint, "rigid": body | {"tip": [0.3, 0, 0]}}
    robot = {"name": "rotor", "gravity": [0, -9.81, 0], "links": [link]}
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


@pytest.fixture(scope="module")
def inputs():
    reference = Table([0.0, 0.1, 0.3], [[0.3], [0.5], [0.1]], after="hold")
    push = Table([0.0, 0.15, 0.15, 0.4], [0.0, 1.0, -1.0, 0.5])
    law = PD([4.0], [0.3], reference, sample=0.01)
    return Inputs(1, torque=[(0, push)], law=law)


def run(model, inputs, file=None, watch=lambda t: None):
    state = model.at([0.3])
    return integrate(model, state, inputs, TIMES, Solver(), watch, file, resume=True)


def test_a_run_interrupted_again_and_again_gives_the_same_numbers(
    rotor, inputs, tmp_path, monkeypatch
):
    monkeypatch.setattr(solve_simulate, "BURST", 2)
    chance = np.random.default_rng(3)

    def stop_sometimes(t):
        if chance.random() < 0.4:
            raise KeyboardInterrupt

    file = CheckpointFile(tmp_path / "run.checkpoint", {"run": 1})
    reached = []
    for _ in range(200):
        part = run(rotor, inputs, file, stop_sometimes)
        reached.append(float(part.last.t))
        if part.result == RESULTS.successful:
            break
    assert len(reached) > 9
    assert np.all(np.diff(reached) > 0)
    whole = run(rotor, inputs)
    assert int(part.counts.steps) == int(whole.counts.steps)
    for name in ("x", "xd", "work", "joints", "command"):
        assert_array_equal(getattr(part, name), getattr(whole, name))


def test_checkpoints_are_written_while_a_run_goes_on(
    rotor, inputs, tmp_path, monkeypatch
):
    # A process that is killed outright comes back to the last of them.
    monkeypatch.setattr(solve_simulate, "BURST", 2)
    file = CheckpointFile(tmp_path / "run.checkpoint", {"run": 1}, every=0.0)

    class Killed(BaseException):
        pass

    def kill(t):
        if t > 0.2:
            raise Killed

    with pytest.raises(Killed):
        run(rotor, inputs, file, kill)
    kept = file.read()
    assert kept is not None and kept.columns["x"].shape[0] > 400
    assert run(rotor, inputs, file).result == RESULTS.successful


def test_a_checkpoint_of_another_run_and_a_broken_one_are_refused(
    rotor, inputs, tmp_path
):
    path = tmp_path / "run.checkpoint"

    def stop(t):
        raise KeyboardInterrupt

    run(rotor, inputs, CheckpointFile(path, {"run": 1}), stop)
    with pytest.raises(CheckpointError, match="another run"):
        run(rotor, inputs, CheckpointFile(path, {"run": 2}))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="is damaged"):
        run(rotor, inputs, CheckpointFile(path, {"run": 1}))


def test_a_disk_that_takes_no_checkpoint_does_not_stop_a_run(rotor, inputs, tmp_path):
    file = CheckpointFile(tmp_path / "no" / "folder", {"run": 1}, every=0.0)
    assert run(rotor, inputs, file).result == RESULTS.successful
    assert isinstance(file.failure, OSError)
