"""Ratings are built again from the points of the deals, to show that they are right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.audit import record
from arena.matches.tables import tables_of
from arena.models import BotVersion, Match, Rating, RatingChange, Round, Session, StoredRuleset, Tournament
from arena.ratings.apply import forfeited_shares, lock_pools, points_of
from arena.ratings.elo import START, apply_match
from arena.standings.outcomes import played_in, scores_of
from arena.storage import Storage, Transaction
from arena.strength.keeping import add_sums, add_tallies, all_sums, forget_sums, scored_tables
from arena.strength.sums import Sums
from arena.tallies.rounds import Tallies

CLOSE = 1e-6
"""Ratings this near each other are the same: another machine may round its powers otherwise."""


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

    def with_ruleset(self, replay: "_Replay", compared: tuple[int, int]) -> "Rebuilt":
        """Return this with what was found under one more ruleset: ratings there, and mended."""
        ratings, mended = compared
        return Rebuilt(
            self.pools + len(replay.pools),
            self.matches + replay.matches,
            self.ratings + ratings,
            None,
            self.mended + mended,
        )


@dataclass(slots=True)
class _Built:
    """A rating as it is built again."""

    value: float = START
    matches: int = 0
    weight: float = 0.0
    deals: int = 0


@dataclass(slots=True)
class _Replay:
    """The pools of one ruleset, built again as far as was looked."""

    ruleset_id: int
    pools: dict[int, dict[int, _Built]] = field(default_factory=dict)
    """Ratings by table size and bot version."""
    matches: int = 0
    sums: dict[tuple[int, bool], Sums] = field(default_factory=dict)
    """What strengths follow from, by table size, and whether deals were duplicate."""
    tallies: dict[tuple[int, bool], Tallies] = field(default_factory=dict)
    """What came of meetings and seats, by the same."""
    last: int = 0
    """The highest id of the rating changes that were replayed: rounds under one ruleset are rated one at a
    time, so whatever is rated later has higher ones."""


class _Wrong(Exception):
    """The first difference, in words."""


def rebuild(storage: Storage) -> Rebuilt:
    """Build every pool again from the points of the deals, and compare with what is stored; change nothing.

    Check each seat's points, each row of ``rating_changes``, each rating, and the sums for strengths.
    """
    found = Rebuilt(0, 0, 0, None)
    with storage.read() as tx:
        try:
            for replay in _replay_all(tx):
                found = found.with_ruleset(replay, _compare(tx, replay, mend=False))
        except _Wrong as wrong:
            return replace(found, problem=str(wrong))
    return found


def mend(storage: Storage, actor: Actor, now: datetime) -> Rebuilt:
    """Build every pool again, and correct the ratings and sums that are wrong; all else stays as it is.

    Raise NotAllowed.

    It may be done while tournaments run: what takes long is only reading. Then the pools of one ruleset after
    another are locked, replayed from there to what was rated meanwhile, and mended.
    """
    actor.require(Role.OPERATOR, "mend ratings")
    found = Rebuilt(0, 0, 0, None)
    try:
        with storage.read() as tx:
            replays = _replay_all(tx)
        for replay in replays:
            found = found.with_ruleset(replay, _mend(storage, replay, actor, now))
    except _Wrong as wrong:
        return replace(found, problem=str(wrong))
    return found


def _mend(storage: Storage, replay: _Replay, actor: Actor, now: datetime) -> tuple[int, int]:
    """Mend the ratings under a ruleset; return how many there are and how many were wrong."""
    with storage.write() as tx:
        lock_pools(tx, replay.ruleset_id, matches=0)
        _catch_up(tx, replay)
        count, mended = _compare(tx, replay, mend=True)
        if mended:
            ruleset = tx.get_one(StoredRuleset, replay.ruleset_id).label
            record(tx, actor, "rating.mend", "ratings", now, ruleset=ruleset, mended=mended)
        return count, mended


def _replay_all(tx: Transaction) -> list[_Replay]:
    """Replay all rated rounds, by ruleset."""
    rulesets = tx.exec(select(StoredRuleset.id).order_by(col(StoredRuleset.id))).all()
    replays = [_Replay(ruleset_id) for ruleset_id in rulesets]
    for replay in replays:
        _catch_up(tx, replay)
    return replays


def _catch_up(tx: Transaction, replay: _Replay) -> None:
    """Replay the rounds that were rated after what was replayed before."""
    for round_id, last in _rated_rounds(tx, replay):
        round = tx.get_one(Round, round_id)
        tournament = tx.get_one(Tournament, round.tournament_id)
        problem, tables = _replay_round(tx, tournament, round, replay)
        if problem is not None:
            raise _Wrong(f"{tournament.name}, round {round.number}, {problem}")
        replay.matches += tables
        replay.last = last
        tx.expunge_all()


def _rated_rounds(tx: Transaction, replay: _Replay) -> Sequence[tuple[int, int]]:
    """Return the rounds in the order in which they were rated, each with the id of its last change."""
    first, last = func.min(RatingChange.id), func.max(RatingChange.id)
    rounds = (
        select(Match.round_id, last)
        .join(RatingChange, col(RatingChange.match_id) == Match.id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(Tournament.ruleset_id == replay.ruleset_id, col(RatingChange.id) > replay.last)
    )
    return tx.exec(rounds.group_by(col(Match.round_id)).order_by(first)).all()


def _replay_round(
    tx: Transaction, tournament: Tournament, round: Round, replay: _Replay
) -> tuple[str | None, int]:
    """Rate a round again; return the first difference, if there is one, and the number of tables."""
    pool = replay.pools.setdefault(tournament.table_size, {})
    stored = {
        change.seat_id: change
        for change in tx.exec(
            select(RatingChange)
            .join(Match, col(Match.id) == RatingChange.match_id)
            .where(Match.round_id == round.id)
        )
    }
    tables = tables_of(tx, round)
    sums = replay.sums.setdefault((tournament.table_size, tournament.duplicate), Sums(tournament.table_size))
    played = played_in(tx, tournament, round)
    for scored in scored_tables(tournament, tables, played):
        sums.add(scored)
    key = (tournament.table_size, tournament.duplicate)
    replay.tallies.setdefault(key, Tallies())
    add_tallies(replay.tallies[key], tables, played)
    raw = _deal_totals(tx, round)
    compared = scores_of(played) if tournament.duplicate else {}
    forfeited = forfeited_shares(tx, tournament, played)
    for table in tables:
        match = table.match
        before = {version_id: pool.setdefault(version_id, _Built()).value for version_id in table.version_ids}
        points = points_of(table, compared.get(match.table_number))
        after = apply_match(before, points, forfeited.get(match.table_number), tournament.match_weight)
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
            built.weight += tournament.match_weight
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


def _compare(tx: Transaction, replay: _Replay, *, mend: bool) -> tuple[int, int]:
    """Compare the ratings under a ruleset with those built; return how many there are, and were mended."""
    rows = (
        select(Rating, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .where(Rating.ruleset_id == replay.ruleset_id)
        .order_by(col(Rating.id))
    )
    count = mended = 0
    for rating, name in tx.exec(rows).all():
        right = replay.pools.get(rating.table_size, {}).get(rating.version_id, _Built())
        problem = _difference(rating, right)
        if problem is not None and not mend:
            raise _Wrong(f"{name}: {problem}")
        if problem is not None:
            rating.value, rating.matches, rating.deals = right.value, right.matches, right.deals
            rating.weight = right.weight
            mended += 1
        count += 1
    return count, mended + _compare_sums(tx, replay, mend=mend)


def _compare_sums(tx: Transaction, replay: _Replay, *, mend: bool) -> int:
    """Compare what strengths follow from with that built; return how many pools were mended."""
    built = {key: sums for key, sums in replay.sums.items() if sums.matches}
    kept = all_sums(tx, replay.ruleset_id)
    wrong = [key for key in {**built, **kept} if not _are_same(built.get(key), kept.get(key))]
    if wrong and not mend:
        ruleset = tx.get_one(StoredRuleset, replay.ruleset_id).label
        size, duplicate = wrong[0]
        kind = "duplicate deals" if duplicate else "deals"
        raise _Wrong(
            f"{ruleset}, tables of {size}: the sums of {kind}, from which strengths follow, are wrong"
        )
    if wrong:
        forget_sums(tx, replay.ruleset_id)
        for key, sums in built.items():
            add_sums(tx, replay.ruleset_id, sums, replay.tallies[key].met, duplicate=key[1])
    return len(wrong)


def _are_same(one: Sums | None, other: Sums | None) -> bool:
    if one is None or other is None:
        return one is other
    counts = [(sums.matches, sums.deals, sums.bot_deals, sums.meetings) for sums in (one, other)]
    floats = [
        [sums.within, sums.between, *(sums.scores[bot] for bot in sorted(sums.scores))]
        for sums in (one, other)
    ]
    return counts[0] == counts[1] and all(
        math.isclose(given, expected, rel_tol=CLOSE, abs_tol=CLOSE)
        for given, expected in zip(*floats, strict=True)
    )


def _difference(rating: Rating, right: _Built) -> str | None:
    for name, given, expected in (
        ("rating", rating.value, right.value),
        ("matches", rating.matches, right.matches),
        ("weight", rating.weight, right.weight),
        ("deals", rating.deals, right.deals),
    ):
        if abs(given - expected) > CLOSE:
            return f"{name}: is {given:g}, should be {expected:g}"
    return None
