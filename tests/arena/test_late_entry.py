"""Entering and withdrawing between rounds, and while a round is being paired."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlmodel import col, select

from arena.store.models import BotVersion, Entrant, Match, Round, Seat
from arena.store.storage import Storage, Transaction
from arena.tournaments import entry
from arena.tournaments.referees import nobody_asked
from tests.arena.fakes import ROOT
from tests.arena.world import World


class Interrupted(Storage):
    """A database in which something happens just before the first writing transaction."""

    def __init__(self, storage: Storage, happens: Callable[[], object]) -> None:
        vars(self).update(vars(storage))  # the same database
        self._happens = [happens]

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        while self._happens:
            self._happens.pop()()
        with super().write() as tx:
            yield tx


def seated(world: World, round: int) -> set[str]:
    """Return the bots that have a seat in a round."""
    rows = (
        select(BotVersion.name)
        .join(Entrant, col(Entrant.version_id) == BotVersion.id)
        .join(Seat, col(Seat.entrant_id) == Entrant.id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Round.number == round)
    )
    with world.storage.read() as tx:
        return set(tx.exec(rows))


def test_bot_when_it_enters_between_rounds_then_it_plays_from_the_round_that_it_was_told(
    world: World,
) -> None:
    names = world.register(12)
    cup = world.tournament_of(names[:11], format="swiss", rounds=3)
    world.advance(cup.id)
    assert entry.enter(world.storage, ROOT, "cup", names[11], world.clock(), nobody_asked) == 2
    assert names[11] not in seated(world, 1)
    world.finish(cup.id)
    assert world.status().state == "finished"
    assert seated(world, 2) == seated(world, 3) == set(names)


def test_bot_when_it_withdraws_between_rounds_then_it_plays_up_to_the_round_that_it_was_told(
    world: World,
) -> None:
    names = world.register(12)
    cup = world.tournament_of(names, format="swiss", rounds=3)
    world.advance(cup.id)
    leaving = names[:4]
    for name in leaving:
        assert entry.withdraw(world.storage, ROOT, "cup", name, world.clock()) == 1
    world.finish(cup.id)
    assert (world.status().state, world.status().matches_done) == ("finished", 3 + 2 + 2)
    assert seated(world, 1) == set(names)
    assert seated(world, 2) == seated(world, 3) == set(names[4:])


def test_bot_when_it_enters_while_a_round_is_paired_then_that_round_has_it(world: World) -> None:
    names = world.register(12)
    cup = world.tournament_of(names[:11], format="swiss", rounds=1)
    told = []
    late = Interrupted(
        world.storage,
        lambda: told.append(entry.enter(world.storage, ROOT, "cup", names[11], world.clock(), nobody_asked)),
    )
    world.advance(cup.id, storage=late)
    world.finish(cup.id)
    assert told == [1]
    assert seated(world, 1) == set(names)


def test_bot_when_it_withdraws_while_a_round_is_paired_then_that_round_is_without_it(world: World) -> None:
    names = world.register(9)
    cup = world.tournament_of(names, format="swiss", rounds=1)
    told = []
    leaving = Interrupted(
        world.storage,
        lambda: told.append(entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())),
    )
    world.advance(cup.id, storage=leaving)
    world.finish(cup.id)
    assert told == [0]
    assert seated(world, 1) == set(names[1:])


def test_bot_when_it_withdraws_while_a_batch_is_seated_then_that_batch_is_without_it(world: World) -> None:
    names = world.register(8)
    cup = world.tournament_of(names, format="continuous", rounds=1)
    told = []
    leaving = Interrupted(
        world.storage,
        lambda: told.append(entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())),
    )
    world.advance(cup.id, storage=leaving)
    world.finish(cup.id)
    assert told == [0]
    assert len(seated(world, 1)) == 4
    assert names[0] not in seated(world, 1)
