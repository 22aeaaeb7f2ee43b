"""What goes wrong in Python while machine code runs, until that has come to its end."""

import threading


class _Failures(threading.local):
    """What went wrong in Python while machine code ran: it cannot pass through there."""

    def __init__(self) -> None:
        self.raised: list[BaseException] = []


_failures = _Failures()


def keep_failure(failure: BaseException) -> None:
    """Keeps what went wrong until machine code has come to its end."""
    _failures.raised.append(failure)


def has_failed() -> bool:
    """True if something went wrong since machine code began."""
    return bool(_failures.raised)


def raise_failure() -> None:
    """Raises what went wrong in Python while machine code ran, if anything did."""
    if _failures.raised:
        failure = _failures.raised[0]
        _failures.raised.clear()
        raise failure
