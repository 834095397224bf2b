"""Signals that end a program in an orderly way, as Ctrl-C does."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    FORCE = signal.SIGTERM
else:
    FORCE = signal.SIGKILL
"""The signal that a program cannot refuse."""


def ending() -> list[signal.Signals]:
    """Return the signals other than Ctrl-C that end this program: SIGTERM, and SIGHUP from a closed terminal.

    Signals that are ignored are left out, as SIGHUP is under ``nohup``.
    """
    known = [signal.SIGTERM]
    if sys.platform != "win32":
        known.append(signal.SIGHUP)
    return [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]


class Ended(KeyboardInterrupt):
    """A signal ends the program the way Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
        """The exit status that shells expect of the program."""


def interruption(error: KeyboardInterrupt) -> int:
    """Return the exit status of a program that Ctrl-C or another signal ended."""
    return error.status if isinstance(error, Ended) else 128 + signal.SIGINT


@contextmanager
def unwound_on_signals() -> Iterator[None]:
    """Let signals end the block as Ctrl-C does, so that it closes and removes what it has opened.

    After a signal, raise SystemExit with the status that shells expect.
    """

    def end(number: int, _frame: object) -> None:
        for other in before:  # once is enough, and a second signal must not disturb the clean-up
            signal.signal(other, signal.SIG_IGN)
        raise Ended(number)

    before = {number: signal.getsignal(number) for number in ending()}
    try:
        for number in before:
            signal.signal(number, end)
        yield
    except Ended as ended:  # which Typer would treat as Ctrl-C
        raise SystemExit(ended.status) from ended
    finally:
        for number, found in before.items():
            signal.signal(number, found)
