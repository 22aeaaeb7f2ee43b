"""The way of a command from room to room; imports and what lies below solve and analyse are left aside."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lissom

PROGRAM = """
import json, sys
from pathlib import Path
import lissom
from lissom.commands import cli

SOURCE = str(Path(lissom.__file__).parent) + "/"
ROOMS = ("commands", "runs", "solve", "analyse", "show", "studies")
rooms, walk, depth, importing = {}, [], 0, 0

def room_of(code):
    if code not in rooms:
        name = code.co_filename
        first = name[len(SOURCE):].partition("/")[0] if name.startswith(SOURCE) else ""
        rooms[code] = first if first in ROOMS else ""
    return rooms[code]

stack = []  # per call: None, or the room that it entered
def watch(frame, event, _):
    global depth, importing
    if event == "call":
        code = frame.f_code
        is_import = code.co_name in ("<module>", "_find_and_load")
        room = room_of(code)
        stack.append((is_import, room))
        importing += is_import
        if room and not importing and not depth and (not walk or walk[-1][0] != room):
            walk.append((room, code.co_name))
        depth += room in ("solve", "analyse")
    elif event == "return" and stack:
        is_import, room = stack.pop()
        importing -= is_import
        depth -= room in ("solve", "analyse")

sys.setprofile(watch)
code = cli.main(sys.argv[1:])
sys.setprofile(None)
sys.stderr.write("WALK" + json.dumps(walk))
sys.exit(code)
"""


def walk_of(folder, *words):
    """Rooms in the order in which a command enters them, each with the function that it enters by."""
    paths = [str(Path(lissom.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.rpartition("WALK")[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "most", "unused"),
    [
        (("modes", "double-pendulum"), 16, {"show", "studies"}),
        (
            ("simulate", "double-pendulum", "--t-end", "0.1"),
            48,
            {"studies"},
        ),
    ],
)
def test_a_command_goes_through_few_rooms(words, most, unused, tmp_path):
    walk = walk_of(tmp_path, *words)
    for room, function in walk:
        print(f"{room}: {function}")
    assert walk[0] == ["commands", "main"]
    assert not unused & {room for room, _ in walk}
    assert len(walk) <= most
