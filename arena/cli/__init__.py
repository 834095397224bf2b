"""The command line ``arena``: reads what was asked for, calls one service, shows the result."""

import os
import signal
import sys

__all__ = ["main"]

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command that the process was started with, and end the process.

    Ctrl-C ends it quietly from here on, also while the commands are still being loaded.
    """
    loud = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else it is ignored, and stays so
    if loud:
        # Nothing is begun yet. An exception could be raised anywhere, also where it is only printed.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from arena.cli.app import run  # takes most of a second

    status = INTERRUPTED
    try:
        if loud:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # before ``run`` could take it
        pass
    sys.exit(status)
