"""Standings and crosstables follow from stored sums, and agree with a count of all sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import permutations
from random import Random
from typing import Any

import pytest
from sqlmodel import col, select

from arena.core.duplicate import deal_scores
from arena.core.elo import spread
from arena.core.formats import FORMATS
from arena.core.ranking import Standing
from arena.play.rounds import planning
from arena.queries.scoreboard import crosstable, standings
from arena.results.ratings.rebuild import mend, rebuild
from arena.results.standings.outcomes import outcomes, played_deals
from arena.store.models import Match, Round, RoundState, Seat, Tournament
from arena.tournaments import entry
from arena.tournaments.roster import list_entrants
from benchmarks.continuous import counted
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT
from tests.arena.test_standings import standings as from_outcomes
from tests.arena.world import World

CUPS: dict[str, dict[str, Any]] = {
    "round-robin": {"format": "round-robin", "rounds": 3},
    "swiss": {"format": "swiss", "rounds": 3},
    "swiss of duplicate deals": {"format": "swiss", "rounds": 3, "deals": 1, "duplicate": True},
    "gauntlet": {"format": "gauntlet", "rounds": 4},
    "knockout": {"format": "knockout"},
    "continuous": {"format": "continuous", "rounds": 5, "options": {"gather": 4}, "rated": False},
}

Line = tuple[int, int, float | None]


def read_through(world: World) -> tuple[dict[int, Line], dict[tuple[int, int], tuple[int, int]]]:
    """Count from all sessions each entrant's points, deals and interval, and for each pair who was ahead."""
    scored: dict[int, list[tuple[int, float]]] = {}
    ahead: dict[tuple[int, int], tuple[int, int]] = {}
    with world.storage.read() as tx:
        tournament = tx.exec(select(Tournament)).one()
        places = select(Round.number, Match.table_number, Seat.position, Seat.entrant_id)
        rows = tx.exec(places.join(Match, col(Match.round_id) == Round.id).join(Seat))
        sits = {(round, table, position): entrant for round, table, position, entrant in rows}
        for round, tables in played_deals(tx, tournament):
            compared = deal_scores(list(tables.values()))
            for at, (table, sessions) in enumerate(tables.items()):
                deals = [(one.seating, raw) for one in sessions for raw in one.points]
                counted: list[Sequence[float]] = [one.by_seat for of_it in compared[at] for one in of_it]
                counted = counted if tournament.duplicate else [raw for _, raw in deals]
                for (seating, raw), scores in zip(deals, counted, strict=True):
                    there = [sits[round, table, position] for position in seating]
                    for who, own, score in zip(there, raw, scores, strict=True):
                        scored.setdefault(who, []).append((own, score))
                    add_ahead(ahead, dict(zip(there, raw, strict=True)))
    lines = {who: line_of(own) for who, own in scored.items()}
    return lines, ahead


def line_of(own: list[tuple[int, float]]) -> Line:
    total, squares = sum(score for _, score in own), sum(score * score for _, score in own)
    return sum(raw for raw, _ in own), len(own), spread(len(own), total, squares)


def add_ahead(ahead: dict[tuple[int, int], tuple[int, int]], points: Mapping[int, int]) -> None:
    for one, other in permutations(points, 2):
        before, together = ahead.get((one, other), (0, 0))
        ahead[one, other] = (before + (points[one] > points[other]), together + 1)


def check(world: World) -> None:
    """Compare standings and crosstable with a count of all sessions."""
    found, table = standings(world.storage, "cup"), crosstable(world.storage, "cup")
    lines, ahead = read_through(world)
    with world.storage.read() as tx:
        tournament = tx.exec(select(Tournament)).one()
        entrants = list_entrants(tx, tournament)
        names = [one.name for one in fields(Standing)]
        ranked = [Standing(*(getattr(line, name) for name in names)) for line in found]
        byes = [who for round in tx.exec(select(Round)) if round.state == "closed" for who in round.byes]
        ended, criteria = outcomes(tx, tournament), FORMATS[tournament.format].criteria
        assert ranked == from_outcomes([one.number for one in entrants], ended, byes, criteria)
    id_of = {entrant.name: entrant.entrant_id for entrant in entrants}
    for line in found:
        raw, deals, plus_minus = lines.get(id_of[line.bot], (0, 0, None))
        assert (line.raw, line.deals) == (raw, deals)
        assert line.plus_minus == pytest.approx(plus_minus)
    ids = [id_of[name] for name in table.bots]
    for a, b in permutations(range(len(ids)), 2):
        assert (table.before[a][b], table.deals[a][b]) == ahead.get((ids[a], ids[b]), (0, 0))


@pytest.mark.parametrize("end", ["finish", "cancel"])
@pytest.mark.parametrize("cup", CUPS)
def test_standings_when_a_tournament_goes_on_then_they_are_what_all_sessions_come_to(
    cup: str, end: str, world: World
) -> None:
    names = world.register(14)
    id_ = world.tournament_of(names[:13], **CUPS[cup]).id
    rng = Random(cup)
    world.advance(id_)
    for number in range(3 if end == "cancel" else 100):
        if not world.messages:
            break
        world.play(world.messages.pop(rng.randrange(len(world.messages))), play_by_table)
        if number % 3 == 1:
            check(world)
        if number == 2 and cup.startswith(("swiss", "continuous")):
            entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
        world.advance(id_)
        if number % 3 == 2:
            check(world)
    if end == "cancel":
        planning.cancel(world.storage, ROOT, "cup", world.clock())
    check(world)
    assert rebuild(world.storage).problem is None


def test_standings_when_rounds_were_closed_before_there_were_sums_then_they_count_the_same(
    world: World,
) -> None:
    world.finish(world.tournament(9, format="swiss", rounds=2).id, play_by_table)
    before = standings(world.storage, "cup"), crosstable(world.storage, "cup")
    with world.storage.write() as tx:
        tx.connection().exec_driver_sql("DELETE FROM entrant_sums")
        tx.connection().exec_driver_sql("DELETE FROM encounters")
        tx.connection().exec_driver_sql("UPDATE rounds SET summed = FALSE")
    assert (standings(world.storage, "cup"), crosstable(world.storage, "cup")) == before
    assert rebuild(world.storage).problem is None
    assert mend(world.storage, ROOT, world.clock()).mended == 1
    assert (standings(world.storage, "cup"), crosstable(world.storage, "cup")) == before
    with world.storage.read() as tx:
        assert all(round.summed for round in tx.exec(select(Round)))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entrant_sums SET squares = squares + 1 WHERE entrant_id = 3",
        "UPDATE encounters SET ahead = ahead + 1 WHERE entrant_id = 2",
        "DELETE FROM entrant_sums WHERE entrant_id = 4",
    ],
)
def test_rebuild_when_a_sum_of_standings_is_wrong_then_it_is_told_and_mended(
    damage: str, world: World
) -> None:
    world.finish(world.tournament(9, format="swiss", rounds=2).id, play_by_table)
    before = standings(world.storage, "cup"), crosstable(world.storage, "cup")
    assert rebuild(world.storage).problem is None
    with world.storage.write() as tx:
        tx.connection().exec_driver_sql(damage)
    assert rebuild(world.storage).problem == "cup: the sums of its standings are wrong"
    assert mend(world.storage, ROOT, world.clock()).mended == 1
    assert rebuild(world.storage).problem is None
    assert (standings(world.storage, "cup"), crosstable(world.storage, "cup")) == before


def test_standings_when_there_are_more_rounds_then_they_take_as_many_statements(world: World) -> None:
    taken = []
    id_ = world.tournament(9, format="swiss", rounds=6).id
    world.advance(id_)
    for _ in range(10):
        with world.storage.read() as tx:
            closed = len(tx.exec(select(Round).where(Round.state == RoundState.CLOSED)).all())
        with counted() as statements:
            standings(world.storage, "cup")
            crosstable(world.storage, "cup")
        taken.append((closed, len(statements)))
        world.play(world.messages.pop(0), play_by_table)
        world.advance(id_)
    assert taken[-1][0] > taken[0][0]
    assert len({statements for _, statements in taken}) == 1
