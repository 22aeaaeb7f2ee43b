"""YAML 1.2 text to plain data with the line of every entry; broken, recursive and huge text is refused."""

import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from .errors import DescriptionError, refused_file
from .number_lists import NumberList, cut_lists, depth

# The deepest field of the schema lies 8 levels down.
MAX_DEPTH = 32

# Counted with every alias written out, so that a few aliases of aliases cannot fill the memory.
MAX_ENTRIES = 500_000

# The scalars of the YAML 1.2 core schema.
_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def parsed(text: str, file: str | None) -> tuple[Any, dict[tuple, int]]:
    """The data of a text, and the line (from 1) of the entry at a path of keys and list positions.

    Raises:
        DescriptionError: broken, recursive, huge, or more than one document.
    """
    yaml = YAML(typ="safe", pure=True)
    cut = cut_lists(text)
    builder = _Builder(yaml.parse(cut.text), cut.lists)
    try:
        data = builder.document()
    except _Refused as reason:
        raise refused_file(file, reason.message, reason.line) from None
    except MarkedYAMLError as reason:
        raise _broken_yaml(file, reason) from None
    except (YAMLError, ValueError) as reason:
        words = " ".join(str(reason).split())
        raise refused_file(file, f"broken YAML: {words}") from None
    return data, builder.lines


def _broken_yaml(file: str | None, reason: MarkedYAMLError) -> DescriptionError:
    mark = reason.problem_mark or reason.context_mark
    message = f"broken YAML: {reason.problem}"
    if not mark:
        return refused_file(file, message)
    # Marks count from 0.
    message = f"column {mark.column + 1}: {message}"
    return refused_file(file, message, mark.line + 1)


def scalar(text: str) -> Any:
    """A plain scalar by the YAML 1.2 core schema: `2e11` is a number, `yes` is text."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        # Longer ones are beyond every number of a description, and slow to read.
        return int(text) if len(text) < 400 else float("inf")
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL.fullmatch(text):
        # YAML writes .inf and .nan, Python inf and nan.
        return float(text.replace(".", ""))
    return text


class _Refused(Exception):
    def __init__(self, event: Event, message: str):
        self.line = event.start_mark.line + 1
        self.message = message


class _Builder:
    """Builds data from parser events; counts entries and depth on the way."""

    def __init__(self, events: Iterator[Event], lists: dict[str, NumberList]):
        self.events = events
        self.lists = lists
        self.lines: dict[tuple, int] = {}
        # Value of an anchor and its number of entries; None while it is still being read.
        self.anchors: dict[str, tuple[Any, int] | None] = {}
        self.entries = 0

    def document(self) -> Any:
        """The one document of the text, `None` if it is empty."""
        data = None
        documents = 0
        for event in self.events:
            if not isinstance(event, DocumentStartEvent):
                continue
            documents += 1
            if documents > 1:
                raise _Refused(event, "holds more than one document")
            data = self._value(next(self.events), ())
        return data

    def _value(self, event: Any, path: tuple) -> Any:
        self.lines.setdefault(path, event.start_mark.line + 1)
        self._count(event, 1)
        if len(path) > MAX_DEPTH:
            raise _Refused(event, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, AliasEvent):
            return self._alias(event)
        if event.tag not in (None, "!"):
            raise _Refused(event, f"the tag {event.tag} is not accepted")
        if event.anchor is None:
            return self._content(event, path)
        before = self.entries
        self.anchors[event.anchor] = None
        value = self._content(event, path)
        entries = self.entries - before + 1
        self.anchors[event.anchor] = (value, entries)
        return value

    def _numbers(self, event: ScalarEvent, path: tuple) -> list:
        found = self.lists[event.value]
        self._count(event, found.entries)
        if len(path) + depth(found.values) > MAX_DEPTH:
            raise _Refused(event, f"nested more than {MAX_DEPTH} levels deep")
        return found.values

    def _text(self, text: str) -> str:
        """Text with its own words in place of marks."""
        for mark, found in self.lists.items():
            if mark in text:
                text = text.replace(mark, found.text)
        return text

    def _scalar(self, event: ScalarEvent) -> Any:
        # What stands in quotes is text, whatever it looks like.
        if event.style is None:
            return scalar(event.value)
        return self._text(event.value)

    def _content(self, event: Event, path: tuple) -> Any:
        if isinstance(event, ScalarEvent):
            if event.style is None and event.value in self.lists:
                return self._numbers(event, path)
            return self._scalar(event)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(path)
        if isinstance(event, MappingStartEvent):
            return self._mapping(path)
        raise _Refused(event, "broken YAML")

    def _sequence(self, path: tuple) -> list:
        items = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            place = (*path, len(items))
            items.append(self._value(event, place))
        return items

    def _mapping(self, path: tuple) -> dict:
        entries: dict = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            if not isinstance(event, ScalarEvent):
                raise _Refused(event, "a key must be plain text")
            key = self._scalar(event)
            if key in entries:
                raise _Refused(event, f"the key {key!r} is given twice")
            place = (*path, key)
            self.lines[place] = event.start_mark.line + 1
            entries[key] = self._value(next(self.events), place)
        return entries

    def _alias(self, event: AliasEvent) -> Any:
        name = event.anchor
        if name not in self.anchors:
            raise _Refused(event, f"the alias *{name} has no anchor &{name} before it")
        anchor = self.anchors[name]
        if anchor is None:
            raise _Refused(event, f"*{name} refers to itself: the file is recursive")
        value, entries = anchor
        self._count(event, entries)
        return value

    def _count(self, event: Event, number: int) -> None:
        self.entries += number
        if self.entries > MAX_ENTRIES:
            message = f"holds more than {MAX_ENTRIES} entries (aliases written out)"
            raise _Refused(event, message)
