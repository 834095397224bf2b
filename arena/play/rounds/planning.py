"""Rounds and their matches as rows: planned, read as formats see them, closed; the lock for advancing."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, Update, bindparam, delete, insert, update
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.actors import Actor
from arena.core.formats import Setup, Situation
from arena.core.pairing import Pairing, Past
from arena.core.pairing.values import lots
from arena.errors import StateError
from arena.people.audit import record
from arena.results.ratings.apply import rate_round
from arena.results.standings.counted import keep_counted
from arena.results.standings.outcomes import outcomes, played_in, tables_of
from arena.results.standings.stored import add_round, current_results
from arena.store.models import (
    Entrant,
    Match,
    MatchState,
    OpenDeal,
    Round,
    RoundState,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.events import note
from arena.tournaments.overview import ENDED, TournamentStatus, find_tournament, organised, status_of
from arena.tournaments.roster import EntrantInfo, present_in
from arena.webhooks.hooks import emit

AT_ONCE = 5_000
"""Seats that are read at a time."""


class Entered(NamedTuple):
    """An entrant's row, and the bot version that plays."""

    entrant_id: int
    version_id: int


def plan_round(
    tx: Transaction,
    tournament: Tournament,
    number: int,
    pairing: Pairing,
    entered: Mapping[int, Entered],
    now: datetime,
) -> Round:
    """Add a round with its matches; ``entered`` has everyone at its tables by number."""
    round = Round(
        tournament_id=tournament.id,
        number=number,
        state=RoundState.PLANNED,
        tables_before=tables_paired(tx, tournament.id, number - 1),
        byes=list(pairing.byes),
        created_at=now,
    )
    tx.add(round)
    tx.flush()
    on_terms = {"tournament_id": tournament.id, "ruleset_id": tournament.ruleset_id, "round_id": round.id}
    matches = [
        {**on_terms, "table_number": table, "state": MatchState.WAITING, "created_at": now}
        for table in range(1, len(pairing.tables) + 1)
    ]
    if not matches:
        return round
    tx.connection().execute(insert(Match), matches)
    ids = tx.exec(select(Match.id).where(Match.round_id == round.id).order_by(col(Match.table_number)))
    seats = [
        {"match_id": match_id, "position": position, **entered[number]._asdict()}
        for match_id, table in zip(ids, pairing.tables, strict=True)
        for position, number in enumerate(table)
    ]
    tx.connection().execute(insert(Seat), seats)
    return round


def tables_paired(tx: Transaction, tournament_id: int, rounds: int) -> int:
    """Return how many tables the first ``rounds`` rounds of a tournament have."""
    last = select(Round.id, Round.tables_before).where(
        Round.tournament_id == tournament_id, Round.number == rounds
    )
    row = tx.exec(last).first()
    if row is None:
        return 0
    tables = select(func.count()).select_from(Match).where(Match.round_id == row[0])
    return row[1] + tx.exec(tables).one()


def lock_running(
    tx: Transaction, tournament_id: int, now: datetime, *conditions: ColumnElement[bool]
) -> Tournament | None:
    """Lock out other steps of the tournament until this transaction ends; return None if it does not run."""
    if not is_locked_running(tx, tournament_id, now, *conditions):
        return None
    return tx.get_one(Tournament, tournament_id)


def is_locked_running(
    tx: Transaction, tournament_id: int, now: datetime, *conditions: ColumnElement[bool]
) -> bool:
    """Lock out other steps as ``lock_running`` does; return whether the tournament runs."""
    locked = _advance_running().where(*conditions) if conditions else _advance_running()
    return changed(tx, locked, {"tournament": tournament_id, "now": now}) == 1


@cache
def _advance_running() -> Update:
    running = (
        col(Tournament.id) == bindparam("tournament"),
        col(Tournament.state) == TournamentState.RUNNING,
    )
    # What kept it from a step before has not kept it from this one, or is noted again.
    return update(Tournament).where(*running).values(advanced_at=bindparam("now"), problem=None)


def setup_of(tournament: Tournament) -> Setup:
    """Return the tournament's settings for its format."""
    return Setup(
        size=tournament.table_size,
        rounds=tournament.rounds,
        options=tournament.options,
        lots=lots(tournament.commitment or "", tournament.beacon_value),
        owners_apart=not tournament.allow_same_owner,
    )


def situation_of(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]) -> Situation:
    """Return the situation in which the next round is paired, for use while the transaction lasts."""
    return Situation(
        entrants=[entrant.number for entrant in entrants],
        present=present_in(tx, tournament, tournament.paired + 1),
        paired=tournament.paired,
        past=Past(round.pairing for round in paired_rounds(tx, tournament)),
        owners={entrant.number: entrant.owner_id for entrant in entrants},
        outcomes=partial(outcomes, tx, tournament),
        results=partial(current_results, tx, tournament, entrants),
    )


class PairedRound(NamedTuple):
    """A round as it was paired."""

    number: int
    state: RoundState
    pairing: Pairing
    present: int
    """How many could have been seated in it."""


def paired_rounds(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> Iterator[PairedRound]:
    """Yield the rounds paired so far that meet these conditions, in order.

    Only their own seats are read, few at a time, for there may be a million; use it while the transaction
    lasts.
    """
    of_it = (col(Round.tournament_id) == tournament.id, *which)
    numbers = dict(
        tx.exec(select(Entrant.id, Entrant.number).where(Entrant.tournament_id == tournament.id)).all()
    )
    columns = (Round.id, Round.number, Round.state, Round.byes, Round.free)
    rounds = tx.connection().execute(
        select_columns(*map(col, columns)).where(*of_it).order_by(col(Round.number))
    )
    seats = (
        select_columns(col(Round.id), col(Seat.entrant_id))
        .select_from(Round)
        .outerjoin(Match, col(Match.round_id) == Round.id)
        .outerjoin(Seat, col(Seat.match_id) == Match.id)
        .where(*of_it)
        .order_by(col(Round.number), col(Match.table_number), col(Seat.position))
    )
    rows = tx.connection().execute(seats, execution_options={"yield_per": AT_ONCE})
    for round, (_, of_round) in zip(rounds.all(), groupby(rows, key=itemgetter(0)), strict=True):
        # A round without tables has a row, too, but nobody in it.
        seated = [numbers[entrant_id] for _, entrant_id in of_round if entrant_id in numbers]
        tables = tuple(zip(*[iter(seated)] * tournament.table_size, strict=True))
        pairing = Pairing(tables, tuple(round.byes))
        there = len(seated) + len(round.byes) if round.free is None else len(round.free)
        yield PairedRound(round.number, round.state, pairing, there)


UNFINISHED = (MatchState.WAITING, MatchState.RUNNING, MatchState.FAILED)


def close(tx: Transaction, tournament: Tournament, round: Round, now: datetime) -> None:
    """Add the finished matches of an open round to the standings, and rate them; no other will be played.

    The tournament is locked. The round is closed if all of its matches are finished, and else cancelled.
    """
    tables, played = tables_of(tx, round), played_in(tx, tournament, round)
    done = [table for table in tables if table.match.state == MatchState.DONE]
    round.state = RoundState.CLOSED if len(done) == len(tables) else RoundState.CANCELLED
    round.finished_at = now
    add_round(tx, tournament, round, done, played)
    keep_counted(tournament, round, done, played)
    if tournament.rated and done:
        rate_round(tx, tournament, round, done, played, now)
    if round.state == RoundState.CLOSED:
        emit(tx, tournament.id, "round.finished", now, round=round.number, rounds=tournament.rounds)


def cancel(storage: Storage, actor: Actor, name: str, now: datetime) -> TournamentStatus:
    """End a tournament at once; its seed is revealed. Raise UnknownError, StateError.

    Finished matches count and are rated. Of the others, finished sessions stay on record, and count for
    nothing: a part of the seatings would favour whoever sat better in them.
    """
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "cancel")
        open_ = (col(Tournament.id) == tournament.id, col(Tournament.state).not_in(ENDED))
        values = {"state": TournamentState.CANCELLED, "finished_at": now}
        if not changed(tx, update(Tournament).where(*open_).values(values)):
            raise StateError(f"tournament {name} is {tournament.state.value} already")
        tx.refresh(tournament)
        _cancel_matches(tx, tournament, now)
        _end_rounds(tx, tournament, now)
        note(tx, tournament, "cancelled", now)
        record(tx, actor, "tournament.cancel", name, now)
        return status_of(tx, tournament)


def _cancel_matches(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    matches = (col(Match.tournament_id) == tournament.id, col(Match.state).in_(UNFINISHED))
    # A worker stops without its lease; see arena.play.matches.leases.
    values = {"state": MatchState.CANCELLED, "finished_at": now, "lease_owner": None, "lease_until": None}
    changed(tx, update(Match).where(*matches).values(values))
    its = select(Match.id).where(Match.tournament_id == tournament.id)
    changed(tx, delete(OpenDeal).where(col(OpenDeal.match_id).in_(its)))


def _end_rounds(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Close or cancel the rounds that have not ended, in order; those that have not begun count nothing."""
    opened = (Round.tournament_id == tournament.id, Round.state == RoundState.OPEN)
    for round in tx.exec(select(Round).where(*opened).order_by(col(Round.number))).all():
        close(tx, tournament, round, now)
    planned = (col(Round.tournament_id) == tournament.id, col(Round.state) == RoundState.PLANNED)
    values = {"state": RoundState.CANCELLED, "finished_at": now, "summed": True}
    changed(tx, update(Round).where(*planned).values(values))
