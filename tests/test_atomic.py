"""Files that appear whole or not at all, and drafts that do not stay."""

import os

import pytest

from lissom.atomic import write_atomically


def test_drafts_of_processes_that_are_gone_are_taken_away(tmp_path):
    gone = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(gone, 0)
    stale = tmp_path / f".run.nc.{gone}.tmp"
    alive = tmp_path / f".run.nc.{os.getppid()}.tmp"
    other = tmp_path / f".run.ncx.{gone}.tmp"
    for file in (stale, alive, other):
        file.write_text("half")
    write_atomically(tmp_path / "run.nc", lambda file: file.write(b"whole"))
    assert (tmp_path / "run.nc").read_bytes() == b"whole"
    assert not stale.exists() and alive.exists() and other.exists()


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "run.nc"
    path.write_text("before")

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="space left on device: '.*run.nc'"):
        write_atomically(path, fail)
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["run.nc"]
