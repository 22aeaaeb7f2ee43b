"""Worker processes: answers, reports, limits, and their end with their owner."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from lissom import worker_process
from lissom.worker_process import (
    ORPHANED,
    CallStopped,
    TimeIsUp,
    WorkerDied,
    WorkerProcess,
)

PROGRAM = """
import os, signal, sys, time

def answer(request, report):
    word = request.decode()
    if word == "name":
        return str(os.getpid()).encode()
    if word == "print":
        print("for the eye")
        os.write(1, b"from below")
        report(b"half")
        return b"whole"
    if word == "exit":
        os._exit(7)
    if word == "die":
        report(b"at 4")
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "fail":
        raise ValueError("a mistake of the program")
    if word == "deaf":
        time.sleep(60)
    try:
        for k in range(6000):
            report(b"%d" % k)
            time.sleep(0.01)
    except KeyboardInterrupt:
        return b"saved"
    return b"done"
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return (sys.executable, "-P", worker_process.__file__, str(file))


@pytest.fixture
def worker(program):
    made = WorkerProcess(program, quiet=True)
    yield made
    made.end()


def test_one_process_answers_call_after_call(worker):
    names = {worker.call(b"name") for _ in range(3)}
    assert names == {str(worker.process_id).encode()}


def test_reports_come_before_the_answer_and_prints_do_not_get_in_between(worker):
    reports = []
    assert worker.call(b"print", reports.append) == b"whole"
    assert reports == [b"half"]
    assert worker.call(b"name")


@pytest.mark.parametrize(
    "word, code, said",
    [
        (b"exit", 7, "exit code 7"),
        (b"die", -9, "signal 9"),
        (b"fail", 1, "exit code 1"),
    ],
)
def test_a_process_that_dies_is_reported_with_its_code(worker, word, code, said):
    with pytest.raises(WorkerDied, match=said) as death:
        worker.call(word)
    assert death.value.code == code and not worker.is_alive
    # A call to a process that is gone fails in the same way.
    with pytest.raises(WorkerDied, match=said):
        worker.call(b"name")


def test_what_was_reported_before_a_death_is_known(worker):
    reports = []
    with pytest.raises(WorkerDied):
        worker.call(b"die", reports.append)
    assert reports == [b"at 4"]


def test_a_call_that_takes_too_long_is_ended_with_its_process(worker):
    with pytest.raises(TimeIsUp, match="took longer than 0.3 s and was ended"):
        worker.call(b"deaf", limit_s=0.3)
    assert not worker.is_alive


def test_a_call_that_is_to_stop_saves_what_is_done_and_the_next_one_runs(worker):
    stopping = threading.Event()
    seen = []

    def report(content):
        seen.append(content)
        stopping.set()

    assert worker.call(b"count", report, stopping=stopping) == b"saved"
    assert len(seen) < 1000
    stopping.clear()
    assert worker.call(b"print", stopping=stopping) == b"whole"


def test_a_call_that_does_not_stop_is_ended_after_its_grace(worker, monkeypatch):
    monkeypatch.setattr(worker_process, "START_GRACE_S", 0.2)
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(CallStopped):
        worker.call(b"deaf", stopping=stopping)
    assert not worker.is_alive


def test_a_report_that_fails_here_ends_the_process_and_leaves_no_answer_behind(worker):
    def report(content):
        raise RuntimeError("nobody looks")

    with pytest.raises(RuntimeError, match="nobody looks"):
        worker.call(b"count", report)
    assert not worker.is_alive


def test_a_process_that_is_ended_from_elsewhere_frees_who_waits(worker):
    threading.Timer(0.3, worker.end).start()
    with pytest.raises(WorkerDied, match="signal 9"):
        worker.call(b"deaf")


@pytest.mark.parametrize("busy", [False, True])
def test_a_worker_ends_when_its_owner_is_killed(program, busy):
    call = "worker.call(b'deaf')" if busy else "time.sleep(60)"
    script = (
        "import sys, time\n"
        "from lissom.worker_process import WorkerProcess\n"
        f"worker = WorkerProcess({program!r})\n"
        "print(worker.process_id, worker.call(b'name'), flush=True)\n"
        f"{call}\n"
    )
    asker = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    )
    assert asker.stdout is not None
    number = int(asker.stdout.readline().split()[0])
    asker.send_signal(signal.SIGKILL)
    asker.wait()
    end = time.monotonic() + 20
    while time.monotonic() < end and _runs(number):
        time.sleep(0.05)
    assert not _runs(number)


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
        with open(f"/proc/{number}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (OSError, ProcessLookupError):
        return False


def test_the_exit_code_of_an_orphan_is_its_own(program):
    orphan = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert orphan.stdin is not None and orphan.stdout is not None
    orphan.stdin.close()
    assert orphan.wait(20) == ORPHANED
    orphan.stdout.close()
