"""Names: of links (and so of joints and nodes), and of robots."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from .quantity import error, kind_of

NAME_LENGTH = 64
TITLE_LENGTH = 120
# Letters of any alphabet, digits, _ and -: nothing that is read as something else in dotted paths (links.upper), node
# names (upper/tip), lists of a command line, formulas of pictures, or pages.
ALLOWED = re.compile(r"[\w-]+")
NOT_ALLOWED = re.compile(r"[^\w-]")
MEANINGS = ("tip", "ground", "world")


def check_name(value: Any) -> Any:
    """A name as it is; what is none is refused with what is accepted."""
    if not isinstance(value, str) or not value:
        raise error(f"a name must be text, not {kind_of(value)}")
    if value in MEANINGS or value.isdigit():
        raise error("a name must not be tip, ground, world or a number")
    if not ALLOWED.fullmatch(value):
        raise error("a name may have only letters, digits, _ and -")
    if len(value) > NAME_LENGTH:
        raise error(
            f"a name has at most {NAME_LENGTH} characters, this one {len(value)}"
        )
    return value


def name_of(text: str) -> str:
    """A name made of any text: `_` stands for what a name cannot have, and words with a meaning get `_link`."""
    name = NOT_ALLOWED.sub("_", text)
    return f"{name}_link" if name in MEANINGS or name.isdigit() else name


def check_title(value: Any) -> Any:
    """The name of a robot as it is: one line of text."""
    if not isinstance(value, str):
        raise error(f"must be text, not {kind_of(value)}")
    if not value.isprintable():
        raise error("must be one line of text without control characters")
    if not 0 < len(value) <= TITLE_LENGTH:
        raise error(f"must have 1 to {TITLE_LENGTH} characters, not {len(value)}")
    return value


Name = Annotated[str, BeforeValidator(check_name)]
Title = Annotated[str, BeforeValidator(check_title)]
