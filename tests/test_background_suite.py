"""The suite in the background: `nohup make test &` from a script starts it with SIGINT ignored."""

import os
import signal
import subprocess
import sys

import pytest

# Asks the system: what a process ignores from its start on, Python leaves ignored.
CHILD = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


def test_processes_that_tests_start_hear_ctrl_c():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True)
    assert done.stdout == "False\n"


@pytest.mark.skipif(os.name == "nt", reason="no shell of this kind")
def test_processes_that_tests_start_hear_ctrl_c_in_the_background_too():
    name = f"{__file__}::{test_processes_that_tests_start_hear_ctrl_c.__name__}"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    shell = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *words]
    done = subprocess.run(shell, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
