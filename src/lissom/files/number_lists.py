"""Long lists of numbers in YAML text, read at once: the parser needs fifty times longer for them.

Such a list is cut out of the text and a mark is put in its place; the mark becomes the list again when it is met. Text
that only looks like a list, in quotes or in a comment, gets its own words back.
"""

import json
import re
from typing import Any, NamedTuple

NUMBER = r"[-+]?[0-9][0-9.eE+-]*"
# `[0, 0.1, [1, 2], ...]`, over many lines, of at least 1000 characters
FLOW = re.compile(r"\[[\[\]\s0-9.,eE+-]{1000,}\]")
# Lines `- [0, 1.5]` or `- 0.5`, at least 100 of them, as deep as each other
BLOCK = re.compile(
    rf"^(?P<indent> *)- (?P<row>{NUMBER}|\[[^\[\]\n#'\"]*\])[ ]*\n"
    rf"(?:(?P=indent)- (?:{NUMBER}|\[[^\[\]\n#'\"]*\])[ ]*\n){{99,}}",
    re.MULTILINE,
)
BRACKET = re.compile(r"[\[\]]")
# Of lists within lists; tables have two.
DEEPEST = 8


class NumberList(NamedTuple):
    """A list that was cut out: its numbers, how many entries it has, and its words."""

    values: list[Any]
    entries: int
    text: str


class CutText(NamedTuple):
    """Text with marks in place of its long lists."""

    text: str
    lists: dict[str, NumberList]


def cut_lists(text: str) -> CutText:
    """The text without its long lists of numbers; every line keeps its number."""
    lists: dict[str, NumberList] = {}
    # A mark that does not occur in the text itself.
    stem = "lissom-numbers"
    while stem in text:
        stem += "-"

    def cut(match: re.Match) -> str:
        words = match[0]
        indent = match.groupdict().get("indent")
        flow = words if indent is None else _as_flow(words)
        if _nesting(flow) > DEEPEST:
            # Left to the parser, which refuses it.
            return words
        try:
            values = json.loads(flow)
        except ValueError:
            # Not balanced, or numbers that YAML writes in another way: left to the parser.
            return words
        mark = f"{stem}{len(lists)}."
        lists[mark] = NumberList(values, _count(values), words)
        lines = "\n" * words.count("\n")
        # The value of a key must stand deeper than the key, a list need not.
        return mark + lines if indent is None else f"{indent} {mark}{lines}"

    text = BLOCK.sub(cut, text)
    return CutText(FLOW.sub(cut, text), lists)


def _as_flow(lines: str) -> str:
    rows = (line.strip().removeprefix("- ") for line in lines.splitlines())
    return f"[{','.join(rows)}]"


def _nesting(text: str) -> int:
    """Largest number of brackets that are open at once."""
    opened = deepest = 0
    for bracket in BRACKET.findall(text):
        opened += 1 if bracket == "[" else -1
        deepest = max(deepest, opened)
    return deepest


def _count(values: list[Any]) -> int:
    """The list itself and all that stands in it."""
    lists = [value for value in values if isinstance(value, list)]
    return 1 + len(values) - len(lists) + sum(_count(value) for value in lists)


def depth(values: list[Any]) -> int:
    """Depth of nested lists."""
    inside = [depth(value) for value in values if isinstance(value, list)]
    return 1 + max(inside, default=0)
