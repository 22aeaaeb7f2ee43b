"""What an import found, line by line: passed or failed, why, and what to do about it."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Verdict = Literal["pass", "warn", "fail"]
PASS, WARN, FAIL = "pass", "warn", "fail"


@dataclass(frozen=True)
class Line:
    """One check: what was found and, unless it passed, what to do."""

    name: str
    verdict: Verdict
    text: str
    fix: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.verdict:4}  {self.name}: {self.text}" + (
            f"\n      fix: {self.fix}" if self.fix else ""
        )


@dataclass(frozen=True)
class Report:
    """The checks of one import."""

    source: str
    lines: tuple[Line, ...]

    @property
    def passed(self) -> bool:
        """True if no check failed; remarks are allowed."""
        return all(line.verdict != FAIL for line in self.lines)

    def __getitem__(self, name: str) -> Line:
        """The line of that name."""
        return next(line for line in self.lines if line.name == name)

    def __contains__(self, name: str) -> bool:
        return any(line.name == name for line in self.lines)

    def __str__(self) -> str:
        count = sum(line.verdict == FAIL for line in self.lines)
        end = (
            "all checks passed"
            if self.passed
            else f"{count} check{'s' if count > 1 else ''} failed"
        )
        return "\n".join([self.source, *map(str, self.lines), end])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON knows it."""
        lines = [
            {
                "name": l.name,
                "verdict": l.verdict,
                "text": l.text,
                "fix": l.fix,
                "values": _plain(l.values),
            }
            for l in self.lines
        ]
        return {"source": self.source, "passed": self.passed, "lines": lines}


def report_of(content: dict[str, Any]) -> Report:
    """The report that `to_dict` made plain."""
    lines = (
        Line(l["name"], l["verdict"], l["text"], l["fix"], l["values"])
        for l in content["lines"]
    )
    return Report(content["source"], tuple(lines))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return (
        [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value
    )
