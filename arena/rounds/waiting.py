"""What a stalled tournament is waiting for, in plain words.

The rows tell which matches a worker has and what went wrong with them; the referees tell who is connected,
which bots cannot play the ruleset, and whether they take matches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from sqlmodel import col, or_, select

from arena.formats import FORMATS
from arena.matches.referees import Answer, ask_referees, find_unable
from arena.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Round,
    RoundState,
    Seat,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.rounds.course import free_entrants
from arena.settings import Settings
from arena.storage import Storage, Transaction
from arena.tournaments.entrants import list_entrants
from arena.tournaments.overview import TournamentStatus

BEGIN = timedelta(seconds=2)
"""How long a match may take to begin before it is asked what it waits for."""

SHOWN = 20
"""Matches of which that is told at most."""

NAMED = 5
"""Bots that are named in a line at most."""

STATUS_SECONDS = 1.0
"""How long a referee may take to say how it stands."""

PAUSING = "paused; the sessions that are being played go on to their end"
PAUSED = "paused; go on with: arena tournament resume {}"
TO_START = "; is `arena up` or `arena referee` running?"


Ask = Callable[[Sequence[int], Mapping[str, object]], Sequence[Answer]]
"""Asks all referees for their state, for that of these bot versions, and what these lack for a ruleset."""


def nobody_asked(version_ids: Sequence[int], ruleset: Mapping[str, object]) -> Sequence[Answer]:
    """Return no answers, where no referee can be asked."""
    return ()


def asker(settings: Settings) -> Ask:
    """Return the function that asks the configured referees; it asks nobody if the worker token is not known.

    Raises SettingsError for a wrong TLS file.
    """
    if settings.worker_token is None and not (settings.data / "worker-token").is_file():
        return nobody_asked
    tls, token = settings.client_tls(), settings.worker_secret()

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object]) -> Sequence[Answer]:
        return ask_referees(
            settings.referees, token, version_ids, ruleset=ruleset, tls=tls, timeout=STATUS_SECONDS
        )

    return ask


@dataclass(frozen=True, slots=True)
class _Bot:
    version_id: int
    name: str
    revoked: bool


@dataclass(frozen=True, slots=True)
class _Match:
    """A match that may be kept from going on."""

    round: int
    table: int
    problem: str | None
    """Why the last attempt failed; None: it did not."""
    not_before: datetime | None
    """When it is tried again; None: at once."""
    taken: bool
    """Whether a worker has it, for a while already."""
    bots: tuple[_Bot, ...]


@dataclass(frozen=True, slots=True)
class _Lone:
    """A continuous tournament without a table that is being played."""

    needed: int
    """Bots that have to be connected for the first table."""
    bots: tuple[_Bot, ...]
    """Who could play."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What keeps a tournament from going on."""

    lines: tuple[str, ...] = ()
    """One for each thing that keeps it, or one of its matches, from going on."""
    for_worker: bool = True
    """Whether there is something that a worker could do, if one came."""
    tried: datetime | None = None
    """Another time after each failed attempt at a match; None: none failed."""


def obstacles(storage: Storage, status: TournamentStatus, ask: Ask, now: datetime) -> Obstacles:
    """Return what keeps the tournament from going on now."""
    if status.state == TournamentState.PAUSED:
        return Obstacles((PAUSING if is_played(status, now) else PAUSED.format(status.name),), False)
    if status.state != TournamentState.RUNNING:
        return Obstacles((), False)
    with storage.read() as tx:
        matches = _doubtful(tx, status, now)
        lone = _lone_bots(tx, status) if FORMATS[status.format].in_batches else None
        ruleset = tx.get_one(StoredRuleset, tx.get_one(Tournament, status.id).ruleset_id).content
    if not matches and lone is None:
        return Obstacles()
    bots = {bot.version_id: bot for match in matches for bot in match.bots}
    bots |= {bot.version_id: bot for bot in lone.bots} if lone else {}
    return _described(matches, lone, list(bots), ask(list(bots), ruleset))


def _described(
    matches: Sequence[_Match], lone: _Lone | None, version_ids: Sequence[int], answers: Sequence[Answer]
) -> Obstacles:
    """Return the obstacles in words; the answers are about these bot versions."""
    tried = max((match.not_before for match in matches if match.not_before is not None), default=None)
    usable = [status for answer in answers if (status := answer.usable) is not None]
    if answers and not usable and (lone is not None or any(match.problem for match in matches)):
        return Obstacles((_no_referee(answers),), lone is None, tried)
    here = {
        version_id
        for answer in usable
        for version_id, place in zip(version_ids, answer.bots, strict=True)
        if place.connected
    }
    unable = find_unable(version_ids, answers)
    lines = [line for match in matches if (line := _about(match, here if usable else None, unable))]
    too_few = _too_few(lone, here) if lone is not None and usable else ""
    return Obstacles((*lines, *([too_few] if too_few else [])), not too_few, tried)


def is_played(status: TournamentStatus, now: datetime) -> bool:
    """Return whether a worker has one of its matches."""
    return status.leased_until is not None and status.leased_until > now


def busy_elsewhere(storage: Storage, status: TournamentStatus, now: datetime) -> list[str]:
    """Return the other tournaments of which a worker has a match now, by name."""
    with storage.read() as tx:
        played = (
            select(Tournament.name)
            .join(Match, col(Match.tournament_id) == Tournament.id)
            .where(col(Match.lease_until) > now, Tournament.id != status.id)
        )
        return sorted(tx.exec(played.distinct()))


def _doubtful(tx: Transaction, status: TournamentStatus, now: datetime) -> list[_Match]:
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
        select(Seat.match_id, Entrant.version_id, BotVersion.name, BotVersion.revoked_at)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .where(col(Seat.match_id).in_(ids))
        .order_by(col(Seat.match_id), col(BotVersion.name))
    )
    bots = {
        match_id: tuple(_Bot(version_id, name, at is not None) for _, version_id, name, at in rows)
        for match_id, rows in groupby(tx.exec(seats), key=lambda row: row[0])
    }
    return [
        _Match(number, match.table_number, match.problem, match.not_before, is_taken, bots[match.id])
        for match, number, is_taken in tx.exec(placed)
    ]


def _lone_bots(tx: Transaction, status: TournamentStatus) -> _Lone | None:
    """Return who could play; None if tables are being played, or there will be no more of them."""
    tournament = tx.get_one(Tournament, status.id)
    free, busy = free_entrants(tx, tournament, list_entrants(tx, tournament))
    if busy or tournament.paired == tournament.rounds:
        return None
    revoked = set(
        tx.exec(
            select(BotVersion.id)
            .join(Entrant, col(Entrant.version_id) == BotVersion.id)
            .where(Entrant.tournament_id == status.id, col(BotVersion.revoked_at).is_not(None))
        )
    )
    bots = tuple(_Bot(one.version_id, one.name, one.version_id in revoked) for one in free)
    return _Lone(tournament.table_size, bots)


def _about(match: _Match, here: set[int] | None, unable: Mapping[int, Sequence[str]]) -> str:
    """Return what a match waits for, if known.

    ``here`` is who is connected (None: nobody could say), ``unable`` what those lack that cannot play.
    """
    where = f"round {match.round} table {match.table}"
    if match.taken and here is not None:
        absent = [bot for bot in match.bots if bot.version_id not in here]
        missing = [_connected_not(absent)] if absent else []
        missing += [
            f"{bot.name}, which cannot play the ruleset (it asks for {'; '.join(unable[bot.version_id])})"
            for bot in match.bots
            if bot.version_id in here and bot.version_id in unable
        ]
        return f"{where} waits for {', and for '.join(missing)}" if missing else ""
    return f"{where}: {match.problem}; it is tried again" if match.problem is not None else ""


def _too_few(lone: _Lone, here: set[int]) -> str:
    there = sum(bot.version_id in here for bot in lone.bots)
    if there >= lone.needed:
        return ""
    absent = [bot for bot in lone.bots if bot.version_id not in here]
    more = f"; it waits for {_connected_not(absent)}" if absent else ""
    return f"a table takes {lone.needed} bots, and {there} of the {len(lone.bots)} are connected{more}"


def _connected_not(absent: Sequence[_Bot]) -> str:
    """Return these bots, and that they are not connected."""
    names = [f"{bot.name}{' (its token is revoked)' if bot.revoked else ''}" for bot in absent[:NAMED]]
    if len(absent) > NAMED:
        names.append(f"{len(absent) - NAMED} others")
    told = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"{told}, which {'is' if len(absent) == 1 else 'are'} not connected"


def _no_referee(answers: Sequence[Answer]) -> str:
    told = [f"{answer.address} {_state(answer)}" for answer in answers]
    away = any(answer.status is None for answer in answers)
    return f"no referee takes matches: {', '.join(told)}{TO_START if away else ''}"


def _state(answer: Answer) -> str:
    """Return why a referee cannot be used."""
    if answer.status is not None:
        return "is shutting down"
    code, _, details = answer.problem.removeprefix(f"referee {answer.address}: ").partition(": ")
    return _CODES.get(code, f"says {code}: {details}")


_CODES = {
    "unavailable": "cannot be reached from here",
    "deadline_exceeded": "does not answer",
    "token_unknown": "does not take the workers' token",
    "token_scope": "does not take the workers' token",
}
