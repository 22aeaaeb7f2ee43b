"""Controllers in files of their own: what is wrong with them is told with their file and line."""

import pytest

from lissom.describe import DescriptionError
from lissom.services.law_files import scenario_with_law

PID = """type: pid
sample: 2 ms
reference: {t: [0.0, 0.2], value: [[-1.4], [-1.1]]}
gains:
  kp: [20]
  kd: [-1]
"""


@pytest.mark.parametrize(
    ("text", "line"), [(PID, 6), (f"controller:\n{PID}".replace("\n", "\n  "), 7)]
)
def test_a_wrong_gain_is_told_with_the_file_of_the_law_and_its_line(
    tmp_path, text, line
):
    file = tmp_path / "law.yaml"
    file.write_text(text)
    with pytest.raises(DescriptionError) as failure:
        scenario_with_law("simple-pendulum", str(file))
    (problem,) = failure.value.problems
    assert problem.file == str(file) and problem.line == line
    assert problem.field == "controller.gains.kd"


@pytest.mark.parametrize("kind", ["[pid]", "{a: 1}", "3", "~"])
def test_a_type_that_is_no_word_is_refused_with_the_types_there_are(tmp_path, kind):
    file = tmp_path / "law.yaml"
    file.write_text(PID.replace("pid", kind, 1))
    with pytest.raises(DescriptionError, match="controller.type.*must be one of pd"):
        scenario_with_law("simple-pendulum", str(file))
