"""The entrants of a tournament, read from the rows, and the sessions that they forfeited."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, String, cast
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.errors import StateError
from arena.store.models import (
    BEGUN,
    Bot,
    BotVersion,
    Entrant,
    EntrantSum,
    Match,
    Round,
    Seat,
    Session,
    Tournament,
)
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


def find_entrants(tx: Transaction, tournament: Tournament, bot: str) -> Sequence[tuple[Entrant, str]]:
    """Return the entrants that are versions of ``owner/bot``, or this version, with the versions' names."""
    rows = select(Entrant, BotVersion.name).join(BotVersion, col(BotVersion.id) == Entrant.version_id)
    named = (
        BotVersion.name == bot if "@" in bot else col(BotVersion.name).startswith(f"{bot}@", autoescape=True)
    )
    of_it = rows.where(Entrant.tournament_id == tournament.id, named)
    return tx.exec(of_it.order_by(col(Entrant.number))).all()


def only_entrant(
    tournament: Tournament, bot: str, entries: Sequence[tuple[Entrant, str]]
) -> tuple[Entrant, str]:
    """Return the entrant that a bot stands for. Raise StateError if there is none, or more than one."""
    if not entries:
        raise StateError(f"{bot} is not in tournament {tournament.name}")
    if len(entries) > 1:
        which = ", ".join(name for _, name in entries)
        reason = f"{len(entries)} versions of {bot} are in tournament {tournament.name}; name one: {which}"
        raise StateError(reason)
    return entries[0]


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


def forfeited_sessions(tx: Transaction, tournament: Tournament) -> Counter[int]:
    """Return how many sessions each entrant forfeited so far, by its number.

    For summed rounds the number is stored; for others the sessions are read.
    """
    played = (
        select(Entrant.number, EntrantSum.forfeits)
        .join(EntrantSum, col(EntrantSum.entrant_id) == Entrant.id)
        .where(Entrant.tournament_id == tournament.id, EntrantSum.forfeits > 0)
    )
    return Counter(dict(tx.exec(played).all())) + _in_other_rounds(tx, tournament)


def forfeited_shares(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> dict[tuple[int, int], dict[int, float]]:
    """Return, by round and table, the share of the sessions that each entrant forfeited, by its number.

    ``which`` are conditions on rounds. Only the sessions in which somebody forfeited are read.
    """
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    sat = (
        select_columns(
            col(Round.number),
            col(Match.table_number),
            col(Session.seating),
            col(Session.forfeits),
            col(Seat.position),
            col(Entrant.number),
        )
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(col(Match.tournament_id) == tournament.id, cast(col(Session.forfeits), String) != "[]")
        .where(*which)
    )
    for round, table, seating, forfeits, position, number in tx.execute(sat):
        counts[round, table][number] += sum(seating[seat] == position for seat in forfeits)
    return {
        place: {number: count / tournament.sessions for number, count in found.items() if count}
        for place, found in counts.items()
    }


def _in_other_rounds(tx: Transaction, tournament: Tournament) -> Counter[int]:
    sat = (
        select_columns(col(Session.seating), col(Session.forfeits), col(Seat.position), col(Entrant.number))
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(
            col(Round.tournament_id) == tournament.id,
            col(Round.summed).is_(False),
            col(Round.state).in_(BEGUN),
            cast(col(Session.forfeits), String) != "[]",
        )
    )
    return Counter(
        number
        for seating, forfeits, position, number in tx.execute(sat)
        for seat in forfeits
        if seating[seat] == position
    )
