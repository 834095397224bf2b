"""Taking in what was made of a round's cards, once it has ended and the worth of all its deals is known.

A round is taken in at once, as ratings are: beta follows from the rounds of its pool that were taken in
before, and is the same for all its deals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import insert, update
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.core.duplicate import PlayedSession
from arena.core.luck import Luck, Slope, counted_deals, expected, luck_in
from arena.core.ranking import ScoreKind
from arena.core.softplay import Chances, Key
from arena.results.ledgers import CHANCES, ENTRANT_LUCK, HIGHLIGHTS, LUCK, SLOPES
from arena.results.ratings.apply import add_sums, adjusted, lock_pools
from arena.results.sessions import made_rows
from arena.results.standings.outcomes import Table, played_in, tables_of
from arena.results.strength.pools import Pool
from arena.results.strength.sums import Sums
from arena.store.models import (
    Highlight,
    Match,
    MatchState,
    PoolSlope,
    Round,
    Session,
    SessionReference,
    Tournament,
)
from arena.store.storage import Storage, Transaction, changed
from referee.reference.values import REFERENCE


class Weighed(NamedTuple):
    """A session of which it is known what the cards of its deals were worth."""

    id: int
    played: PlayedSession
    worth: Sequence[Sequence[int]]
    """By deal and seat, what the cards were worth; empty if that is not known after all."""
    chances: Sequence[Sequence[int]]
    """As in its ``SessionReference``."""


@dataclass(slots=True)
class Taken:
    """What was taken in of rounds under one ruleset."""

    slopes: dict[int, Slope] = field(default_factory=dict)
    """By table size, of rated rounds."""
    luck: dict[int, dict[int, Luck]] = field(default_factory=dict)
    """By table size and bot version, of rated rounds."""
    entrants: dict[int, Luck] = field(default_factory=dict)
    """By entrant."""
    chances: dict[Key, Chances] = field(default_factory=dict)
    """By entrant, the other one, and the situation."""

    def add(self, tournament: Tournament, beta: int, table: Table, session: Weighed) -> None:
        """Add the deals of a session at a table."""
        slope = self.slopes.setdefault(tournament.table_size, Slope()) if tournament.rated else Slope()
        for _, points, worth in counted_deals(session.played, session.worth):
            slope.add(worth, REFERENCE.parts, points)
        seats = [table.seats[position] for position in session.played.seating]
        versions = self.luck.setdefault(tournament.table_size, {})
        for at, own, share in luck_in(session.played, session.worth, REFERENCE.parts, beta):
            self.entrants.setdefault(seats[at].entrant_id, Luck()).add(own, share)
            if tournament.rated:
                versions.setdefault(seats[at].version_id, Luck()).add(own, share)
        for at, other, situation, chances, passed in session.chances:
            key = seats[at].entrant_id, seats[other].entrant_id, situation
            self.chances.setdefault(key, Chances()).add(chances, passed)


def take_in(storage: Storage, round_id: int) -> None:
    """Take in a round that has ended, unless somebody has; of test matches, nothing is kept.

    All its sessions must have their ``SessionReference``.
    """
    with storage.write() as tx:
        round = tx.get_one(Round, round_id)
        tournament = tx.get_one(Tournament, round.tournament_id)
        lock_pools(tx, tournament.ruleset_id, matches=0)
        own = (col(Round.id) == round_id, col(Round.weighed).is_(False))
        if changed(tx, update(Round).where(*own).values(weighed=True)) and not tournament.test:
            _take_in(tx, tournament, round)


def _take_in(tx: Transaction, tournament: Tournament, round: Round) -> None:
    pool = Pool(tournament.ruleset_id, tournament.table_size)
    before = _slope(tx, pool)
    round.beta, round.weighed_after = before.beta(), before.deals
    taken = Taken()
    highlights: dict[tuple[int, str], tuple[int, int, int, int]] = {}
    weighed = [*weighed_sessions(tx, tournament, round)]
    for table, sessions in weighed:
        for session in sessions:
            taken.add(tournament, round.beta, table, session)
            deals = counted_deals(session.played, session.worth)
            highlights |= made_rows(session.id, pool, deals, round.beta)
    ruleset = {"ruleset_id": tournament.ruleset_id}
    SLOPES.add(tx, taken.slopes, **ruleset)
    for size, versions in taken.luck.items():
        LUCK.add(tx, versions, **ruleset, table_size=size)
    ENTRANT_LUCK.add(tx, taken.entrants)
    if tournament.rated:
        plain, made = adjusted_sums(tournament, weighed, round.beta)
        add_sums(tx, tournament, ScoreKind.PLAIN, plain)
        add_sums(tx, tournament, ScoreKind.MADE, made)
    CHANCES.add(tx, taken.chances)
    if highlights:
        tx.connection().execute(insert(Highlight), HIGHLIGHTS.rows(highlights))


def _slope(tx: Transaction, pool: Pool) -> Slope:
    row = tx.get(PoolSlope, pool)
    return Slope() if row is None else Slope(row.deals, row.cards, row.product)


def weighed_sessions(
    tx: Transaction, tournament: Tournament, round: Round
) -> Iterator[tuple[Table, list[Weighed]]]:
    """Yield the tables of a round whose matches are done, with their sessions."""
    columns: tuple[Any, ...] = (
        *(Match.table_number, Session.number, Session.id),
        *(SessionReference.worth, SessionReference.chances),
    )
    rows = (
        select_columns(*columns)
        .join(Session, col(Session.match_id) == Match.id)
        .join(SessionReference, col(SessionReference.session_id) == Session.id)
        .where(col(Match.round_id) == round.id)
    )
    weighed = {(table, number): row for table, number, *row in tx.execute(rows)}
    played = played_in(tx, tournament, round)
    for table in tables_of(tx, round):
        number = table.match.table_number
        if table.match.state == MatchState.DONE:
            sessions = played.get(number, ())
            ended = [(each, weighed.get((number, each.number), (0, (), ()))) for each in sessions]
            yield table, [Weighed(id, each, worth, chances) for each, (id, worth, chances) in ended]


def adjusted_sums(
    tournament: Tournament, weighed: Sequence[tuple[Table, Sequence[Weighed]]], beta: int
) -> tuple[Sums, Sums]:
    """Return what a round that is taken in adds to its pool's sums: the plain ones, and of what was made."""
    played = {table.match.table_number: [each.played for each in sessions] for table, sessions in weighed}
    shares = {
        table.match.table_number: [
            [expected(worth, REFERENCE.parts, beta) for worth in session.worth] for session in sessions
        ]
        for table, sessions in weighed
    }
    return adjusted(tournament, [table for table, _ in weighed], played, shares)
