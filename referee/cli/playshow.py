"""How a local play is shown: while it goes on, and what it came to."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from referee.cli.output import say, show

if TYPE_CHECKING:
    from referee.local.playing import Course
    from referee.local.report import BotReport, Estimate, Report
    from referee.local.versus import Versus

LOG_SECONDS = 10
"""How far apart the lines are that tell of progress where there is no terminal."""


def tell(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def progress(course: "Course", total: int) -> Iterator[Callable[[], None]]:
    """Yield a function that shows how many deals are done: as a bar, or now and then as a line in a log."""
    if not sys.stderr.isatty():
        yield now_and_then(lambda: tell(f"play: {course.tally.deals} of {total} deals"))
        return
    from rich.live import Live

    from referee.cli.bars import FittedBar
    from referee.cli.terminal import PlainConsole

    begun = time.monotonic()
    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))

        def update() -> None:
            done = course.tally.deals
            rate = done / (time.monotonic() - begun)
            left = f", {rate:.0f}/s, {_duration((total - done) / rate)} left" if rate else ""
            live.update(FittedBar("play", done, total, f"{done} of {total} deals{left}"))

        yield update


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress_of_test(versus: "Versus", new: str, old: str) -> Iterator[Callable[[], None]]:
    """Yield a function that shows what a test knows so far."""
    from referee.local.versus import finding, lines

    if not sys.stderr.isatty():
        yield now_and_then(lambda: tell(f"play: {versus.deals} deals; {finding(versus, new, old).sentence}"))
        return
    from rich.live import Live
    from rich.text import Text

    from referee.cli.terminal import PlainConsole

    with ExitStack() as stack:
        live = stack.enter_context(Live(console=PlainConsole(stderr=True), transient=True))
        yield lambda: live.update(Text("\n".join(lines(finding(versus, new, old), new, old))))


def now_and_then(
    write: Callable[[], None], clock: Callable[[], float] = time.monotonic
) -> Callable[[], None]:
    """Return a function that calls ``write``, not more often than a log can bear."""
    told = clock()

    def update() -> None:
        nonlocal told
        if clock() - told >= LOG_SECONDS:
            told = clock()
            write()

    return update


def show_report(found: "Report", decision_ms: int) -> None:
    """Print for people what a play came to."""
    early = ", interrupted" if found.interrupted else ""
    panel = f", against {', '.join(found.panel)}" if found.panel else ""
    say(
        f"{found.ruleset}{panel}: {found.deals} deals in all seatings, {found.played} played in "
        f"{found.seconds:.1f} s{early}"
    )
    order = sorted(found.bots, key=lambda one: -one.points.mean if one.points else 0.0)
    places = [f">{_ordinal(place)}" for place in range(1, len(order[0].places) + 1)]
    columns = ["bot", ">deals", ">points a deal", ">±", *places, ">ms median", ">99 %", ">longest"]
    show(columns, [_row(one) for one in order], "")
    if any(one.points and one.points.plus_minus is not None for one in found.bots):
        say("±: in 95 of 100 cases the true value is within this range")
    say("")
    for bot in found.bots:
        say(*_troubles(bot, decision_ms))
    say(*_verdict(found), "", f"again: {found.command}")


def _verdict(found: "Report") -> Iterator[str]:
    """Yield what is known, in lines."""
    from referee.local.versus import lines

    if found.finding is not None:
        yield from lines(found.finding, *(one.bot for one in found.bots))
        return
    yield from (one.sentence for one in found.comparisons)
    ranges = [one for one in found.comparisons if one.points and one.points.plus_minus is not None]
    if len(ranges) > 1:
        yield f"(the {len(ranges)} ranges after ± hold together in 95 of 100 cases)"


def _row(bot: "BotReport") -> tuple[object, ...]:
    shares = [f"{100 * number / bot.deals:.0f} %" if bot.deals else "" for number in bot.places]
    times = bot.times
    spent = [_ms(one) for one in (times.median_ms, times.p99_ms, times.longest_ms)] if times else ["", "", ""]
    return bot.bot, bot.deals, *_estimate(bot.points), *shares, *spent


def _estimate(points: "Estimate | None") -> tuple[str, str]:
    if points is None:
        return "", ""
    return f"{points.mean:+.2f}", "" if points.plus_minus is None else f"{points.plus_minus:.2f}"


def _ms(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _ordinal(place: int) -> str:
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }"


def _troubles(bot: "BotReport", decision_ms: int) -> Iterator[str]:
    """Yield what went wrong with a bot, in lines."""
    if bot.faults:
        kinds = ", ".join(f"{kind} {number}" for kind, number in bot.faults.items())
        forfeits = f", {bot.forfeits} sessions forfeited" if bot.forfeits else ""
        yield f"{bot.bot}: faults: {sum(bot.faults.values())} ({kinds}){forfeits}; the first:"
        yield from (f"  {text}" for text in bot.first_faults)
    for one in bot.first_exceptions:
        yield f"{bot.bot}: {one['text']}"
        lines = one["lines"]
        assert isinstance(lines, tuple)
        yield from (f"  | {line}" for line in lines)
    if bot.times is not None and bot.times.late:
        yield (
            f"{bot.bot}: {bot.times.late} decisions took longer than {decision_ms} ms; "
            "in an arena each would be a fault"
        )
