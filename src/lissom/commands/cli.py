"""The command `lissom`: parses, prints, and says by its exit code how it went."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .analysis import modes, static
from .bench import bench
from .interrupt import leaving_at_once
from .library import robots, show, validate
from .linear import frequency_response, linearize, mode_map
from .output import note, print_json
from .reduce import reduce
from .simulate import simulate

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
STOPPED = {"kind": "interrupted", "message": "interrupted"}
DEBUG = "--debug"  # may stand anywhere on the line

app = typer.Typer(
    name="lissom",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> bool:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lissom {version('lissom')}")
        raise typer.Exit
    return wanted


@app.callback()
def lissom(
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show the traceback of an error.")
    ] = False,
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
    """Robots whose links bend: describe one in a file, watch it move and vibrate.

    First steps: lissom robots, lissom show anthropomorphic -o robot.png, lissom simulate double-pendulum --plot run.png

    Exit codes: 0 ok, 1 the analysis failed, 2 bad input, 130 interrupted.
    """


VERBS = (
    robots,
    show,
    validate,
    simulate,
    static,
    modes,
    linearize,
    mode_map,
    frequency_response,
    reduce,
    bench,
)
for command in VERBS:
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (`sys.argv` by default) and returns its exit code."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    debug, line = DEBUG in line, [word for word in line if word != DEBUG]
    as_json = "--json" in line
    try:
        with leaving_at_once(lambda: report(STOPPED, as_json), INTERRUPTED):
            code = app(line or ["--help"], prog_name="lissom", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # some versions of typer turn Ctrl-C into this code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else OK
    except BrokenPipeError:  # the reader of our output has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (Exception, KeyboardInterrupt) as failure:
        if debug:
            traceback.print_exc()
        code, error = explained(failure)
        report(error, as_json)
        return code


def explained(failure: BaseException) -> tuple[int, dict[str, Any]]:
    """Exit code of a failure, and what to say about it: kind, message, and details where there are any."""
    from ..describe import DescriptionError
    from ..services.service import FailedRun, errors_of

    if isinstance(failure, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED, STOPPED
    if isinstance(failure, FailedRun):
        code, kind = (
            (INTERRUPTED, "interrupted")
            if failure.interrupted
            else (FAILED, "analysis failed")
        )
        return code, {"kind": kind, "message": str(failure), "partial": failure.details}
    if isinstance(failure, DescriptionError):
        return BAD_INPUT, {
            "kind": "bad input",
            "message": str(failure),
            "errors": errors_of(failure),
        }
    if hasattr(
        failure, "format_message"
    ):  # the line itself: an unknown option, a missing argument
        return BAD_INPUT, {"kind": "bad input", "message": _usage(failure)}
    return _unforeseen(failure)


def _usage(failure: Any) -> str:
    """What is wrong with the command line, and where to read how it goes."""
    context = getattr(failure, "ctx", None)
    command = "lissom" if context is None else context.command_path
    return f"{failure.format_message().rstrip('.')}. Try '{command} --help'."


def _unforeseen(failure: BaseException) -> tuple[int, dict[str, Any]]:
    """Failures of the analysis itself, told by their classes; these are imported only now that one is there."""
    from ..kinematics.loops.assembly import AssemblyError
    from ..solve.model import EquilibriumError, UndefinedReferenceError

    if isinstance(failure, UndefinedReferenceError | AssemblyError):
        return BAD_INPUT, {"kind": "bad input", "message": str(failure)}
    if isinstance(failure, EquilibriumError):
        advice = "Try another --q, a stiffer link, or less load."
        return FAILED, {"kind": "analysis failed", "message": f"{failure}. {advice}"}
    if getattr(failure, "told", False):
        return FAILED, {"kind": "analysis failed", "message": str(failure)}
    if isinstance(failure, OSError):
        return FAILED, {
            "kind": "analysis failed",
            "message": f"cannot read or write: {failure}",
        }
    reason = f"{type(failure).__name__}: {failure}".strip().partition("\n")[0]
    return FAILED, {
        "kind": "analysis failed",
        "message": f"{reason} (add {DEBUG} for the traceback)",
    }


def report(error: dict[str, Any], as_json: bool) -> None:
    """The error as JSON on stdout, or in words on stderr."""
    if as_json:
        return print_json({"error": error})
    for line in error["message"].splitlines():
        note(f"error: {line}" if error["kind"] != "interrupted" else line)
    for kind, path in error.get("partial", {}).get("files", {}).items():
        note(f"{kind}, marked incomplete: {path}")


if __name__ == "__main__":
    sys.exit(main())
