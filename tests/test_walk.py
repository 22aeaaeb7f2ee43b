"""The way of a command from room to room: each room that it needs is entered once.

A room is entered by a call out of another one; calls that follow each other into the same room are one visit. Aside
are imports, what lies below an open solve or analyse call, calls back into a room that is still open (progress, the
index of a dataset), and what a finished result says of itself.
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

SOURCE = str(Path(lissom.__file__).parent) + "/"
ROOMS = ("commands", "runs", "solve", "analyse", "show", "studies")
IMPORTS = ("<module>", "_find_and_load")
OF_RESULTS = ("summary", "to_dict", "warnings")
rooms, stack, walk, aside = {}, [], [], 0

def room_of(code):
    if code not in rooms:
        name = code.co_filename
        first = name[len(SOURCE):].partition("/")[0] if name.startswith(SOURCE) else ""
        rooms[code] = first if first in ROOMS else ""
    return rooms[code]

def watch(frame, event, _):
    global aside
    if event == "call":
        name, room = frame.f_code.co_name, room_of(frame.f_code)
        says = bool(room) and name in OF_RESULTS
        is_open = any(room == one for one, _ in stack)
        if room and not (aside or says or is_open or (walk and walk[-1][0] == room)):
            walk.append((room, name))
        covers = name in IMPORTS or says or room in ("solve", "analyse")
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

RUN = ("simulate", "double-pendulum", "--t-end", "0.1")
FILES = ("-o", "run.nc", "--plot", "run.png", "--animate", "run.html")


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
