"""The entrants of a tournament, read from the rows into plain values."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.store.models import Bot, BotVersion, Entrant, Tournament
from arena.store.storage import Transaction


@dataclass(frozen=True, slots=True)
class EntrantInfo:
    """An entrant and who stands behind it."""

    number: int
    """Place in the list of entrants, from 1."""
    entrant_id: int
    version_id: int
    name: str
    """``owner/bot@version``."""
    owner_id: int


def list_entrants(tx: Transaction, tournament: Tournament) -> list[EntrantInfo]:
    """Return the tournament's entrants in the order of seeding."""
    columns: tuple[Any, ...] = (Entrant.number, Entrant.id, Entrant.version_id, BotVersion.name, Bot.owner_id)
    rows = (
        select_columns(*columns)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(col(Entrant.tournament_id) == tournament.id)
        .order_by(col(Entrant.number))
    )
    return [EntrantInfo(*row) for row in tx.execute(rows).all()]


def present_in(tx: Transaction, tournament: Tournament, round: int) -> list[int]:
    """Return the entrants that play in this round, by number: those that have come and not withdrawn."""
    there = (
        select(Entrant.number, Entrant.absences)
        .where(Entrant.tournament_id == tournament.id, col(Entrant.entered_at_round) <= round)
        .where(col(Entrant.withdrawn_after).is_(None) | (col(Entrant.withdrawn_after) >= round))
    )
    return [
        number
        for number, absences in tx.exec(there.order_by(col(Entrant.number)))
        if not any(first <= round <= last for first, last in absences)
    ]
