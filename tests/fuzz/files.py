"""Files that are broken somewhere: each is accepted, or refused with one message, quickly and within the memory."""

import warnings
from pathlib import Path
from random import Random
from typing import Any

from lissom.describe import Robot, Scenario
from lissom.files.errors import CONTROLS

from .doors import OWN_ERRORS
from .originals import Original, originals
from .outcome import Outcome, violation
from .text_mutations import mutated_text

LONGEST = 4000  # characters of a line of a message; links and names of a library are listed in one
BUILT = 0.05  # share of the accepted files whose model is built too
STARTED = 0.004  # share of those whose run is made ready to start: this compiles


def run(seed: int, folder: Path) -> Outcome:
    """One broken file, opened."""
    random = Random(f"file {seed}")
    original = random.choice(originals())
    level, data = broken(original, random)
    label = f"{original.label} files, {level}"
    for name, beside in original.companions.items():
        (folder / name).write_bytes(beside)
    path = folder / original.name
    path.write_bytes(data)
    with warnings.catch_warnings():
        # Numbers beyond all bounds overflow on their way to being refused; commands do not show it either.
        warnings.simplefilter("ignore")
        return opened(original, path, label, random)


def broken(original: Original, random: Random) -> tuple[str, bytes]:
    """The level at which a file is broken, and its bytes."""
    if original.remake is not None and random.random() < 0.6:
        return "as data", original.remake(random)
    return "as text", mutated_text(original.data, random)


def opened(original: Original, path: Path, label: str, random: Random) -> Outcome:
    """What comes of a file."""
    try:
        found = original.door(path)
        go_on(found, path, random)
    except OWN_ERRORS as failure:
        fault = message_fault(str(failure), path)
        if fault:
            return violation(label, f"{fault}: {failure}")
        return Outcome("refused", label, str(failure))
    return Outcome("accepted", label)


def message_fault(text: str, path: Path) -> str:
    """What is wrong with a message, nothing if it is as it should be."""
    lines = text.splitlines()
    if not lines or not all(line.strip() for line in lines):
        return "an empty message"
    if any(len(line) > LONGEST for line in lines):
        return "a message that nobody reads"
    if any(CONTROLS.search(line) for line in lines):
        return "control characters in a message"
    if "Traceback" in text or "object at 0x" in text:
        return "Python in a message"
    if not any(file.name in text for file in path.parent.iterdir()):
        return "a message without the file"
    return ""


def go_on(found: Any, path: Path, random: Random) -> None:
    """Some accepted robots and scenarios are built, and a few of them made ready to run."""
    chance = random.random()
    if chance > BUILT or not isinstance(found, Robot | Scenario):
        return
    from lissom.runs.dry_run import check_start, startable_model

    whole = Scenario(robot=found) if isinstance(found, Robot) else found
    if chance < STARTED:
        check_start(whole, str(path))
    else:
        startable_model(whole, str(path))
