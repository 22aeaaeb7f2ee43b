"""What is wrong with a description: every problem of a file, one line each."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any

# Control characters, those that turn the direction of writing, and halves of characters that no encoding has.
CONTROLS = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a description: where it stands, what stands there, and what is accepted."""

    file: str | None  # name of the file as the user gave it
    line: int | None  # counted from 1
    field: str  # dotted path, links by name: links.upper.beam.material.E
    value: Any  # as written; None where nothing is
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The parts of the problem by their names."""
        return dict(vars(self))

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        shown = "" if self.value is None else shortened(self.value)
        parts = (place, self.field, shown, self.message)
        return visible(": ".join(part for part in parts if part))


class DescriptionError(ValueError):
    """A robot or scenario that cannot be built; `problems` lists every reason at once."""

    def __init__(self, problems: tuple[Problem, ...] | list[Problem]):
        self.problems: tuple[Problem, ...] = tuple(problems)
        lines = [str(problem) for problem in self.problems]
        super().__init__("\n".join(lines))


def visible(text: str, keep: str = "") -> str:
    r"""Text in which control characters, which terminals obey, are written out: `\x1b`; those of `keep` stay."""

    def written_out(match: re.Match) -> str:
        character = match[0]
        if character in keep:
            return character
        return character.encode("unicode_escape").decode("ascii")

    return CONTROLS.sub(written_out, text)


def shortened(value: Any, width: int = 60) -> str:
    """`repr(value)` without its middle where it is longer than `width`."""
    text = visible(value) if isinstance(value, str) else repr(value)
    if len(text) <= width:
        return text
    # The beginning says what it is, the end whether it is whole.
    return f"{text[: width - 20]} ... {text[-14:]}"


def nearest(word: Any, accepted: Any) -> str:
    """`, did you mean 'x'?` for the accepted word closest to `word`, or nothing where none is close."""
    words = [str(other) for other in accepted]
    close = get_close_matches(str(word), words, n=1, cutoff=0.5)
    return f", did you mean {close[0]!r}?" if close else ""


def refused(
    field: str, value: Any, message: str, file: str | None = None
) -> DescriptionError:
    """A `DescriptionError` with a single problem."""
    problem = Problem(file, None, field, value, message)
    return DescriptionError((problem,))


def refuse_idle(function: Callable[..., Any], why: str, **values: Any) -> None:
    """Refuse parameters that would change nothing, where another value than their default is given.

    Args:
        function: whose signature has the defaults.
        why: why they would change nothing, and what is accepted.
        values: of the parameters, by their names.

    Raises:
        DescriptionError: with one problem for each of them.
    """
    defaults = signature(function).parameters
    given = {
        name: None if value is True else value
        for name, value in values.items()
        if was_given(value, defaults[name].default)
    }
    if given:
        raise DescriptionError(
            [Problem(None, None, name, value, why) for name, value in given.items()]
        )


def was_given(value: Any, default: Any = None) -> bool:
    """Whether a parameter has a value that is neither empty nor its default."""
    if value is None or (hasattr(value, "__len__") and not len(value)):
        return False
    return not (isinstance(value, type(default)) and value == default)


def refused_file(
    file: str | None, message: str, line: int | None = None
) -> DescriptionError:
    """A `DescriptionError` about a whole file, or about one of its lines."""
    return DescriptionError([Problem(file, line, "", None, message)])
