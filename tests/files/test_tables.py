"""Long tables and tables in files: read fast, refused with line and column."""

import cProfile

import numpy as np
import pytest

from lissom.describe import DescriptionError, Robot, Scenario
from lissom.files.document import parse_document

ROWS = 50_000
SCENARIO = "robot: simple-pendulum\nt_end: 1.0\n"


def scenario(tmp_path, inputs, table=None):
    if table is not None:
        (tmp_path / "table.csv").write_text(table)
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO + inputs)
    return path


def joint():
    return Robot.load("simple-pendulum").joint_names[0]


def table_of(rows, style):
    t = np.arange(rows) * 1e-4
    value = np.sin(t)
    if style == "flow":
        columns = f"t: {t.tolist()}, value: {value.tolist()}"
        inputs = f"inputs: {{torque: {{{joint()}: {{{columns}}}}}}}\n"
    else:
        lines = [f"inputs:\n  torque:\n    {joint()}:\n      t:\n"]
        lines += [f"      - {x!r}\n" for x in t.tolist()]
        lines += ["      value:\n"] + [f"        - {x!r}\n" for x in value.tolist()]
        inputs = "".join(lines)
    return t, value, inputs + "output_dt: 0.01\n"


@pytest.mark.parametrize("style", ["flow", "block"])
def test_a_table_of_fifty_thousand_rows_is_read(tmp_path, style):
    t, value, inputs = table_of(ROWS, style)
    table = Scenario.load(scenario(tmp_path, inputs)).inputs.torque[joint()]
    np.testing.assert_array_equal(table.t, t)
    np.testing.assert_array_equal(table.value, value)


@pytest.mark.parametrize("style", ["flow", "block"])
def test_reading_a_table_takes_calls_in_proportion_to_its_rows(tmp_path, style):
    def calls(rows):
        path = scenario(tmp_path, table_of(rows, style)[2])
        profile = cProfile.Profile()
        profile.runcall(Scenario.load, path)
        return sum(entry.callcount for entry in profile.getstats())

    # What is imported and built once, is.
    calls(10)
    assert calls(4000) < 4.1 * calls(1000)


def test_long_lists_keep_lines_and_words_around_them():
    numbers = ", ".join(str(k) for k in range(500))
    text = f'a: [{numbers}]\nb: "[{numbers}]" # [{numbers}]\nc: &x [{numbers},\n 1]\nd: *x\ne: 7\n'
    document = parse_document(text)
    assert document.data["a"] == list(range(500))
    assert document.data["b"] == f"[{numbers}]"
    assert document.data["c"] == document.data["d"] == [*range(500), 1]
    assert document.line(("e",)) == 6


def test_long_lists_count_as_entries_and_as_depth():
    numbers = ", ".join(["1"] * 600_000)
    with pytest.raises(DescriptionError, match="more than 500000 entries"):
        parse_document(f"a: [{numbers}]")
    deep = "[" * 40 + ", ".join(["1"] * 500) + "]" * 40
    with pytest.raises(DescriptionError, match="levels deep"):
        parse_document(f"a: {deep}")


@pytest.mark.parametrize(
    "table",
    ["t,tau\n0,1\n1,2\n", "0;1\n1;2\n", "# made\n0 1\n1 2\n", "t\ttau\n0\t1\n1\t2\n"],
)
def test_a_table_in_a_file_is_the_table_written_out(tmp_path, table):
    inputs = f"inputs: {{torque: {{{joint()}: {{file: table.csv}}}}}}\n"
    read = Scenario.load(scenario(tmp_path, inputs, table))
    written = f"inputs: {{torque: {{{joint()}: {{t: [0, 1], value: [1, 2]}}}}}}\n"
    assert read == Scenario.load(scenario(tmp_path, written))


def test_columns_are_chosen_by_name_or_number_and_rows_take_all(tmp_path):
    table = "t,a,b\n0,1,5\n1,2,6\n"
    for column in ("b", 3):
        entry = f"{{file: table.csv, column: {column}}}"
        inputs = f"inputs: {{torque: {{{joint()}: {entry}}}}}\n"
        found = Scenario.load(scenario(tmp_path, inputs, table))
        assert found.inputs.torque[joint()].value == (5.0, 6.0)
    wrench = "t,x,y,z,mx,my,mz\n0,1,2,3,4,5,6\n"
    entry = f"{{node: {joint()}/tip, file: table.csv}}"
    found = Scenario.load(
        scenario(tmp_path, f"inputs: {{wrench: [{entry}]}}\n", wrench)
    )
    assert found.inputs.wrench[0].value == ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0),)


@pytest.mark.parametrize(
    ("entry", "table", "message"),
    [
        ("{file: none.csv}", "", "none.csv: cannot be read"),
        ("{file: table.csv}", "t,a\n0,1\n1,zwei\n", "table.csv:3: zwei: must be a num"),
        (
            "{file: table.csv}",
            "0,1\n1,2,3\n",
            "table.csv:2: 3 columns, the rows before",
        ),
        ("{file: table.csv}", "t,a,b\n0,1,2\n", "choose one, column: a, b"),
        ("{file: table.csv, column: c}", "t,a,b\n0,1,2\n", "no such column"),
        ("{file: table.csv, t: [0]}", "0,1\n", "a file, or t, not both"),
        ("{file: table.csv}", "\n", "holds no rows of numbers"),
        ("{file: table.csv}", "0,nan\n", "finite"),
        ("{file: table.csv}", "1,0\n0,0\n", "must not decrease"),
    ],
)
def test_bad_tables_are_refused_with_their_place(tmp_path, entry, table, message):
    inputs = f"inputs: {{torque: {{{joint()}: {entry}}}}}\n"
    with pytest.raises(DescriptionError, match=message):
        Scenario.load(scenario(tmp_path, inputs, table))


def test_a_saved_file_that_was_cut_off_is_noticed(tmp_path):
    path = tmp_path / "robot.yaml"
    Robot.load("double-pendulum").save(path)
    text = path.read_text()
    assert Robot.load(path) == Robot.load("double-pendulum")
    for share in (0.3, 0.5, 0.8, 0.99):
        path.write_text(text[: int(share * len(text))])
        with pytest.raises(DescriptionError, match="is truncated"):
            Robot.load(path)


def test_a_file_that_counts_its_links_notices_one_that_is_missing():
    whole = Robot.load("double-pendulum").to_dict()
    assert Robot.from_dict({**whole, "count": 2}).count == 2
    with pytest.raises(
        DescriptionError,
        match="count: 2: expected number of links differs: the file has 1 links",
    ):
        Robot.from_dict({**whole, "count": 2, "links": whole["links"][:1]})
