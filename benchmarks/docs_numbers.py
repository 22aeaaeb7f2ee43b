"""`make docs-numbers`: the measured numbers of the documentation, measured again.

A page marks a number with where it comes from; names are those that `lissom bench physics` prints, or places in
`docs/figures/NAME.json`:

    <!-- row: sag of a clamped rod; times 1000 -->-0.3605<!-- end --> mm
    <!-- row: sag of a clamped rod, difference -->2e-13<!-- end -->
    <!-- figure: spin-up/gap_m; times 1000 -->2.5<!-- end --> mm

The text between the marks says how many digits are printed. A number stays as long as the measured one rounds to it, or
nearly: the last bits of a run differ between processors. Figures are drawn again where a number in them has changed.
"""

import importlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lissom.atomic import write_atomically
from lissom.bench.physics import all_rows

from .physics import figures

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARK = re.compile(
    r"<!-- (?P<kind>row|figure): (?P<name>[^;]+?)(?:; times (?P<factor>\S+))? -->(?P<text>.*?)<!-- end -->"
)
NUMBER = re.compile(r"-?\d+(?:\.(?P<decimals>\d+))?(?:e(?P<exponent>[-+]?\d+))?")
# In steps of the last digit: half is rounding, the rest is for the last bits of a run.
ROUNDS_TO = 0.6
# Figures whose numbers pages print, and the measurement that draws each; the others need another program.
DRAWN_BY = {
    "cibicik-arm-6-rigid": "cibicik_arm",
    "erls-sets": "erls_sets",
    "four-bar-340rpm": "four_bar_340rpm",
    "published-terms": "published_terms",
    "l-shape-3-heights": "paper_figures",
    "l-shape-4-swing": "paper_figures",
    "anthropomorphic-6-9-tips": "paper_figures",
    "double-pendulum-11-12-tips": "paper_figures",
}
Numbers = Mapping[tuple[str, str], Sequence[float]]  # by kind and name


class Change(NamedTuple):
    """A printed text that is not what was measured."""

    name: str
    before: str
    after: str


class UnknownNumberError(LookupError):
    """A mark names nothing that is measured, or prints more or fewer numbers than that has."""


# --- pages ---------------------------------------------------------------------------------------------------------


def pages() -> dict[Path, str]:
    """The pages with marks and their texts."""
    texts = {page: page.read_text() for page in sorted(DOCS.rglob("*.md"))}
    return {page: text for page, text in texts.items() if MARK.search(text)}


def marked(kind: str, texts: Mapping[Path, str]) -> set[str]:
    """The rows or figures that pages name."""
    marks = (match for text in texts.values() for match in MARK.finditer(text))
    return {match["name"] for match in marks if match["kind"] == kind}


def renewed(text: str, measured: Numbers) -> tuple[str, list[Change]]:
    """A page with the measured numbers, and what changed in it.

    Raises:
        UnknownNumberError: a mark that does not fit what is measured.
    """
    changes = []

    def replace(mark: re.Match) -> str:
        after = printed(mark, measured)
        if after != mark["text"]:
            changes.append(Change(mark["name"], mark["text"], after))
        start, end = (place - mark.start() for place in mark.span("text"))
        return mark[0][:start] + after + mark[0][end:]

    return MARK.sub(replace, text), changes


def printed(mark: re.Match, measured: Numbers) -> str:
    """The text of a mark with its numbers as they were measured."""
    kind, name = mark["kind"], mark["name"]
    if (kind, name) not in measured:
        raise UnknownNumberError(f"{kind} {name!r} is not measured")
    factor = float(mark["factor"] or 1)
    values = [factor * value for value in measured[kind, name]]
    count = len(NUMBER.findall(mark["text"]))
    if count == 1:
        # One number for many: the largest.
        values = [max(values, key=abs)]
    if count != len(values):
        raise UnknownNumberError(
            f"{kind} {name!r}: {count} numbers are printed, {len(values)} measured"
        )
    rest = iter(values)
    return NUMBER.sub(lambda number: rounded(number, next(rest)), mark["text"])


def rounded(number: re.Match, value: float) -> str:
    """A value with as many digits as the printed number has; that number itself where the value rounds to it."""
    decimals = len(number["decimals"] or "")
    exponent = int(number["exponent"] or 0)
    step = 10.0 ** (exponent - decimals)
    if abs(value - float(number[0])) <= ROUNDS_TO * step:
        return number[0]
    if number["exponent"] is None:
        return f"{value:.{decimals}f}"
    mantissa, power = f"{value:.{decimals}e}".split("e")
    return f"{mantissa}e{int(power)}"


# --- what is measured ----------------------------------------------------------------------------------------------


def row_numbers(
    rows: Sequence[Mapping[str, Any]],
) -> dict[tuple[str, str], list[float]]:
    """Our numbers of each row of `lissom bench physics`, how far they are from the known ones, and what is allowed."""
    found = {}
    for row in rows:
        found["row", row["check"]] = row["ours"]
        for key in ("difference", "tolerance"):
            found["row", f"{row['check']}, {key}"] = [row[key]]
    return found


def figure_numbers(folder: Path, names: set[str]) -> dict[tuple[str, str], list[float]]:
    """Numbers at places such as `spin-up/gap_m`, from the files of figures in a folder."""
    found = {}
    for name in names:
        file, *keys = name.split("/")
        path = folder / f"{file}.json"
        part = json.loads(path.read_text()) if path.exists() else {}
        for key in keys:
            part = part.get(key, {}) if isinstance(part, dict) else {}
        if not isinstance(part, dict):
            found["figure", name] = np.ravel(part).tolist()
    return found


def draw(names: set[str], folder: Path, log: Callable[[str], None]) -> None:
    """Draws figures again, with the other program's curves as they were stored, into a folder."""
    shutil.copytree(figures.FOLDER, folder, dirs_exist_ok=True)
    makers: dict[str, list[str]] = {}
    for name in sorted(names & DRAWN_BY.keys()):
        makers.setdefault(DRAWN_BY[name], []).append(name)
    with figures.written_to(folder):
        for maker, made in makers.items():
            log(f"figures {', '.join(made)}")
            module = importlib.import_module(f".physics.{maker}", __package__)
            if maker == "paper_figures":
                module.main([str(folder), *made])
            else:
                module.main()


# --- the command ---------------------------------------------------------------------------------------------------


def measure(
    texts: Mapping[Path, str], folder: Path, log: Callable[[str], None]
) -> Numbers:
    """All numbers that pages mark, the figures drawn into a folder."""
    places = marked("figure", texts)
    draw({place.split("/")[0] for place in places}, folder, log)
    measured = figure_numbers(folder, places)
    if marked("row", texts):
        measured |= row_numbers(list(all_rows(log)))
    return measured


def changed_pages(
    texts: Mapping[Path, str], measured: Numbers
) -> Iterator[tuple[Path, str, list[Change]]]:
    """Pages whose numbers are not those measured, with their new texts."""
    for page, text in texts.items():
        after, changes = renewed(text, measured)
        if changes:
            yield page, after, changes


def stale_figures(texts: Iterable[str]) -> set[str]:
    """Figures whose stored numbers are not those of the pages."""
    marks = [mark for text in texts for mark in MARK.finditer(text)]
    shown = [mark for mark in marks if mark["kind"] == "figure"]
    stored = figure_numbers(figures.FOLDER, {mark["name"] for mark in shown})
    stale = set()
    for mark in shown:
        is_stored = (mark["kind"], mark["name"]) in stored
        if not is_stored or printed(mark, stored) != mark["text"]:
            stale.add(mark["name"].split("/")[0])
    return stale


def main() -> None:
    """Measure, write the pages and figures that changed, and say which."""
    texts = pages()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(texts, Path(folder), lambda line: print(line, flush=True))
        changed = list(changed_pages(texts, measured))
        for page, text, changes in changed:
            write_atomically(page, lambda file, text=text: file.write(text.encode()))
            for change in changes:
                print(f"{page.relative_to(DOCS.parent)}: {change.name}:")
                print(f"  {change.before} -> {change.after}")
        after = texts | {page: text for page, text, _ in changed}
        drawn = sorted(stale_figures(after.values()) & DRAWN_BY.keys())
        for path in (path for name in drawn for path in Path(folder).glob(f"{name}.*")):
            shutil.copy(path, figures.FOLDER)
            print(f"docs/figures/{path.name}: drawn again")
    count = sum(len(MARK.findall(text)) for text in texts.values())
    outcome = f"{len(changed)} changed" if changed else "nothing changed"
    print(f"{count} numbers on {len(texts)} pages: {outcome}")


if __name__ == "__main__":
    main()
