"""A report of measurements, filled part by part: shown, and written, also when it is interrupted."""

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
# Parts of a report that are no measurements.
CIRCUMSTANCES = {"machine", "compiled_code"}

Report = dict[str, Any]
Fill = Callable[[Report, Callable[[], None], "Line"], None]


class Line:
    """What is measured now, in one line on a terminal's stderr; elsewhere a line for each finished robot."""

    def __init__(self, quiet: bool = False):
        self.head = ""
        self._is_terminal = sys.stderr.isatty()
        self._quiet = quiet

    def __call__(self, text: str) -> None:
        """Shows on a terminal what is measured now."""
        # Back to the start of the line, and clear it.
        if self._is_terminal:
            shown = f"{self.head}{text}" if text else ""
            print(f"\r\x1b[2K{shown}", end="", file=sys.stderr, flush=True)

    def finished(self, text: str) -> None:
        """Reports a finished robot where no line shows what is measured."""
        if not self._is_terminal and not self._quiet:
            print(f"{self.head}{text}", file=sys.stderr, flush=True)


def check_output(output: Path) -> None:
    """Refuses a file that cannot be written, before anything is measured.

    Raises:
        DescriptionError: another ending, or no such folder.
    """
    check_outputs({"--output": (str(output), WRITTEN)})


def filled_report(
    fill: Fill, output: Path | None, as_json: bool, makers: Any = None
) -> Report:
    """The report that `fill(report, save, log)` fills, shown and written; if interrupted, its finished parts.

    Args:
        fill: adds parts to the report; calls `save` after each that is worth writing.
        output: `.md` or `.json`, written whenever `save` is called.
        as_json: print one JSON object in place of tables.
        makers: tables by the name of the part that they show; those of `lissom bench` by default.
    """
    from ..bench.machine import machine_facts
    from ..bench.report_tables import MAKERS, as_markdown, print_report

    makers = makers or MAKERS
    code = keep_compiled_code()
    report: Report = {"machine": machine_facts(), "compiled_code": code.report()}
    log = Line(as_json)

    def save() -> None:
        report["compiled_code"] = code.report()
        if output is None or report.keys() <= CIRCUMSTANCES:
            return
        text = as_markdown(report, makers)
        if output.suffix.lower() == ".json":
            text = json.dumps(report, indent=2) + "\n"
        write_atomically(output, lambda file: file.write(text.encode()))

    def conclude() -> None:
        save()
        log.head = ""
        log("")
        if not as_json:
            print_report(report, makers)

    try:
        with reporting_first(conclude):
            # XLA compiles for a minute, and no signal is handled meanwhile.
            in_thread(lambda: fill(report, save, log))
    except Exception:
        conclude()
        raise
    conclude()
    if as_json:
        print_json(report)
    return report
