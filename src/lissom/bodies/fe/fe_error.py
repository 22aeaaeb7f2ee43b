"""What is wrong with finite elements, and with files of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from ...files.array_file import ArrayFileError


class FeError(ValueError):
    """Finite elements that cannot be used as they are; the message says what is wrong and what to do."""


@contextmanager
def as_fe_error() -> Iterator[None]:
    """What is wrong with a file of arrays, as an error of finite elements."""
    try:
        yield
    except ArrayFileError as failure:
        raise FeError(str(failure)) from None
