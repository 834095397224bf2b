"""Advancing tournaments step by step, without processes."""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from functools import partial

import pytest
from sqlmodel import col, select

from arena.errors import StateError, TakenError
from arena.play.rounds import planning
from arena.play.rounds.advance import advance, running_tournaments
from arena.play.rounds.overview import pairings
from arena.queries.leaderboards import leaderboard
from arena.queries.scoreboard import standings
from arena.results.ratings.rebuild import mend, rebuild
from arena.store.models import Entrant, Match, MatchState, Round, RoundState, Seat
from arena.tournaments import entry, lifecycle
from arena.tournaments.referees import nobody_asked
from referee.deals.shuffle import seed_hash
from referee.matches.match import DealsFinished, MatchSpec, Progress, SessionResult
from tests.arena.exported import changed, check, lines_of, play_by_table, problem
from tests.arena.fakes import ROOT
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
    assert cup.seed_hash == seed_hash(SEED)


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
    assert leaderboard(world.storage).leaderboard == ()
    world.play(first)
    world.advance(cup.id)
    lines = leaderboard(world.storage).leaderboard
    assert len(lines) == 8
    assert sum(line.rating for line in lines) == pytest.approx(8 * 1500)
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


def test_messages_after_matches_are_sent_several_at_a_time(world: World) -> None:
    cup = world.tournament(32)
    world.advance(cup.id, at_once=4)
    with world.storage.read() as tx:
        round_id = tx.get_one(Match, world.messages[0]).round_id
    sent = []
    for match in world.messages[:4]:
        world.play(match)
        world.advance(cup.id, at_once=4, round_id=round_id)
        sent.append(len(world.messages))
    assert sent == [4, 6, 6, 8]  # three are enough; with two on their way there is room for two more
    assert len({*world.messages}) == 8


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


def test_gauntlet_when_it_ends_then_every_challenger_has_met_everyone_else(world: World) -> None:
    cup = world.tournament(11, format="gauntlet", options={"challengers": 2})
    world.finish(cup.id)
    done = world.status()
    assert (done.state, done.round, done.rounds) == ("finished", 3, 3)
    challengers = {"owner-0/bot-0@1", "owner-1/bot-1@1"}
    met = Counter(
        frozenset((one, other))
        for row in pairings(world.storage, "cup").rounds
        for table in row.tables
        for one in {*table} & challengers
        for other in {*table} - challengers
    )
    assert len(met) == 18
    assert set(met.values()) == {1}


def test_knockout_when_it_ends_then_the_best_of_each_table_went_on(world: World) -> None:
    cup = world.tournament(14, format="knockout")
    world.finish(cup.id)
    done = world.status()
    assert (done.state, done.rounds, done.round) == ("finished", 3, 3)
    first, second, final = pairings(world.storage, "cup").rounds
    assert first.byes == ("owner-0/bot-0@1", "owner-1/bot-1@1")
    assert set(first.byes) < {who for table in second.tables for who in table}
    lines = standings(world.storage, "cup")
    assert {line.bot for line in lines[:4]} == set(final.tables[0])
    assert [line.reached for line in lines[:4]] == [3] * 4
    assert [line.last for line in lines[:4]] == sorted((line.last for line in lines[:4]), reverse=True)


def test_knockout_when_everyone_else_withdraws_then_it_still_ends(world: World) -> None:
    names = world.register(12)
    cup = world.tournament_of(names, format="knockout")
    world.advance(cup.id)
    for name in names[2:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)
    assert world.status().state == "finished"


def test_swiss_when_bots_come_late_and_leave_then_rounds_are_of_those_who_are_there(world: World) -> None:
    names = world.register(13)
    cup = world.tournament_of(names[:9], format="swiss", rounds=3)
    world.advance(cup.id)
    for name in names[9:]:
        assert entry.enter(world.storage, ROOT, "cup", name, world.clock(), nobody_asked) == 2
    assert entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock()) == 1
    world.finish(cup.id)
    seen = [
        sorted(names.index(who) for who in (*row.byes, *(who for table in row.tables for who in table)))
        for row in pairings(world.storage, "cup").rounds
    ]
    assert seen == [[*range(9)], [*range(1, 13)], [*range(1, 13)]]
    assert len(standings(world.storage, "cup")) == 13


def test_swiss_when_too_few_are_left_then_it_ends(world: World) -> None:
    names = world.register(5)
    cup = world.tournament_of(names, format="swiss", rounds=4)
    world.advance(cup.id)
    for name in names[:2]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)
    assert (world.status().state, world.status().rounds) == ("finished", 1)


def test_swiss_when_explained_then_every_later_table_has_its_reason(world: World) -> None:
    cup = world.tournament(9, format="swiss", rounds=3)
    world.finish(cup.id)
    shown = pairings(world.storage, "cup", explained=True)
    first, *later = shown.rounds
    assert first.reasons == ()
    assert [len(row.tables) for row in later] == [2, 2]
    for row in later:
        explained = [tuple(shown.bots[who] for who in reason.entrants) for reason in row.reasons]
        assert explained == list(row.tables)
        assert all(
            (reason.repeats_accepted or reason.owners_accepted) or not reason.instead
            for reason in row.reasons
        )


def test_stop_when_a_tournament_runs_then_it_ends_with_what_is_paired(world: World) -> None:
    cup = world.tournament(8, format="swiss", rounds=9)
    world.advance(cup.id)
    assert lifecycle.stop(world.storage, ROOT, "cup", world.clock()).rounds == 1
    world.finish(cup.id)
    assert (world.status().state, world.status().round) == ("finished", 1)


CANCELLED: dict[str, dict[str, object]] = {
    "round-robin": {},
    "duplicate": {"duplicate": True, "deals": 1, "rounds": 2},
    "swiss with byes": {"format": "swiss", "rounds": 3},
    "knockout": {"format": "knockout"},
    "continuous": {"format": "continuous"},
    "not rated": {"rated": False},
}


@pytest.mark.parametrize("cup", CANCELLED)
def test_cancel_then_finished_matches_count_and_are_rated_and_no_others(cup: str, world: World) -> None:
    """A round of three tables: two are finished, and one has a finished session."""
    id_ = world.tournament(13, **CANCELLED[cup]).id
    world.advance(id_)
    while world.status().matches_done < 2:
        world.play(world.messages.pop(0), play_by_table)

    def cancelled(route: int, spec: MatchSpec) -> Generator[SessionResult | DealsFinished | Progress]:
        sessions = play_by_table(route, spec)
        yield next(sessions)
        planning.cancel(world.storage, ROOT, "cup", world.clock())
        yield from sessions

    world.play(world.messages.pop(0), cancelled)
    status, rated = world.status(), leaderboard(world.storage).leaderboard
    assert (status.state, status.matches_done, status.sessions_done) == ("cancelled", 2, 7)
    assert sum(line.matches for line in rated) == (0 if cup == "not rated" else 8)
    assert sorted(line.matches for line in standings(world.storage, "cup")) == [0] * 5 + [1] * 8
    assert all(line.reached <= 1 for line in standings(world.storage, "cup"))
    assert not any(line.score for line in standings(world.storage, "cup") if not line.deals)
    found = rebuild(world.storage)
    assert (found.problem, found.matches) == (None, 0 if cup == "not rated" else 2)
    assert mend(world.storage, ROOT, world.clock()).mended == 0
    report = check(lines_of(world))
    assert (report.problem, report.deals, len(report.rated)) == (
        None,
        14 if "deals" not in CANCELLED[cup] else 7,
        0 if cup == "not rated" else 1,
    )


def test_cancel_when_all_of_a_round_is_finished_then_the_round_is_closed_and_its_byes_count(
    world: World,
) -> None:
    cup = world.tournament(9, format="swiss", rounds=3)
    world.advance(cup.id)
    for message in world.messages:
        world.play(message, play_by_table)
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    with world.storage.read() as tx:
        assert [round.state for round in tx.exec(select(Round))] == [RoundState.CLOSED]
    [bye] = [line for line in standings(world.storage, "cup") if not line.matches]
    assert bye.score == 1.5
    assert check(lines_of(world)).problem is None


@pytest.mark.parametrize(
    ("part", "change", "told"),
    [
        ("round_end", {"ratings": [None, None], "rated_after": None}, "rated_after, ratings: are there"),
        ("round_end", {"rated_after": None}, "rated_after, ratings: are there"),
        ("round", {"pool": []}, "the rating of owner-"),
        ("round", {"state": "open"}, "is 'open' in a tournament that is cancelled"),
        ("round", {"state": "closed"}, "is 'cancelled' in a round that is closed"),
    ],
)
def test_cancelled_round_that_hides_its_ratings_is_found(
    part: str, change: dict[str, object], told: str, world: World
) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    world.play(world.messages.pop(0), play_by_table)
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    assert told in problem(changed(lines_of(world), part, **change))


@pytest.mark.parametrize("format", ["round-robin", "gauntlet"])
def test_entrants_when_all_is_planned_then_they_neither_come_nor_go(world: World, format: str) -> None:
    names = world.register(9)
    world.tournament_of(names[:8], format=format)
    for change, what in ((partial(entry.enter, ask=nobody_asked), "entered"), (entry.withdraw, "left")):
        with pytest.raises(StateError, match=f"a {format} cannot be {what} once it is locked or started"):
            change(world.storage, ROOT, "cup", names[-1], world.clock())


def test_entrants_when_they_cannot_change_then_it_is_said_why(world: World) -> None:
    names = world.register(9)
    cup = world.tournament_of(names[:8], format="swiss", rounds=1)
    with pytest.raises(TakenError, match="is in tournament cup already"):
        entry.enter(world.storage, ROOT, "cup", names[0], world.clock(), nobody_asked)
    with pytest.raises(StateError, match="is not in tournament cup"):
        entry.withdraw(world.storage, ROOT, "cup", names[8], world.clock())
    entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    with pytest.raises(StateError, match="has withdrawn from tournament cup already"):
        entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    world.advance(cup.id)
    with pytest.raises(StateError, match="all its rounds are paired"):
        entry.enter(world.storage, ROOT, "cup", names[8], world.clock(), nobody_asked)
    world.finish(cup.id)
    with pytest.raises(StateError, match="cup is finished already"):
        lifecycle.stop(world.storage, ROOT, "cup", world.clock())


def test_continuous_when_bots_get_free_then_new_tables_open_until_it_is_stopped(world: World) -> None:
    cup = world.tournament(12, format="continuous")
    world.advance(cup.id)
    assert (world.status().round, len(world.messages)) == (1, 3)
    world.play(world.messages.pop(0))
    world.advance(cup.id)
    assert len(world.messages) == 2  # the four bots of one table wait for other opponents
    world.play(world.messages.pop(0))
    world.advance(cup.id)
    assert (world.status().round, len(world.messages)) == (2, 3)
    busy = [seat for match in world.match_ids(MatchState.WAITING) for seat in _seats(world, match)]
    assert len(busy) == len(set(busy)) == 12
    for _ in range(10):
        world.play(world.messages.pop(0))
        world.advance(cup.id)
    assert world.status().state == "running"
    lifecycle.stop(world.storage, ROOT, "cup", world.clock())
    world.finish(cup.id)
    done = world.status()
    assert (done.state, done.round) == ("finished", done.rounds)
    assert sum(line.matches for line in leaderboard(world.storage).leaderboard) == 4 * done.matches_done


def test_continuous_when_rounds_are_given_then_it_ends_after_them(world: World) -> None:
    world.finish(world.tournament(9, format="continuous", rounds=4).id)
    assert (world.status().state, world.status().round) == ("finished", 4)


def test_continuous_when_bots_are_away_then_only_the_others_are_seated(world: World) -> None:
    cup = world.tournament(9, format="continuous")

    def connected(version_ids: Sequence[int]) -> list[int]:
        return list(version_ids)[3:]

    for _ in range(2):
        advance(
            world.storage,
            cup.id,
            world.clock(),
            world.messages.append,
            at_once=100,
            again_after=LEASE,
            connected=connected,
        )
    [match] = world.messages
    assert min(_seats(world, match)) > 3


def _seats(world: World, match_id: int) -> list[int]:
    """Return the numbers of the entrants at a match's table."""
    numbers = select(Entrant.number).join(Seat, col(Seat.entrant_id) == Entrant.id)
    with world.storage.read() as tx:
        return list(tx.exec(numbers.where(Seat.match_id == match_id)))
