"""How matches count in their tournaments, which the points as they were played do not always tell.

In a duplicate tournament, points are compared with those of the same seat at other tables; an organiser may
have corrected points; and whoever forfeited a whole match is behind everybody else.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, exists
from sqlmodel import col, select

from arena.core.corrections import adjusted
from arena.core.duplicate import DealScore, deal_scores
from arena.core.ranking import MatchOutcome, Merit
from arena.queries.matches import MatchLine
from arena.queries.scoreboard import RoundResult, Sheets
from arena.results.standings.outcomes import corrections_of, outcomes, played_deals
from arena.store.models import Round, RoundState, Tournament, TournamentEvent
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament


class Counted(NamedTuple):
    """How a match counts, by position at the table."""

    scores: tuple[float, ...]
    """The points that count."""
    places: tuple[int, ...]
    """The places at the table, from 1; equal ones have the same."""
    as_played: bool
    """Whether the points that count are those that were played."""


class CountedRounds(NamedTuple):
    """How the finished matches of some rounds count."""

    duplicate: bool
    """Whether the tournament is a duplicate one: its matches count as soon as their rounds are over."""
    matches: Mapping[tuple[int, int], Counted]
    """By round and table."""
    entrants: Mapping[tuple[int, int], tuple[int, ...]]
    """By round and table, the numbers of the entrants there, by position."""


def count_rounds(storage: Storage, name: str, rounds: Collection[int]) -> CountedRounds:
    """Return how the finished matches of these rounds of a tournament count. Raise UnknownError."""
    with storage.read() as tx:
        return _count(tx, find_tournament(tx, name), rounds)


def counted_sheets(storage: Storage, name: str, rounds: Collection[int]) -> Sheets:
    """Return what entrants made of these rounds as they count. Raise UnknownError.

    ``sheets`` is faster where nothing was compared, corrected or forfeited.
    """
    sheets: dict[int, dict[int, RoundResult]] = defaultdict(dict)
    counted = count_rounds(storage, name, rounds)
    for (round, table), one in counted.matches.items():
        there = counted.entrants[round, table]
        for entrant, place, score in zip(there, one.places, one.scores, strict=True):
            sheets[entrant][round] = RoundResult(table, place, score)
    return sheets


def deal_scores_at(storage: Storage, name: str, round: int, table: int) -> Mapping[int, Sequence[DealScore]]:
    """Return what the deals of a finished match in a duplicate tournament count, by session.

    Raise UnknownError.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        sessions_at = dict(played_deals(tx, tournament, col(Round.number) == round)).get(round, {})
    scored = dict(zip(sessions_at, deal_scores(list(sessions_at.values())), strict=True)).get(table, [])
    return {session.number: deals for session, deals in zip(sessions_at.get(table, ()), scored, strict=True)}


def count_matches(storage: Storage, lines: Sequence[MatchLine]) -> list[Counted | None]:
    """Return how these matches count; None for those of a duplicate round that is not over."""
    rounds: dict[str, set[int]] = defaultdict(set)
    forfeited: dict[str, set[int]] = defaultdict(set)
    for line in lines:
        rounds[line.tournament].add(line.round)
        if any(line.forfeits):
            forfeited[line.tournament].add(line.round)
    counted: dict[str, CountedRounds] = {}
    with storage.read() as tx:
        its = col(TournamentEvent.tournament_id) == col(Tournament.id)
        several = select(Tournament, exists().where(its, col(TournamentEvent.kind) == "corrected"))
        for tournament, changed in tx.exec(several.where(col(Tournament.name).in_(rounds))):
            name = tournament.name
            special = rounds[name] if tournament.duplicate or changed else forfeited[name]
            if special:
                counted[name] = _count(tx, tournament, special)
    return [_counted(line, counted.get(line.tournament)) for line in lines]


def _counted(line: MatchLine, rounds: CountedRounds | None) -> Counted | None:
    if rounds is not None:
        known = rounds.matches.get((line.round, line.table))
        if known is not None or rounds.duplicate:
            return known
    return Counted(line.points, _places(line.points), as_played=True)


def _count(tx: Transaction, tournament: Tournament, rounds: Collection[int]) -> CountedRounds:
    which: list[ColumnElement[bool]] = [col(Round.number).in_(rounds)]
    if tournament.duplicate and tournament.finished_at is None:
        which.append(col(Round.state) == RoundState.CLOSED)
    played = outcomes(tx, tournament, *which)
    there = {(each.round, each.table) for each in played}
    corrections = [each for each in corrections_of(tx, tournament) if (each.round, each.table) in there]
    counted = adjusted(played, corrections)
    changed = {(each.round, each.table) for each in corrections} if not tournament.duplicate else there
    return CountedRounds(
        tournament.duplicate,
        {
            (each.round, each.table): _of(each, as_played=(each.round, each.table) not in changed)
            for each in counted
        },
        {(each.round, each.table): tuple(each.points) for each in counted},
    )


def _of(outcome: MatchOutcome, *, as_played: bool) -> Counted:
    return Counted(tuple(outcome.points.values()), _places(list(outcome.merits.values())), as_played)


def _places(values: Sequence[float] | Sequence[Merit]) -> tuple[int, ...]:
    return tuple(1 + sum(other > own for other in values) for own in values)  # type: ignore[operator]
