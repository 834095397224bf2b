"""How tournaments stand, and where they are looked up."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, func, select

from arena.formats import FORMATS, Setup
from arena.models import Entrant, Match, MatchState, Round, StoredRuleset, Tournament, TournamentState
from arena.storage import Storage, Transaction
from arena.terms import Terms
from arena.unknown import unknown

PROBLEMS_SHOWN = 20
"""Matches whose troubles a status lists at most."""


ENDED = (TournamentState.FINISHED, TournamentState.CANCELLED)


@dataclass(frozen=True, slots=True)
class TournamentStatus:
    """A tournament as it is shown."""

    id: int
    name: str
    format: str
    state: TournamentState
    problem: str | None
    """Why it failed; None: it has not."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    entrants: int
    """Number of entrants."""
    rounds: int | None
    """Rounds in all; None: not known yet, or until it is stopped."""
    sessions: int
    """Sessions in a match."""
    deals: int | None
    """Deals in a session; None: as the ruleset says."""
    rated: bool
    """Whether it changes ratings."""
    seed_hash: str
    """SHA-256 of the seed."""
    commitment: str | None
    """Digest of the head: all that was settled before the first round; None: it is not locked yet."""
    beacon: str | None
    """The public value that has a share in the luck; None: the organiser alone draws it."""
    beacon_value: str | None
    """What the beacon said; None: there is none, or the tournament has not been started."""
    seed: str | None
    """The seed in hexadecimal; None: secret until the tournament has ended."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    """When it finished or was cancelled; None: not yet."""
    round: int
    """The latest round that was opened; 0: none yet."""
    matches_done: int
    matches_running: int
    matches_total: int
    """Matches of all rounds paired so far."""
    sessions_done: int
    sessions_total: int
    """Sessions of the rounds paired so far and of those to come, as far as these are known."""
    waiting: tuple[str, ...]
    """A line for each match that something keeps from being played."""
    leased_until: datetime | None
    """Until when a worker has one of its matches, if it gives no further sign of life; None: none has."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED


def status(storage: Storage, name: str) -> TournamentStatus:
    """Return the status of a tournament; raise UnknownError if there is none of this name."""
    with storage.read() as tx:
        return status_of(tx, find_tournament(tx, name))


def terms(storage: Storage, name: str) -> Terms:
    """Return what a tournament is played under; raise UnknownError if there is none of this name."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        return Terms.model_validate({name: getattr(tournament, name) for name in Terms.model_fields})


def list_tournaments(storage: Storage, limit: int = 100) -> list[TournamentStatus]:
    """Return how the latest tournaments stand, newest first."""
    latest = select(Tournament).order_by(col(Tournament.id).desc()).limit(limit)
    with storage.read() as tx:
        return [status_of(tx, tournament) for tournament in tx.exec(latest).all()]


def find_tournament(tx: Transaction, name: str) -> Tournament:
    """Return the tournament of this name, or UnknownError."""
    found = tx.exec(select(Tournament).where(Tournament.name == name)).first()
    if found is None:
        raise unknown(tx, "tournament", name, col(Tournament.name))
    return found


def status_of(tx: Transaction, tournament: Tournament) -> TournamentStatus:
    """Return how this tournament stands in this transaction."""
    of_it = col(Match.tournament_id) == tournament.id
    counts = (
        select(Match.state, func.count(), func.sum(Match.sessions_done)).where(of_it).group_by(Match.state)
    )
    rows = tx.exec(counts).all()
    matches = {state: count for state, count, _ in rows}
    opened = select(func.max(Round.number)).where(
        Round.tournament_id == tournament.id, col(Round.started_at).is_not(None)
    )
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    entered = select(func.count(), func.count(col(Entrant.withdrawn_after)))
    entrants, gone = tx.exec(entered.where(Entrant.tournament_id == tournament.id)).one()
    total = sum(matches.values())
    return TournamentStatus(
        id=tournament.id,
        name=tournament.name,
        format=tournament.format,
        state=tournament.state,
        problem=tournament.problem,
        ruleset=ruleset.label,
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
        created_at=tournament.created_at,
        started_at=tournament.started_at,
        finished_at=tournament.finished_at,
        round=tx.exec(opened).one() or 0,
        matches_done=matches.get(MatchState.DONE, 0),
        matches_running=matches.get(MatchState.RUNNING, 0),
        matches_total=total,
        sessions_done=sum(done for _, _, done in rows),
        sessions_total=(total + _tables_to_come(tournament, entrants - gone)) * tournament.sessions,
        waiting=_problems(tx, tournament),
        leased_until=tx.exec(select(func.max(Match.lease_until)).where(of_it)).one(),
    )


def _tables_to_come(tournament: Tournament, playing: int) -> int:
    """Return how many tables are still to be paired, as far as that is known."""
    format = FORMATS.get(tournament.format)
    if tournament.state in ENDED or format is None:  # a damaged row is shown like any other
        return 0
    setup = Setup(tournament.table_size, tournament.rounds, tournament.options)
    return format.tables_to_come(setup, playing, tournament.paired)


def _problems(tx: Transaction, tournament: Tournament) -> tuple[str, ...]:
    troubled = (
        select(Round.number, Match.table_number, Match.problem)
        .join(Round, col(Round.id) == Match.round_id)
        .where(
            Match.tournament_id == tournament.id,
            col(Match.problem).is_not(None),
            col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING, MatchState.FAILED]),
        )
        .order_by(col(Round.number), col(Match.table_number))
        .limit(PROBLEMS_SHOWN)
    )
    return tuple(f"round {round} table {table}: {problem}" for round, table, problem in tx.exec(troubled))
