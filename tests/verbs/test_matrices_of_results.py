"""Matrices at a time of a result: of the robot as bent and as fast as it was then."""

import numpy as np
import pytest

import lissom as ls
from lissom.commands import cli

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    scenario = ls.Scenario.load("simple-pendulum").replace({"t_end": 0.1})
    run = ls.run_scenario(scenario)
    return str(run.save(tmp_path_factory.mktemp("runs") / "fall.nc")), run, scenario


def test_they_are_those_of_the_state_at_that_time(result, tmp_path):
    file, run, scenario = result
    output = tmp_path / "m.npz"
    line = ["matrices", file, "--time", "0.06", "-o", str(output)]
    assert cli.main(line) == 0
    row = int(np.abs(run.t - 0.06).argmin())
    state = run.state(row)
    assert np.abs(state.qd).max() > 0 and np.abs(state.elastic).max() > 0
    wanted = ls.Model.of_scenario(scenario).matrices(state).arrays
    with np.load(output) as found:
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--time", "7"], "the result goes from 0 to 0.1 s"),
        (["--time", "0.06", "--q", "0.1"], "leave this out"),
        (["--time", "0.06", "--static"], "--static"),
        (["--time", "0.06", "--formulation", "nonlinear"], "computed with erls-fem"),
    ],
)
def test_what_does_not_fit_is_refused(result, more, words, capsys):
    assert cli.main(["matrices", result[0], *more]) == 2
    told = capsys.readouterr().err
    assert words in told and "Traceback" not in told


def test_only_results_have_times(capsys):
    assert cli.main(["matrices", "simple-pendulum", "--time", "0.1"]) == 2
    assert "only the result of a run" in capsys.readouterr().err
