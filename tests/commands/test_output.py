"""Tables on a screen: a number is never cut, however narrow the screen is."""

import io

import pytest

from lissom.commands.output import SafeConsole, print_summary
from lissom.files.summary import Summary

NUMBERS = [[1.2345e-12, -98765.0, 3.1416e7, 0.5, -1.0e-5, 42.0] for _ in range(3)]
COLUMNS = ("first [rad or m]", "second", "third [N m]", "4", "5", "6")


@pytest.mark.parametrize("width", [200, 80, 40, 24])
def test_every_number_of_a_table_is_whole(width):
    stream = io.StringIO()
    screen = SafeConsole(file=stream, width=width, highlight=False, markup=False)
    names = ["shoulder_pan_joint_with_a_long_name", "b", "c"]
    rows = tuple(
        (name, *(f"{value:.5g}" for value in row))
        for name, row in zip(names, NUMBERS, strict=True)
    )
    print_summary(screen, Summary("Joints", (), ("name", *COLUMNS), rows))
    told = stream.getvalue()
    assert "…" not in told
    words = told.replace("│", " ").split()
    for text in ("1.2345e-12", "-98765", "3.1416e+07", "-1e-05"):
        assert words.count(text) == 3
    letters = "".join(told.split()).replace("│", "")
    assert "shoulder" in letters
    assert max(map(len, told.splitlines())) <= width


def test_a_table_that_fits_stays_one():
    stream = io.StringIO()
    screen = SafeConsole(file=stream, width=120, highlight=False, markup=False)
    print_summary(screen, Summary("Joints", (), ("name", "q"), (("a", "1"),)))
    assert stream.getvalue().count("name") == 1
