"""The command `lissom`: parses, prints, and says by its exit code how it went."""

import logging
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from .. import __version__
from ..analyse.validity.description import robot_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe import DescriptionError
from ..files.named_files import known_packages
from ..files.summary import plain
from ..kinematics.loops.assembly import AssemblyError
from ..runs.failures import AnalysisError, FailedRun, UnsavedRun
from ..solve.model import EquilibriumError, UndefinedReferenceError
from .app import App
from .bench import bench
from .interrupt import exit_code, leaving_at_once
from .output import note, print_json
from .parsing import PACKAGE, package_folders
from .streams import (
    drop_output,
    flush,
    open_closed_streams,
    without_warnings,
    write_any_character,
)
from .studio import studio
from .wall_clock import MAX_WALL, WallClock, running, wall_limit

# Exit codes.
OK = 0
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130  # as shells have it: 128 and the number of the signal
STOPPED = {"kind": "interrupted", "message": "interrupted"}
NOT_SAVED = "not saved"  # kind of the failure of a run that is complete
DEBUG = "--debug"  # may stand anywhere on the line

app = App(
    name="lissom",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"lissom {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def lissom(
    debug: Annotated[
        bool,
        typer.Option(
            DEBUG,
            help="Show tracebacks of errors, and log what falls back to XLA.",
        ),
    ] = False,
    max_wall: Annotated[
        float | None,
        typer.Option(
            MAX_WALL,
            metavar="SECONDS",
            help="Stop after this time, with exit code 1; an unfinished run is saved. Accepted anywhere on"
            " the command line.",
        ),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(
            PACKAGE,
            metavar="NAME=DIR",
            help="Also allow files to refer to this folder, as package://NAME/path. Accepted anywhere on "
            "the command line.",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Simulate robots with flexible links: describe a robot in a file, then compute its motion and vibration.

    First steps: lissom robots, lissom show anthropomorphic -o robot.png, lissom simulate double-pendulum --plot run.png

    Exit codes: 0 success, 1 the analysis failed, 2 bad input, 130 interrupted.
    """


VERBS = (
    bench,
    studio,
)
# A verb is called as its function is, with dashes: `mode_map` is `lissom mode-map`.
for command in VERBS:
    app.command(command.__name__.replace("_", "-"))(command)
# Groups of verbs.
app.add_typer(
    typer.Typer(no_args_is_help=True, add_completion=False),
    name="control",
    help="Design, run and compare controllers.",
)


# All that can be wrong with a command line itself (an unknown option, a missing argument) is a usage error; typer
# exports the class only as the parent of this one.
UsageError: Any = typer.BadParameter.__base__


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (`sys.argv` by default) and returns its exit code."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in line
    line = [word for word in line if word != DEBUG]
    as_json = "--json" in line
    open_closed_streams()
    write_any_character()
    clock = WallClock()
    try:
        line, clock.limit = wall_limit(line)
        line, folders = package_folders(line)
        name = f"lissom {line[0]}" if line else "lissom"
        # Not standalone: typer would print its own errors and leave, here they are told like all others.
        with (
            without_warnings(debug),
            telling(debug),
            known_packages(folders),
            leaving_at_once(lambda: _say_stopped(clock, as_json)),
            running(clock, name, lambda: _say_stopped(clock, as_json)),
        ):
            code = app(line or ["--help"], prog_name="lissom", standalone_mode=False)
        flush()
        # Some versions of typer turn Ctrl-C into this code.
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else OK
    except BrokenPipeError:
        # The reader of our output has had enough, as `head` has.
        drop_output()
        return OK
    except SystemExit as leaving:
        # So do rich and click leave when a pipe breaks.
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        drop_output()
        return OK
    except (Exception, KeyboardInterrupt) as failure:
        if debug:
            traceback.print_exc()
        code, error = explained(failure)
        if clock.expired and error["kind"] == STOPPED["kind"]:
            code, error = FAILED, {**error, **_error("time is up", clock.message)}
        return _reported(error, as_json, code)


@contextmanager
def telling(wanted: bool) -> Iterator[None]:
    """While it lasts, what the package notes goes to standard error, such as what has no native form."""
    if not wanted:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    log = logging.getLogger("lissom")
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def _reported(error: dict[str, Any], as_json: bool, code: int) -> int:
    """The exit code of a failure that has been told, as far as anyone listens."""
    try:
        report(error, as_json)
        flush()
    except OSError:
        # A full disk, or a reader that has gone: the code is all that is left to say, beside a word on stderr.
        drop_output()
        if as_json:
            note(error["message"])
    return code


def _say_stopped(clock: WallClock, as_json: bool) -> int:
    """Tells why the process ends in the middle of its work, and gives the exit code."""
    if not clock.expired:
        return _reported(STOPPED, as_json, exit_code())
    return _reported(_error("time is up", clock.message), as_json, FAILED)


def explained(failure: BaseException) -> tuple[int, dict[str, Any]]:
    """Exit code of a failure, and what to say about it: kind, message, and details where there are any."""
    if isinstance(failure, typer.Abort) and isinstance(failure.__cause__, EOFError):
        # typer takes it for Ctrl-D where something was asked. No command asks: a file ended too early.
        failure = failure.__cause__
    if isinstance(failure, KeyboardInterrupt | typer.Abort):
        return exit_code(), STOPPED
    if isinstance(failure, FailedRun):
        partial = plain(failure.result)
        if isinstance(failure, UnsavedRun):
            return FAILED, _error(NOT_SAVED, str(failure), partial=partial)
        if failure.interrupted:
            return exit_code(), _error("interrupted", str(failure), partial=partial)
        return FAILED, _error("analysis failed", str(failure), partial=partial)
    if isinstance(failure, DescriptionError):
        errors = plain(failure.problems)
        return BAD_INPUT, _error("bad input", str(failure), errors=errors)
    if isinstance(failure, UsageError):
        return BAD_INPUT, _error("bad input", _usage(failure))
    if isinstance(failure, AnalysisError):
        return FAILED, _error("analysis failed", str(failure))
    return _failed_analysis(failure)


def _error(kind: str, message: str, **details: Any) -> dict[str, Any]:
    return {"kind": kind, "message": message, **details}


def _usage(failure: Any) -> str:
    """What is wrong with the command line, and where to read how it goes."""
    command = "lissom" if failure.ctx is None else failure.ctx.command_path
    return f"{failure.format_message().rstrip('.')}. Try '{command} --help'."


def _failed_analysis(failure: BaseException) -> tuple[int, dict[str, Any]]:
    """Failures of the analysis itself."""
    if isinstance(failure, UndefinedReferenceError | AssemblyError):
        return BAD_INPUT, _error("bad input", str(failure))
    if isinstance(failure, EquilibriumError):
        advice = "Try another --q, a stiffer link, or less load."
        message = f"{failure}. {advice}"
        partial = {"warnings": _warnings(failure.robot)}
        return FAILED, _error("analysis failed", message, partial=partial)
    if isinstance(failure, OSError):
        return FAILED, _error("analysis failed", f"cannot read or write: {failure}")
    if isinstance(failure, ModuleNotFoundError) and "pip install" in str(failure):
        return BAD_INPUT, _error("bad input", str(failure))
    reason = f"{type(failure).__name__}: {failure}".strip().partition("\n")[0]
    message = f"{reason} (add {DEBUG} for the traceback)"
    return FAILED, _error("analysis failed", message)


def _warnings(robot: Any) -> list[str]:
    """Warnings about a robot that failed."""
    return [] if robot is None else list(warning_lines(robot_warnings(robot)))


def report(error: dict[str, Any], as_json: bool) -> None:
    """The error as JSON on stdout, or in words on stderr; that files are missing is said in both places."""
    is_complete = error["kind"] == NOT_SAVED
    if as_json:
        print_json({"error": error})
    if is_complete or not as_json:
        for line in error["message"].splitlines():
            note(line if error["kind"] == "interrupted" else f"error: {line}")
    if as_json:
        return
    partial = error.get("partial", {})
    for line in partial.get("warnings", ()):
        note(f"warning: {line}")
    # The files of a complete run have been shown with its end.
    saved = {} if is_complete else partial.get("files", {})
    for kind, path in saved.items():
        note(f"{kind}, marked incomplete: {path}")


if __name__ == "__main__":
    sys.exit(main())
