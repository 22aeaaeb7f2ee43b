"""Compiled code that outlives the process: where it is kept, and how much of it was used."""

import json
import os
import subprocess
import sys

import pytest

from jaxnative import cache_bound
from jaxnative.cache_bound import HIT, MISS, sweep
from lissom import compiled_code
from lissom.compiled_code import CompiledCode, cache_folder


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("LISSOM_CACHE", "off")
    assert cache_folder() is None
    monkeypatch.setenv("LISSOM_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("LISSOM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "lissom"


def test_a_home_folder_that_is_not_there_is_not_made(monkeypatch, tmp_path):
    for name in ("LISSOM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    assert cache_folder() is None
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "lissom"


def test_compiled_code_is_counted_and_reported(tmp_path):
    code = CompiledCode(tmp_path)
    for event in (HIT, HIT, "/jax/something/else"):
        code.count(event)
    assert str(code) == "compiled code: 2 from cache, 0 new" and code.reused
    code.count(MISS)
    assert not code.reused and code.report()["misses"] == 1


# --- its bound -----------------------------------------------------------------------------------------------------

HASH = "0a" * 32
# As JAX, machine code, programs, sources, files that were read, and a process that was killed name theirs.
ENTRIES = (
    f"jit_stage-{HASH}-cache",
    HASH,
    f"program-{HASH}",
    f"program-{HASH}-patterns",
    f"source-{HASH}",
    f"document-{HASH}",
    f".program-{HASH}.4711.tmp",
)


def entry(folder, name, size, day):
    """A file that was used last on a day."""
    file = folder / name
    file.write_bytes(bytes(size))
    os.utime(file, (day * 86400, day * 86400))
    return file


def test_a_sweep_takes_what_was_not_used_for_longest(tmp_path):
    files = [entry(tmp_path, name, 100, 9 - k) for k, name in enumerate(ENTRIES)]
    sweep(tmp_path, most=700)
    assert all(file.exists() for file in files)
    # One byte too many: down to four fifths of the bound, and the oldest first.
    sweep(tmp_path, most=699)
    assert [file.exists() for file in files] == [True] * 5 + [False] * 2


def test_a_sweep_leaves_files_that_are_not_compiled_code(tmp_path):
    names = ("thesis.tex", "robot-cache", f"{HASH}.nc", f"run-{HASH}")
    others = [entry(tmp_path, name, 100, 1) for name in names]
    code = entry(tmp_path, ENTRIES[0], 100, 2)
    sweep(tmp_path, most=10)
    assert all(file.exists() for file in others) and not code.exists()


def test_a_sweep_goes_on_where_another_process_was_first(tmp_path, monkeypatch):
    entry(tmp_path, ENTRIES[0], 100, 2)
    ours = cache_bound.entries_of(tmp_path)
    gone = cache_bound.Entry(str(tmp_path / ENTRIES[1]), 100, 0.0)
    monkeypatch.setattr(cache_bound, "entries_of", lambda folder: [gone, *ours])
    sweep(tmp_path, most=100)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_swept_when_code_is_new_and_not_again_at_once(
    tmp_path, monkeypatch
):
    swept = []
    monkeypatch.setattr(cache_bound, "sweep", swept.append)
    code = CompiledCode(tmp_path)
    code.count(HIT)
    assert swept == []
    code.count(MISS)
    code.count(MISS)
    assert swept == [tmp_path]
    # Much later, and after a clock that was wrong.
    for moment in (0, 9e9):
        os.utime(tmp_path / cache_bound.LAST_SWEEP, (moment, moment))
        code.count(MISS)
    assert swept == 3 * [tmp_path]


def test_a_folder_that_has_gone_is_no_reason_to_stop(tmp_path):
    CompiledCode(tmp_path / "gone").count(MISS)
    assert not (tmp_path / "gone").exists()


SCRIPT = """
import json
import jax
import lissom as ls
from lissom.compiled_code import CompiledCode

seen = CompiledCode(None)
jax.monitoring.register_event_listener(seen.count)
ls.Model("simple-pendulum").static([0.3])
print(json.dumps([seen.hits, seen.misses, jax.config.jax_compilation_cache_dir]))
"""


def answer_of_script(**places):
    """Hits, misses and folder of a script in a process of its own."""
    chosen = ("LISSOM_CACHE", "JAX_COMPILATION_CACHE_DIR")
    others = {name: v for name, v in os.environ.items() if name not in chosen}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(
        command, env=others | places, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_script_finds_the_code_of_the_one_before(tmp_path):
    kept = tmp_path / "kept"
    _, misses, folder = answer_of_script(LISSOM_CACHE=str(kept))
    # Machine code alone: JAX's cache is as it was.
    assert misses > 0 and folder is None
    assert [entry.name for entry in kept.iterdir()] == ["native"]
    hits, misses, _ = answer_of_script(LISSOM_CACHE=str(kept))
    assert hits > 0 and misses == 0


ASKED = """
import jax
import lissom as ls
from pathlib import Path

jax.jit(lambda x: x + 1)(0)  # JAX has compiled before
print(ls.cache() == Path("{first}"))
jax.jit(lambda x: x + 2)(0)
print(ls.cache("{second}") == Path("{second}"))
jax.jit(lambda x: x + 3)(0)
"""


def test_jax_keeps_its_code_where_it_is_asked_to(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    program = ASKED.format(first=first, second=second)
    environment = os.environ | {"LISSOM_CACHE": str(first)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "True"]
    for folder in (first, second):
        assert list(folder.glob("*-cache"))


def test_a_cache_without_a_folder_says_what_to_do(monkeypatch):
    monkeypatch.setenv("LISSOM_CACHE", "off")
    with pytest.raises(ValueError, match="LISSOM_CACHE is off.*name one"):
        compiled_code.cache()
    with pytest.raises(OSError, match="/proc/nothing cannot be written"):
        compiled_code.cache("/proc/nothing")
    assert os.environ["LISSOM_CACHE"] == "off"


def test_a_folder_that_cannot_be_written_keeps_no_machine_code(monkeypatch, tmp_path):
    monkeypatch.setenv("LISSOM_CACHE", "/proc/nothing")
    assert compiled_code.machine_code_folder() is None
    monkeypatch.setenv("LISSOM_CACHE", str(tmp_path))
    assert compiled_code.machine_code_folder() == tmp_path / "native"


SMALL = """
from jaxnative import cache_bound
from lissom import compiled_code
cache_bound.MOST_BYTES, cache_bound.PAUSE = 100_000, 0.0
cache_bound.sweep.__defaults__ = (100_000,)
"""


@pytest.mark.slow
def test_processes_that_sweep_one_folder_all_the_time_all_come_to_their_end(tmp_path):
    kept = tmp_path / "kept"
    environment = os.environ | {"LISSOM_CACHE": str(kept)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    command = [sys.executable, "-c", SMALL + "compiled_code.cache()" + SCRIPT]
    several = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    answers = [json.loads(one.communicate()[0]) for one in several]
    assert all(folder == str(kept) for *_, folder in answers)
    # The last file that each process wrote came after its last sweep.
    for folder in (kept, kept / "native"):
        sizes = [file.size for file in cache_bound.entries_of(folder)]
        assert sum(sizes) <= 100_000 + len(several) * max(sizes, default=0)


@pytest.mark.slow
def test_a_folder_that_the_user_gave_to_jax_stays_and_off_is_off(tmp_path):
    own = str(tmp_path / "own")
    places = {"JAX_COMPILATION_CACHE_DIR": own, "LISSOM_CACHE": str(tmp_path / "kept")}
    assert answer_of_script(**places)[2] == own
    assert answer_of_script(LISSOM_CACHE="off") == [0, 0, None]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights are kept otherwise")
def test_jax_gets_no_folder_that_others_can_write(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(compiled_code, "_give_to_jax", given.append)
    monkeypatch.setattr(compiled_code, "_given_folder", lambda: None)
    monkeypatch.setenv("LISSOM_CACHE", str(tmp_path / "kept"))
    compiled_code.keep_compiled_code()
    assert given == [tmp_path / "kept"]
    (tmp_path / "kept").chmod(0o775)
    compiled_code.keep_compiled_code()
    assert len(given) == 1
    with pytest.raises(OSError, match="others than you can write"):
        compiled_code.cache()
