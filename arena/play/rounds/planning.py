"""Rounds and their matches as rows, and the lock under which a tournament advances."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import NamedTuple

from sqlalchemy import ColumnElement, Update, bindparam, update
from sqlmodel import col, func, select

from arena.core.pairing import Pairing
from arena.store.models import Match, MatchState, Round, RoundState, Seat, Tournament, TournamentState
from arena.store.storage import Transaction, changed


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
    matches = [
        Match(
            tournament_id=tournament.id,
            ruleset_id=tournament.ruleset_id,
            round_id=round.id,
            table_number=table,
            state=MatchState.WAITING,
            created_at=now,
        )
        for table in range(1, len(pairing.tables) + 1)
    ]
    tx.add_all(matches)
    tx.flush()
    tx.add_all(
        Seat(match_id=match.id, position=position, **entered[number]._asdict())
        for match, table in zip(matches, pairing.tables, strict=True)
        for position, number in enumerate(table)
    )
    return round


def tables_paired(tx: Transaction, tournament_id: int, rounds: int) -> int:
    """Return how many tables the first ``rounds`` rounds of a tournament have."""
    last = select(Round.id, Round.tables_before).where(
        Round.tournament_id == tournament_id, Round.number == rounds
    )
    found = tx.exec(last).first()
    if found is None:
        return 0
    tables = select(func.count()).select_from(Match).where(Match.round_id == found[0])
    return found[1] + tx.exec(tables).one()


def lock_running(
    tx: Transaction, tournament_id: int, now: datetime, *conditions: ColumnElement[bool]
) -> Tournament | None:
    """Lock out other steps of the tournament until this transaction ends; return None if it does not run."""
    locked = _advance_running().where(*conditions) if conditions else _advance_running()
    if not changed(tx, locked, {"tournament": tournament_id, "now": now}):
        return None
    return tx.get_one(Tournament, tournament_id)


@cache
def _advance_running() -> Update:
    running = (
        col(Tournament.id) == bindparam("tournament"),
        col(Tournament.state) == TournamentState.RUNNING,
    )
    return update(Tournament).where(*running).values(advanced_at=bindparam("now"))
