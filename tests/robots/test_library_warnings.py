"""The library's scenarios raise no warnings, or the page on warnings says why they do."""

import re
from pathlib import Path

import pytest

from lissom.analyse.validity.description import robot_warnings
from lissom.describe.robot import Robot
from lissom.files.description_files import library_names, library_scenarios
from lissom.runs.saved_run import saved_run

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "doubts.md"
ROW = re.compile(r"^\| `(?P<scenario>[\w-]+)` \| `(?P<beginning>[^`]+)` \|", re.M)


def listed() -> dict[str, set[str]]:
    """Beginnings of the warnings that the page explains, by scenario."""
    rows: dict[str, set[str]] = {}
    for row in ROW.finditer(PAGE.read_text()):
        rows.setdefault(row["scenario"], set()).add(row["beginning"])
    return rows


def test_the_page_lists_scenarios_that_there_are():
    assert listed() and set(listed()) <= set(library_scenarios())


@pytest.mark.parametrize("name", library_names())
def test_data_of_library_robots_are_ordinary(name):
    assert not robot_warnings(Robot.load(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", library_scenarios())
def test_every_warning_of_a_library_scenario_is_explained(name):
    expected = listed().get(name, set())
    found = saved_run(name).warnings
    begun = {text for text in expected for line in found if line.startswith(text)}
    assert begun == expected
    assert len(found) == len(expected), found
