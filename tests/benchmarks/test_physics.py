"""The rows of `lissom bench physics`, computed: nothing here stands in for a run."""

import ast
from pathlib import Path

import pytest

import lissom
from lissom import Robot
from lissom.benchmarks import physics

FOLDER = Path(lissom.__file__).parent / "benchmarks"


def differing(rows):
    return [line["check"] for line in rows if not line["agrees"]]


def calls_without_a_formulation(file):
    """Lines that make a scenario or a model and leave the formulation to the default."""
    lines = []
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name, names = node.func.id, {word.arg for word in node.keywords}
        # None: `**choices`, which may name it.
        named = {"formulation", None} & names
        positional = name == "Model" and len(node.args) > 1
        if name in ("Scenario", "Model") and not named and not positional:
            lines.append(f"{file.name}:{node.lineno}")
    return lines


def test_every_benchmark_names_its_formulation():
    # Known numbers belong to a formulation; the default of the package may become another.
    found = [calls_without_a_formulation(file) for file in FOLDER.glob("*.py")]
    assert sum(found, []) == []


def test_the_release_from_horizontal_has_one_path_whatever_the_erls():
    robot = Robot.load("double-pendulum").replace({"damping": None})
    place, energy, references = rows = list(physics.release_rows(robot))
    assert differing(rows) == []
    assert place["ours"] == pytest.approx([-0.21396, -0.93694, 0.0], abs=1e-4)
    assert 0 < energy["ours"][0] < 1e-6
    # Three paths, not one three times: they differ in the second order of the displacements.
    assert 1e-8 < references["ours"][0] < 1e-4


@pytest.mark.parametrize(
    "case, least, most",
    [
        ("double pendulum, in-plane", 0.0, 1e-5),
        # The formulation of the paper is of first order: it lacks some 0.1 mm of the motion of the carried link.
        ("double pendulum, spatial", 5e-5, 5e-4),
    ],
)
def test_the_tip_is_as_near_the_peer_as_the_formulation_of_the_paper_brings_it(
    case, least, most
):
    rows = list(physics.peer_rows(case))
    assert len(rows) == 2 and differing(rows) == []
    assert all(least <= line["difference"] <= most for line in rows)
