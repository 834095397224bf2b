"""The tournament's steps, without processes."""

from collections.abc import Callable

from sqlmodel import col, select

from arena.models import Match, MatchState, Round, RoundState
from arena.services.advance import running_tournaments, tournament_of
from arena.services.results import leaderboard
from referee.shuffle import commitment
from tests.arena.world import LEASE, SEED, World, results


def test_round_robin_when_every_match_is_played_then_it_finishes(world: World) -> None:
    cup = world.tournament(8)
    assert cup.rounds is None
    world.finish(cup.id)
    done = world.status()
    assert (done.state, done.round, done.rounds) == ("finished", 7, 7)
    assert done.matches_done == done.matches_total == 14
    assert done.sessions_done == done.sessions_total == 42
    assert done.finished_at == world.clock()


def test_swiss_when_every_match_is_played_then_it_has_the_rounds_asked_for(world: World) -> None:
    cup = world.tournament(10, format="swiss", rounds=3)
    world.finish(cup.id)
    done = world.status()
    assert (done.state, done.round, done.matches_done) == ("finished", 3, 6)
    with world.storage.read() as tx:
        byes = [number for byes in tx.exec(select(Round.byes)) for number in byes]
    assert len(byes) == len(set(byes)) == 6


def test_seed_when_the_tournament_has_ended_then_it_is_revealed_and_fits_the_commitment(world: World) -> None:
    cup = world.tournament(4)
    assert cup.seed is None
    world.finish(cup.id)
    assert world.status().seed == SEED.hex()
    assert cup.commitment == commitment(SEED)


def test_round_when_a_match_is_missing_then_it_stays_open(world: World) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    first, second = world.messages
    world.play(first)
    world.advance(cup.id)
    assert world.status().round == 1
    world.play(second)
    world.advance(cup.id)
    assert world.status().round == 2


def test_round_when_planned_then_none_of_its_matches_is_handed_out(world: World) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    with world.storage.read() as tx:
        opened = (
            select(Match.id)
            .join(Round, col(Round.id) == Match.round_id)
            .where(Round.state == RoundState.OPEN)
        )
        assert sorted(tx.exec(opened)) == sorted(world.messages)
    assert len(world.match_ids()) == 14


def test_ratings_when_a_round_is_open_then_they_wait_until_it_is_closed(world: World) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    first, second = world.messages
    world.play(second)
    world.advance(cup.id)
    assert leaderboard(world.storage) == []
    world.play(first)
    world.advance(cup.id)
    lines = leaderboard(world.storage)
    assert len(lines) == 8
    assert sum(line.rating for line in lines) == 8 * 1500
    assert {(line.matches, line.deals) for line in lines} == {(1, 6)}


def test_results_when_matches_finish_in_another_order_then_they_are_the_same(
    make_world: Callable[[], World],
) -> None:
    orders: list[Callable[[list[int]], int]] = [lambda messages: messages.pop(0), list.pop]
    outcomes = []
    for take in orders:
        world = make_world()
        cup = world.tournament(12, format="swiss", rounds=3)
        world.advance(cup.id)
        while world.messages:
            world.play(take(world.messages))
            world.advance(cup.id)
        outcomes.append(results(world.storage))
    assert outcomes[0] == outcomes[1]


def test_message_when_it_was_just_sent_then_it_is_not_sent_again(world: World) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    world.advance(cup.id)
    assert len(world.messages) == 2


def test_message_when_nobody_came_for_long_then_it_is_sent_again(world: World) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    world.clock.move(LEASE.total_seconds())
    world.advance(cup.id)
    assert sorted(world.messages) == sorted(world.match_ids(MatchState.WAITING)[:2] * 2)


def test_messages_when_many_matches_are_due_then_only_some_are_on_their_way(world: World) -> None:
    cup = world.tournament(16)
    world.advance(cup.id, at_once=3)
    world.advance(cup.id, at_once=3)
    assert len(world.messages) == 3
    world.play(world.messages[0])
    world.advance(cup.id, at_once=3)
    assert len(world.messages) == 4


def test_message_when_it_comes_twice_then_the_match_is_played_once(world: World) -> None:
    cup = world.tournament(4)
    world.advance(cup.id)
    [match] = world.messages
    assert world.play(match)
    assert not world.play(match)
    assert world.status().sessions_done == 3


def test_running_tournaments_when_some_have_ended_then_only_the_others_are_named(world: World) -> None:
    one = world.tournament(4)
    two = world.tournament(4, name="two")
    world.finish(one.id)
    assert running_tournaments(world.storage) == [two.id]
    assert tournament_of(world.storage, world.match_ids()[0]) == one.id
