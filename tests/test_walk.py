"""The way of a command from room to room: each room that it needs is entered once.

A room is entered by a call out of another one; calls that follow each other into the same room are one visit. Aside
are imports and what lies below an open solve or analyse call, and besides these only:

- what a result says of itself (`summary`, `to_dict`, `warnings` of a `Result`): a `Run` is a value that commands print,
  and whoever holds it may read it. What these methods would compute in another room counts;
- `CALLBACKS`, which a room is handed in order to be watched or indexed.
"""

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
from lissom.files.summary import Result

SOURCE = str(Path(lissom.__file__).parent) + "/"
ROOMS = ("commands", "runs", "solve", "analyse", "show", "studies")
IMPORTS = ("<module>", "_find_and_load")
OF_RESULTS = ("summary", "to_dict", "warnings")
CALLBACKS = tuple(json.loads(sys.argv.pop(1)))
rooms, stack, walk, aside = {}, [], [], 0

def room_of(code):
    if code not in rooms:
        name = code.co_filename
        first = name[len(SOURCE):].partition("/")[0] if name.startswith(SOURCE) else ""
        rooms[code] = first if first in ROOMS else ""
    return rooms[code]

def caller():
    return next((room for room, _ in reversed(stack) if room), "")

def is_let_in(frame):
    name = frame.f_code.co_name
    if name in OF_RESULTS:
        return isinstance(frame.f_locals.get("self"), Result)
    return frame.f_code.co_filename[len(SOURCE):] + ":" + name in CALLBACKS

def watch(frame, event, _):
    global aside
    if event == "call":
        name, room = frame.f_code.co_name, room_of(frame.f_code)
        is_entry = room and not aside and caller() != room and not is_let_in(frame)
        if is_entry and not (walk and walk[-1][0] == room):
            walk.append((room, name))
        covers = name in IMPORTS or room in ("solve", "analyse")
        aside += covers
        stack.append((room, covers))
    elif event == "return" and stack:
        _, covers = stack.pop()
        aside -= covers

sys.setprofile(watch)
code = cli.main(sys.argv[1:])
sys.setprofile(None)
sys.stderr.write("WALK" + json.dumps(walk))
sys.exit(code)
"""

CALLBACKS = (
    # Progress and Ctrl-C of a run, entered and left by who runs it.
    "commands/watching.py:session",
    # xarray selects by the names of nodes.
    "runs/node_index.py:sel",
)
RUN = ("simulate", "double-pendulum", "--t-end", "0.1")
FILES = ("-o", "run.nc", "--plot", "run.png", "--animate", "run.html")


def walk_of(folder, *words):
    """Rooms in the order in which a command enters them, each with the function that it enters by."""
    paths = [str(Path(lissom.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(CALLBACKS), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.rpartition("WALK")[2])


@pytest.mark.parametrize(
    ("words", "rooms"),
    [
        (("modes", "double-pendulum"), "commands runs solve analyse"),
        (RUN, "commands runs solve analyse show"),
        ((*RUN, *FILES), "commands runs solve analyse show"),
    ],
    ids=["modes", "simulate", "simulate-with-files"],
)
def test_each_room_is_entered_once(words, rooms, tmp_path):
    walk = walk_of(tmp_path, *words)
    for room, function in walk:
        print(f"{room}: {function}")
    assert [room for room, _ in walk] == rooms.split()
