"""The rated rounds of a ruleset, rated again from the points of their deals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import col, func, select

from arena.core.elo import START, apply_match
from arena.results.ratings.apply import forfeited_shares, latest, points_of
from arena.results.standings.outcomes import played_in, scores_of
from arena.results.strength.sums import Sums
from arena.results.strength.updating import scored_tables
from arena.results.tables import tables_of
from arena.results.tallies.rounds import Tallies
from arena.store.models import Match, MatchState, RatingChange, Round, Session, Tournament
from arena.store.storage import Transaction

CLOSE = 1e-6
"""Numbers this close to each other are equal: another machine may round powers differently."""


@dataclass(slots=True)
class Built:
    """A rating that is built again."""

    value: float = START
    matches: int = 0
    weight: float = 0.0
    deals: int = 0
    last_played: datetime | None = None


@dataclass(slots=True)
class Replay:
    """The pools of one ruleset, built again as far as rounds have been replayed."""

    ruleset_id: int
    pools: dict[int, dict[int, Built]] = field(default_factory=dict)
    """Ratings by table size and bot version."""
    matches: int = 0
    sums: dict[tuple[int, bool], Sums] = field(default_factory=dict)
    """The sums from which strengths follow, by table size and whether deals were duplicate."""
    tallies: dict[tuple[int, bool], Tallies] = field(default_factory=dict)
    """The results of meetings and seats, by the same keys."""
    last: int = 0
    """The highest id of the rating changes that were replayed: rounds under one ruleset are rated one at a
    time, so whatever is rated later has higher ones."""

    def sums_of(self, which: tuple[int, bool]) -> Sums:
        """Return the sums of deals at tables of this size, duplicate or not."""
        return self.sums.setdefault(which, Sums(which[0]))

    def tallies_of(self, which: tuple[int, bool]) -> Tallies:
        """Return the tallies of the same deals."""
        return self.tallies.setdefault(which, Tallies())


class Wrong(Exception):
    """The first difference, in words."""


def catch_up(tx: Transaction, replay: Replay) -> None:
    """Replay the rounds that were rated after those already replayed."""
    for round_id, last in _rated_rounds(tx, replay):
        round = tx.get_one(Round, round_id)
        tournament = tx.get_one(Tournament, round.tournament_id)
        problem, tables = _replay_round(tx, tournament, round, replay)
        if problem is not None:
            raise Wrong(f"{tournament.name}, round {round.number}, {problem}")
        replay.matches += tables
        replay.last = last
        tx.expunge_all()


def _rated_rounds(tx: Transaction, replay: Replay) -> Sequence[tuple[int, int]]:
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
    tx: Transaction, tournament: Tournament, round: Round, replay: Replay
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
    tables = [table for table in tables_of(tx, round) if table.match.state == MatchState.DONE]
    which = tournament.table_size, tournament.duplicate
    sums = replay.sums_of(which)
    played = played_in(tx, tournament, round)
    for scored in scored_tables(tournament, tables, played, replay.tallies_of(which)):
        sums.add(scored)
    raw = _deal_totals(tx, round)
    compared = scores_of(played) if tournament.duplicate else {}
    forfeited = forfeited_shares(tx, tournament, played)
    for table in tables:
        match = table.match
        before = {version_id: pool.setdefault(version_id, Built()).value for version_id in table.version_ids}
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
            built.last_played = latest(built.last_played, match.finished_at)
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
