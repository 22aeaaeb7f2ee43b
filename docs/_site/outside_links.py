"""Links to files beside docs/, such as CONTRIBUTING.md: forges show the file, the site has a page for it."""

import re

LINK = re.compile(
    r"\]\((?:\.\./)*((?:CONTRIBUTING\.md|CHANGELOG\.md|examples)[^)\s]*)\)"
)
ANCHOR = re.compile(r"[^\w-]")


def page_of(target: str) -> str:
    """Address on the site of a file of the project: `examples/few_modes.py` has a section of the page of examples."""
    file, _, anchor = target.partition("#")
    if file.endswith(".md"):
        return f"/{file.lower()}#{anchor}" if anchor else f"/{file.lower()}"
    _, _, name = file.strip("/").partition("/")
    return f"/examples.md#{ANCHOR.sub('', name)}" if name else "/examples.md"


def lead_inside(app, docname: str, source: list[str]) -> None:
    source[0] = LINK.sub(lambda match: f"]({page_of(match[1])})", source[0])


def setup(app) -> dict:
    app.connect("source-read", lead_inside)
    return {"parallel_read_safe": True}
