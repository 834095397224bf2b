"""What only authors see: logs, deals and checks of their bots, all at a glance, and requests that wait."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement
from sqlalchemy import select as select_columns
from sqlmodel import col, func, or_, select

from arena.actors import Actor
from arena.bots.deals import read_deals
from arena.bots.journal import read_log
from arena.bots.versions import VersionInfo, select_infos, token_problem, versions_for
from arena.core.cursors import make_cursor, read_cursor
from arena.queries.board import LeaderboardLine
from arena.queries.leaderboards import lines_of
from arena.queries.names import rated_pools
from arena.results.strength.pools import Pool
from arena.store.models import (
    Bot,
    BotLogEntry,
    BotVersion,
    Entrant,
    EntryInvitation,
    EntryRequest,
    EntryState,
    League,
    LeagueMember,
    Match,
    MatchState,
    Owner,
    Rating,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction
from arena.tournaments.admission import InvitationShown, RequestShown, invitation_shown, request_shown
from arena.tournaments.entry import takes_entries
from arena.tournaments.referees import Ask, find_connected
from referee.matches.journal import DealQuery, EntryKind, LogEntry, LogQuery

MOST = 100
"""How many bots are shown at most: those with the newest versions."""

REQUESTS = 50
"""How many of the latest requests, and invitations, are shown."""

ENDS = (EntryKind.LEFT, EntryKind.LOST, EntryKind.REFUSED)
"""Entries that say why a bot is not connected."""


@dataclass(frozen=True, slots=True)
class Noted:
    """An entry of a bot's log."""

    at: datetime
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class OwnBot:
    """A bot of one's own."""

    bot: str
    """``owner/bot``."""
    version: str
    """Its newest version with a valid token, or just its newest one."""
    token_problem: str
    """Why that token is not valid, as "is revoked"; empty if it is."""
    connected: bool | None
    """Whether one of its versions is connected; None if no referee could be asked."""
    left: Noted | None
    """How its latest connection ended; None if none has, as far as its log goes back."""
    waiting: int
    """Its matches that wait for a worker, or are being played."""
    standing: LeaderboardLine | None
    """The place of its newest rated version, where that has played most; None if none is rated."""
    checked: bool | None
    """Whether that version passed its latest check; None if it was never checked."""
    fault: Noted | None
    """Its latest fault; None if there is none in its log."""


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """A request of a bot of one's own to enter a tournament or to join a league."""

    tournament: str | None
    league: str | None
    """The one that is asked; the other is None."""
    request: RequestShown


@dataclass(frozen=True, slots=True)
class OwnInvitation:
    """An invitation of a bot of one's own, or of all of an owner, to a tournament or a league."""

    tournament: str | None
    league: str | None
    """The one that it is to; the other is None."""
    invitation: InvitationShown


@dataclass(frozen=True, slots=True)
class OwnBots:
    """Bots of one's own at a glance."""

    bots: list[OwnBot]
    """By name; at most 100, those with the newest versions."""
    requests: list[OwnRequest]
    """The latest requests of these that were not approved, the newest first."""
    invitations: list[OwnInvitation]
    """The latest invitations that nobody has used, the newest first; entering the bot accepts one."""


class _Version(NamedTuple):
    id: int
    info: VersionInfo
    problem: str
    checked: bool | None


def own_bots(storage: Storage, actor: Actor, now: datetime, ask: Ask, bot: str | None = None) -> list[OwnBot]:
    """Return the bots of the actor's owners, or just the one that is named, by name.

    ``ask`` asks the referees who is connected.
    """
    with storage.read() as tx:
        bots = dict(sorted(_newest(tx, actor, now, bot).items()))
        own = {version.id: bot for bot, versions in bots.items() for version in versions}
        left = _latest(tx, own, ENDS)
        faults = _latest(tx, own, (EntryKind.FAULT,))
        waiting = _waiting(tx, own)
        standings = _standings(tx, own)
    valid = [version.id for versions in bots.values() for version in versions if not version.problem]
    connected = find_connected(valid, ask(valid, None)) if valid else {}
    overview = []
    for bot, versions in bots.items():
        newest = next((version for version in versions if not version.problem), versions[0])
        here = [connected.get(version.id) for version in versions if not version.problem]
        overview.append(
            OwnBot(
                bot=bot,
                version=newest.info.bot,
                token_problem=newest.problem,
                connected=None if None in here else any(here),
                left=left.get(bot),
                waiting=waiting.get(bot, 0),
                standing=standings.get(bot),
                checked=newest.checked,
                fault=faults.get(bot),
            )
        )
    return overview


def _newest(tx: Transaction, actor: Actor, now: datetime, bot: str | None) -> dict[str, list[_Version]]:
    """Return the versions of the bots with the newest ones, by bot, each with the newest first."""
    of_owners = select(BotVersion.bot_id).join(Bot, col(Bot.id) == BotVersion.bot_id).join(Owner)
    newest = of_owners.where(*_whose(actor, bot)).group_by(col(BotVersion.bot_id))
    newest = newest.order_by(func.max(BotVersion.id).desc()).limit(MOST)
    rows = select_infos().add_columns(col(BotVersion.id), col(BotVersion.check_report).is_not(None))
    rows = rows.where(col(BotVersion.bot_id).in_(newest.subquery().select()))
    by_bot: dict[str, list[_Version]] = {}
    for *infos, id, was_checked in tx.connection().execute(rows.order_by(col(BotVersion.number).desc())):
        info = VersionInfo(*infos)
        checked = info.check_passed_at is not None if was_checked else None
        version = _Version(id, info, token_problem(info, now), checked)
        by_bot.setdefault(info.bot.partition("@")[0], []).append(version)
    return by_bot


def _whose(actor: Actor, bot: str | None) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions that a row of bots is the one that is named, or else the actor's."""
    if bot is None:
        yield col(Owner.name).in_(actor.owners)
    else:
        owner, _, name = bot.partition("/")
        yield col(Owner.name) == owner
        yield col(Bot.name) == name


def _latest(tx: Transaction, own: Mapping[int, str], kinds: Sequence[EntryKind]) -> dict[str, Noted]:
    """Return the latest log entry of these kinds of each bot."""
    of_version = select(BotLogEntry.id).where(
        col(BotLogEntry.version_id) == BotVersion.id, col(BotLogEntry.kind).in_(kinds)
    )
    # An index leads to each version's entries, the latest first; a maximum would read all of them.
    last = of_version.order_by(col(BotLogEntry.id).desc()).limit(1).scalar_subquery()
    entries = select(BotLogEntry).where(
        col(BotLogEntry.id).in_(select(last).where(col(BotVersion.id).in_(own)))
    )
    rows = tx.exec(entries.order_by(col(BotLogEntry.id))).all()
    return {own[row.version_id]: Noted(row.at, row.code, row.text) for row in rows}


def _waiting(tx: Transaction, own: Mapping[int, str]) -> dict[str, int]:
    """Return how many open matches each bot has."""
    columns: tuple[Any, ...] = (Entrant.version_id, func.count())
    rows = (
        select_columns(*columns)
        .select_from(Entrant)
        .join(Tournament, col(Tournament.id) == Entrant.tournament_id)
        .join(Match, col(Match.tournament_id) == Tournament.id)
        .join(Seat, (col(Seat.match_id) == Match.id) & (col(Seat.entrant_id) == Entrant.id))
        .where(
            col(Entrant.version_id).in_(own),
            col(Tournament.state) == TournamentState.RUNNING,
            col(Match.state).in_((MatchState.WAITING, MatchState.RUNNING)),
        )
        .group_by(col(Entrant.version_id))
    )
    by_bot: dict[str, int] = {}
    for version_id, count in tx.connection().execute(rows):
        by_bot[own[version_id]] = by_bot.get(own[version_id], 0) + count
    return by_bot


def _standings(tx: Transaction, own: Mapping[int, str]) -> dict[str, LeaderboardLine]:
    """Return the place of each bot's newest rated version in the pool in which that has played most."""
    columns: tuple[Any, ...] = (Rating.version_id, Rating.ruleset_id, Rating.table_size)
    rows = select_columns(*columns).where(col(Rating.version_id).in_(own), col(Rating.matches) > 0)
    rows = rows.order_by(col(Rating.version_id), col(Rating.matches))
    chosen = {own[id]: (id, Pool(*pool)) for id, *pool in tx.connection().execute(rows)}
    by_bot: dict[str, LeaderboardLine] = {}
    for named in rated_pools(tx) if chosen else ():
        here = {id: bot for bot, (id, pool) in chosen.items() if pool == named.pool}
        lines = lines_of(tx, named, [*here]) if here else {}
        by_bot |= {here[id]: line for id, line in lines.items()}
    return by_bot


def versions_of(storage: Storage, actor: Actor, bot: str) -> list[VersionInfo]:
    """Return all versions of ``owner/bot`` for its owner, the newest first.

    Raise SpecError for a malformed name, UnknownError, NotAllowed.
    """
    ids = versions_for(storage, actor, bot)
    rows = select_infos().where(col(BotVersion.id).in_(ids)).order_by(col(BotVersion.number).desc())
    with storage.read() as tx:
        return [VersionInfo(*row) for row in tx.connection().execute(rows)]


def own_requests(storage: Storage, actor: Actor, bot: str | None = None) -> list[OwnRequest]:
    """Return the latest requests of the actor's bots, or of one of them, that were not approved."""
    with storage.read() as tx:
        return [*_requests(tx, actor, bot)]


def _requests(tx: Transaction, actor: Actor, bot: str | None) -> Iterator[OwnRequest]:
    rows = (
        select(EntryRequest, Tournament.name, League.name)
        .join(Bot, col(Bot.id) == EntryRequest.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
        .join(Tournament, col(Tournament.id) == EntryRequest.tournament_id, isouter=True)
        .join(League, col(League.id) == EntryRequest.league_id, isouter=True)
        .where(col(EntryRequest.state) != EntryState.APPROVED, *_whose(actor, bot))
        .order_by(col(EntryRequest.id).desc())
        .limit(REQUESTS)
    )
    for request, tournament, league in tx.exec(rows):
        yield OwnRequest(tournament, league, request_shown(request))


def own_invitations(storage: Storage, actor: Actor, bot: str | None = None) -> list[OwnInvitation]:
    """Return the latest invitations of the actor's bots, or of one of them, that can be used and were not."""
    with storage.read() as tx:
        return [*_invitations(tx, {bot.partition("/")[0]} if bot else actor.owners, bot)]


def _invitations(tx: Transaction, owners: Set[str], bot: str | None) -> Iterator[OwnInvitation]:
    invited = col(EntryInvitation.invited)
    named = [invited == bot] if bot else [invited.startswith(f"{owner}/") for owner in owners]
    columns: tuple[Any, ...] = (EntryInvitation, Tournament, League)
    rows = (
        select_columns(*columns)
        .join(Tournament, col(Tournament.id) == EntryInvitation.tournament_id, isouter=True)
        .join(League, col(League.id) == EntryInvitation.league_id, isouter=True)
        .where(or_(invited.in_(owners), *named))
        .order_by(col(EntryInvitation.id).desc())
        .limit(REQUESTS)
    )
    invitations = [row for row in tx.execute(rows) if row[1] is None or takes_entries(row[1])]
    inside = _inside(
        tx, owners, [row.tournament_id for row, *_ in invitations], [row.league_id for row, *_ in invitations]
    )
    for row, tournament, league in invitations:
        if (row.tournament_id, row.league_id, row.invited) not in inside:
            names = (tournament and tournament.name, league and league.name)
            yield OwnInvitation(*names, invitation_shown(row))


def _inside(
    tx: Transaction, owners: Set[str], tournaments: Sequence[int | None], leagues: Sequence[int | None]
) -> set[tuple[int | None, int | None, str]]:
    """Return the bots of these owners, and the owners, that are in these tournaments and leagues."""
    entered: tuple[Any, ...] = (Entrant.tournament_id, BotVersion.name)
    playing = (
        select_columns(*entered)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
        .where(col(Entrant.tournament_id).in_(tournaments), col(Entrant.withdrawn_after).is_(None))
        .where(col(Owner.name).in_(owners))
    )
    joined: tuple[Any, ...] = (LeagueMember.league_id, LeagueMember.name)
    members = (
        select_columns(*joined)
        .join(Owner, col(Owner.id) == LeagueMember.owner_id)
        .where(col(LeagueMember.league_id).in_(leagues), col(LeagueMember.left_at).is_(None))
        .where(col(Owner.name).in_(owners))
    )
    inside = [(tournament, None, name) for tournament, name in tx.execute(playing)]
    inside += [(None, league, name) for league, name in tx.execute(members)]
    return {
        (tournament, league, part)
        for tournament, league, name in inside
        for part in (name.partition("@")[0], name.partition("/")[0])
    }


@dataclass(frozen=True, slots=True)
class LogLine:
    """An entry of a bot's log."""

    at: datetime
    bot: str
    """``owner/bot@number``."""
    referee: str
    """The referee that wrote it."""
    kind: str
    """``connected``, ``left``, ``lost``, ``refused``, ``fault`` or ``notice``."""
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``tournament/round/table/session``; empty if it is not about a session."""
    details: Mapping[str, Any]
    """For a fault the position, and what was answered and played."""


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of a bot's log, newest first."""

    log: tuple[LogLine, ...]
    next: str | None
    """Cursor of the next page; None if there is none."""


def log_for(storage: Storage, actor: Actor, query: LogQuery, cursor: str | None = None) -> LogPage:
    """Return entries of a bot for its owner, or an operator, newest first.

    Raise SpecError, UnknownError, NotAllowed.
    """
    versions = versions_for(storage, actor, query.bot)
    question = replace(query, limit=0)
    if cursor is not None:
        [before] = read_cursor(question, cursor, int)
        query = replace(query, before=before)
    lines = read_log(storage, versions, replace(query, limit=query.limit + 1))[::-1]
    last, more = query.limit - 1, len(lines) > query.limit
    return LogPage(
        tuple(map(_line, lines[: query.limit])), make_cursor(question, (lines[last].id,)) if more else None
    )


def _line(entry: LogEntry) -> LogLine:
    return LogLine(
        at=entry.at,
        bot=entry.bot,
        referee=entry.referee,
        kind=entry.kind,
        code=entry.code,
        text=entry.text,
        session_id=entry.session_id,
        details=entry.details,
    )


@dataclass(frozen=True, slots=True)
class OwnDeal:
    """A finished deal, for the author of a bot at its table."""

    bot: str
    """``owner/bot@number``."""
    session_id: str
    """``tournament/round/table/session``."""
    seat: int
    """The bot's seat."""
    at: datetime
    """When the session was stored."""
    points: int
    """The bot's points."""
    lost: bool
    """Whether another seat got more points than the bot."""
    record: Mapping[str, Any]
    """The full deal record (docs/formats.md)."""


@dataclass(frozen=True, slots=True)
class OwnDeals:
    """A page of deals, newest first; it may have fewer than were asked for even if others follow."""

    deals: tuple[OwnDeal, ...]
    next: str | None
    """Cursor of the next page; None if there is none."""


def deals_for(storage: Storage, actor: Actor, query: DealQuery, cursor: str | None = None) -> OwnDeals:
    """Return deals of a bot for its owner, or an operator, newest first.

    Raise SpecError, UnknownError, NotAllowed.
    """
    versions = versions_for(storage, actor, query.bot)
    question = replace(query, limit=0)
    if cursor is not None:
        session, position, deal = read_cursor(question, cursor, int, int, int)
        query = replace(query, before=(session, position, deal))
    page = read_deals(storage, versions, query)
    deals = tuple(
        OwnDeal(line.bot, line.session_id, line.seat, line.at, line.points, line.lost, line.record)
        for line in page.deals
    )
    return OwnDeals(deals, None if page.before is None else make_cursor(question, page.before))
