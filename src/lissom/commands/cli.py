"""The command `lissom`: parses, prints, and returns an exit code."""

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
from ..solve.model import (
    EquilibriumError,
    IndefiniteInertiaError,
    UndefinedReferenceError,
)
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
CTRL_C = 130  # as shells have it: 128 and the number of the signal
# Kinds of failures.
INTERRUPTED = "interrupted"
ANALYSIS_FAILED = "analysis failed"
NOT_SAVED = "not saved"  # of a run that is complete
STOPPED = {"kind": INTERRUPTED, "message": "interrupted"}
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


app.command("bench")(bench)
app.command("studio")(studio)
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

    def fail(code: int, error: dict[str, Any]) -> int:
        """Reports a failure, as far as anyone reads it, and returns the exit code."""
        if clock.expired and error["kind"] == INTERRUPTED:
            code, error = FAILED, {**error, **_error("time is up", clock.message)}
        try:
            report(error, as_json)
            flush()
        except OSError:
            # A full disk, or a closed stdout: the message still goes to stderr.
            drop_output()
            if as_json:
                note(error["message"])
        return code

    def stop() -> int:
        """Reports why the process ends in the middle of its work, and returns the exit code."""
        return fail(exit_code(), STOPPED)

    try:
        line, clock.limit = wall_limit(line)
        line, folders = package_folders(line)
        name = f"lissom {line[0]}" if line else "lissom"
        # Not standalone: typer would print its own errors and leave, here they are reported like all others.
        with (
            without_warnings(debug),
            logging_to_stderr(debug),
            known_packages(folders),
            leaving_at_once(stop),
            running(clock, name, stop),
        ):
            code = app(line or ["--help"], prog_name="lissom", standalone_mode=False)
        flush()
        # Some versions of typer return this code after Ctrl-C.
        if code == CTRL_C:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else OK
    except (BrokenPipeError, SystemExit) as leaving:
        # The reader of our output has closed the pipe, as `head` does; rich and click then raise SystemExit.
        if BrokenPipeError not in (type(leaving), type(leaving.__context__)):
            raise
        drop_output()
        return OK
    except (Exception, KeyboardInterrupt) as failure:
        if debug:
            traceback.print_exc()
        return fail(*explained(failure))


@contextmanager
def logging_to_stderr(wanted: bool) -> Iterator[None]:
    """Context in which the package's log goes to stderr, such as what falls back to XLA."""
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


def explained(failure: BaseException) -> tuple[int, dict[str, Any]]:
    """Exit code and report of a failure: kind, message, and details where there are any."""
    if isinstance(failure, typer.Abort) and isinstance(failure.__cause__, EOFError):
        # typer takes it for Ctrl-D at a prompt. No command prompts: a file ended too early.
        failure = failure.__cause__
    message = str(failure)
    if isinstance(failure, KeyboardInterrupt | typer.Abort):
        return exit_code(), STOPPED
    if isinstance(failure, FailedRun):
        partial = plain(failure.result)
        if isinstance(failure, UnsavedRun):
            return FAILED, _error(NOT_SAVED, message, partial=partial)
        if failure.interrupted:
            return exit_code(), _error(INTERRUPTED, message, partial=partial)
        return FAILED, _error(ANALYSIS_FAILED, message, partial=partial)
    if isinstance(failure, DescriptionError):
        return BAD_INPUT, _error("bad input", message, errors=plain(failure.problems))
    if isinstance(failure, UsageError):
        return BAD_INPUT, _error("bad input", _usage(failure))
    is_missing = isinstance(failure, ModuleNotFoundError) and "pip install" in message
    if is_missing or isinstance(failure, UndefinedReferenceError | AssemblyError):
        return BAD_INPUT, _error("bad input", message)
    if isinstance(failure, AnalysisError | IndefiniteInertiaError):
        return FAILED, _error(ANALYSIS_FAILED, message)
    if isinstance(failure, EquilibriumError):
        message += ". Try another --q, a stiffer link, or less load."
        known = () if failure.robot is None else robot_warnings(failure.robot)
        partial = {"warnings": list(warning_lines(known))}
        return FAILED, _error(ANALYSIS_FAILED, message, partial=partial)
    if isinstance(failure, OSError):
        return FAILED, _error(ANALYSIS_FAILED, f"cannot read or write: {message}")
    reason = f"{type(failure).__name__}: {message}".strip().partition("\n")[0]
    message = f"{reason} (add {DEBUG} for the traceback)"
    return FAILED, _error(ANALYSIS_FAILED, message)


def _error(kind: str, message: str, **details: Any) -> dict[str, Any]:
    return {"kind": kind, "message": message, **details}


def _usage(failure: Any) -> str:
    """What is wrong with the command line, and the help that explains it."""
    command = "lissom" if failure.ctx is None else failure.ctx.command_path
    return f"{failure.format_message().rstrip('.')}. Try '{command} --help'."


def report(error: dict[str, Any], as_json: bool) -> None:
    """The error as JSON on stdout, or in words on stderr; missing files are reported in both places."""
    is_complete = error["kind"] == NOT_SAVED
    if as_json:
        print_json({"error": error})
    if is_complete or not as_json:
        for line in error["message"].splitlines():
            note(line if error["kind"] == INTERRUPTED else f"error: {line}")
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
