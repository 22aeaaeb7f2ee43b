"""Files that a run is asked to write are checked before it begins."""

import pytest

from lissom.describe import DescriptionError
from lissom.runs import output_files


def test_a_write_protected_result_is_not_replaced(tmp_path, monkeypatch):
    file = tmp_path / "out.nc"
    file.write_text("precious")
    monkeypatch.setattr(output_files.os, "access", lambda path, mode: False)
    assert "write-protected" in output_files.output_problem(file, (".nc",))


def test_checking_an_output_leaves_nothing_behind(tmp_path):
    assert output_files.output_problem(tmp_path / "out.nc", (".nc",)) is None
    assert list(tmp_path.iterdir()) == []


def test_all_outputs_are_checked_together(tmp_path):
    with pytest.raises(DescriptionError) as failure:
        output_files.check_outputs(
            {
                "-o": ("a/b.nc", (".nc",)),
                "--plot": (str(tmp_path), (".png",)),
                "--animate": (None, ()),
            }
        )
    assert [problem.field for problem in failure.value.problems] == ["-o", "--plot"]
