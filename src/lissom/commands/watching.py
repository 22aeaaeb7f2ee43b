"""How the command of a long verb shows the way: by a bar, and by what is there where it is stopped."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..verbs.verb import Verb
from .progress import stages

# By the word that a verb has for it; each gives what the function of the verb is watched by.
BARS: dict[str, Callable[[bool], AbstractContextManager[Any]]] = {
    "stages": lambda quiet: stages(),
}


@contextmanager
def watching(verb: Verb, quiet: bool) -> Iterator[Any]:
    """What the function of a verb tells how far it is; None of short ones. `quiet`: partial results are not shown."""
    if not verb.progress:
        yield None
        return
    with BARS[verb.progress](quiet) as watch:
        yield watch
