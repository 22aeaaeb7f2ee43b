"""Compiled code that outlives the process: where it is kept, and how much of it was used."""

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
