"""The navigation is the index: each of its sections becomes a caption, each page that it links an entry."""

import re
from collections.abc import Iterator

SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PAGE = re.compile(r"\]\((?!\.\.|https?:)([\w./-]+\.(?:md|ipynb))\)")
TREE = "\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"


def toctrees(index: str) -> Iterator[str]:
    """Hidden tables of contents, one for each section that links pages; a page belongs to the last that names it."""
    sections = [(name, PAGE.findall(text)) for name, text in SECTION.findall(index)]
    for number, (name, pages) in enumerate(sections):
        later = {page for _, others in sections[number + 1 :] for page in others}
        own = [page for page in dict.fromkeys(pages) if page not in later]
        if own:
            yield TREE.format(caption=name, pages="\n".join(own))


def add_navigation(app, docname: str, source: list[str]) -> None:
    if docname == "index":
        source[0] += "".join(toctrees(source[0]))


def setup(app) -> dict:
    app.connect("source-read", add_navigation)
    return {"parallel_read_safe": True}
