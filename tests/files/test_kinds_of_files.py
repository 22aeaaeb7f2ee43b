"""A file is named as what it is: one sentence where another kind is expected, not a complaint about each key."""

from pathlib import Path

import pytest

from lissom.commands import cli
from lissom.describe import DescriptionError, Robot, Scenario
from lissom.files.description_files import (
    kind_of_file,
    kind_of_keys,
    library_folder,
    library_studies,
)
from lissom.runs.validate import validate

STUDIES = Path(__file__).parents[2] / "examples" / "studies"
CONTROL = "scenario: planar-2r\nmotion: {t: [0, 1], value: [[0, 0], [1, 1]]}\ncontrollers: {}\n"
KINDS = {
    "name: arm\nlinks: []\n": "robot",
    "name: arm\n": "robot",
    "robot: planar-2r\nt_end: 2\n": "scenario",
    # A key that is misspelt makes no study of a scenario.
    "robot: planar-2r\ncontrollers: {type: pd}\n": "scenario",
    CONTROL: "control study",
    "scenario: planar-2r\nover: {payload.mass: [1, 2]}\n": "sweep study",
}


@pytest.mark.parametrize("text", KINDS)
def test_a_file_is_what_the_keys_at_its_top_say(tmp_path, text):
    file = tmp_path / "any.yaml"
    file.write_text("lissom: 1\n" + text)
    assert kind_of_file(file) == KINDS[text]


def test_every_study_of_the_library_and_of_the_examples_is_one():
    control = sorted(library_folder().glob("*.control.yaml"))
    assert len(control) == len(library_studies()) > 0
    assert {kind_of_file(file) for file in control} == {"control study"}
    assert {kind_of_file(file) for file in STUDIES.glob("*.yaml")} == {"sweep study"}


READ_BY = {
    CONTROL: "is a control study: `lissom control compare` reads it",
    "scenario: planar-2r\nover: {payload.mass: [1, 2]}\n": "is a sweep study: `lissom sweep` reads it",
}


@pytest.mark.parametrize("text", READ_BY)
def test_a_study_is_refused_in_one_sentence_wherever_a_robot_is_read(
    tmp_path, text, capsys
):
    file = tmp_path / "any.yaml"
    file.write_text(text)
    verdict = validate(str(file))
    (problem,) = verdict.errors
    assert problem.message == READ_BY[text]
    assert verdict.kind == kind_of_keys(
        [line.partition(":")[0] for line in text.splitlines()]
    )
    for load in (Robot.load, Scenario.load):
        with pytest.raises(DescriptionError) as refusal:
            load(file)
        assert [found.message for found in refusal.value.problems] == [READ_BY[text]]
    for verb in ("modes", "simulate"):
        assert cli.main([verb, str(file)]) == 2
        assert READ_BY[text] in capsys.readouterr().err


def test_a_scenario_is_no_robot(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("robot: planar-2r\nt_end: 2\n")
    with pytest.raises(DescriptionError) as refusal:
        Robot.load(file)
    (problem,) = refusal.value.problems
    assert problem.message == "is a scenario: `lissom simulate` reads it"
