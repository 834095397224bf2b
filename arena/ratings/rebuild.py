"""Ratings are built again from the points of the deals, to show that they are right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.audit import record
from arena.matches.tables import tables_of
from arena.models import BotVersion, Match, Rating, RatingChange, Round, Session, Tournament
from arena.ratings.apply import points_of
from arena.ratings.elo import START, apply_match
from arena.standings.outcomes import duplicate_points
from arena.storage import Storage, Transaction

CLOSE = 1e-6
"""Ratings this near each other are the same: another machine may round its powers otherwise."""


Pool = tuple[int, int]
"""A pool by its ruleset's row and its table size."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What came of building all pools again."""

    pools: int
    matches: int
    ratings: int
    problem: str | None
    """The first difference between what was built and what is stored; None: there is none."""
    mended: int = 0
    """Ratings that were not as they were built, and are now."""


@dataclass(slots=True)
class _Built:
    """A rating as it is built again."""

    value: float = START
    matches: int = 0
    deals: int = 0


def rebuild(storage: Storage) -> Rebuilt:
    """Build every pool again from the points of the deals, and compare with what is stored.

    Looked at are each seat's points, each row of ``rating_changes`` and each rating.
    """
    with storage.read() as tx:
        return _rebuild(tx, mend=False)


def mend(storage: Storage, actor: Actor, now: datetime) -> Rebuilt:
    """Build every pool again, and correct the ratings that are wrong; all else stays as it is. NotAllowed."""
    actor.require(Role.OPERATOR, "mend ratings")
    with storage.write() as tx:
        found = _rebuild(tx, mend=True)
        if found.mended:
            record(tx, actor, "rating.mend", "ratings", now, mended=found.mended)
        return found


def _rebuild(tx: Transaction, *, mend: bool) -> Rebuilt:
    ratings: dict[Pool, dict[int, _Built]] = {}
    matches = 0
    for round_id in _rated_rounds(tx):
        round = tx.get_one(Round, round_id)
        tournament = tx.get_one(Tournament, round.tournament_id)
        pool = ratings.setdefault((tournament.ruleset_id, tournament.table_size), {})
        problem, tables = _replay(tx, tournament, round, pool)
        matches += tables
        if problem is not None:
            where = f"{tournament.name}, round {round.number}"
            return Rebuilt(len(ratings), matches, 0, f"{where}, {problem}")
        tx.expunge_all()
    return _compare_ratings(tx, ratings, matches, mend)


def _rated_rounds(tx: Transaction) -> Sequence[int]:
    """Return the rounds in the order in which they were rated."""
    first = func.min(RatingChange.id)
    rounds = select(Match.round_id).join(RatingChange, col(RatingChange.match_id) == Match.id)
    return tx.exec(rounds.group_by(col(Match.round_id)).order_by(first)).all()


def _replay(
    tx: Transaction, tournament: Tournament, round: Round, pool: dict[int, _Built]
) -> tuple[str | None, int]:
    """Rate a round again; return the first difference, if there is one, and the number of tables."""
    stored = {
        change.seat_id: change
        for change in tx.exec(
            select(RatingChange)
            .join(Match, col(Match.id) == RatingChange.match_id)
            .where(Match.round_id == round.id)
        )
    }
    tables = tables_of(tx, round)
    raw = _deal_totals(tx, round)
    compared = duplicate_points(tx, tournament, round.id) if tournament.duplicate else {}
    for table in tables:
        match = table.match
        before = {version_id: pool.setdefault(version_id, _Built()).value for version_id in table.version_ids}
        after = apply_match(before, points_of(table, compared.get((round.number, match.table_number))))
        for seat, version_id in zip(table.seats, table.version_ids, strict=True):
            where = f"table {match.table_number}, seat {seat.position}"
            found = stored.pop(seat.id, None)
            if found is None:
                return f"{where}: the change of its rating is missing", 0
            for name, given, expected in (
                ("points", float(seat.points), float(raw[match.id][seat.position])),
                ("rating before", found.before, before[version_id]),
                ("rating after", found.after, after[version_id]),
            ):
                if abs(given - expected) > CLOSE:
                    return f"{where}: {name}: is {given:g}, should be {expected:g}", 0
            built = pool[version_id]
            built.value = found.after
            built.matches += 1
            built.deals += match.deals_done
    return ("a rating was changed for nobody at its tables" if stored else None), len(tables)


def _deal_totals(tx: Transaction, round: Round) -> dict[int, list[int]]:
    """Return for each match of a round the sums of its deals' points, by position at the table."""
    sessions = (
        select(Session.match_id, Session.seating, Session.deal_points)
        .join(Match, col(Match.id) == Session.match_id)
        .where(Match.round_id == round.id)
    )
    totals: dict[int, list[int]] = {}
    for match_id, seating, deals in tx.exec(sessions):
        total = totals.setdefault(match_id, [0] * len(seating))
        for points in deals:
            for seat, position in enumerate(seating):
                total[position] += points[seat]
    return totals


def _compare_ratings(
    tx: Transaction, built: Mapping[Pool, Mapping[int, _Built]], matches: int, mend: bool
) -> Rebuilt:
    """Compare the stored ratings with those that were built."""
    rows = (
        select(Rating, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .order_by(col(Rating.id))
    )
    count = mended = 0
    for rating, name in tx.exec(rows).all():
        right = built.get((rating.ruleset_id, rating.table_size), {}).get(rating.version_id, _Built())
        problem = _difference(rating, right)
        if problem is not None and not mend:
            return Rebuilt(len(built), matches, count, f"{name}: {problem}")
        if problem is not None:
            rating.value, rating.matches, rating.deals = right.value, right.matches, right.deals
            mended += 1
        count += 1
    return Rebuilt(len(built), matches, count, None, mended)


def _difference(rating: Rating, right: _Built) -> str | None:
    for field, given, expected in (
        ("rating", rating.value, right.value),
        ("matches", rating.matches, right.matches),
        ("deals", rating.deals, right.deals),
    ):
        if abs(given - expected) > CLOSE:
            return f"{field}: is {given:g}, should be {expected:g}"
    return None
