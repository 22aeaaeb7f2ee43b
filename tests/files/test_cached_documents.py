"""A file that was read before is not parsed again, and is what it was."""

from pathlib import Path

import pytest

from jaxnative import cache_bound, code_cache
from jaxnative.source_digest import source_digest
from lissom.describe import DescriptionError, Robot
from lissom.files import document
from lissom.files.description_files import library_folder
from lissom.files.document import parse_document, read_document

ROBOT = library_folder() / "jaco2.yaml"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for what is kept."""
    place = tmp_path / "kept"
    monkeypatch.setattr(code_cache, "folder", lambda: place)
    return place


@pytest.fixture
def no_parser(monkeypatch):
    """A function that forbids to parse from now on."""

    def forbid():
        monkeypatch.setattr(
            document, "parse_document", lambda *_: pytest.fail("was parsed")
        )

    return forbid


def test_the_second_time_nothing_is_parsed(folder, no_parser):
    first = read_document(ROBOT)
    no_parser()
    assert (
        read_document(ROBOT) == first == parse_document(ROBOT.read_text(), str(ROBOT))
    )


def test_what_a_reader_changes_is_not_kept(folder):
    read_document(ROBOT).data.clear()
    assert read_document(ROBOT).data


def test_a_changed_file_is_read_anew(folder, tmp_path):
    file = tmp_path / "robot.yaml"
    text = ROBOT.read_text()
    file.write_text(text)
    read_document(file)
    file.write_text(f"# one line more\n{text}")
    path = ("links", 0)
    assert read_document(file).line(path) == read_document(ROBOT).line(path) + 1


def test_other_code_reads_it_anew(folder, monkeypatch):
    read_document(ROBOT)
    monkeypatch.setattr(document, "source_digest", lambda packages: "another version")
    read_document(ROBOT)
    assert len(list(folder.glob("document-*"))) == 2


def test_problems_of_a_cached_document_have_their_lines(folder, tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(ROBOT.read_text().replace("gravity:", "gravty:"))
    said = []
    for _ in range(2):
        with pytest.raises(DescriptionError) as failure:
            Robot.load(file)
        said.append(str(failure.value))
    assert said[0] == said[1] and "robot.yaml:" in said[0]


def test_a_damaged_entry_is_made_anew(folder):
    first = read_document(ROBOT)
    (entry,) = folder.glob("document-*")
    entry.write_bytes(entry.read_bytes()[:-20])
    assert read_document(ROBOT) == first


def test_broken_files_are_not_kept(folder, tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text("a: [1\n")
    with pytest.raises(DescriptionError, match="broken YAML"):
        read_document(file)
    assert not list(folder.glob("document-*"))


def test_what_reading_a_file_leaves_in_the_cache_is_swept(folder, tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text("name: arm\n")
    source_digest.cache_clear()
    read_document(path)
    names = {file.name for file in folder.iterdir()} - {cache_bound.LAST_SWEEP}
    kinds = {name.partition("-")[0] for name in names}
    assert kinds == {"document", "source"}
    assert names == {Path(e.path).name for e in cache_bound.entries_of(folder)}
