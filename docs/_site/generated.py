"""Parts of pages that are made from the project when the site is built, each in place of a comment that names it."""

import re
from collections.abc import Callable

import bibliography
from command_reference import commands
from example_pages import examples, file_beside
from gallery import pictures
from python_reference import names

MARK = re.compile(r"^<!-- generated: (\w+)(.*?) -->$", re.MULTILINE)
MAKERS: dict[str, Callable[..., str]] = {
    "bibliography": bibliography.entries,
    "commands": commands,
    "examples": examples,
    "file": file_beside,
    "gallery": pictures,
    "names": names,
}


def made(match: re.Match) -> str:
    """Markdown in the place of a mark."""
    return MAKERS[match[1]](*match[2].split())


def fill(app, docname: str, source: list[str]) -> None:
    source[0] = bibliography.linked(MARK.sub(made, source[0]), docname)


def setup(app) -> dict:
    # Before links are looked at.
    app.connect("source-read", fill, priority=100)
    return {"parallel_read_safe": True}
