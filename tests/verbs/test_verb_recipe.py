"""A verb that is added as CONTRIBUTING says appears at every door: shell, Python, studio and reference."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from own_verb import ROW, Sag, add, tip_sag

import lissom as ls
from lissom.commands import cli
from lissom.verbs.registry import withdraw

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "studio"), str(ROOT / "docs" / "_site")]
NAME = "double-pendulum"
Q = [0.0, 1.57]


@pytest.fixture(autouse=True)
def added():
    add()
    yield
    withdraw(ROW.name)


@pytest.fixture(scope="module")
def wanted():
    model = ls.Model(NAME)
    state = model.static(Q)
    tips = [model.position(at, "lower/tip") for at in (state, model.at(state.encoder))]
    return float(np.linalg.norm(np.subtract(*map(np.asarray, tips))))


def test_python_has_it_as_its_function(wanted):
    assert ls.tip_sag is tip_sag
    found = ls.tip_sag(NAME, Q)
    assert isinstance(found, Sag) and found.sag == pytest.approx(wanted, rel=1e-12)
    assert "mm" in repr(found)


def test_the_command_line_has_it_with_help_and_json(capsys, wanted):
    line = ["tip-sag", NAME, "--q", "0,1.57"]
    assert cli.main([*line, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sag"] == pytest.approx(wanted, rel=1e-12)
    assert answer["formulation"] == "nonlinear" and "cache" in answer
    assert cli.main(line) == 0
    assert f"sags by {1e3 * wanted:.5g} mm" in capsys.readouterr().out
    assert cli.main(["--help"]) == 0
    assert ROW.help.split()[3] in capsys.readouterr().out
    assert cli.main(["tip-sag", "--help"]) == 0
    told = capsys.readouterr().out
    assert "--pause" in told and "--formulation" in told and ROW.example in told


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--q", "a,b"], "--q: a: must be a number [rad]"),
        (["--q", "1"], "--q: 1: must have one number for each moving joint"),
        (["--pause", "-1"], "--pause"),
        (["--nonsense"], "--nonsense"),
        (["--formulation", "dual"], "formulation"),
    ],
)
def test_bad_input_is_refused_with_code_2(capsys, more, words):
    assert cli.main(["tip-sag", NAME, *more]) == 2
    told = capsys.readouterr().err
    assert words in told and "Traceback" not in told


def test_it_stops_when_its_time_is_up():
    code = "import own_verb, sys; from lissom.commands import cli; own_verb.add()"
    code += "; sys.exit(cli.main(sys.argv[1:]))"
    line = [sys.executable, "-c", code, "tip-sag", NAME, "--pause", "60"]
    path = [str(ROOT / "src"), str(Path(__file__).parent)]
    done = subprocess.run(
        [*line, "--max-wall", "3"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        timeout=120,
    )
    assert done.returncode == 1 and "stopped after 3 s" in done.stderr


def test_the_studio_asks_it_within_its_bounds(tmp_path, wanted):
    from studio_client import studio

    house = studio(tmp_path)
    try:
        known = house.client.get("/api/verbs").json["tip-sag"]
        assert [one["name"] for one in known["parameters"]] == ["q", "pause"]
        body = {"source": f"library:{NAME}", "values": {"q": Q}}
        answer = house.client.request("POST", "/api/verbs/tip-sag", body)
        assert answer.json["sag"] == pytest.approx(wanted, rel=1e-12)
        lines = house.client.request("POST", "/api/verbs/tip-sag/lines", body).json
        assert lines["command"] == f"lissom tip-sag {NAME} --q=0.0,1.57"
        assert "ls.tip_sag(model, q=[0.0, 1.57])" in "\n".join(lines["lines"])
        for values in ({"pause": 1e3}, {"pose": Q}, {"q": "here"}):
            bad = {"source": f"library:{NAME}", "values": values}
            assert house.client.request("POST", "/api/verbs/tip-sag", bad).status == 400
    finally:
        house.backend.close()


def test_the_reference_describes_it():
    from command_reference import commands

    text = commands()
    assert "## `lissom tip-sag`" in text and "Seconds to wait first." in text
