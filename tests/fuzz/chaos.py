"""Commands in trouble: killed, on a full disk, without streams, without a home, with a corrupt cache."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from shell_commands import LISSOM, REED, shell

from .outcome import Outcome, violation

LONGEST = 300.0  # [s] that a command may take on a busy machine
FAULTS = ("Traceback", "Exception ignored", "for the traceback)")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
QUICK = (
    "robots",
    "robots --json",
    "show reed.yaml",
    "show no-such-robot",
    "validate reed.yaml",
    "static reed.yaml --q 0.3 --json",
    "modes reed.yaml --json",
)


def run(seed: int, folder: Path) -> Outcome:
    """One command, one trouble."""
    random = Random(f"chaos {seed}")
    (folder / "reed.yaml").write_text(REED)
    # In turn, so that a short run has all of them.
    trouble = TROUBLES[seed % len(TROUBLES)]
    label = f"commands: {trouble.__name__.replace('_', ' ')}"
    fault = trouble(folder, random)
    if fault:
        return violation(label, fault)
    return Outcome("accepted", label)


def said(line: str, codes: tuple[int, ...], **environment: str) -> str:
    """What is wrong with how a line of the shell ended, nothing if it is right."""
    code, _, err = shell(line, timeout=LONGEST, **environment)
    return fault_of(line, code, err, codes)


def fault_of(line: str, code: int, err: str, codes: tuple[int, ...]) -> str:
    """An exit code that is not among those that are right, or Python's own words."""
    if code not in codes:
        return f"exit code {code} of {line}\n{err[-3000:]}"
    if any(word in err for word in FAULTS):
        return f"Python's own words from {line}\n{err[-3000:]}"
    return ""


def killed(folder: Path, random: Random) -> str:
    """A run ended at a random moment: no half file, and it goes on from where it was."""
    number = random.choice(SIGNALS)
    output = folder / "run.nc"
    line = [sys.executable, "-m", "lissom.commands.cli", "simulate", "reed.yaml"]
    line += ["--t-end", "4", "--set", "output_dt=0.01", "-o", str(output)]
    environment = os.environ | {"LISSOM_CACHE": str(folder / "cache")}
    process = subprocess.Popen(
        line,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        process.wait(timeout=random.uniform(0.0, 25.0))
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    try:
        _, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"did not end after {number.name}"
    # Before Python has begun, a signal ends the process as the system does.
    codes = (0, 128 + number, -number)
    words = shlex.join(line)
    return fault_of(words, process.returncode, err, codes) or goes_on(line, output)


def goes_on(line: list[str], output: Path) -> str:
    """What is wrong with the files of a run that was ended, and with its second part."""
    fault = unreadable(output)
    if fault:
        return fault
    words = shlex.join([*line, "--resume"])
    cache = str(output.parent / "cache")
    again = said(f"cd {output.parent} && {words}", (0,), LISSOM_CACHE=cache)
    return again or unreadable(output, whole=True)


def unreadable(output: Path, whole: bool = False) -> str:
    """What is wrong with a result file; one that is not there is right, unless it should be whole."""
    import xarray as xr

    if not output.exists():
        return f"{output.name} is missing" if whole else ""
    try:
        with xr.open_dataset(output, engine="h5netcdf") as data:
            complete = bool(data.attrs["complete"])
    except Exception as failure:
        return f"{output.name} is half a file: {failure!r}"
    return f"{output.name} is not complete" if whole and not complete else ""


def on_a_full_disk(folder: Path, random: Random) -> str:
    """No file may be larger than some blocks: the run is kept, or the message says why not."""
    blocks = random.choice((0, 1, 2, 8, 16, 32, 64))
    verb = random.choice(
        (
            "simulate reed.yaml --t-end 0.05 -o run.nc",
            "show reed.yaml -o picture.png",
            "linearize reed.yaml -o model.npz",
        )
    )
    line = f"cd {folder} && ulimit -f {blocks} && {LISSOM} {verb}"
    # Python itself would leave halves of its own files behind, and fail over them the next time.
    around = {"LISSOM_CACHE": "off", "PYTHONDONTWRITEBYTECODE": "1"}
    fault = said(line, (0, 1), TMPDIR=str(folder), **around)
    output = folder / "run.nc"
    return fault or (unreadable(output) if output.exists() else "")


def without_streams(folder: Path, random: Random) -> str:
    """Nobody listens, or the listener goes."""
    trouble = random.choice(
        (">&-", "2>&-", ">&- 2>&-", "<&-", "> /dev/full", "2> /dev/full", "| head -c 1")
    )
    line = f"cd {folder} && {LISSOM} {random.choice(QUICK)} {trouble}"
    line += '; exit "${PIPESTATUS[0]}"' if "|" in trouble else ""
    return said(line, (0, 1, 2), LISSOM_CACHE="off")


def without_a_home(folder: Path, random: Random) -> str:
    """No HOME, one that is not there, or one that cannot be written."""
    missing = folder / "missing"
    home = random.choice(("-u HOME", "HOME=", f"HOME={missing}", "HOME=/dev/null"))
    line = f"cd {folder} && env -u XDG_CACHE_HOME -u LISSOM_CACHE -u JAX_COMPILATION_CACHE_DIR {home} "
    fault = said(line + f"{LISSOM} {random.choice(QUICK)}", (0, 2))
    return fault or ("a home folder was made" if missing.exists() else "")


def with_a_corrupt_cache(folder: Path, random: Random) -> str:
    """Compiled code that is cut off, turned over or none at all: the answer is the same."""
    cache = folder / "cache"
    line = f"cd {folder} && {LISSOM} static reed.yaml --q 0.3 --json"
    code, first, err = shell(line, timeout=LONGEST, LISSOM_CACHE=str(cache))
    fault = fault_of(line, code, err, (0,))
    for file in sorted(cache.rglob("*")):
        if file.is_file() and random.random() < 0.7:
            file.write_bytes(broken_bytes(file.read_bytes(), random))
    code, second, err = shell(line, timeout=LONGEST, LISSOM_CACHE=str(cache))
    fault = fault or fault_of(line, code, err, (0,))
    return fault or same_answer(first, second)


def broken_bytes(data: bytes, random: Random) -> bytes:
    """Half of them, none of them, or others."""
    return random.choice((data[: len(data) // 2], b"", random.randbytes(len(data))))


def same_answer(first: str, second: str) -> str:
    """What differs between two answers in JSON, apart from what they say of the cache."""
    import json

    one, other = (json.loads(text) for text in (first, second))
    for answer in (one, other):
        for word in ("cached", "cache"):
            answer.pop(word, None)
    return "" if one == other else f"two answers:\n{one}\n{other}"


TROUBLES: tuple[Callable[[Path, Random], str], ...] = (
    killed,
    on_a_full_disk,
    without_streams,
    without_a_home,
    with_a_corrupt_cache,
)
