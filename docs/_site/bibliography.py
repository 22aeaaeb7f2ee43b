"""The papers behind the pages: `references.bib` as a page, and every `[Author2012]` of the text as a link to it."""

import re
from pathlib import Path

BIB = Path(__file__).parents[1] / "references.bib"
ENTRY = re.compile(r"^@\w+\{(\w+),(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)
FENCE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
CITATION = re.compile(r"\[([A-Z][A-Za-z]+\d{4}[a-z]?)\](?!\()")


def parsed() -> dict[str, dict[str, str]]:
    """Entries by key, their fields by name."""
    text = BIB.read_text(encoding="utf-8")
    return {key: dict(FIELD.findall(body)) for key, body in ENTRY.findall(text)}


def plain(text: str) -> str:
    return re.sub(r"[{}]", "", text.replace("--", "-").replace(r"\&", "&"))


def line_of(fields: dict[str, str]) -> str:
    """Authors: title. Where, year. Address."""
    places = ("journal", "booktitle", "publisher", "institution", "note")
    where = [fields[place] for place in places if place in fields]
    doi = fields.get("doi")
    address = f" [doi:{doi}](https://doi.org/{doi})" if doi else ""
    authors = fields.get("author", "").replace(" and ", "; ")
    rest = ", ".join([*where, fields.get("year", "")])
    return plain(f"{authors}: *{fields.get('title', '')}*. {rest}.") + address


def entries() -> str:
    """All papers, in order of their keys."""
    papers = sorted(parsed().items())
    return "\n\n".join(
        f"({key.lower()})=\n**[{key}]** {line_of(fields)}" for key, fields in papers
    )


def linked(text: str, docname: str) -> str:
    """Text whose citations lead to their papers; code is left as it is."""
    if docname == "references":
        return text
    known = parsed()

    def link(match: re.Match) -> str:
        key = match[1]
        return f"[[{key}]](#{key.lower()})" if key in known else match[0]

    parts = FENCE.split(text)
    return "".join(
        part if part.startswith("`") else CITATION.sub(link, part) for part in parts
    )


def linked_docstring(text: str) -> str:
    """Docstring whose citations lead to their papers."""
    known = parsed()
    return CITATION.sub(
        lambda match: (
            f":ref:`[{match[1]}] <{match[1].lower()}>`"
            if match[1] in known
            else match[0]
        ),
        text,
    )
