"""Controllers in files of their own: what is wrong with them is told with their file and line."""

import pytest

from lissom.describe import DescriptionError
from lissom.runs.controller_design import design_controller
from lissom.runs.law_files import scenario_with_law

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
def test_a_wrong_gain_is_reported_with_the_file_of_the_law_and_its_line(
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


@pytest.mark.parametrize(
    ("change", "line", "field", "message"),
    [
        ("  kp: [1, 2]", 5, "controller.gains.kp", "must be one number, got 2"),
        ("model: {payload.mas: 1}", 7, "controller.model.payload.mas", "unknown"),
    ],
)
def test_a_law_that_cannot_be_designed_is_reported_with_its_file_and_line(
    tmp_path, change, line, field, message
):
    lines = PID.replace("-1", "1").splitlines()
    lines[line - 1 :] = [change]
    file = tmp_path / "law.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(DescriptionError) as failure:
        design_controller("simple-pendulum", law=str(file))
    (problem,) = failure.value.problems
    assert (problem.file, problem.line, problem.field) == (str(file), line, field)
    assert message in problem.message


def test_a_gauge_that_is_not_there_is_refused_with_the_nearest_name(tmp_path):
    file = tmp_path / "law.yaml"
    gauge = "sensors: [rod/elment0.kz]\n"
    file.write_text(PID.replace("-1", "1").replace("pid", "hybrid") + gauge)
    with pytest.raises(DescriptionError, match="did you mean 'rod/element0.kz'") as it:
        design_controller("simple-pendulum", law=str(file))
    assert it.value.problems[0].line == 7
