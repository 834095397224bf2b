"""The results of local play, printed for people."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from referee.cli.output import say, show

if TYPE_CHECKING:
    from referee.local.report import BotReport, Estimate, Report


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
        yield from lines(report.finding, *(one.bot for one in report.bots))
        return
    yield from (one.sentence for one in report.comparisons)
    ranges = [one for one in report.comparisons if one.points and one.points.plus_minus is not None]
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
