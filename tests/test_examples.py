"""Examples: they run, and what they promise is true."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
# These compile a lot, and others are their like.
SLOW = (
    "compare_controllers",
    "few_modes",
    "four_bar",
    "gradient",
    "linear_model",
    "mode_polynomials",
    "solid_link",
    "study_payload_and_pose",
    "study_workspace",
    "study_yield",
)


def cases() -> list:
    """Examples as test cases under their names, the long ones marked slow."""
    return [
        pytest.param(
            file,
            id=f"examples/{file.name}",
            marks=[pytest.mark.slow] if file.stem in SLOW else [],
        )
        for file in EXAMPLES
    ]


@pytest.mark.parametrize("example", cases())
def test_example_reaches_the_number_it_expects(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Each ends with assertions on its closed form.
    runpy.run_path(str(example), run_name="__main__")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_states_an_equation_and_a_number_in_its_header(example):
    header = example.read_text(encoding="utf-8").split('"""')[1]
    assert "=" in header and re.search(r"\d", header)
