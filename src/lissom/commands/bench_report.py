"""A report of measurements that is filled part by part: shown, written, and kept where it is interrupted."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..atomic import write_atomically
from ..compiled_code import keep_compiled_code
from ..runs.output_files import check_outputs
from .interrupt import in_thread, reporting_first
from .output import print_json

WRITTEN = (".md", ".json")
CIRCUMSTANCES = {"machine", "compiled_code"}  # what a report holds beside numbers

Report = dict[str, Any]
Fill = Callable[[Report, Callable[[], None], "Line"], None]


class Line:
    """What is going on, in one line on a terminal's stderr; elsewhere a line for each robot that is done."""

    def __init__(self, quiet: bool = False):
        self.head = ""
        self._is_terminal = sys.stderr.isatty()
        self._quiet = quiet

    def __call__(self, text: str) -> None:
        """Shows what is going on now, on a terminal."""
        # Back to the start of the line, and clear it.
        if self._is_terminal:
            shown = f"{self.head}{text}" if text else ""
            print(f"\r\x1b[2K{shown}", end="", file=sys.stderr, flush=True)

    def ended(self, text: str) -> None:
        """Tells of a robot that is done, where no line can show what is going on."""
        if not self._is_terminal and not self._quiet:
            print(f"{self.head}{text}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away."""
        self("")


def check_output(output: Path) -> None:
    """Refuses a file that cannot be written, before anything is measured.

    Raises:
        DescriptionError: another ending, or no such folder.
    """
    check_outputs({"--output": (str(output), WRITTEN)})


def filled_report(
    fill: Fill, output: Path | None, as_json: bool, makers: Any = None
) -> Report:
    """A report that `fill(report, keep, tell)` has filled, shown and written; interrupted, as far as it came.

    Args:
        fill: adds parts to the report; calls `keep` after each that is worth keeping.
        output: `.md` or `.json`, written whenever `keep` is called.
        as_json: print one JSON object in place of tables.
        makers: tables by the name of the part that they show; those of `lissom bench` by default.
    """
    from ..bench.report_tables import MAKERS, as_markdown, print_report

    makers = MAKERS if makers is None else makers
    report: Report = {}

    def keep() -> None:
        if output is None or not report.keys() - CIRCUMSTANCES:
            return
        text = as_markdown(report, makers)
        if output.suffix.lower() == ".json":
            text = json.dumps(report, indent=2) + "\n"
        write_atomically(output, lambda file: file.write(text.encode()))

    def show_what_there_is() -> None:
        # What was measured so far took its time.
        keep()
        if not as_json:
            print_report(report, makers)

    def measure() -> None:
        _measure(report, fill, keep, Line(as_json))

    try:
        with reporting_first(show_what_there_is):
            # XLA compiles for a minute and hears no signal meanwhile.
            in_thread(measure)
    except Exception:
        show_what_there_is()
        raise
    keep()
    if as_json:
        print_json(report)
    else:
        print_report(report, makers)
    return report


def _measure(report: Report, fill: Fill, keep: Callable[[], None], tell: Line) -> None:
    """Fills the report, and says on what machine and with what compiled code."""
    from ..bench.machine import machine_facts

    kept = keep_compiled_code()
    report["machine"] = machine_facts()
    report["compiled_code"] = kept.report()

    def keep_with_counts() -> None:
        report["compiled_code"] = kept.report()
        keep()

    try:
        fill(report, keep_with_counts, tell)
    finally:
        tell.clear()
        report["compiled_code"] = kept.report()
