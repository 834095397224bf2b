"""The deals of a bot, printed for people or for scripts."""

from collections.abc import Iterator, Sequence

from referee.cli.deals import show_deal
from referee.cli.output import console, print_json_line, show
from referee.matches.journal import BotDeal


def print_deals(deals: Sequence[BotDeal]) -> None:
    """Print deals for people, oldest first, a line for each."""
    columns = ["session", ">deal", "bot version", ">seat", ">points", "best", ">left", "end"]
    show(columns, list(_rows(deals)), "no such deals")


def _rows(deals: Sequence[BotDeal]) -> Iterator[tuple[object, ...]]:
    for deal in deals:
        record = deal.record
        best = max(record["points"])
        won = [name for name, points in zip(record["seats"], record["points"], strict=True) if points == best]
        left = len(record["left"][deal.seat].split())
        own = f"{deal.points:+d}"
        shown = "" if not deal.lost else f"{', '.join(won)} {best:+d}"
        yield deal.session_id, record["deal"], deal.bot, deal.seat, own, shown, left, record["end"]


def print_deals_whole(deals: Sequence[BotDeal]) -> None:
    """Print deals for people, oldest first, each with its hands and tricks."""
    out = console()
    for deal in deals:
        out.print(f"{deal.bot} in {deal.session_id}, seat {deal.seat}: {deal.points:+d}", soft_wrap=True)
        show_deal(deal.record, out)


def print_deals_json(deals: Sequence[BotDeal]) -> None:
    """Print deals for scripts, oldest first, one JSON object a line."""
    for deal in deals:
        values = {"bot": deal.bot, "session_id": deal.session_id, "seat": deal.seat, "at": deal.at}
        print_json_line(values | {"points": deal.points, "lost": deal.lost, "record": deal.record})
