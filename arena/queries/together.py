"""One deal at all tables of a duplicate round, side by side, for anybody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, select

from arena.errors import StateError, UnknownError
from arena.matches.duplicate import deal_scores
from arena.matches.overview import STILL_PLAYED
from arena.matches.records import full_records, may_be_shown, names_and_points
from arena.models import Match, Round, Session, Tournament
from arena.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament


@dataclass(frozen=True, slots=True)
class AtTable:
    """The deal at one table."""

    table: int
    names: tuple[str, ...]
    """By seat."""
    points: tuple[int, ...]
    """By seat."""
    scores: tuple[float, ...]
    """By seat, its points minus the mean of the same seat at the other tables with the same cards."""
    attempt: int
    """Which attempt dealt it; tables with the same one have the same cards."""
    record: Mapping[str, Any] | None
    """The full deal record; None if it was not asked for."""


@dataclass(frozen=True, slots=True)
class SameDeal:
    """A deal that the tables of a round played."""

    tournament: str
    round: int
    session: int
    deal: int
    deals: int
    """The most deals that the session has at a table."""
    sessions: tuple[int, ...]
    """The numbers of the sessions of the round's matches."""
    tables: tuple[AtTable, ...]
    """In order."""


def same_deal(
    storage: Storage, tournament: str, round: int, number: int, deal: int, first: int = 1, most: int = 12
) -> SameDeal:
    """Return a deal at all tables, with the records of at most ``most`` of them, from table ``first`` on.

    Raise UnknownError; StateError while other tables still have to play it, and if each table has its own.
    """
    with storage.read() as tx:
        found = find_tournament(tx, tournament)
        if not found.duplicate:
            raise StateError(
                f"every table of {found.name} plays deals of its own: it is not a duplicate tournament"
            )
        played = _sessions(tx, _shown_round(tx, found, round))
        here = [
            (match, one) for match, one in played if one.number == number and len(one.deal_points) >= deal
        ]
        if not here or deal < 1:
            raise UnknownError(
                f"no session {number} with a deal {deal} is done in round {round} of {found.name}"
            )
        tables = tuple(_tables(tx, found, round, here, deal, first, most))
    longest = max(len(one.deal_points) for _, one in here)
    numbers = tuple(sorted({one.number for _, one in played}))
    return SameDeal(found.name, round, number, deal, longest, numbers, tables)


def _shown_round(tx: Transaction, tournament: Tournament, number: int) -> int:
    """Return the id of a round whose deals may be shown. Raise UnknownError and StateError."""
    rounds = select(Round.id).where(Round.tournament_id == tournament.id, Round.number == number)
    if tx.exec(rounds).first() is None:
        raise UnknownError(f"no round {number} in tournament {tournament.name!r}")
    shown = rounds.join(Tournament, col(Tournament.id) == Round.tournament_id).where(may_be_shown())
    id = tx.exec(shown).first()
    if id is None:
        raise StateError(STILL_PLAYED)
    return id


def _sessions(tx: Transaction, round_id: int) -> list[tuple[Match, Session]]:
    rows = (
        select(Match, Session)
        .join(Session, col(Session.match_id) == Match.id)
        .where(Match.round_id == round_id)
        .order_by(col(Match.table_number), col(Session.number))
    )
    return [(match, session) for match, session in tx.exec(rows)]


def _tables(
    tx: Transaction,
    tournament: Tournament,
    round: int,
    here: Sequence[tuple[Match, Session]],
    deal: int,
    first: int,
    most: int,
) -> list[AtTable]:
    attempts = [one.deal_attempts[deal - 1] if one.deal_attempts else 1 for _, one in here]
    points = [{1: [one.deal_points[deal - 1]]} for _, one in here]
    scores = deal_scores(points, [{1: [attempt]} for attempt in attempts])
    found = []
    read = 0
    for (match, session), attempt, [score] in zip(here, attempts, scores, strict=True):
        names, _ = names_and_points(tx, match)
        record = None
        if match.table_number >= first and read < most:
            read += 1
            record = list(full_records(tx, tournament, round, match, session, names))[deal - 1]
        seats = tuple(names[position] for position in session.seating)
        own = tuple(session.deal_points[deal - 1])
        found.append(AtTable(match.table_number, seats, own, tuple(score), attempt, record))
    return found
