"""The counts of a run, and its one table."""

from collections import Counter, defaultdict

from .kinds import KINDS
from .outcome import BAD, GOOD, Case, Outcome

COLUMNS = ("count", *GOOD, "tracebacks", "violations", "hangs", "crashes", "slowest")


class Tally:
    """What has been run, and how it ended."""

    def __init__(self):
        self.cases: Counter[str] = Counter()  # by kind
        self.seconds: Counter[str] = Counter()  # by kind
        self.rows: defaultdict[str, Counter] = defaultdict(Counter)  # by label
        self.slowest: defaultdict[str, float] = defaultdict(float)
        self.robots: set[str] = set()
        self.structures: set[str] = set()
        self.failures = 0

    def add(self, case: Case, outcome: Outcome) -> None:
        """Counts one case."""
        label = outcome.label or case.kind
        self.cases[case.kind] += 1
        self.seconds[case.kind] += outcome.seconds
        self.rows[label][outcome.verdict] += outcome.count
        self.rows[label]["count"] += outcome.count
        self.slowest[label] = max(self.slowest[label], outcome.seconds)
        self.failures += not outcome.is_good
        if case.kind == "robots" and outcome.names:
            structure, *robots = outcome.names
            self.structures.add(structure)
            self.robots.update(f"{structure} {robot}" for robot in robots)

    def total(self, verdict: str) -> int:
        """Of a column, over all rows."""
        return sum(row[verdict] for row in self.rows.values())

    @property
    def files(self) -> int:
        """Broken files that were opened."""
        return self.cases["files"]

    def table(self) -> str:
        """One row for each label, and what is promised of a run at the end."""
        lines = [_line("", COLUMNS)]
        for label in sorted(self.rows):
            row = self.rows[label]
            numbers = [str(row[name]) for name in ("count", *GOOD, *BAD)]
            lines.append(_line(label, [*numbers, f"{self.slowest[label]:.1f} s"]))
        sums = [str(self.total(name)) for name in ("count", *GOOD, *BAD)]
        lines.append(_line("all", [*sums, ""]))
        lines.append("")
        lines += [self.headline(), self.hours()]
        return "\n".join(lines)

    def headline(self) -> str:
        """The promise in one line."""
        bad = [
            f"{self.total(name)} {word}"
            for name, word in zip(BAD, COLUMNS[3:7], strict=True)
        ]
        done = f"{self.files} files, {len(self.robots)} robots over {len(self.structures)} structures"
        return f"{done}: {', '.join(bad)}"

    def hours(self) -> str:
        """How the time was spent."""
        parts = [
            f"{self.seconds[name]:.0f} s {kind.unit}" for name, kind in KINDS.items()
        ]
        return f"time: {', '.join(parts)}"


def _line(label: str, cells) -> str:
    return f"{label:38s}" + "".join(f"{cell:>12s}" for cell in cells)
