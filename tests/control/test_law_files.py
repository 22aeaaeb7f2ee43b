"""Controllers in files of their own: what is wrong with them is told with their file and line."""

import pytest

from lissom.describe import DescriptionError
from lissom.services.control import scenario_with_law

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
