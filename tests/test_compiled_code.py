"""Compiled code that outlives the process: where it is kept, and how much of it was used."""

import json
import os
import subprocess
import sys

import pytest

from lissom.compiled_code import HIT, MISS, CompiledCode, cache_folder


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


def test_compiled_code_is_counted_and_told(tmp_path):
    code = CompiledCode(tmp_path)
    for event in (HIT, HIT, "/jax/something/else"):
        code.count(event)
    assert str(code) == "compiled code: 2 from cache, 0 new" and code.reused
    code.count(MISS)
    assert not code.reused and code.report()["misses"] == 1


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
    kept = str(tmp_path / "kept")
    _, misses, folder = answer_of_script(LISSOM_CACHE=kept)
    assert misses > 0 and folder == kept
    hits, misses, _ = answer_of_script(LISSOM_CACHE=kept)
    assert hits > 0 and misses == 0


@pytest.mark.slow
def test_a_folder_that_the_user_gave_to_jax_stays_and_off_is_off(tmp_path):
    own = str(tmp_path / "own")
    places = {"JAX_COMPILATION_CACHE_DIR": own, "LISSOM_CACHE": str(tmp_path / "kept")}
    assert answer_of_script(**places)[2] == own
    assert answer_of_script(LISSOM_CACHE="off") == [0, 0, None]
