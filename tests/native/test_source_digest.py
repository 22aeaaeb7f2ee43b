"""The word for the package's code changes with the code, and is read from its files once."""

import os

import pytest

from lissom.native import code_cache, source_digest

digest_of = source_digest.source_digest.__wrapped__


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two files, and an empty place for what is kept."""
    folder = tmp_path / "package"
    (folder / "part").mkdir(parents=True)
    (folder / "one.py").write_text("x = 1")
    (folder / "part" / "two.py").write_text("y = 2")
    monkeypatch.setattr(source_digest, "PACKAGE", folder)
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "kept")
    return folder


def test_files_are_read_once(package, monkeypatch):
    first = digest_of()
    monkeypatch.setattr(
        source_digest, "_digest_of_texts", lambda: pytest.fail("read again")
    )
    assert digest_of() == first


def test_a_changed_file_changes_the_word(package):
    first = digest_of()
    file = package / "part" / "two.py"
    file.write_text("y = 3")
    os.utime(file, ns=(1, 1))
    assert digest_of() != first


def test_a_touched_file_does_not(package):
    first = digest_of()
    os.utime(package / "one.py", ns=(1, 1))
    assert digest_of() == first


def test_without_a_folder_the_word_is_the_same(package, monkeypatch):
    first = digest_of()
    monkeypatch.setattr(code_cache, "folder", lambda: None)
    assert digest_of() == first
