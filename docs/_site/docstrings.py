r"""Docstrings are written in Markdown with TeX between dollars; autodoc reads reStructuredText."""

import re

from bibliography import linked_docstring

BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])")
CODE = re.compile(r"(?<![`:\w])`([^`\n]+)`(?![`_])")
SAID = re.compile(
    # Code, roles, formulas, examples, and a word *with stress*.
    r"(``.+?``|:\w+:`.+?`|^\.\. math::.*$|^\s*>>>.*$|(?<![\w*^])\*[a-z][\w -]*\*(?!\w))",
    re.MULTILINE,
)
STAND_IN = "\ue000"
BULLET = re.compile(r"^\s*[-*] ")


def displayed(match: re.Match) -> str:
    formula = " ".join(match[1].split())
    return f"\n\n.. math:: {formula}\n\n"


def restructured(text: str) -> str:
    """A docstring's text with its code and formulas as reStructuredText writes them."""
    text = CODE.sub(r"``\1``", text)
    text = BLOCK.sub(displayed, text)
    text = linked_docstring(INLINE.sub(r":math:`\1`", text))
    parts = SAID.split(text)
    # What the split keeps stands at odd places.
    parts[::2] = [re.sub(r"(\||(?<=.)\*)", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def with_room_for_lists(lines: list[str]) -> list[str]:
    """Markdown lets a list follow a paragraph at once, reStructuredText wants an empty line between them."""
    roomy: list[str] = []
    for line in lines:
        before = roomy[-1] if roomy else ""
        if BULLET.match(line) and before.strip() and not inside_list(roomy):
            roomy.append("")
        roomy.append(line)
    return roomy


def inside_list(lines: list[str]) -> bool:
    """Whether the paragraph at the end belongs to a list."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if BULLET.match(line):
            return True
    return False


def hide_colons(app, what, name, obj, options, lines: list[str]) -> None:
    """Napoleon takes what stands before the first colon of a property for its type: here it is a sentence."""
    if what in ("property", "attribute"):
        lines[:] = [line.replace(":", STAND_IN) for line in lines]


def show_colons(app, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = [line.replace(STAND_IN, ":") for line in lines]


def translate(app, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = with_room_for_lists(restructured("\n".join(lines)).splitlines())


def setup(app) -> dict:
    # Before napoleon, which turns sections such as Args into fields.
    app.connect("autodoc-process-docstring", translate, priority=100)
    app.connect("autodoc-process-docstring", hide_colons, priority=110)
    app.connect("autodoc-process-docstring", show_colons, priority=900)
    return {"parallel_read_safe": True}
