"""Random command lines: every verb with options, values and `--set` paths, right ones and wrong ones."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import typer

from lissom.commands import cli
from shell_commands import REED

from .outcome import Outcome, violation
from .tree_mutations import ODD_VALUES

CODES = (0, 1, 2, 130)
UNEXPECTED = "for the traceback)"  # ends the message of an error that nobody foresaw
SOURCES = (
    "reed.yaml",
    "reed.yaml",
    "reed.yaml",
    "simple-pendulum",
    "no-such-robot",
    "",
    ".",
    "broken.yaml",
    "/dev/null",
    "a\x00b",
    "-",
    "reed.yaml/x",
    "~nobody/x.yaml",
    "é💥.yaml",
)
PATHS = (
    "gravity",
    "gravity.2",
    "links.rod.beam.material.E",
    "links.*.beam.material",
    "links.0.beam.elements",
    "links.rod.joint.dh.a",
    "links.rod.joint.type",
    "links.rod",
    "links",
    "payload.mass",
    "payload",
    "name",
    "t_end",
    "output_dt",
    "solver.method",
    "solver.rtol",
    "initial.q",
    "initial.qd",
    "modes",
    "basis",
    "reference",
    "formulation",
    "stiffening",
    "damping.ratio",
    "inputs.torque.rod",
    "no.such.path",
    "",
    "links.*.*.*",
    "lissom",
)
WORDS = (
    "0",
    "1",
    "-1",
    "0.5",
    "nan",
    "inf",
    "1e308",
    "0,0",
    "30 deg",
    "1 parsec",
    "all",
    "x",
    "",
    "[0,0,-9.81]",
    "{a: 1}",
    "[",
    "steel",
    "2",
    "3,4",
    "rod/tip",
    "rod.torque",
    "tangent",
    "zeroed:rod/tip.y",
    "nonlinear",
    "erls-fem",
    "0:1:5",
    "0..1",
    "out.png",
    "out.nc",
    "out.npz",
    "out.json",
    "out.xyz",
    "no/such/folder/out.png",
    "/dev/full",
)
# Verbs whose work takes minutes, or that serve until they are stopped: they are given lines that end at the door.
LONG = ("bench", "mode-map", "frequency-response", "matrices", "studio")


def run(seed: int, folder: Path) -> Outcome:
    """One line, run as the command runs it."""
    random = Random(f"line {seed}")
    (folder / "reed.yaml").write_text(REED)
    (folder / "broken.yaml").write_text("links: [")
    line = random_line(random)
    (folder / "line.txt").write_text(repr(line))
    code, out, err = answer(line)
    label = "command lines"
    if code not in CODES:
        return violation(label, f"exit code {code}: {line}\n{err[-2000:]}")
    for word in ("Traceback", UNEXPECTED, "Warning:", "\x1b"):
        if word in err or word in out:
            return violation(label, f"{word!r} in the answer to {line}\n{err[-3000:]}")
    if code == 2 and not (out + err).strip():
        return violation(label, f"refused without a word: {line}")
    return Outcome("refused" if code else "accepted", label, f"{line}\n{err[-500:]}")


def answer(line: list[str]) -> tuple[Any, str, str]:
    """Exit code, stdout and stderr of a command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(line)
        except SystemExit as leaving:
            code = leaving.code
    return code, out.getvalue(), err.getvalue()


def random_line(random: Random) -> list[str]:
    """The words of a line."""
    name, command = random.choice(list(commands()))
    words = list(name)
    if random.random() < 0.05:
        words = [random.choice(("simulat", "", "--", "help", "-h", "robots"))]
    words += arguments(command, random)
    if not set(words) & set(LONG) and random.random() < 0.6:
        words += options(command, random)
    else:
        words += [*options(command, random), "--no-such-option"]
    return short(words, random)


def short(words: list[str], random: Random) -> list[str]:
    """A run that starts after all is a short one."""
    if "simulate" in words[:1]:
        words += ["--t-end", random.choice(("0.002", "0.01", "1e-9", "0.0101"))]
    elif "run" in words[:2]:
        words += ["--set", "t_end=0.004"]
    return words


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Names of all verbs, those of `control` too, and what they take."""
    whole: Any = typer.main.get_command(cli.app.complete())
    for name, command in whole.commands.items():
        nested = getattr(command, "commands", None)
        if nested is None:
            yield (name,), command
            continue
        for inner, inner_command in nested.items():
            yield (name, inner), inner_command


def arguments(command: Any, random: Random) -> list[str]:
    """Words for the arguments, sometimes none and sometimes too many."""
    wanted = [one for one in command.params if one.param_type_name == "argument"]
    count = len(wanted) + random.choice((0, 0, 0, 0, 0, 0, 0, -1, 1))
    return [random.choice(SOURCES) for _ in range(max(count, 0))]


def options(command: Any, random: Random) -> list[str]:
    """Some options with values."""
    known = [one for one in command.params if one.param_type_name == "option"]
    words: list[str] = []
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        if not known:
            break
        option = random.choice(known)
        name = random.choice([*option.opts, *option.secondary_opts])
        if name == "--help" and random.random() < 0.7:
            continue
        words.append(name)
        if not getattr(option, "is_flag", False):
            words.append(value_for(name, random))
    return words


def value_for(name: str, random: Random) -> str:
    """A value, right or wrong."""
    if name == "--set":
        value = random.choice((*WORDS, *map(str, ODD_VALUES)))
        equals = random.choice(("=", "=", "=", "=", " ", "=="))
        return f"{random.choice(PATHS)}{equals}{value[:200]}"
    return random.choice(WORDS)
