"""Ratings: applied when a round closes, and built again from the deals to show that they are right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import update
from sqlmodel import col, func, select

from arena.models import (
    BotVersion,
    Entrant,
    Match,
    Rating,
    RatingChange,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.ratings.elo import START, apply_match
from arena.standings.outcomes import duplicate_points
from arena.storage import Storage, Transaction, changed

Table = tuple[Match, list[tuple[Seat, int]]]
"""A match and its seats, each with the bot version that sat there."""

CLOSE = 1e-6
"""Ratings this near each other are the same: another machine may round its powers otherwise."""

Pool = tuple[int, int]
"""A pool by its ruleset's row and its table size."""


def rate_round(tx: Transaction, tournament: Tournament, round: Round, now: datetime) -> None:
    """Apply the round's matches to the pool in the order of their tables; each seat gets a RatingChange row.

    The order of tables makes the result independent of which worker finished first.
    """
    tables = _tables(tx, round)
    pool = update(StoredRuleset).where(col(StoredRuleset.id) == tournament.ruleset_id)
    # Until this transaction ends no other round gets past here, to read ratings that are about to change.
    changed(tx, pool.values(rated_matches=StoredRuleset.rated_matches + len(tables)))
    ratings = _ratings(tx, tournament)
    compared = duplicate_points(tx, tournament, round.id) if tournament.duplicate else {}
    for match, seats in tables:
        points = _points(seats, compared.get((round.number, match.table_number)))
        after = apply_match({version_id: ratings[version_id].value for version_id in points}, points)
        for seat, version_id in seats:
            rating = ratings[version_id]
            change = RatingChange(
                match_id=match.id,
                seat_id=seat.id,
                rating_id=rating.id,
                before=rating.value,
                after=after[version_id],
                created_at=now,
            )
            tx.add(change)
            rating.value = change.after
            rating.matches += 1
            rating.deals += match.deals_done


def _points(seats: Sequence[tuple[Seat, int]], compared: Sequence[float] | None) -> dict[int, float]:
    """What counts of a match, by bot version; ``compared`` is it in a duplicate tournament."""
    scored = compared or [seat.points for seat, _ in seats]
    return {version_id: points for (_, version_id), points in zip(seats, scored, strict=True)}


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


def rebuild(storage: Storage, *, mend: bool = False) -> Rebuilt:
    """Build every pool again from the points of the deals, and compare with what is stored.

    Looked at are each seat's points, each row of ``rating_changes`` and each rating. With ``mend``, ratings
    that are wrong are set right; all else is never changed.
    """
    ratings: dict[Pool, dict[int, _Built]] = {}
    matches = 0
    with storage.write() if mend else storage.read() as tx:
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
    """The rounds in the order in which they were rated."""
    first = func.min(RatingChange.id)
    rounds = select(Match.round_id).join(RatingChange, col(RatingChange.match_id) == Match.id)
    return tx.exec(rounds.group_by(col(Match.round_id)).order_by(first)).all()


def _replay(
    tx: Transaction, tournament: Tournament, round: Round, pool: dict[int, _Built]
) -> tuple[str | None, int]:
    """Rate a round again; gives the first difference, if there is one, and the number of tables."""
    stored = {
        change.seat_id: change
        for change in tx.exec(
            select(RatingChange)
            .join(Match, col(Match.id) == RatingChange.match_id)
            .where(Match.round_id == round.id)
        )
    }
    tables = _tables(tx, round)
    raw = _deal_totals(tx, round)
    compared = duplicate_points(tx, tournament, round.id) if tournament.duplicate else {}
    for match, seats in tables:
        before = {version_id: pool.setdefault(version_id, _Built()).value for _, version_id in seats}
        after = apply_match(before, _points(seats, compared.get((round.number, match.table_number))))
        for seat, version_id in seats:
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
    """For each match of a round the sums of its deals' points, by position at the table."""
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
    """Hold the stored ratings to those that were built."""
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


def _tables(tx: Transaction, round: Round) -> list[Table]:
    rows = (
        select(Match, Seat, Entrant.version_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(Match.round_id == round.id)
        .order_by(col(Match.table_number), col(Seat.position))
    )
    tables: dict[int, Table] = {}
    for match, seat, version_id in tx.exec(rows):
        tables.setdefault(match.id, (match, []))[1].append((seat, version_id))
    return list(tables.values())


def _ratings(tx: Transaction, tournament: Tournament) -> dict[int, Rating]:
    """The pool's ratings of all entrants, who are rated from here on if they were not yet."""
    versions = select(Entrant.version_id).where(Entrant.tournament_id == tournament.id)
    in_pool = (Rating.ruleset_id == tournament.ruleset_id, Rating.table_size == tournament.table_size)
    found = tx.exec(select(Rating).where(*in_pool, col(Rating.version_id).in_(versions)))
    ratings = {rating.version_id: rating for rating in found}
    for version_id in tx.exec(versions.order_by(col(Entrant.number))).all():
        if version_id not in ratings:
            ratings[version_id] = Rating(
                ruleset_id=tournament.ruleset_id,
                table_size=tournament.table_size,
                version_id=version_id,
                value=START,
            )
            tx.add(ratings[version_id])
    tx.flush()
    return ratings
