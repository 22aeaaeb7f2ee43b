"""Exceptions of Python functions that machine code calls, kept until it returns."""

import threading


class _Failures(threading.local):
    """Exceptions raised in Python while machine code ran: they cannot propagate through it."""

    def __init__(self) -> None:
        self.raised: list[BaseException] = []


_failures = _Failures()


def keep_failure(failure: BaseException) -> None:
    """Keeps an exception until machine code returns."""
    _failures.raised.append(failure)


def has_failed() -> bool:
    """True if an exception was raised since machine code began."""
    return bool(_failures.raised)


def raise_failure() -> None:
    """Raises the exception of a Python function that machine code called, if there is one."""
    if _failures.raised:
        failure = _failures.raised[0]
        _failures.raised.clear()
        raise failure
