"""Errors in finite elements and in their files."""

from collections.abc import Iterator
from contextlib import contextmanager

from ...files.array_file import ArrayFileError
from ...files.errors import DescriptionError, Problem


class FeError(DescriptionError):
    """Finite elements that cannot be used as they are; the message says what is wrong and what to do."""

    def __init__(self, message: str, file: str | None = None):
        # Where no file is given, the text says file and field, as far as there are any.
        super().__init__([Problem(file, None, "", None, message)])


@contextmanager
def as_fe_error() -> Iterator[None]:
    """An error in a file of arrays as an `FeError`."""
    try:
        yield
    except ArrayFileError as failure:
        raise FeError(str(failure)) from None
