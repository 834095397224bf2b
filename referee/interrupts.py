"""Signals that end a program in order, as Ctrl-C does."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    FORCE = signal.SIGTERM
else:
    FORCE = signal.SIGKILL
"""What ends a program whether it wants to or not."""


def ending() -> list[signal.Signals]:
    """Return what ends this program besides Ctrl-C: somebody's wish, and a terminal that is closed.

    What is ignored is left out, as SIGHUP is under ``nohup``.
    """
    known = [signal.SIGTERM]
    if sys.platform != "win32":
        known.append(signal.SIGHUP)
    return [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]


class Ended(KeyboardInterrupt):
    """A signal ends the program, in the way that Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
        """What the program's exit status has to be, as shells have it."""


def interruption(error: KeyboardInterrupt) -> int:
    """Return the exit status of a program that Ctrl-C or another signal ended."""
    return error.status if isinstance(error, Ended) else 128 + signal.SIGINT


@contextmanager
def unwound_on_signals() -> Iterator[None]:
    """Have signals end the block as Ctrl-C does, so that it closes and removes what it has opened.

    Raise SystemExit after it, with the status that shells expect after such a signal.
    """

    def end(number: int, _frame: object) -> None:
        for other in before:  # once is enough, and a second one must not disturb the tidying up
            signal.signal(other, signal.SIG_IGN)
        raise Ended(number)

    before = {number: signal.getsignal(number) for number in ending()}
    try:
        for number in before:
            signal.signal(number, end)
        yield
    except Ended as ended:  # of which Typer would make a Ctrl-C
        raise SystemExit(ended.status) from ended
    finally:
        for number, found in before.items():
            signal.signal(number, found)
