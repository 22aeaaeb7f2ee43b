"""Examples and the code in README and docs: they run, and what they promise is true."""

import re
import runpy
from pathlib import Path

import pytest

from lissom import Robot, Scenario, Study
from lissom.describe.document import parse_document

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Python and shell of this one need each other: it has a test of its own.
TASKS = ROOT / "docs" / "tutorials" / "fifteen-tasks.md"
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {TASKS})]
# these compile a lot, and others are their like
SLOW = (
    *(
        f"docs/{page}.md"
        for page in (
            "api/pd",
            "howto/gradients",
            "howto/linear-models",
            "howto/parametric-modes",
            "howto/results",
            "howto/studies",
        )
    ),
    *(
        f"examples/{name}.py"
        for name in (
            "compare_controllers",
            "few_modes",
            "four_bar",
            "gradient",
            "linear_model",
            "mode_polynomials",
            "solid_link",
            "study_payload_and_pose",
            "study_workspace",
            "study_yield",
        )
    ),
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"`([\w-]+\.(?:yaml|urdf))`")


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    """Fenced blocks of a page: language and content."""
    return [
        (lang, text)
        for lang, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if lang in languages
    ]


def named_files(page: Path) -> list[tuple[str, str]]:
    """Blocks of data, each with the file name that the text before it gives."""
    text, found = page.read_text(encoding="utf-8"), []
    for match in BLOCK.finditer(text):
        before = FILE_NAME.findall(text[: match.start()])
        if match[1] in ("yaml", "xml"):
            found.append((before[-1] if before else "robot.yaml", match[2]))
    return found


def cases(files: list[Path]) -> list:
    """Files as test cases under their names, the long ones marked slow."""
    named = [(file, str(file.relative_to(ROOT))) for file in files]
    return [
        pytest.param(file, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for file, name in named
    ]


def pages_with(*languages: str) -> list:
    return cases([page for page in PAGES if blocks(page, *languages)])


@pytest.mark.parametrize("example", cases(EXAMPLES))
def test_example_reaches_the_number_it_expects(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(
        str(example), run_name="__main__"
    )  # each ends with assertions on its closed form


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_states_an_equation_and_a_number_in_its_header(example):
    header = example.read_text(encoding="utf-8").split('"""')[1]
    assert "=" in header and re.search(r"\d", header)


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in named_files(page):
        (tmp_path / name).write_text(content, encoding="utf-8")
    code = "\n".join(text for _, text in blocks(page, "python"))
    exec(compile(code, str(page), "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", pages_with("yaml"))
def test_yaml_of_a_page_is_a_valid_robot_or_scenario(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in named_files(page):
        (tmp_path / name).write_text(content, encoding="utf-8")
    for _, text in blocks(page, "yaml"):
        data = parse_document(text).data
        if "over" in data:
            assert Study.of(data).design.count
            continue
        assert Robot.from_dict(data) if "links" in data else Scenario.from_dict(data)
