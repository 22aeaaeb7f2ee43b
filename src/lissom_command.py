"""The program `lissom`: Ctrl-C ends it quietly even before the package is imported, which takes a moment."""

import gc
import os
import signal

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


def main() -> int:
    """Runs the command line and returns its exit code."""
    # Not an exception: there is nothing to save yet, and a traceback would help nobody.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from lissom.commands import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return cli.main()
    finally:
        # The process ends, and its memory with it: no search for garbage in what is left.
        gc.freeze()
