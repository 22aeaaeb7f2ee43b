"""Failures of valid requests; bad requests raise `DescriptionError`.

They are apart from what raises them, so that a program can catch them without importing the solvers.
"""

from typing import Any


class AnalysisError(RuntimeError):
    """The analysis failed; the message gives the reason."""


class FailedRun(RuntimeError):
    """A run that did not reach its end; the computed part has been saved if a file was named."""

    def __init__(self, message: str, result: Any, interrupted: bool):
        super().__init__(message)
        self.result = result  # the `Run` of the part that was computed
        self.interrupted = interrupted


class UnsavedRun(FailedRun):
    """A run that reached its end, but not all of its files could be written; the message says which, and why."""

    def __init__(self, message: str, result: Any):
        super().__init__(message, result, interrupted=False)
