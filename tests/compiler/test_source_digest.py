"""The word for the package's code changes with the code, and is read from its files once."""

import os

import pytest

from jaxnative import code_cache, source_digest

uncached = source_digest.source_digest.__wrapped__


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A client's package of two files, and an empty place for what is kept."""
    folder = tmp_path / "package"
    (folder / "part").mkdir(parents=True)
    (folder / "one.py").write_text("x = 1")
    (folder / "part" / "two.py").write_text("y = 2")
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path / "kept")
    return folder


def test_files_are_read_once(package, monkeypatch):
    first = uncached((package,))
    monkeypatch.setattr(
        source_digest, "_digest_of_texts", lambda: pytest.fail("read again")
    )
    assert uncached((package,)) == first


def test_a_changed_file_changes_the_word(package):
    first = uncached((package,))
    file = package / "part" / "two.py"
    file.write_text("y = 3")
    os.utime(file, ns=(1, 1))
    assert uncached((package,)) != first


def test_a_touched_file_does_not(package):
    first = uncached((package,))
    os.utime(package / "one.py", ns=(1, 1))
    assert uncached((package,)) == first


def test_without_a_folder_the_word_is_the_same(package, monkeypatch):
    first = uncached((package,))
    monkeypatch.setattr(code_cache, "folder", lambda: None)
    assert uncached((package,)) == first


def test_the_compiler_s_own_code_counts_too(package, tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    (own / "rule.py").write_text("z = 3")
    monkeypatch.setattr(source_digest, "OWN", own)
    first = uncached((package,))
    (own / "rule.py").write_text("z = 44")
    assert uncached((package,)) != first


def test_the_same_text_in_another_file_is_other_code(package):
    first = uncached((package,))
    (package / "one.py").rename(package / "uno.py")
    assert uncached((package,)) != first


def test_every_client_counts(package, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "three.py").write_text("w = 4")
    assert uncached((package, other)) != uncached((package,))
