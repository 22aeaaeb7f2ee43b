"""Blocks of the pages, run as a reader would: files written, commands given, Python executed, from top to bottom."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lissom.commands import cli

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n+)?```(?P<language>[\w{}-]*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
FILE_NAME = re.compile(r"`([\w-]+\.(?:yaml|urdf))`")
DATA = ("yaml", "xml")
SHELL = ("console", "sh")
# Programs that are not run here, and why.
OTHERS = {
    "make": "it sets the project up and runs this suite",
    "pip": "the suite runs on an installed project",
    ".venv/bin/python": "it runs a part of this suite",
}
# Output, diagrams and file listings: nothing to run.
SHOWN = ("", "text", "json", "c", "bibtex")


@dataclass(frozen=True)
class Block:
    """A fenced block, why it must not run if it must not, and the file that the text before it names."""

    language: str
    text: str
    reason: str | None
    file: str


def blocks(page: Path, *languages: str) -> list[Block]:
    """Blocks of a page in these languages, in order."""
    return [block for block in all_blocks(page) if block.language in languages]


def all_blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        named = FILE_NAME.findall(text[: match.start()])
        file = named[-1] if named else "robot.yaml"
        yield Block(match["language"], match["text"], match["reason"], file)


def runnable(page: Path, *languages: str) -> list[Block]:
    return [block for block in blocks(page, *languages) if block.reason is None]


def write_files(page: Path, folder: Path) -> None:
    """Every file of the page, before anything runs."""
    for block in runnable(page, *DATA):
        (folder / block.file).write_text(block.text, encoding="utf-8")


def run_python(page: Path) -> None:
    """All Python of a page in one namespace."""
    code = "\n".join(block.text for block in runnable(page, "python"))
    exec(compile(code, str(page), "exec"), {"__name__": "page"})


def run_page(page: Path, folder: Path, capture) -> None:
    """Everything on a page in its order; `capture` gives what commands printed."""
    namespace = {"__name__": "page"}
    # A page may name files of the project as its folder sees them.
    if not (folder / "src").exists():
        (folder / "src").symlink_to(ROOT / "src")
    for block in all_blocks(page):
        if block.reason is not None:
            continue
        if block.language in DATA:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.text, str(page), "exec"), namespace)
        elif block.language in SHELL:
            run_commands(block, capture)


def run_commands(block: Block, capture) -> None:
    """Each command succeeds, and prints the lines that the page shows below it."""
    for line, shown in commands_of(block):
        words = shlex.split(line, comments=True)
        if words[0] in OTHERS:
            continue
        assert words[0] == "lissom", f"{line}: mark it `<!-- not run: why -->`"
        capture()
        code = cli.main(words[1:])
        printed = " ".join(capture().split())
        assert code == 0, f"{line}: exit code {code}\n{printed}"
        missing = [text for text in shown if " ".join(text.split()) not in printed]
        assert not missing, f"{line} no longer prints {missing}, but {printed}"


def commands_of(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Commands of a block, each with the lines of output shown below it."""
    if block.language == "sh":
        yield from ((line, []) for line in block.text.splitlines() if line.strip())
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, *shown = part.splitlines()
        yield line, [text for text in shown if text.strip(". ")]
