"""One case of a fuzz run, and how it ended."""

from typing import NamedTuple

# Both are right ends of a case: work that was done, and bad input that was refused in words.
GOOD = ("accepted", "refused")
BAD = ("traceback", "violation", "hang", "crash")


class Case(NamedTuple):
    """A case by its kind and its seed: these two make it again."""

    kind: str  # one of `kinds.KINDS`
    seed: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.seed}"


class Outcome(NamedTuple):
    """How a case ended."""

    verdict: str  # one of `GOOD` or `BAD`
    label: str = ""  # what it was about: the row of the table that it counts in
    text: str = ""  # the message, or what went wrong
    count: int = 1  # files, lines, examples or robots that the case was made of
    seconds: float = 0.0
    names: tuple[str, ...] = ()  # of the robots and structures that were audited

    @property
    def is_good(self) -> bool:
        """True if nothing is wrong."""
        return self.verdict in GOOD


def violation(label: str, text: str, **more) -> Outcome:
    """A rule that was broken."""
    return Outcome("violation", label, text, **more)
