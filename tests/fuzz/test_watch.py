"""The watch over the workers: a hang and a crash are named, and the run goes on."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fuzz import kinds, watch, worker
from fuzz.failure_folder import FailureFolder
from fuzz.outcome import Case, Outcome


def spin():
    """Computes for ever."""
    while True:
        pass


def wait():
    """Waits for what never comes."""
    threading.Event().wait()


CASES = {
    1: lambda: Outcome("accepted", "sleeper"),
    2: spin,
    3: lambda: os._exit(3),
    4: lambda: bytearray(10**11),
    5: wait,
    6: lambda: Outcome("refused", "sleeper"),
}


def serve(connection, folder, names):
    """A worker whose cases are those above; no type checker, so that it starts at once."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds.run = lambda case, _: CASES[case.seed]()
    worker.prepare = lambda *_: None
    worker.serve(connection, folder, names)


class Deal:
    jobs = 1

    def __init__(self):
        self.seeds = iter(CASES)

    def kinds_of(self, _):
        return ("files",)

    def next_case(self, _):
        seed = next(self.seeds, None)
        return None if seed is None else Case("files", seed)


def test_a_hang_a_crash_and_a_flood_are_named_and_the_run_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(watch, "serve", serve)
    # Starting takes longer than this: a process that starts computes all the time.
    monkeypatch.setattr(watch, "ASLEEP", 3.0)
    short = kinds.KINDS["files"]._replace(limit=0.5)
    monkeypatch.setitem(kinds.KINDS, "files", short)
    found = {}
    ends = watch.outcomes(Deal(), tmp_path, time.monotonic() + 300)
    for case, outcome, _ in ends:
        found[case.seed] = outcome
    verdicts = {seed: outcome.verdict for seed, outcome in found.items()}
    assert verdicts == {
        1: "accepted",
        2: "hang",
        3: "crash",
        4: "traceback",
        5: "hang",
        6: "refused",
    }
    assert "in spin" in found[2].text
    assert "in wait" in found[5].text
    assert "MemoryError" in found[4].text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_prints_its_counts(number):
    words = [sys.executable, "-m", "fuzz", "--jobs", "1", "--minutes", "9"]
    tests = Path(__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    with subprocess.Popen(
        [*words, "--only", "schema"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("seed")
        # A worker is being started by then. A terminal's Ctrl-C goes to the whole group.
        time.sleep(1.0)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert "stopped" in out and "0 files, 0 robots over 0 structures" in out
    assert "Traceback" not in err and process.returncode == 0


def test_a_failing_case_is_stored_with_its_files_and_its_command(tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    (files / "robot.yaml").write_text("links: [")
    kept = FailureFolder(tmp_path / "failures")
    outcome = Outcome("traceback", "robot files", 'File "a.py", line 3\nKeyError: 1')
    line = kept.keep(Case("files", 12), outcome, files)
    folder = tmp_path / "failures" / "files-12"
    assert "make fuzz REPLAY=files:12" in line
    assert (folder / "robot.yaml").read_text() == "links: ["
    assert "KeyError: 1" in (folder / "report.txt").read_text()


@pytest.mark.parametrize("name", kinds.KINDS)
def test_every_kind_has_a_file(name):
    assert (Path(kinds.__file__).parent / f"{kinds.KINDS[name].module}.py").is_file()
