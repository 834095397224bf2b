"""The log and the deals of a bot, read from the arena or through a referee, for people or for scripts."""

import os
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from referee.bot.program import DEFAULT_REFEREE, tls_of_environment
from referee.cli.deals import show_deal
from referee.cli.output import console, print_json_line, say, show
from referee.cli.starting import good_token
from referee.matches.journal import (
    ASKED,
    KEPT,
    BotDeal,
    DealQuery,
    EntryKind,
    LogEntry,
    LogQuery,
    kinds_asked,
)
from referee.net.addresses import read_addresses
from referee.net.client import read_deals, read_log
from referee.reading.names import tidy
from referee.records.record import Decision, decisions

POLL_SECONDS = 0.5

CARDS = {"hand": "hand", "to_beat": "to beat", "answered": "answered", "default": "played"}
"""Details that are cards, and what they are called for people."""

TOLD = {
    *CARDS,
    *("deal", "action", "sequence", "turn", "seat", "faults", "fault_limit", "elapsed_ms", "credit_ms"),
    *("attempt", "void"),
}
"""Details that ``lines_of`` words itself; others are shown as they are."""

INDENT = "  "
LABEL = 10
"""Width of the labels of cards."""


def print_entry(entry: LogEntry, as_json: bool) -> None:
    """Print an entry: one JSON object a line, or some lines for people."""
    if as_json:
        values = asdict(entry)
        del values["id"]
        print_json_line(values)
        return
    out = console()
    for line in lines_of(entry, out.width):
        out.print(line, soft_wrap=True)


def lines_of(entry: LogEntry, width: int) -> Iterator[str]:
    """Yield an entry in lines of at most ``width`` characters; only a longer word exceeds that."""
    when = entry.at.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    what = f"{entry.kind} {entry.code}".strip()
    yield from _wrapped(f"{when}  {entry.bot}  {what}  {entry.session_id or entry.referee}", width)
    if entry.text:
        yield from _wrapped(INDENT + entry.text, width)
    yield from _details(entry.details, width)


def _details(details: Mapping[str, object], width: int) -> Iterator[str]:
    where = ", ".join(
        f"{name} {details[name]}" for name in ("attempt", "deal", "action", "turn", "seat") if name in details
    )
    more = []
    if "faults" in details:
        more.append(f"fault {details['faults']} of {details.get('fault_limit', '?')}")
    if "elapsed_ms" in details:
        more.append(f"after {details['elapsed_ms']} ms, {details.get('credit_ms', 0)} ms of them credited")
    if text := "; ".join(filter(None, (where, *more))):
        yield from _wrapped(INDENT + text, width)
    if details.get("void"):
        yield f"{INDENT}void: this attempt at the session was broken off, and the fault does not count"
    for name, label in CARDS.items():
        if name in details:
            cards = {"": "nothing", "-": "a pass"}.get(str(details[name]), str(details[name]))
            yield from _wrapped(f"{INDENT}{label:<{LABEL}}{cards}", width, len(INDENT) + LABEL)
    for name in (name for name in details if name not in TOLD):
        yield from _wrapped(f"{INDENT}{name}: {details[name]}", width)


def _wrapped(text: str, width: int, indent: int = len(INDENT) * 2) -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=" " * indent, break_on_hyphens=False, drop_whitespace=True
    )


def follow_log(
    read_entries: Callable[[LogQuery], list[LogEntry]],
    query: LogQuery,
    show: Callable[[LogEntry], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Show entries as they come, from the one after ``query.after`` on, until the process is interrupted."""
    while True:
        for entry in read_entries(replace(query, limit=KEPT)):
            show(entry)
            query = replace(query, after=entry.id)
        sleep(POLL_SECONDS)


def follow_pages(
    read_page: Callable[[], Sequence[LogEntry]], last: LogEntry | None, show: Callable[[LogEntry], None]
) -> None:
    """Show entries as they come, after the ``last`` one shown, until the process is interrupted.

    ``read_page`` returns the latest ones, oldest first; over the network they have no numbers.
    """
    while True:
        pause()
        for entry in newer(read_page(), last):
            show(entry)
            last = entry


def newer(entries: Sequence[LogEntry], last: LogEntry | None) -> Sequence[LogEntry]:
    """Return the entries after the last one shown; all of them if it is no longer among them."""
    places = [place for place, entry in enumerate(entries) if entry == last]
    return entries[places[-1] + 1 :] if places else entries


def pause() -> None:
    """Wait until it is time to look again."""
    time.sleep(POLL_SECONDS)


def print_deals(deals: Sequence[BotDeal]) -> None:
    """Print deals for people, oldest first, a line for each."""
    columns = ["session", ">deal", "bot version", ">seat", ">points", "best", ">left", "end"]
    rows = list(_rows(deals))
    times = [_times(deal) for deal in deals]
    if any(times):
        columns += [">turns", ">ms median", ">longest", ">credit"]
        rows = [(*row, *(took or ("", "", "", ""))) for row, took in zip(rows, times, strict=True)]
    show(columns, rows, "no matching deals")
    if len(deals) > 1:
        say("the newest deal is the last")


def _rows(deals: Sequence[BotDeal]) -> Iterator[tuple[object, ...]]:
    for deal in deals:
        record = deal.record
        best = max(record["points"])
        won = [name for name, points in zip(record["seats"], record["points"], strict=True) if points == best]
        left = len(record["left"][deal.seat].split())
        own = f"{deal.points:+d}"
        winners = "" if not deal.lost else f"{', '.join(won)} {best:+d}"
        yield deal.session_id, record["deal"], deal.bot, deal.seat, own, winners, left, record["end"]


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


MOST_DEALS = 10_000

BotName = Annotated[str, typer.Argument(metavar="OWNER/BOT[@VERSION]", help="The bot, or one version.")]
AuthorsToken = Annotated[
    str | None, typer.Option(envvar="ARENA_TOKEN", help="A valid token of any version of the bot.")
]
TokenFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A file with the token.")]
MostEntries = Annotated[
    int, typer.Option(min=1, max=KEPT, help="Show at most this many of the newest entries.")
]
MostDeals = Annotated[
    int, typer.Option(min=1, max=MOST_DEALS, help="Show at most this many deals, the newest.")
]
Kind = Annotated[str | None, typer.Option(help=f"Only entries of this kind: {', '.join(ASKED)}.")]
Session = Annotated[
    str | None,
    typer.Option(help="Only this session, TOURNAMENT/ROUND/TABLE/SESSION, or the first parts of that."),
]
Follow = Annotated[bool, typer.Option("--follow", help="Keep printing new entries until Ctrl-C.")]
Lost = Annotated[bool, typer.Option("--lost", help="Only deals in which another seat got more points.")]
Whole = Annotated[bool, typer.Option("--whole", help="Show hands and tricks of each deal.")]
AsLines = Annotated[bool, typer.Option("--json", help="Print a JSON object per line, for scripts.")]
Referee = Annotated[
    str | None, typer.Option(help="host:port of a referee; by default the first of ARENA_REFEREE.")
]


def log_(
    bot: BotName,
    token: AuthorsToken = None,
    token_file: TokenFile = None,
    limit: MostEntries = 50,
    kind: Kind = None,
    session: Session = None,
    follow: Follow = False,
    referee: Referee = None,
    as_json: AsLines = False,
) -> None:
    """Show a bot's log: faults with the position, notices, connections and why they ended.

    A referee is asked for it, with any token of the bot.
    """
    kinds = kinds_asked(kind) if kind else ()
    if kinds is None:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(ASKED)}", param_hint="'--kind'")
    query = LogQuery(bot, kinds, session, limit)
    address, secret, tls = _referee(referee), token_of(token, token_file), tls_of_environment()

    def read_entries(query: LogQuery) -> list[LogEntry]:
        return read_log(address, secret, query, tls=tls)

    entries = read_entries(query)
    for entry in entries:
        print_entry(entry, as_json)
    if follow:
        after = entries[-1].id if entries else 0
        follow_log(read_entries, replace(query, after=after), lambda entry: print_entry(entry, as_json))
    elif not as_json:
        say_no_faults(entries, query)


def games(
    bot: BotName,
    lost: Lost = False,
    session: Session = None,
    limit: MostDeals = 20,
    whole: Whole = False,
    referee: Referee = None,
    token: AuthorsToken = None,
    token_file: TokenFile = None,
    as_json: AsLines = False,
) -> None:
    """Show the deals that a bot has played, oldest first.

    A referee is asked for them, with a token of any version of the bot. Deals of a duplicate tournament are
    shown once their round is over.
    """
    query = DealQuery(bot, session, lost, limit)
    secret = token_of(token, token_file)
    deals = list(read_deals(_referee(referee), secret, query, tls=tls_of_environment()))
    print_all = print_deals_json if as_json else print_deals_whole if whole else print_deals
    print_all(deals[::-1])


def _referee(address: str | None) -> str:
    return address or read_addresses(os.environ.get("ARENA_REFEREE") or DEFAULT_REFEREE)[0]


def say_no_faults(entries: Sequence[LogEntry], query: LogQuery) -> None:
    """Say so if there are no entries, or no faults among them."""
    if not entries:
        say("no matching entries")
    elif not query.kinds and not any(entry.kind == EntryKind.FAULT for entry in entries):
        say("no faults here, and so no exceptions of the bot's own code")


def token_of(token: str | None, file: Path | None) -> str:
    """Return the token, preferably the file's. Raise BadParameter if there is none."""
    if file is not None:
        try:
            token = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise typer.BadParameter(f"cannot read {file}: {reason}", param_hint="'--token-file'") from None
    if not tidy(token or ""):
        raise typer.BadParameter("not given, and neither is ARENA_TOKEN", param_hint="'--token'")
    return good_token(token or "", "'--token'" if file is None else "'--token-file'")
