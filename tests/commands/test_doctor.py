"""`lissom doctor`: what is there, what is missing, what to do about it."""

import json

import pytest

from lissom.bench import doctor as service
from lissom.commands.cli import main


def by_name(answer):
    return {one.name: one for one in answer.findings}


def test_versions_devices_and_extras_are_told(capsys):
    assert main(["doctor", "--no-self-test", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sound"] is True
    assert answer["packages"]["jax"] != "missing"
    names = [one["name"] for one in answer["findings"]]
    assert names[:2] == ["cache", "devices"]
    assert "extra control" in names


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(service, "_version", lambda name: None)
    found = by_name(service.doctor(self_test=False))["extra peers"]
    assert found.verdict == "missing"
    assert found.advice == "pip install 'lissom[peers]'"


def test_a_cache_that_cannot_be_written_is_unsound(monkeypatch, tmp_path):
    # A file stands where the folder should be: nobody can write there, not even root.
    (tmp_path / "cache").touch()
    monkeypatch.setenv("LISSOM_CACHE", str(tmp_path / "cache"))
    answer = service.doctor(self_test=False)
    assert not answer.sound
    assert "cannot be written" in by_name(answer)["cache"].words
    assert "not sound" in str(answer)


def test_the_size_of_the_cache_and_its_bound_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("LISSOM_CACHE", str(tmp_path))
    (tmp_path / "native").mkdir()
    (tmp_path / "native" / "code").write_bytes(bytes(3_000_000))
    words = service._cache().words
    assert words == f"{tmp_path}, 1 files, 3 MB of at most 1000 MB"


def test_a_wrong_answer_of_the_self_test_is_unsound(monkeypatch, capsys):
    monkeypatch.setattr(service, "_beam", lambda: (False, "3 Hz"))
    monkeypatch.setattr(service, "_energy", lambda: 1 / 0)
    assert main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "failed   vibration of a beam: 3 Hz" in told
    assert "failed   energy of a run: ZeroDivisionError" in told


@pytest.mark.slow
def test_the_self_test_is_right_and_short():
    answer = service.doctor()
    found = by_name(answer)
    assert answer.sound, str(answer)
    assert found["vibration of a beam"].verdict == "ok"
    assert found["energy of a run"].verdict in ("ok", "missing")
