"""Report of an import: for each check whether it passed, why, and what to do."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from ...files.summary import Summary

Verdict = Literal["pass", "warn", "fail"]
PASS, WARN, FAIL = "pass", "warn", "fail"
FREQUENCIES = ("mode", "full [Hz]", "reduced [Hz]", "error [%]", "MAC")


@dataclass(frozen=True)
class ReportLine:
    """Result of one check: what was found and, unless it passed, what to do."""

    name: str
    verdict: Verdict
    text: str
    fix: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        text = f"{self.verdict:4}  {self.name}: {self.text}"
        return f"{text}\n      fix: {self.fix}" if self.fix else text


def checked_line(
    name: str, good: bool, text: str, fix: str, values: dict[str, Any] | None = None
) -> ReportLine:
    """The line of a check that passes or fails; the remedy is said only where it fails."""
    if good:
        return ReportLine(name, PASS, text, values=values or {})
    return ReportLine(name, FAIL, text, fix, values or {})


@dataclass(frozen=True)
class ImportReport:
    """The checks of one import."""

    source: str
    lines: tuple[ReportLine, ...]  # in the order in which they were checked

    @property
    def passed(self) -> bool:
        """True if no check failed; remarks are allowed."""
        return all(line.verdict != FAIL for line in self.lines)

    def __getitem__(self, name: str) -> ReportLine:
        """The line of that name."""
        return next(line for line in self.lines if line.name == name)

    def __contains__(self, name: str) -> bool:
        return any(line.name == name for line in self.lines)

    def __str__(self) -> str:
        failed = sum(line.verdict == FAIL for line in self.lines)
        if failed == 0:
            end = "all checks passed"
        elif failed == 1:
            end = "1 check failed"
        else:
            end = f"{failed} checks failed"
        lines = [str(line) for line in self.lines]
        return "\n".join([self.source, *lines, end])

    def tables(self) -> Iterator[Summary]:
        """Frequencies of the full and the reduced link side by side."""
        for line in self.lines:
            if line.name.startswith("frequencies"):
                yield Summary(line.name, (), FREQUENCIES, _frequency_rows(line.values))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON knows it."""
        lines = [_plain(asdict(line)) for line in self.lines]
        return {
            "source": self.source,
            "passed": self.passed,
            "lines": lines,
        }


def _frequency_rows(values: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    rows = []
    for k, full in enumerate(values["full_hz"]):
        row = (
            str(k + 1),
            f"{full:.4f}",
            f"{values['reduced_hz'][k]:.4f}",
            f"{100 * values['error'][k]:.4f}",
            f"{values['mac'][k]:.5f}",
        )
        rows.append(row)
    return tuple(rows)


def _plain(value: Any) -> Any:
    """Arrays as lists, keys as texts."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    # Numbers of NumPy (np.generic) are not those that JSON knows.
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value
