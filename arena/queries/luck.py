"""Luck: what cards were worth, what bots made of them, and how far workers are with it."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.luck import UNIT, Luck, LuckLine, expected, made_above_mean
from arena.errors import StateError, UnknownError
from arena.queries.deals import one_deal
from arena.queries.sessions import STILL_PLAYED, are_shown
from arena.results.ledgers import ENTRANT_LUCK
from arena.store.models import (
    UNWEIGHED,
    Entrant,
    EntrantLuck,
    Match,
    MatchState,
    PoolSlope,
    ReferenceCheck,
    Round,
    Session,
    SessionReference,
    Tournament,
)
from arena.store.storage import Storage, Transaction, among
from arena.tournaments.overview import find_tournament
from referee.reference.values import REFERENCE


def entrants_luck(tx: Transaction, tournament: Tournament) -> dict[int, LuckLine]:
    """Return by the entrant's number the luck of a tournament's entrants, as far as it is known."""
    columns: tuple[Any, ...] = tuple(getattr(EntrantLuck, column) for column in ENTRANT_LUCK.columns)
    rows = (
        select_columns(col(Entrant.number), *columns)
        .join(EntrantLuck, col(EntrantLuck.entrant_id) == Entrant.id)
        .where(col(Entrant.tournament_id) == tournament.id)
    )
    return {number: Luck(*counts).line() for number, *counts in tx.execute(rows)}


def rounds_weighed(storage: Storage, tournament_id: int) -> int:
    """Return in how many rounds of a tournament it is known what the cards were worth."""
    rounds = select(func.count()).select_from(Round)
    of_it = rounds.where(Round.tournament_id == tournament_id, col(Round.beta).is_not(None))
    with storage.read() as tx:
        return tx.exec(of_it).one()


@dataclass(frozen=True, slots=True)
class DealLuck:
    """What the cards of a deal were worth, and what was made of them; all by seat, in points."""

    reference: str
    """The name of the reference."""
    plays: int
    """How often it played the deal."""
    worth: tuple[float, ...]
    """What the cards were worth: the mean of its plays, less what the place is worth before the deal."""
    beta: float | None
    """The share of that, relative to the mean of the table, that is expected; None until it is known."""
    expected: tuple[float, ...] | None
    """What was expected from the cards; None until ``beta`` is known."""
    made: tuple[float, ...] | None
    """What was made of them: the points above the mean of the table, beyond what was expected; None until
    ``beta`` is known, and if a bot did not play the deal to its end."""


@dataclass(frozen=True, slots=True)
class DealPoints:
    """The points of a deal, and how lucky they were."""

    bots: tuple[str, ...]
    """By seat."""
    points: tuple[int, ...]
    """By seat."""
    luck: DealLuck | None
    """None as long as it is not known what the cards were worth."""


@dataclass(frozen=True, slots=True)
class ReferenceCheckInfo:
    """What cards were worth, computed again from the records by workers."""

    asked_at: datetime
    """When it was asked for."""
    ended_at: datetime | None
    """When it was done; None if it is not yet."""
    sessions: int
    """How many sessions were computed so far."""
    deals: int
    """How many deals they have."""
    wrong: int
    """How many were not as stored, and have been corrected."""
    betas: int
    """How many rounds had another beta than follows from the rounds before, and have this one now."""
    mended: int
    """How many sums that follow from these were wrong and have been corrected."""
    problem: str | None
    """What could not be corrected; None if there is nothing."""


@dataclass(frozen=True, slots=True)
class References:
    """How far the workers are with computing what cards were worth."""

    reference: str
    """The name of the reference."""
    plays: int
    """How often it plays each deal."""
    hash: str
    """SHA-256 of its test vectors (docs/reference-1.json)."""
    rounds: int
    """Rounds that have ended and wait for it."""
    sessions: int
    """Their finished sessions that are yet to be computed."""
    oldest: datetime | None
    """When the oldest of these rounds ended; None if none waits."""
    deals: int
    """Rated deals that were taken in."""
    check: ReferenceCheckInfo | None
    """The latest time that all of it was computed again; None if it never was."""


def references(storage: Storage, actor: Actor) -> References:
    """Return how far the workers are. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "see what the workers do")
    with storage.read() as tx:
        rounds, oldest = tx.exec(select(func.count(), func.min(Round.finished_at)).where(UNWEIGHED)).one()
        deals = tx.exec(select(func.sum(PoolSlope.deals))).one() or 0
        latest = tx.exec(select(ReferenceCheck).order_by(col(ReferenceCheck.id).desc()).limit(1)).first()
        return References(*_NAMED, rounds, waiting_sessions(tx), oldest, int(deals), _info(latest))


def _info(check: ReferenceCheck | None) -> ReferenceCheckInfo | None:
    if check is None:
        return None
    names = (field.name for field in fields(ReferenceCheckInfo))
    return ReferenceCheckInfo(**{name: getattr(check, name) for name in names})


_NAMED = (REFERENCE.name, REFERENCE.plays, REFERENCE.hash)


def waiting_sessions(tx: Transaction) -> int:
    """Return how many sessions of rounds that have ended are yet to be computed."""
    rounds = select(Round.id).join(Tournament, col(Tournament.id) == Round.tournament_id)
    ended = tx.exec(rounds.where(UNWEIGHED, col(Tournament.test).is_(False))).all()  # few, unlike sessions
    waiting = (
        select(func.count())
        .select_from(Match)
        .join(Session, col(Session.match_id) == Match.id)
        .outerjoin(SessionReference, col(SessionReference.session_id) == Session.id)
        .where(among(Match.round_id, ended), col(SessionReference.session_id).is_(None))
    )
    return tx.exec(waiting).one() if ended else 0


class _Played(NamedTuple):
    """A session with what its cards were worth."""

    round_id: int
    beta: int | None
    state: MatchState
    points: list[list[int]]
    forfeited_from: list[int]
    reference: str | None
    worth: list[list[int]] | None

    def deal(self, number: int) -> DealLuck | None:
        """Return the luck of a deal; None if it is not known."""
        if not self.worth or self.reference is None:
            return None
        worth, clean = self.worth[number - 1], min(self.forfeited_from, default=len(self.points))
        shares = own = None
        if self.beta is not None and self.state == MatchState.DONE:
            shares = expected(worth, REFERENCE.parts, self.beta)
            own = made_above_mean(self.points[number - 1], shares) if number <= clean else None
        return DealLuck(
            self.reference,
            REFERENCE.plays,
            _points(worth, REFERENCE.parts),
            None if self.beta is None else self.beta / UNIT,
            None if shares is None else _points(shares, UNIT),
            None if own is None else _points(own, UNIT),
        )


def _points(parts: Iterable[int], unit: int) -> tuple[float, ...]:
    return tuple(part / unit for part in parts)


def session_luck(
    storage: Storage, tournament: str, round: int, table: int, number: int
) -> list[DealLuck | None]:
    """Return the luck of each deal of a finished session; None where it is not known, or not yet.

    Raise UnknownError, and StateError while other tables still have to play these deals.
    """
    with storage.read() as tx:
        its = find_tournament(tx, tournament)
        columns: tuple[Any, ...] = (
            *(Round.id, Round.beta, Match.state, Session.deal_points, Session.forfeited_from),
            *(SessionReference.reference, SessionReference.worth),
        )
        rows = (
            select_columns(*columns)
            .select_from(Session)
            .join(Match, col(Match.id) == Session.match_id)
            .join(Round, col(Round.id) == Match.round_id)
            .outerjoin(SessionReference, col(SessionReference.session_id) == Session.id)
            .where(col(Match.tournament_id) == its.id, col(Round.number) == round)
            .where(col(Match.table_number) == table, col(Session.number) == number)
        )
        row = tx.execute(rows).first()
        if row is None:
            raise UnknownError(f"no session {number} at round {round}, table {table} of {tournament} is done")
        played = _Played(*row)
        if not are_shown(tx, played.round_id):
            raise StateError(STILL_PLAYED)
        return [played.deal(at) for at in range(1, len(played.points) + 1)]


def deal_luck(
    storage: Storage, tournament: str, round: int, table: int, number: int, deal: int
) -> DealLuck | None:
    """Return the luck of a deal; None if it is not known (yet). Raise the same errors as ``session_luck``."""
    deals = session_luck(storage, tournament, round, table, number)
    if not 1 <= deal <= len(deals):
        raise UnknownError(f"no deal {deal} in session {number}: it has {len(deals)}")
    return deals[deal - 1]


def deal_points(
    storage: Storage, tournament: str, round: int, table: int, number: int, deal: int
) -> DealPoints:
    """Return the points of a deal, and how lucky they were. Raise the same errors as ``session_luck``."""
    record: Any = one_deal(storage, tournament, round, table, number, deal)
    luck = deal_luck(storage, tournament, round, table, number, deal)
    return DealPoints(tuple(record["seats"]), tuple(record["points"]), luck)
