"""The rows of `lissom bench physics`, computed: nothing here stands in for a run."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import benchmarks
import lissom
from lissom import Robot
from lissom.bench import de_luca_siciliano, physics, physics_tables
from lissom.bench.physics_checks import row
from lissom.commands.cli import app

FOLDERS = (Path(lissom.__file__).parent / "bench", Path(benchmarks.__file__).parent)


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
    found = [
        calls_without_a_formulation(file)
        for folder in FOLDERS
        for file in folder.rglob("*.py")
        # The self-test is of what users have by default.
        if file.name != "doctor.py"
    ]
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
def test_the_tip_is_as_close_to_the_peer_as_the_formulation_of_the_paper_allows(
    case, least, most
):
    rows = list(physics.peer_rows(case))
    assert len(rows) == 2 and differing(rows) == []
    assert all(least <= line["difference"] <= most for line in rows)


# --- rows that differ, and why -------------------------------------------------------------------------------------


def test_one_link_of_de_luca_and_siciliano_differs_by_its_mesh():
    rows = list(de_luca_siciliano.de_luca_siciliano_rows())
    _, fore, _ = rows
    assert differing(rows) == [fore["check"]]
    assert fore["ours"][1] == pytest.approx(15.9167, abs=1e-4)
    assert fore["tolerance"] == 5e-3  # half of the last digit that is printed
    for number in ("15.9167", "15.9145", "15.91 Hz"):
        assert number in fore["reason"]


def test_the_mesh_is_no_reason_for_frequencies_that_are_farther_off():
    exact = np.array(de_luca_siciliano.CLOSED_FORM_HZ["fore"])
    assert de_luca_siciliano.mesh_reason("fore", exact * 1.0002) is not None
    assert de_luca_siciliano.mesh_reason("fore", exact * 1.0004) is None
    assert de_luca_siciliano.mesh_reason("fore", exact * np.nan) is None


def test_a_row_has_a_reason_if_and_only_if_it_differs():
    near, far, odd = (
        row("sag", "derived", -1.0, -1.001, "mm", 0.01, reason="coarse mesh"),
        row("bend", "derived", -1.0, -1.2, "mm", 0.01, reason="coarse mesh"),
        row("twist", "derived", -1.0, -1.2, "mm", 0.01),
    )
    assert [line["reason"] for line in (near, far, odd)] == [
        None,
        "coarse mesh",
        "not known",
    ]
    note = physics_tables.physics_table([near, far, odd]).note
    assert note == "DIFFERS, bend: coarse mesh\nDIFFERS, twist: not known"
    assert physics_tables.physics_table([near]).note == ""


# --- the whole command ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_runs_to_its_end_and_says_which_number_is_off(tmp_path):
    written = tmp_path / "physics.json"
    result = CliRunner().invoke(app, ["bench", "physics", "-o", str(written)])
    report = json.loads(written.read_text())
    assert len(report["physics"]) == 46
    assert len(report["peaks"]) == 8
    fore = "de-luca-siciliano: link fore alone, clamped, with a point load"
    assert differing(report["physics"]) == [fore]
    assert f"DIFFERS, {fore}: four elements" in " ".join(result.stdout.split())
    # A number that is off is exit code 1; 2 would be a request that is refused.
    assert result.exit_code == 1
    verdicts = {line["modes"]: line["verdict"] for line in report["table_2"]}
    assert verdicts.pop(6) == "not as printed; reproduced with lumped mass"
    assert verdicts.pop(18) == "not as printed; reproduced with lumped mass, E 9e9"
    assert list(verdicts) == [8, 10, 12, 14, 16]
    assert all(text.startswith("NOT reproduced") for text in verdicts.values())
