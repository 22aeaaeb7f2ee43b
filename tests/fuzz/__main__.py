"""`make fuzz`: broken files, command lines, random robots and commands in trouble, for some minutes, on all workers."""

import argparse
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

from .failure_folder import FailureFolder
from .kinds import KINDS, ROUND
from .outcome import Case, Outcome
from .tally import Tally
from .watch import outcomes

BEAT = 30.0  # [s] between two lines on the way
ROOT = Path(__file__).parents[2]


def main() -> int:
    """Runs what the command line asks for; 1 if anything is wrong."""
    words = arguments()
    if words.replay:
        return replay(words.replay)
    # Ctrl-C and SIGTERM end the run with its counts.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    seed = int(time.time()) if words.seed is None else words.seed
    print(f"seed {seed}, {words.minutes:g} min, {words.jobs} workers", flush=True)
    print(
        f"the same cases again: make fuzz MINUTES={words.minutes:g} SEED={seed}",
        flush=True,
    )
    tally = Tally()
    try:
        run(words, seed, tally)
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
    print(tally.table(), flush=True)
    return 1 if tally.failures else 0


def arguments() -> argparse.Namespace:
    """The words of the command line."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, help="first seed; default: the time")
    parser.add_argument("--only", choices=KINDS, action="append", help="kinds of cases")
    parser.add_argument("--replay", metavar="KIND:SEED", help="one case alone")
    parser.add_argument("--failures", type=Path, default=ROOT / "fuzz-failures")
    return parser.parse_args()


def run(words: argparse.Namespace, seed: int, tally: Tally) -> None:
    """Cases until the time is up."""
    kept = FailureFolder(words.failures)
    deal = Deal(seed, tuple(words.only or KINDS), words.jobs)
    began = time.monotonic()
    beat = began + BEAT
    with ExitStack() as closed_last_first:
        made = tempfile.TemporaryDirectory(prefix="lissom-fuzz-")
        folder = Path(closed_last_first.enter_context(made))
        ends = outcomes(deal, folder, began + 60 * words.minutes)
        # The workers end before the folder goes that they write to.
        closed_last_first.enter_context(closing(ends))
        for case, outcome, files in ends:
            tally.add(case, outcome)
            deal.spend(case, outcome)
            if not outcome.is_good:
                print(kept.keep(case, outcome, files), flush=True)
            if time.monotonic() > beat:
                beat = time.monotonic() + BEAT
                print(
                    f"{time.monotonic() - began:5.0f} s: {tally.headline()}", flush=True
                )


class Deal:
    """Deals the cases: the kind that is furthest behind its share of the time comes next.

    With several workers one of them has the robots for itself, whose compiled code it then keeps.
    """

    def __init__(self, seed: int, kinds: tuple[str, ...], jobs: int):
        self.kinds = kinds
        self.jobs = jobs
        # A round of robots begins at its beginning: the cheap audits of all structures.
        starts = dict.fromkeys(kinds, seed)
        if "robots" in kinds:
            starts["robots"] = seed - seed % ROUND
        self.seeds = {kind: count(starts[kind]) for kind in kinds}
        self.spent = dict.fromkeys(kinds, 0.0)

    def next_case(self, worker: int) -> Case:
        """The next case of a worker."""
        kinds = self.kinds_of(worker)
        kind = min(kinds, key=lambda name: self.spent[name] / KINDS[name].share)
        # Cases under way count at once, so that two workers do not take the same kind.
        self.spent[kind] += 0.01
        return Case(kind, next(self.seeds[kind]))

    def kinds_of(self, worker: int) -> tuple[str, ...]:
        """Kinds of the cases of a worker."""
        others = tuple(kind for kind in self.kinds if kind != "robots")
        if self.jobs == 1 or len(others) in (0, len(self.kinds)):
            return self.kinds
        return ("robots",) if worker % 2 else others

    def spend(self, case: Case, outcome: Outcome) -> None:
        """Takes note of the time that a case took."""
        self.spent[case.kind] += outcome.seconds


def replay(text: str) -> int:
    """One case, in this process, with its traceback."""
    from .kinds import run as run_case
    from .worker import prepare

    kind, _, seed = text.partition(":")
    folder = Path(tempfile.mkdtemp(prefix="lissom-fuzz-"))
    prepare(folder, (kind,))
    outcome = run_case(Case(kind, int(seed)), folder)
    print(f"{outcome.verdict}: {outcome.label}\n{outcome.text}\nfiles: {folder}")
    return 0 if outcome.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
