"""Failing cases on disk: the files, what went wrong, and the command that makes it again."""

import re
import shutil
from collections import Counter
from pathlib import Path

from .outcome import Case, Outcome

KEPT = 3  # cases of one and the same fault
NUMBERS = re.compile(r"\d+(\.\d+)?")


class FailureFolder:
    """Where failing cases go."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.seen: Counter[str] = Counter()

    def keep(self, case: Case, outcome: Outcome, files: Path) -> str:
        """Writes a case down, unless its like is there already; says so in a line."""
        fault = outcome.text.strip().splitlines() or [""]
        place = " ".join(
            line.strip() for line in fault if line.strip().startswith("File")
        )
        alike = NUMBERS.sub("#", f"{outcome.verdict} {place[-300:]} {fault[-1][:80]}")
        self.seen[alike] += 1
        line = f"{outcome.verdict}: {outcome.label}: {fault[-1][:200]}"
        if self.seen[alike] > KEPT:
            return f"{line} (case {case}, the {self.seen[alike]}th of its kind)"
        target = self.folder / f"{case.kind}-{case.seed}"
        shutil.rmtree(target, ignore_errors=True)
        if files.is_dir():
            shutil.copytree(files, target, symlinks=True)
        target.mkdir(parents=True, exist_ok=True)
        (target / "report.txt").write_text(
            f"{outcome.verdict}: {outcome.label}\nagain: {again(case)}\n\n{outcome.text}\n"
        )
        return f"{line} ({target}; again: {again(case)})"


def again(case: Case) -> str:
    """The command that runs a case once more."""
    return f"make fuzz REPLAY={case}"
