"""Signals that end a program in an orderly way, as Ctrl-C does."""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

if sys.platform == "win32":
    FORCE = signal.SIGTERM
else:
    FORCE = signal.SIGKILL
"""The signal that a program cannot refuse."""

Handler: TypeAlias = Callable[[int, FrameType | None], object]
Action: TypeAlias = Handler | int

_before: dict[int, Action] = {}
"""What signals did before this process handled them."""


@contextmanager
def handling(numbers: Iterable[signal.Signals], handler: Handler) -> Iterator[None]:
    """Handle these signals during the block.

    In processes forked from this one they do what they did before: a handler about this process would keep
    its children from being ended.
    """
    before: dict[int, Action] = {number: signal.getsignal(number) or signal.SIG_DFL for number in numbers}
    outer = {number: action for number, action in _before.items() if number in before}
    try:
        _before.update(before | outer)
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)
            del _before[number]
        _before.update(outer)


if sys.platform != "win32":
    _forking = threading.local()

    def _hold() -> None:
        """Before a fork, hold signals back, since one that comes in the middle of it would be lost."""
        _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _before)

    def _release() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, _forking.mask)

    def _handle_as_before() -> None:
        """In a forked process, handle signals as before, and tell the parent's event loop nothing of them."""
        if _before:
            signal.set_wakeup_fd(-1)
        for number, action in _before.items():
            signal.signal(number, action)
        _before.clear()
        _release()

    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_handle_as_before)


def ending() -> list[signal.Signals]:
    """Return the signals other than Ctrl-C that end this program: SIGTERM, and SIGHUP from a closed terminal.

    Signals that are ignored are left out, as SIGHUP is by nohup.
    """
    signals = [signal.SIGTERM]
    if sys.platform != "win32":
        signals.append(signal.SIGHUP)
    return [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]


def end_on_hangup() -> None:
    """Let SIGHUP, from a closed terminal, end this program as SIGTERM does, unless it is ignored."""
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


class Interrupted(KeyboardInterrupt):
    """A signal ends the program the way Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number
        """The exit status that shells expect of the program."""


def interruption(error: KeyboardInterrupt) -> int:
    """Return the exit status of a program that Ctrl-C or another signal ended."""
    return error.status if isinstance(error, Interrupted) else 128 + signal.SIGINT


@contextmanager
def unwound_on_signals() -> Iterator[None]:
    """Let signals end the block as Ctrl-C does, so that it closes and removes what it has opened.

    After a signal, raise SystemExit with the status that shells expect.
    """
    global _ending
    _ending = False

    def end(number: int, _frame: object) -> None:
        global _ending
        if not _ending:  # once is enough, and a second signal must not disturb the clean-up
            _ending = True
            raise Interrupted(number)

    try:
        with handling(ending(), end):
            yield
    except Interrupted as ended:  # which Typer would treat as Ctrl-C
        raise SystemExit(ended.status) from ended


_ending = False
"""Whether a signal is ending ``unwound_on_signals``."""

AGAIN_SECONDS = 0.02
"""How long after an exception was lost its signal is sent again; long enough for a callback to end."""


def lose_no_signals() -> None:
    """Send a signal again if the exception that it raised is lost: Ctrl-C is then as if it came later.

    Where it falls into a destructor or a callback of a library, Python only prints it, and goes on.
    """
    global _unraisable
    _unraisable, sys.unraisablehook = sys.unraisablehook, _send_again


_unraisable: Callable[["sys.UnraisableHookArgs"], object] = sys.__unraisablehook__


def _send_again(lost: "sys.UnraisableHookArgs") -> None:
    global _ending
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        _unraisable(lost)
        return
    _ending = False
    again = threading.Timer(AGAIN_SECONDS, send, [interruption(lost.exc_value) - 128])
    again.daemon = True
    again.start()


def send(number: int) -> None:
    """Send this process a signal, which interrupts its main thread, even while it waits if possible."""
    if sys.platform == "win32":
        _thread.interrupt_main(signal.Signals(number))
    else:
        os.kill(os.getpid(), number)
