"""The project around the code: what a clone needs, and that its pages hold together."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

import lissom
from lissom.commands.cli import app
from lissom.describe import Robot, Scenario
from lissom.describe.link import Beam
from lissom.files.part import keys_of

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "lissom").rglob("*.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
KEY = re.compile(r"\[([A-Z][A-Za-z]+\d{4}[a-z]?)\]")
COMMAND = re.compile(r"^\$ lissom (.*?)(?:\s+#.*)?$", re.MULTILINE)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "CITATION.cff",
        "Makefile",
        ".ci/run",
        "src/lissom/py.typed",
    ],
)
def test_a_clone_has(name):
    assert (ROOT / name).is_file()


def test_one_version_everywhere():
    version = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["version"]
    assert lissom.__version__ == version
    assert f"\nversion: {version}\n" in read(ROOT / "CITATION.cff")
    printed = CliRunner().invoke(app, ["--version"]).output
    assert printed == f"lissom {version}\n"
    # What is on its way to a release stands under the heading of what is not released.
    heading = "Unreleased" if ".dev" in version else version
    assert f"\n## [{heading}]" in read(ROOT / "CHANGELOG.md")


def test_license_is_mit():
    assert read(ROOT / "LICENSE").startswith("MIT License")
    assert tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["license"] == "MIT"


@pytest.mark.parametrize("code", [0, 3])
def test_ci_runs_make_test_and_passes_its_result_on(tmp_path, code):
    fake = tmp_path / "make"
    fake.write_text(f'#!/bin/sh\necho "$PWD: $*" > "{tmp_path}/called"\nexit {code}\n')
    fake.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        [ROOT / ".ci" / "run"], env=environment, cwd=tmp_path, check=False
    )
    assert result.returncode == code
    assert read(tmp_path / "called").strip() == f"{ROOT}: test"


def test_make_test_checks_style_types_and_behaviour():
    planned = subprocess.run(
        ["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for step in ("ruff check", "ruff format --check", "pyright", "pytest"):
        assert step in planned


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_inside_the_project_lead_somewhere(page):
    lost = []
    for target in LINK.findall(re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(target)
    assert not lost


def test_every_page_can_be_reached_from_the_index():
    index = (ROOT / "docs" / "index.md").resolve()
    linked = {
        (index.parent / target.partition("#")[0]).resolve()
        for target in LINK.findall(read(index))
    }
    assert set((ROOT / "docs").rglob("*.md")) <= linked | {index}


def test_every_citation_is_in_the_references():
    known = set(
        re.findall(
            r"^@\w+\{(\w+),", read(ROOT / "docs" / "references.bib"), re.MULTILINE
        )
    )
    texts = [
        *SOURCES,
        *PAGES,
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "src").rglob("*.yaml"),
    ]
    cited = {key for text in texts for key in KEY.findall(read(text))}
    assert cited and not cited - known


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "theory").glob("*.md")), ids=shown
)
def test_equations_are_numbered_without_gaps(page):
    numbers = [int(n) for n in re.findall(r"\\tag\{(\d+)\}", read(page))]
    assert numbers == list(range(1, len(numbers) + 1)) and numbers


def parts_of(model: type[BaseModel]) -> set[type[BaseModel]]:
    """A described part and all parts inside it."""
    found, waiting = set(), [model]
    while waiting:
        part = waiting.pop()
        if part in found:
            continue
        found.add(part)
        for field in part.model_fields.values():
            waiting += [
                t for t in inner_types(field.annotation) if issubclass(t, BaseModel)
            ]
    return found


def inner_types(annotation) -> list[type]:
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return [annotation]
    return [
        t for inner in getattr(annotation, "__args__", ()) for t in inner_types(inner)
    ]


def test_every_key_of_the_files_is_documented():
    page = read(ROOT / "docs" / "howto" / "files.md")
    parts = parts_of(Robot) | parts_of(Scenario)
    assert Beam in parts
    missing = [
        f"{part.__name__}.{key}"
        for part in parts
        for key in keys_of(part)
        if not re.search(rf"\b{key}\b", page)
    ]
    assert not missing


def commands_in_pages() -> list:
    lines = {line for page in PAGES for line in COMMAND.findall(read(page))}
    return sorted(lines)


@pytest.mark.parametrize("line", commands_in_pages())
def test_commands_in_the_pages_exist_with_their_options(line):
    words = line.split()
    command: Any = typer.main.get_command(app.complete())
    # Options of the program itself may stand anywhere on the line.
    parameters = list(command.params)
    while inner := getattr(command, "commands", None):
        command = inner[words.pop(0)]
        parameters += command.params
    known = {option for parameter in parameters for option in parameter.opts}
    assert not [word for word in words if word.startswith("-") and word not in known]
