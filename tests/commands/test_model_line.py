"""Every answer names the formulation, the shapes of the links and the modes that are kept."""

import json

import pytest

from lissom.commands.cli import main

NAME = "simple-pendulum"
CHANNELS = ["--inputs", "rod", "--outputs", "rod.encoder"]
ROBOT = {"basis": "craig-bampton", "formulation": "nonlinear", "kept_modes": 3}
SCENARIO = {"basis": "nodal", "formulation": "erls-fem", "kept_modes": "all"}
LINES = {
    "show": ["show", NAME, "--set", "modes=3"],
    "static": ["static", NAME, "--modes", "3"],
    "modes": ["modes", NAME, "--modes", "3"],
    "linearize": ["linearize", NAME, "--modes", "3"],
    "frequency-response": ["frequency-response", NAME, "--modes", "3", *CHANNELS],
    "step-response": ["step-response", NAME, "--modes", "3", "--kp", "50", *CHANNELS],
    "matrices": ["matrices", NAME, "--modes", "3"],
    "mode-map": ["mode-map", NAME, "--modes", "3", "--over", "rod=0:1:2"],
    "polynomials": [
        *["mode-map", NAME, "--modes", "3", "--over", "rod=0:1"],
        *["--polynomial", "1", "--locked", "--count", "1"],
    ],
    "simulate": ["simulate", NAME, "--t-end", "0.01"],
}


def answer(capsys, line):
    assert main([*line, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def printed(capsys, line):
    assert main(line) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("verb", LINES)
def test_a_command_names_formulation_basis_and_modes(verb, capsys):
    told = answer(capsys, LINES[verb])
    expected = SCENARIO if verb == "simulate" else ROBOT
    assert {key: told[key] for key in expected} == expected
    assert told["robot"] == NAME
    assert f"model: {told['model']}\n" in printed(capsys, LINES[verb])


CONTROLLER = """
type: pid
reference: {t: [0, 0.1], value: [[0], [0.1]], interpolation: quintic}
gains: {bandwidth: 5}
"""


@pytest.mark.parametrize("verb", ["design", "motion"])
def test_controllers_name_the_model_that_they_are_for(verb, capsys, tmp_path):
    law = tmp_path / "law.yaml"
    law.write_text(CONTROLLER)
    line = ["control", verb, NAME, "--law", str(law)]
    told = answer(capsys, line)
    assert {key: told[key] for key in SCENARIO} == SCENARIO
    assert "model: erls-fem, nodal, all modes\n" in printed(capsys, line)


def test_a_sweep_says_what_varies(capsys, tmp_path):
    line = [
        *["sweep", NAME, "--analysis", "modes", "--metric", "first_frequency"],
        *["--over", "modes=[2,3]", "--store", str(tmp_path / "s"), "--workers", "1"],
    ]
    told = answer(capsys, line)
    assert (told["robot"], told["formulation"]) == (NAME, "nonlinear")
    assert told["kept_modes"] == "varied"
    words = "model: nonlinear, craig-bampton, modes varied\n"
    assert words in printed(capsys, line)
    assert words in printed(capsys, ["sweep", str(tmp_path / "s"), "--status"])


def test_runs_that_are_compared_are_named_one_by_one(capsys, tmp_path):
    files = [str(tmp_path / name) for name in ("a.nc", "b.nc")]
    for file, formulation in zip(files, ("nonlinear", "erls-fem"), strict=True):
        line = ["simulate", NAME, "--t-end", "0.01", "--formulation", formulation]
        assert main([*line, "-o", file]) == 0
    capsys.readouterr()
    models = answer(capsys, ["compare", *files])["models"]
    assert models[files[0]]["kept_modes"] == 12
    assert models[files[1]]["model"] == "erls-fem, nodal, all modes"
    text = printed(capsys, ["compare", *files])
    assert f"{files[0]}: {NAME}, nonlinear, craig-bampton, 12 modes\n" in text
