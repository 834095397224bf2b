"""The progress and the results of local play, printed for people."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from referee.cli.output import say, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from referee.local.playing import PlayedSoFar
    from referee.local.report import BotReport, Estimate, Report
    from referee.local.versus import Versus


def show_report(report: "Report", decision_ms: int) -> None:
    """Print the results of a local play for people."""
    early = ", interrupted" if report.interrupted else ""
    panel = f", against {', '.join(report.panel)}" if report.panel else ""
    if not report.deals and report.interrupted:
        _show_too_early(report, f"{report.ruleset}{panel}", decision_ms)
        return
    say(
        f"{report.ruleset}{panel}: {report.deals} deals, each in every seating that differs: "
        f"{report.played} played in {report.seconds:.1f} s{early}"
    )
    order = sorted(report.bots, key=lambda result: -result.points.mean if result.points else 0.0)
    places = [f">{_ordinal(place)}" for place in range(1, len(order[0].places) + 1)]
    columns = ["bot", ">deals", ">points a deal", ">±", *places, ">ms median", ">99 %", ">longest"]
    show(columns, [_row(result) for result in order], "")
    if any(result.points and result.points.plus_minus is not None for result in report.bots):
        say("±: in 95 of 100 cases the true value is within this range")
    say("")
    for bot in report.bots:
        say(*_troubles(bot, decision_ms))
    say(*_verdict(report), "", f"again: {report.command}")


def _show_too_early(report: "Report", what: str, decision_ms: int) -> None:
    """Print what is known before any deal was finished: times of decisions, and what went wrong."""
    begun = f" ({report.unfinished} played of those begun)" if report.unfinished else ""
    when = f"interrupted after {report.seconds:.1f} s"
    say(f"{what}: {when}, before the first deal was finished in every seating{begun}")
    if rows := [
        (result.bot, result.times.decisions, *_times(result)) for result in report.bots if result.times
    ]:
        show(["bot", ">decisions", ">ms median", ">99 %", ">longest"], rows, "")
    for bot in report.bots:
        say(*_troubles(bot, decision_ms))
    say("", f"again: {report.command}")


def _verdict(report: "Report") -> Iterator[str]:
    """Yield the lines that say which bot is better."""
    from referee.local.versus import lines

    if report.finding is not None:
        yield from lines(report.finding, *(bot.bot for bot in report.bots))
        return
    yield from (comparison.sentence for comparison in report.comparisons)
    ranges = [row for row in report.comparisons if row.points and row.points.plus_minus is not None]
    if len(ranges) > 1:
        yield f"(the {len(ranges)} ranges after ± hold together in 95 of 100 cases)"


def _row(bot: "BotReport") -> tuple[object, ...]:
    shares = [f"{100 * number / bot.deals:.0f} %" if bot.deals else "" for number in bot.places]
    return bot.bot, bot.deals, *_estimate(bot.points), *shares, *_times(bot)


def _times(bot: "BotReport") -> Sequence[str]:
    times = bot.times
    return [_ms(value) for value in (times.median_ms, times.p99_ms, times.longest_ms)] if times else [""] * 3


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
        troubles = [*_faults(bot)]
        first = "; the first:" if troubles else ""
        yield f"{bot.bot}: faults: {sum(bot.faults.values())} ({kinds}){forfeits}{first}"
        yield from troubles
    for failure in bot.first_exceptions:
        yield f"{bot.bot}: {_often(failure['times'])}{failure['text']}"
        lines = failure["lines"]
        assert isinstance(lines, tuple)
        yield from (f"  | {line}" for line in lines)
    if bot.times is not None and bot.times.late:
        yield (
            f"{bot.bot}: {bot.times.late} decisions took longer than {decision_ms} ms; "
            "in an arena each would be a fault"
        )


def _faults(bot: "BotReport") -> Iterator[str]:
    """Yield a line for the first fault of each kind and reason; exceptions follow with their traceback."""
    for text, times in zip(bot.first_faults, bot.first_faults_times, strict=True):
        if not (bot.exceptions and ": exception: " in text):
            yield f"  {_often(times)}{text}"


def _often(times: object) -> str:
    return "" if times == 1 else f"{times} times: "


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
    from referee.cli.tables import FittedBar

    begun = time.monotonic()

    def done() -> str:
        return f"{so_far.tally.deals} of {total} deals"

    def bar() -> "RenderableType":
        deals = so_far.tally.deals
        rate = deals / (time.monotonic() - begun)
        left = f", {rate:.0f}/s, {_duration((total - deals) / rate)} left" if rate else ""
        return FittedBar("play", deals, total, f"{done()}{left}{slowest(so_far, names)}")

    with _display(so_far, names, done, bar, live) as show:
        yield show


@contextmanager
def progress_of_test(
    versus: "Versus", so_far: "PlayedSoFar", names: Sequence[str], *, live: bool
) -> Iterator[Callable[[], None]]:
    """Yield a function that shows what a test knows so far, as ``progress`` does."""
    from rich.text import Text

    from referee.local.versus import finding, lines

    new, old, *_ = names

    def finding_line() -> str:
        return f"{versus.deals} deals; {finding(versus, new, old).sentence}"

    def whole() -> "RenderableType":
        text = lines(finding(versus, new, old), new, old)
        return Text("\n".join(text) + slowest(so_far, names))

    with _display(so_far, names, finding_line, whole, live) as show:
        yield show


@contextmanager
def _display(
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

    from referee.cli.tables import PlainConsole

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
