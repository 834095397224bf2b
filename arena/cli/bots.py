"""``arena bot …``: listing bots, replacing their tokens, reading their log and deals, and test matches."""

from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Annotated, Any

import typer

from arena.bots import versions
from arena.bots.journal import kinds_of, read_log, readable_versions
from arena.bots.versions import VersionInfo
from arena.cli.context import (
    Call,
    Yes,
    actor_at_terminal,
    ask,
    asking,
    client_of,
    confirm,
    is_here,
    own_settings,
    storage_of,
)
from arena.cli.doors import (
    LARGEST_PAGE,
    AsCsv,
    Cursor,
    check_form,
    command_of,
    print_answer,
    print_csv,
    say_next,
)
from arena.cli.tokens import ExpiresIn, token_text
from arena.jsonvalues import to_json
from arena.operations import bots, operator
from arena.queries.ownbots import OwnBots
from arena.store.models import utc_now
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import ConnectedBot, connected_in
from referee.cli.botlog import (
    AsLines,
    AuthorsToken,
    BotName,
    Follow,
    Kind,
    Lost,
    MostDeals,
    MostEntries,
    Session,
    TokenFile,
    Whole,
    follow_log,
    follow_pages,
    print_deals,
    print_deals_json,
    print_deals_whole,
    print_entry,
    say_no_faults,
    token_of,
)
from referee.cli.output import MOST, AsJson, moment, print_json, say, show, warn
from referee.matches.journal import ASKED, BotDeal, DealQuery, LogEntry, LogQuery
from referee.net.client import read_deals as read_deals_from
from referee.net.client import read_log as read_log_from


@command_of(bots.start_test, metavars={"against": "BOT"})
def play_house(status: TournamentStatus, bot: str) -> None:
    """Start an unrated match against house bots at once. `arena up` runs some."""
    say(
        f"{bot} plays a test match, {status.ruleset}: {status.tournament}",
        f"follow it with: arena tournament watch {status.tournament}",
        f"and then see it with: arena match show {status.tournament} 1 1",
    )


@command_of(bots.list_own_bots, csv="bots")
def mine(own: OwnBots) -> None:
    """Show your bots at a glance: connected, rank, matches to play, check, fault, requests, invitations.

    With --csv: a line for each bot.
    """
    rows = [
        (
            version.version,
            version.token_problem or _SAID[version.connected],
            f"{place.best}-{place.worst}"
            if version.standing and (place := version.standing.strength)
            else "",
            version.waiting or "",
            _CHECKED[version.checked],
            f"{version.fault.code}, {moment(version.fault.at)}" if version.fault else "",
        )
        for version in own.bots
    ]
    columns = ["bot version", "connected", ">ranks", ">to play", "check", "latest fault"]
    show(columns, rows, "no bots yet: arena bot register OWNER/BOT")
    for entry in own.requests:
        where = f"tournament {entry.tournament}" if entry.tournament else f"league {entry.league}"
        say(f"{entry.request.bot} asked to enter {where}: {entry.request.state.value}")
    for line in own.invitations:
        bot, by = line.invitation.invited, line.invitation.invited_by
        what = f"tournament enter {line.tournament}" if line.tournament else f"league join {line.league}"
        say(f"{bot} is invited by {by or 'the arena'}: arena {what} {bot if '/' in bot else f'{bot}/BOT'}")


_SAID = {True: "yes", False: "no", None: "unknown"}
_CHECKED = {True: "passed", False: "failed", None: ""}


def list_(
    ctx: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Only the bots of this owner.")] = None,
    connected: Annotated[
        bool,
        typer.Option(
            "--connected", help="Only those that are connected: to which referee, and for how many sessions."
        ),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many.")] = 100,
    cursor: Cursor = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List bot versions, the newest first."""
    check_form(as_json, as_csv)
    if connected:
        _list_connected(ctx, owner, as_json, as_csv)
        return
    page = ask(ctx, bots.list_bots, owner, limit, cursor)
    if not print_answer(bots.list_bots, page, as_json, as_csv):
        rows = [
            (bot.bot, bot.language, moment(bot.created_at), moment(bot.check_passed_at), token_text(bot))
            for bot in page.bots
        ]
        columns = ["bot version", "language", "registered", "check passed", "token"]
        show(columns, rows, "no bots yet: arena bot register OWNER/BOT")
        say_next(page.next)


def _list_connected(ctx: typer.Context, owner: str | None, as_json: bool, as_csv: bool) -> None:
    connected, silent = connected_in(ask(ctx, operator.referees), owner)
    warn(*silent)
    if as_json:
        print_json({"bots": connected})
        return
    if as_csv:
        print_csv(ConnectedBot, connected)
        return
    rows = [
        (bot.bot, bot.referee, bot.sessions, bot.max_sessions, "; ".join(bot.bounds) or "everything")
        for bot in connected
    ]
    columns = ["bot version", "referee", ">sessions", ">at most", "plays"]
    show(columns, rows, "no bot is connected")


AnyVersion = Annotated[str, typer.Argument(metavar="OWNER/BOT[@VERSION]", help="The bot, or one version.")]


def revoke(ctx: typer.Context, name: AnyVersion, yes: Yes = False, as_json: AsJson = False) -> None:
    """Revoke the token of a bot version for good; a bot connected with it is disconnected."""
    with asking(ctx) as call:
        version = version_of(call, name, unexpired=True)
        confirm(f"Revoke the token of {version} for good", yes)
        revoked = call(bots.revoke_bot, version)
    if as_json:
        print_json(to_json(revoked))
    else:
        say(f"the token of {revoked.bot} is revoked")


def rotate(
    ctx: typer.Context,
    name: AnyVersion,
    expires_in: ExpiresIn = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give a bot version a new token. The old one is refused at once; a bot that uses it is disconnected."""
    with asking(ctx) as call:
        version = version_of(call, name)
        confirm(f"Replace the token of {version}, so that the old one is refused at once", yes)
        rotated = call(bots.rotate_bot, version, expires_in)
    if as_json:
        print_json(to_json(rotated))
    else:
        say(f"{rotated.bot} has a new token, which cannot be shown again:", rotated.token)


def version_of(call: Call, name: str, *, unexpired: bool = False) -> str:
    """Return the version that a name means: a bot's newest one whose token is not revoked.

    With ``unexpired``, versions with a valid token come first. Raise UnknownError.
    """
    if "@" in name:
        call(bots.show_bot, name, 1)  # which tells if there is none
        return name
    listed = call(bots.list_bots, name.partition("/")[0], MOST).bots
    versions = [version for version in listed if version.bot.partition("@")[0] == name]
    if not versions:
        call(bots.show_bot, name, 1)  # which tells what there is instead
    return max(versions, key=lambda version: _goodness(version, unexpired)).bot


def _goodness(version: VersionInfo, unexpired: bool) -> tuple[bool, bool, int]:
    good = version.revoked_at is None
    expired = version.expires_at is not None and version.expires_at <= utc_now()
    return good and not (unexpired and expired), good, int(version.bot.partition("@")[2])


def log_(
    ctx: typer.Context,
    bot: BotName,
    token: AuthorsToken = None,
    token_file: TokenFile = None,
    organiser: Annotated[
        bool,
        typer.Option(
            "--organiser", help="The token is an organiser's, which gives access to every bot's log."
        ),
    ] = False,
    limit: MostEntries = 50,
    kind: Kind = None,
    session: Session = None,
    follow: Follow = False,
    referee: Annotated[
        str | None,
        typer.Option(
            help="host:port of a referee to ask, from any machine; without it, this arena's database."
        ),
    ] = None,
    as_json: AsLines = False,
) -> None:
    """Show a bot's log: faults with the position, notices, connections and why they ended.

    On the arena's own host no token is needed. From elsewhere, with --referee, any token of the bot gives
    access; an organiser adds --organiser to a token from `arena token create NAME --scope organiser`.
    """
    query = LogQuery(bot, kinds_of(kind) if kind else (), session, limit)
    if referee is None and not is_here(ctx):
        _log_there(ctx, query, as_json=as_json, follow=follow)
        return
    secret = token_of(token, token_file) if referee or organiser or token_file or token else ""
    with nullcontext(None) if referee else storage_of(ctx) as storage:

        def read(query: LogQuery) -> list[LogEntry]:
            if storage is None:
                return read_log_from(referee or "", secret, query, tls=own_settings(ctx).client_tls())
            opened = (
                readable_versions(storage, query.bot, secret, organiser=organiser)
                if secret
                else versions.versions_for(storage, actor_at_terminal(), query.bot)
            )
            return read_log(storage, opened, query)

        entries = read(query)
        for entry in entries:
            print_entry(entry, as_json)
        if follow:
            after = entries[-1].id if entries else 0
            follow_log(read, replace(query, after=after), lambda entry: print_entry(entry, as_json))
        elif not as_json:
            say_no_faults(entries, query)


FOLLOWED = 200
"""Number of log entries that are read at once over the network."""


def _log_there(ctx: typer.Context, query: LogQuery, *, as_json: bool, follow: bool) -> None:
    word: Any = next((called for called, kinds in ASKED.items() if kinds == query.kinds), None)
    with client_of(ctx) as arena:

        def read(limit: int = FOLLOWED) -> list[LogEntry]:
            entries = arena.call(bots.show_log, query.bot, word, query.session, limit).log
            return [LogEntry(id=0, **_fields_of(line)) for line in entries[::-1]]

        entries = read(query.limit)
        for entry in entries:
            print_entry(entry, as_json)
        if follow:
            last = entries[-1] if entries else None
            follow_pages(read, last, lambda entry: print_entry(entry, as_json))
        elif not as_json:
            say_no_faults(entries, query)


def games(
    ctx: typer.Context,
    bot: BotName,
    lost: Lost = False,
    session: Session = None,
    limit: MostDeals = 20,
    whole: Whole = False,
    referee: Annotated[
        str | None,
        typer.Option(
            help="host:port of a referee to ask, from any machine; without it, this arena's database."
        ),
    ] = None,
    token: AuthorsToken = None,
    token_file: TokenFile = None,
    as_json: AsLines = False,
) -> None:
    """Show the deals that a bot has played, oldest first.

    Deals of a duplicate tournament are shown once their round is over. A referee asks for a token of any
    version of the bot.
    """
    query = DealQuery(bot, session, lost, limit)
    if referee is None:
        deals = ask(ctx, bots.show_own_deals, bot, session, lost, limit).deals
        names = [field.name for field in fields(BotDeal)]
        read = [BotDeal(**{name: getattr(deal, name) for name in names}) for deal in deals]
    else:
        tls = own_settings(ctx).client_tls()
        read = list(read_deals_from(referee, token_of(token, token_file), query, tls=tls))
    show = print_deals_json if as_json else print_deals_whole if whole else print_deals
    show(read[::-1])


def _fields_of(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}
