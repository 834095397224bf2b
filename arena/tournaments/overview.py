"""The state of tournaments; looking them up, for their organisers too, who may also organise leagues."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.core.formats import FORMATS, Setup
from arena.core.specs import TournamentFields
from arena.jsonvalues import Internal
from arena.store.models import (
    Entrant,
    League,
    Match,
    MatchState,
    Round,
    RoundState,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction
from arena.store.suggestions import unknown

PROBLEMS_SHOWN = 20
"""The most matches whose problems a status lists."""


ENDED = (TournamentState.FINISHED, TournamentState.CANCELLED)

C = TypeVar("C", Tournament, League)

Find: TypeAlias = Callable[[Transaction, str], C]
"""Looks up a tournament or a league by its name: ``find_tournament`` or ``find_league``."""


@dataclass(frozen=True, slots=True)
class TournamentStatus:
    """The status of a tournament."""

    tournament: str
    format: str
    """``round-robin``, ``swiss``, ``gauntlet``, ``knockout`` or ``continuous``."""
    state: TournamentState
    problem: str | None
    """Why it failed, or did not start by itself; None if neither."""
    ruleset: str
    """Name and version, such as ``hong-kong@1``."""
    table_size: int
    """Bots at a table."""
    entrants: int
    """Number of entrants."""
    rounds: int | None
    """Rounds in all; None if not known yet, or if it goes on until it is stopped."""
    sessions: int
    """Sessions in a match."""
    deals: int | None
    """Deals in a session; None for as many as the ruleset says."""
    rated: bool
    """Whether it changes ratings."""
    seed_hash: str
    """SHA-256 of the seed."""
    commitment: str | None
    """Digest of the head: all that was settled before the first round; None if it is not locked yet."""
    beacon: str | None
    """The public value that has a share in the luck; None if only the organiser's seed decides."""
    beacon_value: str | None
    """The beacon's value; None without a beacon, or before the start."""
    seed: str | None
    """The seed in hexadecimal; None while it is secret, until the tournament has ended."""
    description: str
    """What it is about; empty if its organiser did not say."""
    created_at: datetime
    start_at: datetime | None
    """When it starts by itself; None if its organiser starts it."""
    started_at: datetime | None
    """When it started; None if not yet."""
    finished_at: datetime | None
    """When it finished or was cancelled; None if not yet."""
    provisional: bool
    """Whether its results wait for its organiser to confirm them."""
    confirmed_at: datetime | None
    """When its organiser confirmed its results; None if not yet, or if that is not needed."""
    round: int
    """The latest round that was opened; 0 if none was."""
    matches_done: int
    """Matches of all rounds paired so far that are done."""
    matches_running: int
    """Those that workers have."""
    matches_total: int
    """Matches of all rounds paired so far."""
    sessions_done: int
    """Sessions of all rounds paired so far that are stored."""
    sessions_total: int
    """Sessions of the rounds paired so far and of those to come, as far as these are known."""
    waiting: tuple[str, ...]
    """A line for each match that something keeps from being played."""
    leased_until: datetime | None = None
    """Until when a worker holds one of its matches without a further sign of life; None if none does."""
    id: Internal[int] = 0
    """The number of its row."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED


def status(storage: Storage, name: str) -> TournamentStatus:
    """Return the status of a tournament. Raise UnknownError."""
    with storage.read() as tx:
        return status_of(tx, find_tournament(tx, name))


def terms(storage: Storage, name: str) -> TournamentFields:
    """Return the terms of a tournament. Raise UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        return TournamentFields.model_validate(
            {name: getattr(tournament, name) for name in TournamentFields.model_fields}
        )


def find_tournament(tx: Transaction, name: str) -> Tournament:
    """Return the tournament of this name. Raise UnknownError if there is none."""
    tournament: Tournament | None = tx.exec(_named(), params={"tournament": name}).first()
    if tournament is None:
        raise unknown(tx, "tournament", name, col(Tournament.name))
    return tournament


@cache
def _named() -> Any:
    """Select a tournament by its name."""
    return select(Tournament).where(Tournament.name == bindparam("tournament"))


def organised(tx: Transaction, actor: Actor, find: Find[C], name: str, what: str) -> C:
    """Return a tournament or a league that the actor organises. Raise NotAllowed, UnknownError."""
    actor.require(Role.ORGANISER, f"{what} {name}")
    contest = find(tx, name)
    actor.require_organiser(contest.organiser_id, f"{what} {name}")
    return contest


def status_of(tx: Transaction, tournament: Tournament) -> TournamentStatus:
    """Return the status of a tournament as part of a transaction."""
    [status] = statuses_of(tx, [tournament])
    return status


def statuses_of(tx: Transaction, tournaments: Sequence[Tournament]) -> list[TournamentStatus]:
    """Return the status of each; this takes a fixed number of statements, and reads no closed round."""
    tx.flush()
    ids = [tournament.id for tournament in tournaments]
    indexed, matches, problems = _indexed(tx, ids), _unclosed_matches(tx, ids), _problems(tx, ids)
    return [
        _status(
            tournament,
            indexed[tournament.id],
            matches.get(tournament.id, {}),
            tuple(problems.get(tournament.id, ())),
        )
        for tournament in tournaments
    ]


class _Indexed(NamedTuple):
    """What can be read of a tournament from indexes."""

    id: int
    ruleset: str
    version: int
    entrants: int | None
    withdrawn: int
    leased_until: datetime | None
    opened: int | None
    """The last round that is open."""
    closed: int | None
    """The last round that is closed."""
    cancelled: int | None
    """The last round that was cancelled while it was open."""
    before_last: int | None
    """Tables before the last round."""
    last: int
    """Tables of the last round."""
    before_planned: int | None
    """Tables before the first planned round; None if no round is planned."""


def _indexed(tx: Transaction, ids: Sequence[int]) -> dict[int, _Indexed]:
    """Return, by tournament, what can be read from indexes, in one statement."""
    return {row[0]: _Indexed(*row) for row in tx.connection().execute(_select_indexed(), {"these": ids})}


_THESE: Any = bindparam("these", expanding=True)
"""The ids of the tournaments that a query is about."""


@cache
def _select_indexed() -> Select[Any]:
    """Select the values of ``_Indexed``; made once, since nearly every page and command asks for a status."""
    entrant = col(Entrant.tournament_id)
    of_it = col(Round.tournament_id) == Tournament.id
    number = select(Round.number).where(of_it).order_by(col(Round.number).desc()).limit(1)
    of_last = (of_it, Round.number == Tournament.paired)
    # Tables are counted from 1, and an index has the last of a round: the others are not read.
    last = _column(select(Round.id).where(*of_last))
    in_last = select(func.coalesce(func.max(Match.table_number), 0)).where(Match.round_id == last)
    planned = select(Round.tables_before).where(of_it, Round.state == RoundState.PLANNED)
    leased = (col(Match.tournament_id) == Tournament.id, Match.state == MatchState.RUNNING)
    withdrawn = (entrant == Tournament.id, col(Entrant.withdrawn_after).is_not(None))
    columns = select_columns(
        col(Tournament.id),
        col(StoredRuleset.name),
        col(StoredRuleset.version),
        _column(select(func.max(Entrant.number)).where(entrant == Tournament.id)),
        _column(select(func.count()).select_from(Entrant).where(*withdrawn)),
        _column(select(func.max(Match.lease_until)).where(*leased)),
        _column(number.where(Round.state == RoundState.OPEN)),
        _column(number.where(Round.state == RoundState.CLOSED)),
        _column(number.where(Round.state == RoundState.CANCELLED, col(Round.started_at).is_not(None))),
        _column(select(Round.tables_before).where(*of_last)),
        _column(in_last),
        _column(planned.order_by(col(Round.number)).limit(1)),
    )
    rulesets = columns.join(StoredRuleset, col(StoredRuleset.id) == Tournament.ruleset_id)
    return rulesets.where(col(Tournament.id).in_(_THESE))


def _column(query: Any) -> Any:
    """Return the query as a column of a query about tournaments."""
    return query.correlate(Tournament).scalar_subquery()


Counts: TypeAlias = Mapping[str, tuple[int, int]]
"""Matches, and their stored sessions, by state."""


def _unclosed_matches(tx: Transaction, ids: Sequence[int]) -> Mapping[int, Counts]:
    """Return, by tournament, the matches of rounds that are open or were cancelled."""
    counts: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for id_, state, count, sessions in tx.exec(_count_unclosed(), params={"these": ids}):
        counts[id_][state] = (count, int(sessions))
    return dict(counts)


@cache
def _count_unclosed() -> Any:
    unclosed = col(Round.state).in_([RoundState.OPEN, RoundState.CANCELLED])
    return (
        select(Round.tournament_id, Match.state, func.count(), func.sum(Match.sessions_done))
        .join(Match, col(Match.round_id) == Round.id)
        .where(col(Round.tournament_id).in_(_THESE), unclosed)
        .group_by(col(Round.tournament_id), Match.state)
    )


def _status(
    tournament: Tournament, indexed: _Indexed, unclosed: Counts, waiting: tuple[str, ...]
) -> TournamentStatus:
    total = (indexed.before_last or 0) + indexed.last
    begun = total if indexed.before_planned is None else indexed.before_planned
    closed = begun - sum(count for count, _ in unclosed.values())
    entrants = indexed.entrants or 0
    to_come = _tables_to_come(tournament, entrants - indexed.withdrawn)
    return TournamentStatus(
        id=tournament.id,
        tournament=tournament.name,
        format=tournament.format,
        state=tournament.state,
        problem=tournament.problem,
        ruleset=f"{indexed.ruleset}@{indexed.version}",
        table_size=tournament.table_size,
        entrants=entrants,
        rounds=tournament.rounds,
        sessions=tournament.sessions,
        deals=tournament.deals,
        rated=tournament.rated,
        seed_hash=tournament.seed_hash,
        commitment=tournament.commitment,
        beacon=tournament.beacon,
        beacon_value=tournament.beacon_value,
        seed=tournament.seed if tournament.state in ENDED else None,
        description=tournament.description,
        created_at=tournament.created_at,
        start_at=tournament.start_at,
        started_at=tournament.started_at,
        finished_at=tournament.finished_at,
        provisional=tournament.confirm and tournament.confirmed_at is None,
        confirmed_at=tournament.confirmed_at,
        round=max(indexed.opened or 0, indexed.closed or 0, indexed.cancelled or 0),
        matches_done=closed + unclosed.get(MatchState.DONE, (0, 0))[0],
        matches_running=unclosed.get(MatchState.RUNNING, (0, 0))[0],
        matches_total=total,
        sessions_done=closed * tournament.sessions + sum(sessions for _, sessions in unclosed.values()),
        sessions_total=(total + to_come) * tournament.sessions,
        waiting=waiting,
        leased_until=indexed.leased_until,
    )


def _tables_to_come(tournament: Tournament, playing: int) -> int:
    """Return how many tables are still to be paired, as far as that is known."""
    format = FORMATS.get(tournament.format)
    if tournament.state in ENDED or format is None:  # a damaged row is shown like any other
        return 0
    if playing < tournament.table_size:
        return 0
    setup = Setup(tournament.table_size, tournament.rounds, tournament.options)
    return format.tables_to_come(setup, playing, tournament.paired)


def _problems(tx: Transaction, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return, by tournament, a line for each of the first matches that something keeps from being played."""
    problems: dict[int, list[str]] = {}
    for id_, round, table, problem, _ in tx.connection().execute(_select_problems(), {"these": ids}):
        problems.setdefault(id_, []).append(f"round {round} table {table}: {problem}")
    return problems


@cache
def _select_problems() -> Select[Any]:
    order = (col(Round.number), col(Match.table_number))
    place = func.row_number().over(partition_by=col(Round.tournament_id), order_by=order)
    troubled = (
        select_columns(
            col(Round.tournament_id),
            col(Round.number),
            col(Match.table_number),
            col(Match.problem),
            place.label("place"),
        )
        .join(Match, col(Match.round_id) == Round.id)
        .where(
            col(Round.tournament_id).in_(_THESE),
            col(Round.state) == RoundState.OPEN,
            col(Match.problem).is_not(None),
            col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING, MatchState.FAILED]),
        )
        .subquery()
    )
    first = select_columns(troubled).where(troubled.c.place <= PROBLEMS_SHOWN)
    return first.order_by(troubled.c.place)
