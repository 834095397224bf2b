"""Batches of continuous tournaments: what they are paired from, and their cost, the same in any field."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from sqlmodel import col, select

from arena.core.pairing import RECENT, Batches, Pairing, Recent
from arena.host.settings import load_settings
from arena.play.rounds.advance import advance
from arena.play.rounds.batches import pair_batch, recent_tables
from arena.play.rounds.planning import paired_rounds
from arena.store.models import Entrant, EntrantState, Match, Seat, Tournament
from arena.tournaments import entry
from arena.tournaments.referees import nobody_asked
from benchmarks.continuous import STEPS, begin, counted
from tests.arena.databases import open_new
from tests.arena.fakes import ROOT
from tests.arena.work import Work, work
from tests.arena.world import LEASE, World

__all__ = ["work"]


def seen_whole(pairings: Sequence[Pairing], entrants: int, present: Sequence[int]) -> Recent:
    """Return the recent past as found by going through all tables."""
    tables = [table for pairing in pairings[-entrants:] for table in pairing.tables]
    seats = Counter(number for table in tables[-entrants:] for number in table)
    found = []
    seen: Counter[int] = Counter()
    for table in reversed(tables):
        if any(seen[entrant] < RECENT for entrant in table):
            found.append(table)
            seen.update(table)
    with_them = [table for table in found[::-1] if set(table) & set(present)]
    return Recent({one: seats[one] for one in present if seats[one]}, with_them)


@pytest.mark.parametrize("seed", range(20))
def test_recent_past_of_some_then_it_is_what_all_tables_tell(seed: int) -> None:
    rng = Random(seed)
    batches, pairings = Batches(), list[Pairing]()
    for _ in range(60):
        entrants = 8 + len(pairings) // 6
        present = rng.sample(range(1, entrants + 1), 6)
        assert batches.recent(entrants, present) == seen_whole(pairings, entrants, present)
        often = sorted(range(1, entrants + 1), key=lambda number: number * rng.random())  # some rarely play
        pairings.append(Pairing((tuple(often[:3]), tuple(often[3:6]))[: rng.randint(1, 2)]))
        batches.add(pairings[-1])


def test_recent_past_read_from_rows_when_batches_overlap_then_it_is_what_all_tables_tell(
    world: World,
) -> None:
    cup = world.tournament(11, format="continuous", options={"gather": 4})
    rng = Random(1)
    world.advance(cup.id)
    for _ in range(45):
        with world.storage.read() as tx:
            tournament = tx.get_one(Tournament, cup.id)
            rows = tx.exec(select(Entrant.id, Entrant.number)).all()
            present = dict(rng.sample(rows, 5))
            pairings = [one.pairing for one in paired_rounds(tx, tournament)]
            found = recent_tables(tx, tournament, len(rows), present)
            assert found == seen_whole(pairings, len(rows), list(present.values()))
        world.play(world.messages.pop(rng.randrange(len(world.messages))))
        world.advance(cup.id)
    assert world.status().round > 11


def states(world: World) -> dict[int, EntrantState]:
    with world.storage.read() as tx:
        return {one.number: one.state for one in tx.exec(select(Entrant))}


def test_entrants_when_matches_begin_and_end_then_their_rows_say_who_sits_at_a_table(world: World) -> None:
    cup = world.tournament(12, format="continuous", options={"gather": 8})
    rng = Random(2)
    world.advance(cup.id)
    for _ in range(20):
        world.play(world.messages.pop(rng.randrange(len(world.messages))))
        with world.storage.read() as tx:
            seats = select(Entrant.number).join(Seat).join(Match).where(col(Match.finished_at).is_(None))
            seated = set(tx.exec(seats))
        assert {number for number, state in states(world).items() if state == "seated"} == seated
        world.advance(cup.id)


class Hall:
    """Referees that know who is connected, and record whom they were asked about."""

    def __init__(self, *here: int) -> None:
        self.here = set(here)
        self.asked: list[list[int]] = []

    def __call__(self, version_ids: Sequence[int]) -> set[int]:
        self.asked.append(list(version_ids))
        return self.here & set(version_ids)


def after_match(world: World, cup: int, hall: Hall) -> None:
    """Play the next match, and advance as happens after a match."""
    match_id = world.messages.pop(0)
    world.play(match_id)
    with world.storage.read() as tx:
        round_id = tx.get_one(Match, match_id).round_id
    look(world, cup, hall, round_id)


def look(world: World, cup: int, hall: Hall, round_id: int | None = None) -> None:
    advance(
        world.storage,
        cup,
        world.clock(),
        world.messages.append,
        at_once=100,
        again_after=LEASE,
        connected=hall,
        round_id=round_id,
    )


def test_bots_that_were_away_when_a_match_ends_then_only_the_beat_asks_for_them_again(world: World) -> None:
    cup = world.tournament(13, format="continuous", options={"gather": 4}).id
    hall = Hall(*range(1, 9))
    look(world, cup, hall)
    assert (len(world.messages), hall.asked) == (2, [list(range(1, 14))])
    assert states(world)[13] == "away"
    hall.here |= {9, 10, 11, 12}
    after_match(world, cup, hall)
    assert len(hall.asked[-1]) == 4
    assert set(hall.asked[-1]) <= set(range(1, 9))
    look(world, cup, hall)
    assert set(hall.asked[-1]) >= {9, 10, 11, 12, 13}
    assert [states(world)[number] for number in range(9, 14)] == ["seated"] * 4 + ["away"]


def test_bot_that_was_away_when_it_enters_again_then_it_is_asked_for_after_the_next_match(
    world: World,
) -> None:
    names = world.register(9)
    cup = world.tournament_of(names, format="continuous", options={"gather": 4}).id
    hall = Hall(*range(1, 9))
    look(world, cup, hall)
    entry.withdraw(world.storage, ROOT, "cup", names[8], world.clock())
    entry.enter(world.storage, ROOT, "cup", names[8], world.clock(), nobody_asked)
    after_match(world, cup, hall)
    assert 9 in hall.asked[-1]


@pytest.mark.parametrize("comes", [True, False])
def test_batch_when_somebody_comes_or_leaves_while_it_is_paired_then_it_is_paired_anew(
    comes: bool, world: World
) -> None:
    names = world.register(9)
    cup = world.tournament_of(names[:8], format="continuous", options={"gather": 4}).id

    class Slow(Hall):
        def __call__(self, version_ids: Sequence[int]) -> set[int]:
            if len(self.asked) == 0:
                world_change()
            return super().__call__(version_ids)

    def world_change() -> None:
        if comes:
            entry.enter(world.storage, ROOT, "cup", names[8], world.clock(), nobody_asked)
        else:
            entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())

    hall = Slow(*range(1, 10))
    opened = pair_batch(world.storage, cup, world.clock(), hall)
    assert opened is comes  # a bot that comes before the past is read counts; one that has left is not seated
    if not comes:
        assert pair_batch(world.storage, cup, world.clock(), hall)
        assert states(world)[1] != "seated"


def test_match_when_ten_times_as_many_play_then_it_costs_the_same(work: Work, tmp_path: Path) -> None:
    costs = []
    for entrants in (64, 640):
        url = f"sqlite:///{tmp_path}/{entrants}.db"
        with open_new(load_settings({"data": tmp_path, "database_url": url})) as storage:
            queue = begin(storage, url, entrants)
            queue.clock = lambda: work.instructions
            taken = []
            for _ in range(32):
                with counted() as statements:
                    queue.play()
                taken.append(len(statements))
            costs.append((max(taken), *(max(queue.times[step]) for step in STEPS)))
    (few, *small), (many, *large) = costs
    assert few == many
    for step, one, other in zip(STEPS, small, large, strict=True):
        assert other <= 1.2 * one, step
