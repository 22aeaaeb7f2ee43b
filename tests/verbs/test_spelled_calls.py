"""What the studio shows as command and Python does what its screens do, in the shell and in Python."""

import re
import shlex
import shutil

import pytest

import lissom as ls
from lissom.commands import cli
from lissom.verbs.registry import verb_named
from lissom.verbs.spelling import spelled

AXIS = {"name": "rod", "start": -0.5, "stop": 0.5, "points": 2}
RUNS = ["first.nc", "second.nc"]
LIBRARY = "library:simple-pendulum"
SWEEP = {
    "study": "simple-pendulum",
    "analysis": "static",
    "changes": {"initial.q": [0.3]},
    "over": {"payload.mass": "0:200:2 g"},
    "metrics": ["sag", "torque_peak"],
    "store": "study.sweep",
    "plot": "sweep.png",
}
CALLS = {
    "static": ("static", LIBRARY, {}, {"q": [-0.3]}),
    "show": ("show", LIBRARY, {}, {"q": [-0.3]}),
    "map": (
        "mode-map",
        LIBRARY,
        {"formulation": "erls-fem"},
        {"over": [AXIS], "count": 2, "locked": True, "plot": "map.png"},
    ),
    "simulate": (
        "simulate",
        "scenario:simple-pendulum",
        {"t_end": 0.02, "payload.mass": 0.1},
        {"output": "run.nc"},
    ),
    "sweep": ("sweep", "", {}, SWEEP),
    "plot": ("plot", "", {}, {"run": RUNS[0], "what": ["q"], "picture": "run.png"}),
    "page": ("plot", "", {}, {"run": RUNS[0], "picture": "run.html"}),
    "compare": ("compare", "", {}, {"runs": RUNS, "plot": "difference.png"}),
    "matrices": ("matrices", RUNS[0], {}, {"time": 0.01, "output": "matrices.npz"}),
    "validate": ("validate", "scenario:simple-pendulum", {}, {}),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    scenario = ls.Scenario.load("simple-pendulum").replace({"t_end": 0.02})
    for file, q in zip(RUNS, (0.3, 0.31), strict=True):
        ls.run_scenario(scenario.replace({"initial.q": [q]})).save(folder / file)
    return folder


@pytest.fixture
def folder(runs, tmp_path, monkeypatch):
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def title(text):
    """The first line that a call prints; how long it took differs."""
    return re.sub(r"in [\d.]+ s", "", text.splitlines()[0].rstrip())


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_command_and_python_say_the_same(folder, capsys, call):
    name, source, changes, values = call
    told = spelled(verb_named(name), source, changes, values)
    before = set(folder.iterdir())
    exec("\n".join(told["lines"]), {})
    in_python = title(capsys.readouterr().out)
    written = set(folder.iterdir()) - before
    named = [values.get(name) for name in ("output", "plot", "picture", "store")]
    assert {file.name for file in written} == {name for name in named if name}
    for file in written:
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    words = shlex.split(told["command"])
    assert words[0] == "lissom"
    assert cli.main(words[1:]) == 0
    assert set(folder.iterdir()) - before == written
    # A run is told with its path and its times: the title alone is the same in both.
    in_shell = capsys.readouterr().out
    assert name == "simulate" or title(in_shell) == in_python


def test_what_a_study_is_about_stands_first_and_its_changes_with_it():
    values = {"over": {"payload.mass": [0, 1]}, "metrics": ["sag"], "store": "s.sweep"}
    told = spelled(verb_named("sweep"), "library:ur5", {"initial.q": [0.1]}, values)
    assert told["command"].startswith("lissom sweep ur5 --over 'payload.mass=[0, 1]'")
    assert "--set 'initial.q=[0.1]'" in told["command"]
    line = "\n".join(told["lines"])
    assert "ls.sweep(study='ur5'" in line and "changes={'initial.q': [0.1]}" in line
