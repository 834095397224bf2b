"""``arena bot log`` and ``arena bot games`` through a referee, so that an author can read them anywhere."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from referee.addresses import read_addresses
from referee.bot.program import DEFAULT_REFEREE, tls_of_environment
from referee.cli.botdeals import print_deals, print_deals_json, print_deals_whole
from referee.cli.botlog import follow_log, print_entry
from referee.cli.output import say
from referee.cli.starting import good_token
from referee.client import read_deals, read_log
from referee.matches.journal import ASKED, KEPT, DealQuery, EntryKind, LogEntry, LogQuery, kinds_asked
from referee.tokens import tidy

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

    def read(query: LogQuery) -> list[LogEntry]:
        return read_log(address, secret, query, tls=tls)

    entries = read(query)
    for entry in entries:
        print_entry(entry, as_json)
    if follow:
        after = entries[-1].id if entries else 0
        follow_log(read, replace(query, after=after), lambda entry: print_entry(entry, as_json))
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
    shown = print_deals_json if as_json else print_deals_whole if whole else print_deals
    shown(deals[::-1])


def _referee(given: str | None) -> str:
    return given or read_addresses(os.environ.get("ARENA_REFEREE") or DEFAULT_REFEREE)[0]


def say_no_faults(entries: Sequence[LogEntry], query: LogQuery) -> None:
    """Say so if there are no entries, or no faults among them."""
    if not entries:
        say("no such entries")
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
