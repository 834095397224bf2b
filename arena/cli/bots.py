"""``arena bot …``: listing bots, replacing their tokens, and reading their log and deals."""

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import arena.client as api
from arena.bots import versions
from arena.bots.deals import newest_deals
from arena.bots.journal import kinds_of, read_log, readable_versions
from arena.bots.versions import VersionInfo
from arena.cli import remote
from arena.cli.asking import Yes, confirm
from arena.cli.context import (
    actor_at_terminal,
    answer,
    client_of,
    is_here,
    own_settings,
    settings_of,
    storage_of,
)
from arena.cli.expiring import ExpiresIn, token_text
from arena.cli.lists import LARGEST_PAGE, AsCsv, Cursor, check_form, print_csv, print_list, say_next
from arena.matches.connected import ConnectedBot, connected_bots, connected_in
from arena.matches.referees import asker
from arena.models import utc_now
from arena.queries.versions import find_bots
from referee.cli.botdeals import print_deals, print_deals_json, print_deals_whole
from referee.cli.botlog import follow_log, follow_pages, print_entry
from referee.cli.botown import (
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
    say_no_faults,
    token_of,
)
from referee.cli.output import AsJson, moment, print_json, renamed, say, show, warn
from referee.client import read_deals as read_deals_from
from referee.client import read_log as read_log_from
from referee.matches.journal import ASKED, DealQuery, LogEntry, LogQuery

if TYPE_CHECKING:
    from arena.client import Client
    from arena.storage import Storage


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
    page = answer(
        ctx,
        lambda storage: find_bots(storage, owner, limit, cursor),
        lambda arena: arena.send(api.bots.list_bots(owner, limit, cursor)),
    )
    form: dict[str, Any] = {"as_json": as_json, "as_csv": as_csv, "next": page.next}
    if not print_list("bots", VersionInfo, page.bots, names={"name": "bot"}, **form):
        rows = [
            (
                one.name,
                one.language,
                moment(one.created_at),
                moment(one.check_passed_at),
                token_text(one),
            )
            for one in page.bots
        ]
        columns = ["bot version", "language", "registered", "check passed", "token"]
        show(columns, rows, "no bots yet: arena bot register OWNER/BOT")
        say_next(page.next)


def _list_connected(ctx: typer.Context, owner: str | None, as_json: bool, as_csv: bool) -> None:
    found, silent = answer(
        ctx,
        lambda storage: connected_bots(storage, asker(settings_of(ctx)), owner),
        lambda arena: connected_in(arena.send(api.operator.referees()), owner),
    )
    warn(*silent)
    if as_json:
        print_json({"bots": found})
        return
    if as_csv:
        print_csv(ConnectedBot, found)
        return
    rows = [
        (one.bot, one.referee, one.sessions, one.max_sessions, "; ".join(one.bounds) or "everything")
        for one in found
    ]
    columns = ["bot version", "referee", ">sessions", ">at most", "plays"]
    show(columns, rows, "no bot is connected")


def revoke(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="OWNER/BOT[@VERSION]", help="The bot, or one version.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Revoke the token of a bot version for good; a bot connected with it is disconnected."""

    def here(storage: "Storage") -> VersionInfo:
        version = versions.version_to_revoke(storage, name, utc_now())
        confirm(f"Revoke the token of {version} for good", yes)
        return versions.revoke_version(storage, actor_at_terminal(), version, utc_now())

    def there(arena: "Client") -> VersionInfo:
        version = remote.version_of(arena, name, unexpired=True)
        confirm(f"Revoke the token of {version} for good", yes)
        return arena.send(api.bots.revoke_bot(version))

    revoked = answer(ctx, here, there)
    if as_json:
        print_json(renamed(revoked, name="bot"))
    else:
        say(f"the token of {revoked.name} is revoked")


def rotate(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="OWNER/BOT[@VERSION]", help="The bot, or one version.")],
    expires_in: ExpiresIn = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give a bot version a new token. The old one is refused at once; a bot that uses it is disconnected."""

    def sure(version: str) -> str:
        confirm(f"Replace the token of {version}, so that the old one is refused at once", yes)
        return version

    def here(storage: "Storage") -> versions.Registered:
        version = sure(versions.version_to_rotate(storage, name))
        return versions.rotate_version(storage, actor_at_terminal(), version, utc_now(), expires_in)

    def there(arena: "Client") -> versions.Registered:
        return arena.send(api.bots.rotate_bot(sure(remote.version_of(arena, name)), expires_in))

    rotated = answer(ctx, here, there)
    if as_json:
        print_json(renamed(rotated, name="bot"))
    else:
        say(f"{rotated.name} has a new token, which cannot be shown again:", rotated.token)


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
    word = next((one for one, kinds in ASKED.items() if kinds == query.kinds), None)
    with client_of(ctx) as arena:

        def read(limit: int = FOLLOWED) -> list[LogEntry]:
            found = arena.send(api.bots.show_log(query.bot, word, query.session, limit)).entries
            return [remote.log_entry(line) for line in found[::-1]]

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
        found = answer(
            ctx,
            lambda storage: newest_deals(storage, actor_at_terminal(), query),
            lambda arena: [
                *map(remote.bot_deal, arena.send(api.bots.show_own_deals(bot, session, lost, limit)).deals)
            ],
        )
    else:
        tls = own_settings(ctx).client_tls()
        found = list(read_deals_from(referee, token_of(token, token_file), query, tls=tls))
    show = print_deals_json if as_json else print_deals_whole if whole else print_deals
    show(found[::-1])
