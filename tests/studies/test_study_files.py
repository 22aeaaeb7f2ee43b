"""Studies as files: what they mean, and what is said where they are wrong."""

import re
from pathlib import Path

import numpy as np
import pytest

import lissom as ls
from lissom.studies.keys import unit_of_key
from lissom.studies.study import Study

from .made_up_runs import E, study

WHOLE_STUDIES = sorted(
    (Path(__file__).parents[2] / "examples" / "studies").glob("*.yaml")
)
GOOD = """
scenario: double-pendulum
changes: {t_end: 0.2, output_dt: 0.01}
over:
  links.*.beam.material.E: {from: 150 GPa, to: 220 GPa, count: 3}
  upper: {values: [0 deg, 90 deg], label: pose}
metrics: [tip_deflection, {metric: residual_vibration, after: 100 ms, name: residual}]
"""


def refusal(tmp_path, text: str) -> str:
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with pytest.raises(ls.DescriptionError) as refused:
        Study.load(file)
    return str(refused.value)


def test_units_of_ranges_and_lists_become_si(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(GOOD)
    found = Study.load(file)
    stiffness, pose = found.design.columns
    np.testing.assert_allclose(np.unique(stiffness), [150e9, 185e9, 220e9])
    np.testing.assert_allclose(np.unique(pose), [0, np.pi / 2])
    assert found.labels == (E, "pose")
    assert found.units() == {E: "Pa", "upper": "rad"}
    assert found.run_scenario(1).initial.q == (np.pi / 2, 0.0)


def test_a_range_on_one_line_may_carry_its_unit_behind_the_count():
    over = {"payload.mass": "0:500:3 g"}
    np.testing.assert_allclose(study(over=over).design.columns[0], [0, 0.25, 0.5])


@pytest.mark.parametrize(
    "wrong, words",
    [
        (("payload.mass", "payload.mas"), ("payload.mas", "did you mean 'mass'")),
        (("0:1:5 kg", "1:1:5 kg"), ("the range is empty",)),
        (("0:1:5 kg", "[]"), ("the range is empty",)),
        (("0:1:5 kg", "0:1:5 mm"), ("'mm' is not a unit of this quantity",)),
        (("0:1:5 kg", "0:1"), ("count", "missing")),
        (("tip_deflection", "tip_deflexion"), ("did you mean 'tip_deflection'",)),
        (("tip_deflection", "first_frequency"), ("does not fit", "modes")),
        (("0:1:5 kg", "{normal: [1, 0.1]}"), ("a distribution needs sampling",)),
    ],
)
def test_a_wrong_study_is_refused_with_file_line_and_remedy(tmp_path, wrong, words):
    text = (
        "scenario: double-pendulum\nover:\n  payload.mass: 0:1:5 kg\n"
        "metrics: [tip_deflection]\n"
    )
    message = refusal(tmp_path, text.replace(*wrong))
    line = 4 if "tip" in wrong[0] else 3
    assert message.startswith(f"{tmp_path}/study.yaml:{line}: ")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "changes, words",
    [
        ("{t_end: 0.5}", "the motion ends at 0.6 s and the run at 0.5 s"),
        ("{inputs.torque: null}", "when does the motion end"),
    ],
)
def test_a_motion_without_a_rest_after_it_has_no_residual_vibration(
    tmp_path, changes, words
):
    text = (
        f"scenario: double-pendulum\nchanges: {changes}\n"
        "over: {payload.mass: 0:1:5}\nmetrics: [residual_vibration]\n"
    )
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize("word", ["zip", "together"])
def test_zip_pairs_the_values_of_all_keys_by_both_its_names(word):
    over = {E: [150e9, 180e9, 220e9], "payload.mass": "0:1:3 kg"}
    found = study(over=over, sampling=word)
    assert found.sampling == "zip"
    stiffness, payload = found.design.columns
    np.testing.assert_array_equal(stiffness, [150e9, 180e9, 220e9])
    np.testing.assert_array_equal(payload, [0, 0.5, 1])


@pytest.mark.parametrize("word", ["zip", "together"])
def test_zip_refuses_keys_with_different_numbers_of_values(word):
    message = f"zip needs as many values for each key: {re.escape(E)} has 4"
    with pytest.raises(ls.DescriptionError, match=message):
        study(sampling=word)


def test_a_mistyped_sampling_is_refused_with_its_new_name():
    with pytest.raises(ls.DescriptionError, match="grid, zip, random") as refused:
        study(sampling="zipp")
    assert "did you mean 'zip'" in str(refused.value)
    assert "together" not in str(refused.value)


def test_a_wrong_change_is_named_with_its_line_and_blames_no_key_of_the_study(tmp_path):
    text = GOOD.replace("t_end: 0.2", "t_end: -1")
    assert "study.yaml:3: changes.t_end: -1: must be positive" in refusal(
        tmp_path, text
    )
    assert "over" not in refusal(tmp_path, text)


def test_analyses_of_a_robot_refuse_keys_of_simulations(tmp_path):
    text = (
        "scenario: double-pendulum\nanalysis: modes\nover: {t_end: [1, 2]}\n"
        "metrics: [first_frequency]\n"
    )
    assert "only simulations use this" in refusal(tmp_path, text)


def test_a_table_gives_one_run_for_each_row(tmp_path):
    (tmp_path / "runs.csv").write_text("payload.mass [g], upper [deg]\n100,0\n200,90\n")
    file = tmp_path / "study.yaml"
    file.write_text(
        "scenario: double-pendulum\ntable: {file: runs.csv}\nmetrics: [tip_deflection]"
    )
    found = Study.load(file)
    assert found.design.keys == ("payload.mass", "upper")
    np.testing.assert_allclose(found.design.columns, [[0.1, 0.2], [0, np.pi / 2]])


def test_units_are_those_that_the_files_of_robots_have():
    scenario = ls.Scenario.load("double-pendulum").replace({"payload.mass": 0.1})
    assert unit_of_key(scenario, "payload.mass") == "kg"
    assert unit_of_key(scenario, "robot.links.upper.beam.material.E") == "Pa"
    assert unit_of_key(scenario, "t_end") == "s"
    assert unit_of_key(scenario, "lower") == "rad"


def test_the_files_of_whole_studies_are_valid_and_as_large_as_they_say():
    counts = {file.stem: Study.load(file).design.count for file in WHOLE_STUDIES}
    assert counts == {
        "controllers": 9,
        "monte-carlo": 512,
        "payload-and-pose": 10_000,
        "workspace": 31 * 31,
    }
