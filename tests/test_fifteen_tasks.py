"""The tutorial of fifteen tasks runs from top to bottom, Python and shell in turn, in one folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "tutorials" / "fifteen-tasks.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w-]+\.(?:yaml|geo))`")
# The command as an installation has it: `lissom` on the path.
COMMAND = f'#!/bin/bash\nexec {sys.executable} -m lissom "$@"\n'


def in_shell(text, folder):
    (folder / "lissom").write_text(COMMAND)
    (folder / "lissom").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", text],
        cwd=folder,
        text=True,
        capture_output=True,
        env={**os.environ, "PATH": path},
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_fifteen_tasks_of_a_newcomer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"^## \d+\. ", text, re.MULTILINE)) == 15
    told, names = [], {"__name__": "page"}
    for match in BLOCK.finditer(text):
        kind, content = match.groups()
        if kind == "python":
            exec(compile(content, str(PAGE), "exec"), names)
        elif kind == "sh":
            told.append(in_shell(content, tmp_path))
        else:
            name = FILE.findall(text[: match.start()])[-1]
            (tmp_path / name).write_text(content, encoding="utf-8")
    # What the page promises in words.
    unrest, run, better = names["unrest"], names["run"], names["better"]
    assert unrest(better) < unrest(run)
    assert names["stretched"].frequency_hz[0] < names["folded"].frequency_hz[0]
    assert np.all(np.diff(names["heavier"].frequency_hz[:, 0]) < 0)
    assert names["found"] == pytest.approx(11.0, rel=1e-3)
    assert names["more"].t[0] == run.t[-1]
    for name in ("my-arm.html", "my-arm.csv", "apart.png", "four.png", "bar.npz"):
        assert (tmp_path / name).stat().st_size > 0
    assert any("not sound" not in words and "sound" in words for words in told[-1:])
