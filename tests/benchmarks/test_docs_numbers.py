"""Numbers on the pages are those that are measured: the marks, their rounding, and every row and figure behind them."""

import re
from pathlib import Path

import pytest

from benchmarks import docs_numbers
from benchmarks.docs_numbers import (
    DOCS,
    MARK,
    UnknownNumberError,
    changed_pages,
    figure_numbers,
    marked,
    pages,
    renewed,
    row_numbers,
)
from benchmarks.physics.figures import FOLDER
from lissom.bench.physics import all_rows

REPOSITORY = DOCS.parent
VALIDATION = DOCS / "validation.md"
MEASURED = {
    ("row", "sag"): [-0.00036052],
    ("row", "flap"): [3.51602, 4.13733],
    ("figure", "tips/gap"): [2.4e-6, 7.1e-6],
}


def mark(kind, name, text, times=""):
    return f"<!-- {kind}: {name}{times} -->{text}<!-- end -->"


# --- one mark ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before, after",
    [
        (mark("row", "sag", "-0.3605", "; times 1000"), "-0.3605"),
        (mark("row", "sag", "-0.3611", "; times 1000"), "-0.3605"),
        (mark("row", "flap", "3.5160, 4.1"), "3.5160, 4.1"),
        (mark("row", "flap", "3.5150 and 4.2"), "3.5160 and 4.1"),
        # One number for several: the largest.
        (mark("figure", "tips/gap", "7e-6 m"), "7e-6 m"),
        (mark("figure", "tips/gap", "2.4e-6 m"), "7.1e-6 m"),
    ],
)
def test_a_number_is_printed_with_its_digits(before, after):
    text, changes = renewed(f"| {before} mm |", MEASURED)
    assert MARK.findall(text)[0][-1] == after
    assert len(changes) == (text != f"| {before} mm |")
    assert renewed(text, MEASURED) == (text, [])


def test_a_number_that_nearly_rounds_to_the_printed_one_stays():
    # 0.55 is between 0.5 and 0.6: the last bits of a run decide.
    for printed in ("0.5", "0.6"):
        text = mark("row", "x", printed)
        assert renewed(text, {("row", "x"): [0.55]}) == (text, [])
    _, changes = renewed(mark("row", "x", "0.5"), {("row", "x"): [0.562]})
    assert changes == [("x", "0.5", "0.6")]


@pytest.mark.parametrize(
    "text, reason",
    [
        (mark("row", "sags", "1"), "row 'sags' is not measured"),
        (mark("row", "flap", "1, 2, 3"), "3 numbers are printed, 2 measured"),
    ],
)
def test_a_mark_that_fits_nothing_is_refused(text, reason):
    with pytest.raises(UnknownNumberError, match=re.escape(reason)):
        renewed(text, MEASURED)


# --- the pages -----------------------------------------------------------------------------------------------------


def tables_of(page: Path) -> list[list[str]]:
    """Cells of the lines of tables with a column `checked by`, without the headings."""
    lines, is_checked = [], False
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            is_checked = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if cells[-1].strip(" |") == "checked by":
            is_checked = True
        elif is_checked and not set(line) <= set("|- "):
            lines.append(cells)
    return lines


def named_rows(check: str) -> list[str]:
    """The rows that a cell names: in italics, after `row` or `rows`."""
    return re.findall(r"(?<!\*)\*([^*]+)\*", check)


def test_every_claim_names_what_checks_it():
    lines = tables_of(VALIDATION)
    assert len(lines) > 30
    for cells in lines:
        check = cells[-1].rstrip(" |")
        files = re.findall(r"`((?:tests|examples)/[^`]+)`", check)
        assert all((REPOSITORY / file).exists() for file in files), check
        figures = re.findall(r"figure `([^`]+)`", check)
        assert all((FOLDER / f"{name}.json").exists() for name in figures), check
        known = ("](theory/", "](howto/", "make fuzz", "the same", "tests/contracts")
        is_elsewhere = any(part in check for part in known)
        assert named_rows(check) or files or figures or is_elsewhere, check


def test_every_number_of_a_row_or_figure_is_marked():
    for cells in tables_of(VALIDATION):
        names = named_rows(cells[-1]) + re.findall(r"figure `([^`]+)`", cells[-1])
        if names:
            assert MARK.search(" ".join(cells)), cells


def test_pages_print_the_numbers_of_the_stored_figures():
    texts = pages()
    assert len(texts) >= 5
    places = marked("figure", texts)
    stored = figure_numbers(FOLDER, places)
    assert {name for _, name in stored} == places
    for text in texts.values():
        only_figures = "\n".join(
            m[0] for m in MARK.finditer(text) if m["kind"] == "figure"
        )
        assert renewed(only_figures, stored)[1] == []


@pytest.mark.slow
def test_pages_print_the_numbers_of_the_rows():
    rows = list(all_rows())
    names = [row["check"] for row in rows]
    assert len(set(names)) == len(names)
    for cells in tables_of(VALIDATION):
        assert set(named_rows(cells[-1])) <= set(names), cells[-1]
    texts = pages()
    measured = row_numbers(rows) | figure_numbers(FOLDER, marked("figure", texts))
    assert list(changed_pages(texts, measured)) == []


@pytest.mark.slow
def test_the_command_says_which_page_changed(tmp_path, monkeypatch, capsys):
    # A quick figure; the page prints a wrong number.
    folder = tmp_path / "docs"
    (folder / "figures").mkdir(parents=True)
    for suffix in (".json", ".png"):
        name = f"published-terms{suffix}"
        (folder / "figures" / name).write_bytes((FOLDER / name).read_bytes())
    page = folder / "page.md"
    page.write_text(mark("figure", "published-terms/t_end_s", "0.7") + " s\n")
    monkeypatch.setattr(docs_numbers, "DOCS", folder)
    monkeypatch.setattr(docs_numbers.figures, "FOLDER", folder / "figures")
    docs_numbers.main()
    assert page.read_text() == mark("figure", "published-terms/t_end_s", "0.5") + " s\n"
    printed = capsys.readouterr().out
    assert "docs/page.md: published-terms/t_end_s:\n  0.7 -> 0.5" in printed
    assert "1 numbers on 1 pages: 1 changed" in printed
    docs_numbers.main()
    assert "1 numbers on 1 pages: nothing changed" in capsys.readouterr().out
