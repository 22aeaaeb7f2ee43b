"""Runs that outlive signals, full disks and killed processes, as the command line runs them."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import lissom as ls
from jaxnative.compiled import is_compiling_quickly
from lissom.atomic import write_atomically
from lissom.commands import cli, watching
from lissom.describe.scenario import Scenario
from lissom.runs.run import Run
from lissom.solve import simulate as solve_simulate
from shell_commands import REED


@pytest.fixture
def reed(tmp_path):
    file = tmp_path / "reed.yaml"
    file.write_text(REED)
    return str(file)


def lissom(*words):
    return cli.main([str(word) for word in words])


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_that_end_processes_save_a_run_that_then_goes_on(
    reed, tmp_path, monkeypatch, capsys, signals, name, code
):
    line = ("simulate", reed, "--t-end", "3", "-o", tmp_path / "run.nc")
    number = getattr(signal, name)

    @contextmanager
    def ending(t_end):
        yield lambda t: signal.raise_signal(number)

    with monkeypatch.context() as patched:
        patched.setattr(watching, "progress", ending)
        assert lissom(*line) == code
    assert f"--resume continues from {tmp_path / 'run.nc'}.checkpoint" in (
        capsys.readouterr().err
    )
    with xr.open_dataset(tmp_path / "run.nc") as part:
        assert part.attrs["complete"] == 0
        reached = part.attrs["t_reached"]
    assert 0.0 < reached < 3.0
    assert lissom(*line, "--resume") == 0
    with xr.open_dataset(tmp_path / "run.nc") as data:
        assert data.attrs["complete"] == 1
        assert data.sizes["time"] == 3001
    assert not (tmp_path / "run.nc.checkpoint").exists()


def test_the_same_command_gives_the_same_numbers_in_quick_code_and_beyond(
    reed, tmp_path, monkeypatch
):
    # The run is long enough to go over to good code, with that code still to be made and with it at hand.
    monkeypatch.setattr(solve_simulate, "QUICK_TRIES", 150)
    asked = []
    march = solve_simulate._march

    class Marches:
        prepare = march.prepare

        def __call__(self, *args):
            asked.append(is_compiling_quickly())
            return march(*args)

    monkeypatch.setattr(solve_simulate, "_march", Marches())
    found = []
    for name in ("one.nc", "two.nc"):
        assert lissom("simulate", reed, "--t-end", "0.5", "-o", tmp_path / name) == 0
        found.append(xr.load_dataset(tmp_path / name))
    assert asked[0] and not asked[-1]
    for name in ("q", "qd", "position", "energy", "torque"):
        np.testing.assert_array_equal(found[0][name], found[1][name])
    # Python has the same run in good code from the beginning.
    asked.clear()
    scenario = Scenario.load(reed).model_copy(update={"t_end": 0.5})
    run = ls.run_scenario(scenario, progress=False)
    assert asked and not any(asked)
    np.testing.assert_allclose(run.q, found[0]["q"], atol=1e-8)


def test_resuming_needs_an_output_file_and_the_same_run(reed, tmp_path, capsys):
    assert lissom("simulate", reed, "--resume") == 2
    assert "--resume" in capsys.readouterr().err
    (tmp_path / "run.nc.checkpoint").write_bytes(b"something else")
    assert lissom("simulate", reed, "-o", tmp_path / "run.nc", "--resume") == 2
    assert "run.nc.checkpoint" in capsys.readouterr().err


@pytest.fixture
def full_disk(tmp_path, monkeypatch):
    """A folder on a disk with no room for results; those find a place in the folder `elsewhere` beside it."""
    full, elsewhere = tmp_path / "full", tmp_path / "elsewhere"
    full.mkdir()
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(elsewhere))
    save = Run.save

    def save_where_there_is_room(run, path):
        if Path(path).parent == full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(run, path)

    monkeypatch.setattr(Run, "save", save_where_there_is_room)
    return full


SHORT = ("--t-end", "0.05")


def test_a_full_disk_keeps_the_run_in_another_place_and_fails(
    reed, full_disk, tmp_path, capsys
):
    result = full_disk / "run.nc"
    result.write_bytes(b"of yesterday")
    assert lissom("simulate", reed, *SHORT, "-o", result) == 1
    (file,) = (tmp_path / "elsewhere").glob("*run.nc")
    told = capsys.readouterr()
    assert told.err.splitlines()[0] == (
        f"error: {result} cannot be written: No space left on device; the run is in {file}; "
        f"{result} still holds an older result"
    )
    # The end of the run is shown all the same, and nothing calls it incomplete.
    assert "energy balance" in told.out and "incomplete" not in told.err
    assert result.read_bytes() == b"of yesterday"
    with xr.open_dataset(file) as data:
        assert data.attrs["complete"] == 1


@pytest.mark.parametrize(
    "verb", ["simulate {reed}", "control run de-luca-siciliano"], ids=lambda v: v[:7]
)
def test_json_says_that_a_disk_was_full_and_holds_the_whole_answer(
    reed, full_disk, tmp_path, capsys, verb
):
    line = [word.format(reed=reed) for word in verb.split()]
    ends = ["--set", "t_end=0.05", "--json", "-o", full_disk / "run.nc"]
    assert lissom(*line, *ends) == 1
    told = capsys.readouterr()
    error = json.loads(told.out)["error"]
    (file,) = (tmp_path / "elsewhere").glob("*run.nc")
    assert error["kind"] == "not saved"
    assert "No space left" in error["message"] and str(file) in error["message"]
    assert "older result" not in error["message"]
    assert error["partial"]["complete"] and error["partial"]["q"]
    assert error["message"] in error["partial"]["notes"]
    assert error["partial"]["files"] == {"rescued": str(file)}
    assert told.err == f"error: {error['message']}\n"


def test_pictures_are_drawn_where_the_result_finds_no_room(
    reed, full_disk, tmp_path, capsys
):
    picture, page = tmp_path / "run.png", tmp_path / "run.html"
    files = ["-o", full_disk / "run.nc", "--plot", picture, "--animate", page]
    assert lissom("simulate", reed, *SHORT, *files, "--json") == 1
    found = json.loads(capsys.readouterr().out)["error"]["partial"]["files"]
    assert (found["plot"], found["animation"]) == (str(picture), str(page))
    assert picture.stat().st_size and page.stat().st_size


def test_a_picture_without_room_leaves_result_and_animation_and_fails(
    reed, tmp_path, monkeypatch, capsys
):
    def no_room(run, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Run, "plot", no_room)
    result, picture, page = (tmp_path / f"run.{end}" for end in ("nc", "png", "html"))
    files = ["-o", result, "--plot", picture, "--animate", page]
    assert lissom("simulate", reed, *SHORT, *files, "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["message"] == f"{picture} cannot be written: No space left on device"
    assert error["partial"]["files"] == {"result": str(result), "animation": str(page)}


def test_a_run_that_finds_no_room_anywhere_still_shows_its_end(
    reed, tmp_path, monkeypatch, capsys
):
    def no_room(run, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Run, "save", no_room)
    assert lissom("simulate", reed, *SHORT, "-o", tmp_path / "run.nc") == 1
    told = capsys.readouterr()
    assert "Free some space" in told.err and "energy balance" in told.out


def test_an_interrupted_run_on_a_full_disk_is_rescued_with_the_code_of_the_signal(
    reed, full_disk, tmp_path, monkeypatch, capsys, signals
):
    monkeypatch.setattr(watching, "progress", killing_at(0.0))
    result = full_disk / "run.nc"
    assert lissom("simulate", reed, "--t-end", "3", "-o", result) == 143
    (file,) = (tmp_path / "elsewhere").glob("*run.nc")
    assert f"rescued, marked incomplete: {file}" in capsys.readouterr().err


def test_drafts_of_killed_processes_are_cleaned_and_those_of_living_ones_kept(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    stale = tmp_path / f".out.nc.{dead.pid}.tmp"
    living = tmp_path / f".out.nc.{os.getppid()}.tmp"
    other = tmp_path / f".another.nc.{dead.pid}.tmp"
    for draft in (stale, living, other):
        draft.write_bytes(b"half")
    write_atomically(tmp_path / "out.nc", lambda file: file.write(b"whole"))
    assert not stale.exists() and living.exists() and other.exists()


@pytest.mark.slow
def test_a_long_run_killed_at_twenty_random_moments_gives_the_same_numbers(
    reed, tmp_path, monkeypatch, signals
):
    chance = random.Random(5)
    line = ["simulate", reed, "--t-end", "60", "--set", "output_dt=0.01"]
    assert lissom(*line, "-o", tmp_path / "whole.nc") == 0
    part = [*line, "-o", tmp_path / "part.nc", "--resume"]
    reached = 0.0
    for moment in sorted(chance.uniform(0.0, 55.0) for _ in range(20)):
        with monkeypatch.context() as patched:
            patched.setattr(watching, "progress", killing_at(moment))
            assert lissom(*part) == 143
        with xr.open_dataset(tmp_path / "part.nc") as data:
            assert data.attrs["t_reached"] >= max(moment, reached)
            reached = data.attrs["t_reached"]
    assert lissom(*part) == 0
    whole = xr.load_dataset(tmp_path / "whole.nc")
    again = xr.load_dataset(tmp_path / "part.nc")
    # Not one step was lost, or taken twice.
    assert again.attrs["steps"] == whole.attrs["steps"]
    np.testing.assert_allclose(again["q"], whole["q"], atol=1e-12)


def killing_at(moment):
    """Progress of a run whose process is told to end once the run is past a moment."""

    def watch(t):
        if t >= moment:
            signal.raise_signal(signal.SIGTERM)

    @contextmanager
    def progress(t_end):
        yield watch

    return progress


# The command, whose process is killed once its third checkpoint is on disk. No handler hears of this signal.
KILLED = (
    "import os, signal, sys\n"
    "from lissom.commands import cli\n"
    "from lissom.runs.checkpoint_file import CheckpointFile\n"
    "CheckpointFile.__init__.__defaults__ = (0.0,)\n"
    "keep, kept = CheckpointFile.keep, []\n"
    "def keep_or_die(*arguments):\n"
    "    keep(*arguments)\n"
    "    kept.append(1)\n"
    "    if len(kept) == 3:\n"
    "        os.kill(os.getpid(), signal.SIGKILL)\n"
    "CheckpointFile.keep = keep_or_die\n"
    "sys.exit(cli.main())\n"
)


@pytest.mark.slow
def test_a_process_killed_in_the_middle_of_a_run_goes_on_in_another(reed, tmp_path):
    file = tmp_path / "part.nc"
    line = ["simulate", reed, "--t-end", "600", "--set", "output_dt=0.1"]
    line += ["-o", str(file), "--resume"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *line])
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "part.nc.checkpoint").exists() and not file.exists()
    again = [sys.executable, "-m", "lissom", *line]
    done = subprocess.run(again, check=True, capture_output=True, text=True)
    assert "continuing from" in done.stdout and "starting anew" not in done.stdout
    with xr.open_dataset(file) as data:
        assert data.attrs["complete"] == 1 and data.sizes["time"] == 6001
