"""README and docs: every block on every page runs, and what a page shows is what comes out."""

from pathlib import Path

import pytest

from lissom import Robot, Scenario, Study
from lissom.describe.control_study import ControlStudy
from lissom.files.document import parse_document
from page_blocks import (
    DATA,
    PAGES,
    ROOT,
    SHELL,
    SHOWN,
    all_blocks,
    commands_of,
    run_page,
    run_python,
    runnable,
    write_files,
)

TUTORIAL = ROOT / "docs" / "tutorial"
# Python of these compiles a lot, and others are their like.
SLOW = (
    "api/pd",
    "coming-from",
    "howto/gradients",
    "howto/linear-models",
    "howto/parametric-modes",
    "howto/results",
    "howto/studies",
    "howto/fifteen-tasks",
)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def is_slow(page: Path) -> bool:
    return name_of(page) in {f"docs/{name}.md" for name in SLOW}


def cases(pages: list[Path]) -> list:
    """Pages as test cases under their names, the long ones marked slow."""
    marks = {True: [pytest.mark.slow], False: []}
    return [
        pytest.param(page, id=name_of(page), marks=marks[is_slow(page)])
        for page in pages
    ]


def part_of_tutorial(page: Path) -> bool:
    return page.parent == TUTORIAL


ALONE = [page for page in PAGES if not part_of_tutorial(page)]
WITH_COMMANDS = [page for page in ALONE if runnable(page, *SHELL)]
# The slow ones among those with commands run as a whole anyway.
WITH_PYTHON = [
    page
    for page in ALONE
    if runnable(page, "python") and not (is_slow(page) and page in WITH_COMMANDS)
]


@pytest.mark.parametrize("page", cases(WITH_PYTHON))
def test_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    run_python(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_everything_on_a_page_runs_in_its_order(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path, lambda: "".join(capfd.readouterr()))


@pytest.mark.slow
def test_the_tutorial_runs_from_its_first_page_to_its_last(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    pages = sorted(TUTORIAL.glob("*.md"))
    assert len(pages) >= 5
    for page in pages:
        run_page(page, tmp_path, lambda: "".join(capfd.readouterr()))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_is_run_shown_or_says_why_not(page):
    found = list(all_blocks(page))
    assert {block.language for block in found} <= {*DATA, *SHELL, *SHOWN, "python"}
    # No fence is left over, and no command hides behind a missing prompt.
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(found)
    assert all(list(commands_of(block)) for block in found if block.language in SHELL)


def test_no_page_with_something_to_run_is_left_out():
    with_python = {page for page in PAGES if runnable(page, "python")}
    with_commands = {page for page in PAGES if runnable(page, *SHELL)}
    tutorial = {page for page in PAGES if part_of_tutorial(page)}
    # A page with commands runs as a whole, Python and files among them.
    assert with_commands == {*WITH_COMMANDS, *(tutorial & with_commands)}
    assert with_python <= {*WITH_PYTHON, *WITH_COMMANDS, *tutorial}
    assert len(with_python | with_commands) > 25


@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page, "yaml")], ids=name_of
)
def test_files_of_a_page_are_valid(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for earlier in sorted(TUTORIAL.glob("*.md")) if part_of_tutorial(page) else []:
        write_files(earlier, tmp_path)
    write_files(page, tmp_path)
    for block in runnable(page, "yaml"):
        data = parse_document(block.text).data
        if "over" in data:
            assert Study.of(data).design.count
        elif "controllers" in data:
            assert ControlStudy.from_dict(data).controllers
        else:
            assert (
                Robot.from_dict(data) if "links" in data else Scenario.from_dict(data)
            )
