"""The deals of a bot, printed for people or for scripts."""

from collections.abc import Iterator, Sequence

from referee.cli.deals import show_deal
from referee.cli.output import console, print_json_line, say, show
from referee.matches.journal import BotDeal
from referee.records.times import Decision, decisions


def print_deals(deals: Sequence[BotDeal]) -> None:
    """Print deals for people, oldest first, a line for each."""
    columns = ["session", ">deal", "bot version", ">seat", ">points", "best", ">left", "end"]
    rows = list(_rows(deals))
    times = [_times(deal) for deal in deals]
    if any(times):
        columns += [">turns", ">ms median", ">longest", ">credit"]
        rows = [(*row, *(took or ("", "", "", ""))) for row, took in zip(rows, times, strict=True)]
    show(columns, rows, "no such deals")
    if len(deals) > 1:
        say("the newest deal is the last")


def _rows(deals: Sequence[BotDeal]) -> Iterator[tuple[object, ...]]:
    for deal in deals:
        record = deal.record
        best = max(record["points"])
        won = [name for name, points in zip(record["seats"], record["points"], strict=True) if points == best]
        left = len(record["left"][deal.seat].split())
        own = f"{deal.points:+d}"
        shown = "" if not deal.lost else f"{', '.join(won)} {best:+d}"
        yield deal.session_id, record["deal"], deal.bot, deal.seat, own, shown, left, record["end"]


def _times(deal: BotDeal) -> tuple[int, ...]:
    """Return how many turns the bot had, the median and the longest in milliseconds, and the most credit.

    Empty if the record has no times.
    """
    own = _own(deal)
    if not own:
        return ()
    spent = sorted(decision.ms for decision in own)
    return len(own), spent[len(spent) // 2], spent[-1], max(decision.credit_ms for decision in own)


def _own(deal: BotDeal) -> list[Decision]:
    return [decision for decision in decisions(deal.record) if decision.seat == deal.seat]


def print_deals_whole(deals: Sequence[BotDeal]) -> None:
    """Print deals for people, oldest first, each with its hands and tricks."""
    out = console()
    for deal in deals:
        out.print(f"{deal.bot} in {deal.session_id}, seat {deal.seat}: {deal.points:+d}", soft_wrap=True)
        show_deal(deal.record, out)
        if times := _times(deal):
            spent = ", ".join(str(decision.ms) for decision in _own(deal))
            out.print(
                f"its turns took {spent} ms; up to {times[3]} ms credited for the network\n", soft_wrap=True
            )


def print_deals_json(deals: Sequence[BotDeal]) -> None:
    """Print deals for scripts, oldest first, one JSON object a line."""
    for deal in deals:
        values = {"bot": deal.bot, "session_id": deal.session_id, "seat": deal.seat, "at": deal.at}
        print_json_line(values | {"points": deal.points, "lost": deal.lost, "record": deal.record})
