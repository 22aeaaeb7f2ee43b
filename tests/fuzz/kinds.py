"""The kinds of cases: what runs them, how long one may take, and what share of the time they get."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from .outcome import Case, Outcome

# Seeds of robots between the beginnings of two runs' agendas.
ROUND = 1000


class Kind(NamedTuple):
    """A kind of cases."""

    module: str  # in this folder; its `run(seed, folder)` gives an outcome
    unit: str  # what it counts
    share: float  # of the time
    limit: float  # [s] of computing that one case may take: more is a hang
    memory: float  # [GB] that a case may take beyond what its process holds


KINDS = {
    "files": Kind("files", "files", 0.40, 30.0, 3.0),
    "lines": Kind("command_lines", "command lines", 0.06, 150.0, 4.0),
    "schema": Kind("schema", "described robots", 0.03, 60.0, 4.0),
    "chaos": Kind("chaos", "commands in trouble", 0.08, 60.0, 4.0),
    "robots": Kind("robots", "robots", 0.43, 300.0, 8.0),
}


def load(names: tuple[str, ...]) -> None:
    """Imports what runs the cases of some kinds."""
    for name in names:
        import_module(f".{KINDS[name].module}", __package__)


def run(case: Case, folder: Path) -> Outcome:
    """How a case ends; what it raises is raised."""
    kind = KINDS[case.kind]
    return import_module(f".{kind.module}", __package__).run(case.seed, folder)
