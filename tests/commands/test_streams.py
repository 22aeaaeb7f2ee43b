"""Commands whose output nobody takes, whose time is up, or that are stopped early: right code, no traceback."""

import signal
import subprocess
import sys
import time
import warnings

import pytest

from lissom.commands import cli, wall_clock
from lissom.commands.progress import study_progress
from lissom.studies.engine import Tally
from shell_commands import LISSOM, shell


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("robots | head -1; exit ${PIPESTATUS[0]}", 0),
        ("robots >&-", 0),
        ("robots > /dev/full", 1),
        ("show nothing --json > /dev/full", 2),
        ("show nothing 2>&-", 2),
    ],
)
def test_streams_that_take_nothing_leave_the_exit_code_right(line, code):
    found, _, err = shell(f"{LISSOM} {line}")
    assert found == code
    assert "Traceback" not in err and "Exception ignored" not in err


def test_a_user_without_a_home_folder_can_work():
    code, out, err = shell(
        f"env -u HOME -u XDG_CACHE_HOME {LISSOM} show simple-pendulum"
    )
    assert code == 0 and "simple-pendulum" in out and "Traceback" not in err


def test_a_command_whose_time_is_up_stops_with_the_reason(tmp_path):
    began = time.monotonic()
    file = tmp_path / "run.nc"
    code, _, err = shell(
        f"{LISSOM} simulate double-pendulum --set t_end=1000 "
        f"--set solver.max_step=0.0001 --max-wall 3 -o {file}"
    )
    assert code == 1 and "stopped after 3 s (--max-wall)" in err
    assert "Traceback" not in err
    assert time.monotonic() - began < 60


def test_time_is_up_for_a_process_in_the_background_that_ignores_ctrl_c_too(signals):
    received = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    wall_clock._interrupt_command()
    assert received == [signal.SIGTERM]


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", ""])
def test_a_time_that_is_none_is_refused(capsys, text):
    assert cli.main(["robots", "--max-wall", text]) == 2
    assert "--max-wall" in capsys.readouterr().err


def test_a_command_that_takes_long_says_so_off_terminals(capsys, monkeypatch):
    monkeypatch.setattr("lissom.commands.wall_clock.HEARTBEAT", 0.01)
    assert cli.main(["validate", "simple-pendulum"]) == 0
    assert "lissom validate: 0 s" in capsys.readouterr().err


def test_the_line_off_terminals_says_how_far_a_job_is(capsys, monkeypatch):
    monkeypatch.setattr("lissom.commands.wall_clock.HEARTBEAT", 0.01)
    clock = wall_clock.WallClock()
    with (
        wall_clock.running(clock, "lissom sweep", lambda: 1),
        study_progress() as show,
    ):
        show(Tally(100, 30, 1, computed=20, seconds=10.0, compute_seconds=10.0))
        time.sleep(0.1)
    line = "lissom sweep: 0 s: 30 of 100 runs, 2/s, 1 failed, left 0:00:35\n"
    assert line in capsys.readouterr().err
    assert not wall_clock.how_far.words


def test_ctrl_c_while_the_package_is_imported_ends_quietly():
    program = (
        "import sys, types, os, signal\n"
        # A suite in the background ignores SIGINT, and so would its children.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'lissom': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "import lissom_command\n"
        "sys.exit(lissom_command.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.returncode == 128 + signal.SIGINT and done.stderr == b""


def test_warnings_of_python_are_shown_with_debug_alone(capsys, monkeypatch):
    def warn(*_, **__):
        warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
        return 0

    monkeypatch.setattr(cli, "app", warn)
    assert cli.main(["robots"]) == 0
    assert capsys.readouterr().err == ""
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert cli.main(["robots", "--debug"]) == 0
