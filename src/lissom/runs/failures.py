"""How a request can fail although it was well put; bad requests raise `DescriptionError`.

They stand apart from what raises them, so that a program can recognise them without importing the solvers.
"""

from typing import Any


class AnalysisError(RuntimeError):
    """The analysis failed, and the message says all there is to say."""


class FailedRun(RuntimeError):
    """A run that did not reach its end; what was computed has been saved where a file was asked for."""

    def __init__(self, message: str, result: Any, interrupted: bool):
        super().__init__(message)
        self.result = result  # the `Run` of the part that was computed
        self.interrupted = interrupted


class UnsavedRun(FailedRun):
    """A run that reached its end, but not all of its files could be written; the message says which, and why."""

    def __init__(self, message: str, result: Any):
        super().__init__(message, result, interrupted=False)
