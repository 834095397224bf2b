"""Rounds and their matches as rows: planned, and read as formats see them; the lock for advancing."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, Update, bindparam, insert, update
from sqlmodel import col, func, select

from arena.core.formats import Setup, Situation
from arena.core.pairing import Pairing
from arena.core.pairing.chance import lots
from arena.results.standings.outcomes import outcomes
from arena.results.standings.stored import current_results
from arena.store.models import (
    Entrant,
    Match,
    MatchState,
    Round,
    RoundState,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.storage import Transaction, changed
from arena.tournaments.entrants import EntrantInfo, present_in


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
    return update(Tournament).where(*running).values(advanced_at=bindparam("now"))


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
        pairings=[pairing for _, pairing in paired_rounds(tx, tournament)],
        owners={entrant.number: entrant.owner_id for entrant in entrants},
        outcomes=partial(outcomes, tx, tournament),
        results=partial(current_results, tx, tournament, entrants),
    )


def paired_rounds(tx: Transaction, tournament: Tournament) -> list[tuple[Round, Pairing]]:
    """Return the rounds paired so far with their pairings, in order."""
    of_it = Round.tournament_id == tournament.id
    rounds = select(Round).where(of_it).order_by(col(Round.number))
    seats = (
        select(Match.round_id, Match.table_number, Entrant.number)
        .select_from(Round)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(of_it)
        .order_by(col(Match.round_id), col(Match.table_number), col(Seat.position))
    )
    tables: dict[int, list[tuple[int, ...]]] = {}
    for (round_id, _), rows in groupby(tx.exec(seats), key=lambda row: (row[0], row[1])):
        tables.setdefault(round_id, []).append(tuple(number for _, _, number in rows))
    return [
        (round, Pairing(tuple(tables.get(round.id, ())), tuple(round.byes)))
        for round in tx.exec(rounds).all()
    ]
