"""The command line ``arena``: each command reads its arguments, calls one service and shows the result."""

import gc
import os
import signal
import sys
from contextlib import suppress

__all__ = ["main"]

INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""


def main() -> None:
    """Run the command in ``sys.argv``, and end the process.

    Ctrl-C ends it quietly from here on, even while the command is still being loaded.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, and stays so
        signal.signal(signal.SIGINT, _end_at_once)
    gc.disable()  # hardly anything loaded is garbage, and looking for it takes a fifth of the start-up time
    from referee.cli.app import run
    from referee.processes.closed import open_closed

    open_closed()
    status = INTERRUPTED
    with suppress(KeyboardInterrupt):  # before ``run`` could take it
        status = run(sys.argv[1:])
    sys.exit(status)


def command_is_loaded() -> None:
    """Make Ctrl-C raise KeyboardInterrupt from here on, wherever it falls, so that the command can tidy up.

    What has been loaded stays until the process ends, so the garbage collector never looks at it.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    if signal.getsignal(signal.SIGINT) is _end_at_once:
        from referee.processes.interrupts import lose_no_signals

        lose_no_signals()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end_at_once(*_: object) -> None:
    # Nothing has begun yet. An exception could be raised anywhere, even where it would only be printed.
    os._exit(INTERRUPTED)
