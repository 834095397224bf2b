"""Progress of local play, shown while it goes on."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from referee.local.playing import PlayedSoFar
    from referee.local.versus import Versus

LOG_SECONDS = 10
"""Seconds between two lines of progress if there is no terminal."""
SLOW_MS = 10
"""Milliseconds per decision from which the slowest bot is named."""
ENOUGH = 10
"""Decisions after which a bot that has made nothing but faults is reported."""


def tell(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def progress(
    so_far: "PlayedSoFar", total: int, names: Sequence[str], *, live: bool
) -> Iterator[Callable[[], None]]:
    """Yield a function that shows how many deals are done: as a bar, or as an occasional line in a log.

    It is a bar on a terminal if it may be ``live``.
    """
    from referee.cli.terminal import FittedBar

    begun = time.monotonic()

    def done() -> str:
        return f"{so_far.tally.deals} of {total} deals"

    def bar() -> "RenderableType":
        deals = so_far.tally.deals
        rate = deals / (time.monotonic() - begun)
        left = f", {rate:.0f}/s, {_duration((total - deals) / rate)} left" if rate else ""
        return FittedBar("play", deals, total, f"{done()}{left}{slowest(so_far, names)}")

    with _shown(so_far, names, done, bar, live) as show:
        yield show


@contextmanager
def progress_of_test(
    versus: "Versus", so_far: "PlayedSoFar", names: Sequence[str], *, live: bool
) -> Iterator[Callable[[], None]]:
    """Yield a function that shows what a test knows so far, as ``progress`` does."""
    from rich.text import Text

    from referee.local.versus import finding, lines

    new, old, *_ = names

    def known() -> str:
        return f"{versus.deals} deals; {finding(versus, new, old).sentence}"

    def whole() -> "RenderableType":
        text = lines(finding(versus, new, old), new, old)
        return Text("\n".join(text) + slowest(so_far, names))

    with _shown(so_far, names, known, whole, live) as show:
        yield show


@contextmanager
def _shown(
    so_far: "PlayedSoFar",
    names: Sequence[str],
    line: Callable[[], str],
    whole: "Callable[[], RenderableType]",
    live: bool,
) -> Iterator[Callable[[], None]]:
    """Yield a function that shows ``whole`` on a terminal, or every few seconds ``line`` in a log."""
    hopeless = Hopeless(so_far, names)
    if not (live and sys.stderr.isatty()):
        log = now_and_then(lambda: tell(f"play: {line()}{slowest(so_far, names)}"))

        def write() -> None:
            hopeless.look(tell)
            log()

        yield write
        return
    from rich.live import Live

    from referee.cli.terminal import PlainConsole

    with Live(whole(), console=PlainConsole(stderr=True), transient=True) as display:

        def update() -> None:
            hopeless.look(tell)
            display.update(whole())

        yield update


class Hopeless:
    """Reports each bot that has made nothing but faults so far, once."""

    def __init__(self, so_far: "PlayedSoFar", names: Sequence[str]) -> None:
        self._so_far, self._names = so_far, names
        self._reported: set[int] = set()

    def look(self, report: Callable[[str], None]) -> None:
        """Look at all bots again."""
        for bot, look in enumerate(self._so_far.looks):
            if bot not in self._reported and look.decisions >= ENOUGH and look.faults >= look.decisions:
                self._reported.add(bot)
                report(
                    f"{self._names[bot]}: all of its {look.decisions} decisions so far were faults; "
                    f"the first: {look.reason}. Ctrl-C ends this"
                )


def slowest(so_far: "PlayedSoFar", names: Sequence[str]) -> str:
    """Return which bot takes longest for its decisions, if that is worth telling; else nothing."""
    thought = so_far.thought
    if thought and thought.stuck:
        bot, seconds = thought.stuck
        return f"; {names[bot]} has not answered for {seconds:.0f} s"
    looks = [(look.decisions, look.seconds) for look in so_far.looks]
    both = zip(looks, thought.times if thought else looks, strict=True)
    taken = [seconds / max(1, decisions) for decisions, seconds in map(max, both)]
    most = max(taken)
    if most * 1000 < SLOW_MS:
        return ""
    return f"; {names[taken.index(most)]} takes {most * 1000:.0f} ms a decision"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def now_and_then(
    write: Callable[[], None], clock: Callable[[], float] = time.monotonic
) -> Callable[[], None]:
    """Return a function that calls ``write``, but no more often than suits a log."""
    last = clock()

    def update() -> None:
        nonlocal last
        if clock() - last >= LOG_SECONDS:
            last = clock()
            write()

    return update
