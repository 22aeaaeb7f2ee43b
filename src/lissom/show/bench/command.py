"""The command `lissom bench`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

PHYSICS = "physics"
EXTRA = "needs Exudyn and Pinocchio: pip install 'lissom[peers]'"


def register(app: typer.Typer) -> None:
    """Adds `lissom bench` to the command line."""
    app.command("bench")(bench)


def bench(
    cases: Annotated[
        list[str] | None,
        typer.Argument(help="Library scenarios or files; default: every robot of the library. `physics`: the physics table."),
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help=f"The same cases in other programs; {EXTRA}.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    repeat: Annotated[int, typer.Option(min=1, max=100, help="Warm runs; median and best are reported.")] = 3,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Also write the tables: .md or .json.")] = None,
) -> None:
    """Times runs with the accuracy they reach, alone or beside other programs, or checks numbers against known ones.

    With --peers and no CASE, only the comparison is run. Interrupted, it prints what it has measured so far.
    """
    report: dict[str, Any] = {}
    problem = _wrong_request(cases or [], peers, output)
    if problem:
        _end({"error": problem}, as_json, 2)
    code = _measure(report, cases or [], peers, repeat)
    if output is not None and code == 0:
        _write(report, output)
    _end(report, as_json, code)


def _wrong_request(cases: list[str], peers: bool, output: Path | None) -> str | None:
    """What is wrong with a request, found before anything is computed."""
    if output is not None:
        if output.suffix not in (".md", ".json"):
            return f"{output}: the tables are written as .md or .json"
        if not output.parent.is_dir():
            return f"{output}: no such folder"
    if peers:
        from .peers import missing_peers

        missing = missing_peers()
        if missing:
            return f"--peers {EXTRA} ({', '.join(missing)} not found)"
    from ...describe import DescriptionError, Scenario

    problems = []
    for case in cases:
        try:
            case == PHYSICS or Scenario.load(case)
        except DescriptionError as failure:
            problems.append(str(failure))
    return "\n".join(problems) or None


def _measure(report: dict[str, Any], cases: list[str], peers: bool, repeat: int) -> int:
    """Fills the report part by part, so that an interrupt keeps what is there; returns the exit code."""
    from ..cache import keep_compiled_code
    from ..run import SimulationError
    from .cases import default_cases, measure_case
    from .machine import machine_facts

    kept, tell = keep_compiled_code(), _Line()
    report["machine"] = machine_facts()
    named = [case for case in cases if case != PHYSICS] or (() if cases or peers else default_cases())
    code = 0
    try:
        if PHYSICS in cases:
            from .physics import physics_rows

            report["physics"] = []
            report["physics"].extend(physics_rows(tell))
        if named:
            report["cases"] = []
        for case in named:
            report["cases"].append(measure_case(case, repeat, tell))
        if peers:
            from .peers import measure_peers

            measure_peers(report, repeat, tell)
    except KeyboardInterrupt:
        report["error"], code = "interrupted; the numbers above were finished", 130
    except (SimulationError, RuntimeError, ArithmeticError) as failure:
        report["error"], code = str(failure), 1
    finally:
        tell.clear()
    report["compiled_code"] = kept.report()
    return code


class _Line:
    """What is going on, in one line on a terminal's stderr; silence elsewhere."""

    def __call__(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away."""
        self("")


def _write(report: dict[str, Any], output: Path) -> None:
    from ..atomic import write_atomically
    from .tables import as_markdown

    text = json.dumps(report, indent=2) + "\n" if output.suffix == ".json" else as_markdown(report)
    write_atomically(output, lambda file: file.write(text.encode()))


def _end(report: dict[str, Any], as_json: bool, code: int) -> None:
    """Prints the report and leaves."""
    if as_json:
        print(json.dumps(report))
    else:
        from .tables import print_report

        print_report(report)
    raise typer.Exit(code)
