"""What a stalled tournament is waiting for, in plain words.

The rows tell which matches a worker has and what went wrong with them; the referees tell who is connected,
which bots cannot play the ruleset, and whether they take matches.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from sqlmodel import col, func, or_, select

from arena.bots.versions import WITHOUT_REPORT, token_problem
from arena.core.formats import FORMATS
from arena.play.rounds.batches import free_entrants, others_play
from arena.store.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Round,
    RoundState,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import Answer, Ask
from referee.matches.match import Presence

BEGIN = timedelta(seconds=2)
"""How long a match may take to begin before its obstacles are looked for."""

SHOWN = 20
"""The most matches whose obstacles are shown."""

NAMED = 5
"""The most bots named in a line."""

SLOW = (10, 60, 600, 3600)
"""The steps in which overdue decisions are reported, in seconds; an exact time would change on every call."""

STALLED = timedelta(seconds=10)
"""How long nothing of a match must have finished before the line says whose few sessions or slow decisions it
waits for."""

PAUSING = "paused; open sessions are being finished"
PAUSED = "paused; resume with: arena tournament resume {}"
TO_START = "; is `arena up` or `arena referee` running?"


@dataclass(frozen=True, slots=True)
class _Bot:
    version_id: int
    name: str
    token: str
    """What is wrong with its token, to follow its name; empty if nothing is."""


@dataclass(frozen=True, slots=True)
class _Match:
    """A match that may be kept from going on."""

    round: int
    table: int
    problem: str | None
    """Why the last attempt failed; None if it did not."""
    not_before: datetime | None
    """When it is tried again; None for at once."""
    taken: bool
    """Whether a worker has had it for a while."""
    since: datetime | None
    """When its latest session was stored, or else when a worker first had it."""
    bots: tuple[_Bot, ...]
    left: int
    """Sessions that are not stored yet."""
    elsewhere: Mapping[int, Sequence[str]]
    """The other tournaments in which a worker has a match of one of its bots, by bot version."""


@dataclass(frozen=True, slots=True)
class _Reports:
    """What the referees answered."""

    somebody: bool
    """Whether at least one of them did."""
    places: Mapping[int, Sequence[Presence]]
    """The state of each connected bot version at the referees where it is."""
    min_sessions: int
    """The fewest sessions at once that bots must take."""
    now: datetime


@dataclass(frozen=True, slots=True)
class _IdleTournament:
    """A continuous tournament at which no table is being played."""

    needed: int
    """Bots that have to be connected for the first table."""
    bots: tuple[_Bot, ...]
    """The bots that could play."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What keeps a tournament from going on."""

    lines: tuple[str, ...] = ()
    """One for each thing that keeps it, or one of its matches, from going on."""
    for_worker: bool = True
    """Whether there is something that a worker could do, if one came."""
    tried: datetime | None = None
    """A different time after each failed attempt at a match; None if none failed."""


def obstacles(storage: Storage, status: TournamentStatus, ask: Ask, now: datetime) -> Obstacles:
    """Return what keeps the tournament from going on now."""
    if status.state == TournamentState.PAUSED:
        return Obstacles((PAUSING if is_played(status, now) else PAUSED.format(status.tournament),), False)
    if status.state != TournamentState.RUNNING:
        return Obstacles((), False)
    with storage.read() as tx:
        matches = _stuck_matches(tx, status, now)
        idle = _idle_tournament(tx, status, now) if FORMATS[status.format].in_batches else None
        tournament = tx.get_one(Tournament, status.id)
        ruleset, least = tx.get_one(StoredRuleset, tournament.ruleset_id).content, tournament.min_sessions
    if not matches and idle is None:
        return Obstacles()
    bots = {bot.version_id: bot for match in matches for bot in match.bots}
    bots |= {bot.version_id: bot for bot in idle.bots} if idle else {}
    return _in_words(matches, idle, list(bots), ask(list(bots), ruleset), least, now)


def _in_words(
    matches: Sequence[_Match],
    idle: _IdleTournament | None,
    version_ids: Sequence[int],
    answers: Sequence[Answer],
    least: int,
    now: datetime,
) -> Obstacles:
    """Return the obstacles in words; the answers are about these bot versions.

    ``least`` is how many sessions at once they must take.
    """
    tried = max((match.not_before for match in matches if match.not_before is not None), default=None)
    usable = [status for answer in answers if (status := answer.usable) is not None]
    if answers and not usable and (idle is not None or any(match.problem for match in matches)):
        return Obstacles((_no_referee(answers),), idle is None, tried)
    places: dict[int, list[Presence]] = {}
    for answer in usable:
        for version_id, place in zip(version_ids, answer.bots, strict=True):
            if place.connected:
                places.setdefault(version_id, []).append(place)
    reports = _Reports(bool(usable), places, least, now)
    lines = [line for match in matches if (line := _match_line(match, reports))]
    too_few = _too_few(idle, places) if idle is not None and usable else ""
    return Obstacles((*lines, *([too_few] if too_few else [])), not too_few, tried)


def is_played(status: TournamentStatus, now: datetime) -> bool:
    """Return whether a worker has one of its matches."""
    return status.leased_until is not None and status.leased_until > now


def busy_elsewhere(storage: Storage, status: TournamentStatus, now: datetime) -> list[str]:
    """Return the names of the other tournaments in which a worker has a match now, sorted."""
    with storage.read() as tx:
        played = (
            select(Tournament.name)
            .join(Match, col(Match.tournament_id) == Tournament.id)
            .where(col(Match.lease_until) > now, Tournament.id != status.id)
        )
        return sorted(tx.exec(played.distinct()))


def _stuck_matches(tx: Transaction, status: TournamentStatus, now: datetime) -> list[_Match]:
    """Return the first matches that failed, or that a worker has."""
    taken = (col(Match.lease_until) > now) & (col(Match.started_at) <= now - BEGIN)
    first = (
        select(Match.id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(
            Match.tournament_id == status.id,
            Round.state == RoundState.OPEN,
            col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING]),
            or_(col(Match.problem).is_not(None), taken),
        )
        .order_by(col(Round.number), col(Match.table_number))
        .limit(SHOWN)
    )
    ids = tx.exec(first).all()
    if not ids:
        return []
    placed = (
        select(Match, Round.number, taken)
        .join(Round, col(Round.id) == Match.round_id)
        .where(col(Match.id).in_(ids))
        .order_by(col(Round.number), col(Match.table_number))
    )
    seats = (
        select(Seat.match_id, BotVersion)
        .options(WITHOUT_REPORT)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .where(col(Seat.match_id).in_(ids))
        .order_by(col(Seat.match_id), col(BotVersion.name))
    )
    bots = {
        match_id: tuple(_bot(version, now) for _, version in rows)
        for match_id, rows in groupby(tx.exec(seats), key=lambda row: row[0])
    }
    last = select(Session.match_id, func.max(Session.finished_at)).where(col(Session.match_id).in_(ids))
    stored = dict(tx.exec(last.group_by(col(Session.match_id))).all())
    version_ids = [bot.version_id for of_match in bots.values() for bot in of_match]
    elsewhere = _played_elsewhere(tx, status, version_ids, now)
    return [
        _Match(
            round=number,
            table=match.table_number,
            problem=match.problem,
            not_before=match.not_before,
            taken=is_taken,
            since=stored.get(match.id, match.started_at),
            bots=bots[match.id],
            left=status.sessions - match.sessions_done,
            elsewhere=elsewhere,
        )
        for match, number, is_taken in tx.exec(placed)
    ]


def _played_elsewhere(
    tx: Transaction, status: TournamentStatus, version_ids: Sequence[int], now: datetime
) -> dict[int, list[str]]:
    """Return in which other tournaments a worker has a match of these bot versions."""
    played = (
        select(Entrant.version_id, Tournament.name)
        .join(Tournament, col(Tournament.id) == Entrant.tournament_id)
        .join(Seat, col(Seat.entrant_id) == Entrant.id)
        .join(Match, col(Match.id) == Seat.match_id)
        .where(
            col(Entrant.version_id).in_(version_ids),
            Tournament.id != status.id,
            col(Match.lease_until) > now,
        )
        .order_by(Tournament.name)
        .distinct()
    )
    elsewhere: dict[int, list[str]] = {}
    for version_id, name in tx.exec(played):
        elsewhere.setdefault(version_id, []).append(name)
    return elsewhere


def _bot(version: BotVersion, now: datetime) -> _Bot:
    wrong = token_problem(version, now)
    return _Bot(version.id, version.name, f" (its token {wrong})" if wrong else "")


def _idle_tournament(tx: Transaction, status: TournamentStatus, now: datetime) -> _IdleTournament | None:
    """Return who could play; None if tables are being played, or there will be no more of them."""
    tournament = tx.get_one(Tournament, status.id)
    if others_play(tx, tournament) or tournament.paired == tournament.rounds:
        return None
    ids = [entrant.version_id for entrant in free_entrants(tx, tournament, away=True)]
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    of_it = entered.options(WITHOUT_REPORT).where(Entrant.tournament_id == status.id)
    bots = {version.id: _bot(version, now) for version in tx.exec(of_it)}
    return _IdleTournament(tournament.table_size, tuple(bots[id_] for id_ in ids))


def _bot_obstacle(bot: _Bot, match: _Match, places: Sequence[Presence], reports: _Reports) -> str:
    """Return how a connected bot holds up a match, as a predicate; empty if that is not known.

    ``places`` is its state at the referees.
    """
    lacks = next((place.lacks for place in places if place.lacks), ())
    if lacks:
        return f"cannot play the ruleset (it asks for {'; '.join(lacks)})"
    most = max(place.max_sessions for place in places)
    sessions = f"{most} session{'' if most == 1 else 's'} at once"
    if most < reports.min_sessions:
        return f"takes {sessions}, fewer than the {reports.min_sessions} that are asked for"
    if match.since is None or match.since > reports.now - STALLED:
        return ""
    elsewhere = match.elsewhere.get(bot.version_id, ())
    full = all(place.sessions >= place.max_sessions for place in places)
    parts = []
    if full and (elsewhere or most < match.left):
        parts.append(f"takes {sessions}, all of them begun")
    slow = max(
        (seconds for seconds in SLOW if any(place.thinking_seconds >= seconds for place in places)), default=0
    )
    if slow:
        parts.append(f"has owed a decision for more than {slow} s")
    return f"{' and '.join(parts)}{_also_in(elsewhere)}" if parts else ""


def _match_line(match: _Match, reports: _Reports) -> str:
    """Return what a match waits for, if known."""
    where = f"round {match.round} table {match.table}"
    if match.taken and reports.somebody:
        absent = [bot for bot in match.bots if bot.version_id not in reports.places]
        missing = [_not_connected(absent)] if absent else []
        missing += [
            f"{bot.name}, which {why}"
            for bot in match.bots
            if (places := reports.places.get(bot.version_id))
            and (why := _bot_obstacle(bot, match, places, reports))
        ]
        since = f"{match.since:%Y-%m-%d %H:%M} UTC" if match.since else "the start"
        text = f"{where} waits for {', and for '.join(missing)}; nothing of it has finished since {since}"
        return text if missing else ""
    return f"{where}: {match.problem}; it is tried again" if match.problem is not None else ""


def _also_in(tournaments: Sequence[str]) -> str:
    """Return in which other tournaments a bot plays, in words."""
    more = "" if len(tournaments) <= NAMED else f" and {len(tournaments) - NAMED} more"
    return f" (it also plays in {', '.join(tournaments[:NAMED])}{more})" if tournaments else ""


def _too_few(idle: _IdleTournament, here: Collection[int]) -> str:
    there = sum(bot.version_id in here for bot in idle.bots)
    if there >= idle.needed:
        return ""
    absent = [bot for bot in idle.bots if bot.version_id not in here]
    more = f"; it waits for {_not_connected(absent)}" if absent else ""
    return f"a table takes {idle.needed} bots, and {there} of the {len(idle.bots)} are connected{more}"


def _not_connected(absent: Sequence[_Bot]) -> str:
    """Return these bots, and that they are not connected."""
    names = [f"{bot.name}{bot.token}" for bot in absent[:NAMED]]
    if len(absent) > NAMED:
        names.append(f"{len(absent) - NAMED} others")
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"{listed}, which {'is' if len(absent) == 1 else 'are'} not connected"


def _no_referee(answers: Sequence[Answer]) -> str:
    states = [f"{answer.address} {answer.trouble}" for answer in answers]
    away = any(answer.status is None for answer in answers)
    return f"no referee takes matches: {', '.join(states)}{TO_START if away else ''}"
