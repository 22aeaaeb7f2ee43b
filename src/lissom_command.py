"""The program `lissom`: Ctrl-C ends it quietly even before the package is imported, which takes a moment."""

import atexit
import gc
import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


def main() -> NoReturn:
    """Runs the command line and ends the process with its exit code."""
    # Not an exception: there is nothing to save yet, and a traceback would help nobody.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    # What is registered first is called last: by then threads have ended and others have tidied up.
    codes: list[int] = []
    atexit.register(leave_memory_to_the_system, codes)
    load_less()
    from lissom.commands import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    codes.append(cli.main())
    sys.exit(codes[0])


def load_less() -> None:
    """Settings of a process that is a command and nothing else, which save 0.2 s; `import lissom` leaves them alone."""
    # JAX's objects stay until the end: to look for garbage among them, then and later, takes a fifth of the time.
    gc.disable()
    import lissom.lazy_imports  # brings JAX

    gc.freeze()
    gc.enable()
    lissom.lazy_imports.load_lazily()


def leave_memory_to_the_system(codes: list[int]) -> None:
    """Ends a process that has an exit code; to take apart all its objects one by one takes 0.05 s."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        # Python says in its own way that its output cannot be written.
        return
    if codes:
        os._exit(codes[0])
