"""Documents survive JSON exactly: `repr` tells 1 from 1.0 and True, 0.0 from -0.0, and knows nan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxnative import code_cache
from lissom.files import document
from lissom.files.description_files import library_folder
from lissom.files.document import parse_document, read_document
from lissom.files.document_json import document_as_json, document_of_json

# Halves of surrogate pairs too, which YAML can write.
TEXT = st.text(st.characters(exclude_categories=()))
INTEGERS = st.integers() | st.integers(-(2**200), 2**200)
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats() | TEXT
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(SCALARS, inner)
)
LINES = st.dictionaries(st.lists(SCALARS).map(tuple), st.integers(1))


@given(DATA, LINES)
def test_data_and_lines_are_what_they_were(data, lines):
    again = document_of_json(document_as_json(data, lines))
    assert repr(again) == repr((data, lines))


@pytest.mark.parametrize(
    "text",
    [
        "2: a\n1.5: b\n.inf: c\n-.inf: d\n.nan: e\ntrue: f\nnull: g\n'': h\n'1': i",
        "[1, 1.0, -0.0, 1e400, .nan, 0x10, 2e11, 12345678901234567890123]",
        "a: {b: [&x {1: [1, {2.5: y}]}, *x]}",
        '"\\ud83d\\ude00": "\\ud800 \\U0001f600 \\0"',
        "'': {'': {1: 2}}",
        "",
    ],
)
def test_a_file_says_the_same_the_second_time(text, tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "kept")
    file = tmp_path / "file.yaml"
    file.write_text(text)
    parsed = parse_document(text, str(file))
    assert [repr(read_document(file)) for _ in range(2)] == 2 * [repr(parsed)]
    assert list((tmp_path / "kept").glob("document-*"))


def test_an_integer_that_python_does_not_write_out_is_read_each_time(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "kept")
    file = tmp_path / "file.yaml"
    file.write_text(f"0x{'f' * 5000}")
    assert [read_document(file).data for _ in range(2)] == 2 * [16**5000 - 1]


@pytest.mark.parametrize(
    "file", sorted(library_folder().glob("*.yaml")), ids=lambda file: file.stem
)
def test_every_robot_of_the_library_survives(file):
    read = parse_document(file.read_text())
    content = document_as_json(read.data, read.lines)
    assert repr(document_of_json(content)) == repr((read.data, read.lines))


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}", b"[1]", b"[1, [[2, 3]]]"])
def test_other_content_is_refused(content):
    with pytest.raises(ValueError):
        document_of_json(content)


def test_content_of_something_else_is_read_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "kept")
    file = tmp_path / "file.yaml"
    file.write_text("a: 1")
    read_document(file)
    (entry,) = (tmp_path / "kept").glob("document-*")
    monkeypatch.setattr(document, "document_as_json", lambda *_: b"[1]")
    entry.unlink()
    read_document(file)
    assert read_document(file).data == {"a": 1}
