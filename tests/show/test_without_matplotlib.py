"""A small installation: what matplotlib would draw is refused in one line before anything is computed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
sys.modules["matplotlib"] = None
import lissom as ls
from lissom.commands import cli
for draw in (lambda: ls.Robot.load("simple-pendulum").plot(), lambda: ls.sweep):
    try:
        draw()
    except ModuleNotFoundError as failure:
        print(failure)
codes = [
    cli.main(["simulate", "simple-pendulum", "-o", "run.nc", "--plot", "run.png"]),
    cli.main(["show", "simple-pendulum", "-o", "robot.pdf"]),
    cli.main(["show", "simple-pendulum"]),
]
print(codes)
"""


def test_pictures_alone_need_matplotlib(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[0].endswith("drawn by matplotlib: pip install 'lissom[plot]'")
    assert lines[-1] == "[2, 2, 0]"
    refusals = done.stderr.splitlines()
    assert len(refusals) == 2, done.stderr
    assert refusals[0].startswith("error: --plot: run.png: pictures are drawn by")
    # Nothing was computed in vain.
    assert not list(tmp_path.iterdir())
