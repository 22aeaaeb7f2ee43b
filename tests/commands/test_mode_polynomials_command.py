"""`lissom mode-map` with `--polynomial` or `--accuracy`: modes as polynomials."""

import json

import numpy as np
import pytest

from lissom import ModePolynomials
from lissom.commands.cli import main

ROD = """
lissom: 1
name: rod
gravity: [0, 0, 0]
links:
  - name: rod
    joint: {type: revolute, axis: [0, 0, 1]}
    beam:
      path: [[0, 0, 0], [0.5, 0, 0]]
      section: {shape: rectangle, y: 0.01, z: HEIGHT}
      material: {E: 2.0e11, nu: 0.3, density: 7840}
      elements: 1
payload: {mass: 0.1}
"""


@pytest.fixture
def rod(tmp_path):
    path = tmp_path / "rod.yaml"
    path.write_text(ROD.replace("HEIGHT", "0.02"))
    return path


def asked(capsys, *words):
    """Exit code, and what was printed as JSON."""
    code = main(["mode-map", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_polynomials_are_told_and_written(rod, tmp_path, capsys):
    code, answer = asked(
        capsys, rod, "--over", "payload.mass=0.05:0.15", "--locked", "--count", 2, "--polynomial", 3, "-o",
        tmp_path / "rod.npz",
    )  # fmt: skip
    assert code == 0
    assert (answer["order"], answer["terms"], len(answer["expansion_points"])) == (
        3,
        4,
        1,
    )
    found = ModePolynomials.load(tmp_path / "rod.npz")
    np.testing.assert_allclose(found.frequency_hz([0.1]), answer["frequency_hz"])
    assert (
        np.diff(found.frequency_hz([[0.05], [0.1], [0.15]]), axis=0) < 0
    ).all()  # a heavier payload is slower


def test_a_square_rod_is_refused_for_its_repeated_frequencies(rod, capsys):
    rod.write_text(ROD.replace("HEIGHT", "0.01"))
    code, answer = asked(
        capsys, rod, "--over", "rod=-1:1", "--locked", "--polynomial", 1
    )
    assert code == 1
    assert "coincides" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--over", "rodd=0:1"], "did you mean 'rod'"),
        (["--over", "rod=1:0"], "START < STOP"),
        ([], "say over what"),
        (["--over", "rod=0:1", "-o", "rod.txt"], ".npz or .c or .py"),
    ],
)
def test_a_wrong_request_says_what_is_accepted(rod, capsys, words, message):
    code, answer = asked(capsys, rod, "--polynomial", 2, *words)
    assert code == 2
    assert message in answer["error"]["message"]
