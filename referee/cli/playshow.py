"""The results of local play, printed for people."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from referee.cli.output import say, show

if TYPE_CHECKING:
    from referee.local.report import BotReport, Estimate, Report


def show_report(found: "Report", decision_ms: int) -> None:
    """Print the results of a local play for people."""
    early = ", interrupted" if found.interrupted else ""
    panel = f", against {', '.join(found.panel)}" if found.panel else ""
    if not found.deals and found.interrupted:
        _show_too_early(found, f"{found.ruleset}{panel}", decision_ms)
        return
    say(
        f"{found.ruleset}{panel}: {found.deals} deals, each in every seating that differs: "
        f"{found.played} played in {found.seconds:.1f} s{early}"
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


def _show_too_early(found: "Report", what: str, decision_ms: int) -> None:
    """Print what is known before any deal was finished: times of decisions, and what went wrong."""
    begun = f" ({found.unfinished} played of those begun)" if found.unfinished else ""
    when = f"interrupted after {found.seconds:.1f} s"
    say(f"{what}: {when}, before the first deal was finished in every seating{begun}")
    if rows := [(one.bot, one.times.decisions, *_times(one)) for one in found.bots if one.times]:
        show(["bot", ">decisions", ">ms median", ">99 %", ">longest"], rows, "")
    for bot in found.bots:
        say(*_troubles(bot, decision_ms))
    say("", f"again: {found.command}")


def _verdict(found: "Report") -> Iterator[str]:
    """Yield the lines that say which bot is better."""
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
    return bot.bot, bot.deals, *_estimate(bot.points), *shares, *_times(bot)


def _times(bot: "BotReport") -> Sequence[str]:
    times = bot.times
    return [_ms(one) for one in (times.median_ms, times.p99_ms, times.longest_ms)] if times else [""] * 3


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
        told = [*_faults(bot)]
        first = "; the first:" if told else ""
        yield f"{bot.bot}: faults: {sum(bot.faults.values())} ({kinds}){forfeits}{first}"
        yield from told
    for one in bot.first_exceptions:
        yield f"{bot.bot}: {_often(one['times'])}{one['text']}"
        lines = one["lines"]
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
