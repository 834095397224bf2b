"""A match in the hands of a worker: leases, what is stored, and what failures do."""

from collections.abc import Generator

import pytest
from sqlmodel import select

from arena.errors import LeaseLost, StateError
from arena.play.matches import leases, storing
from arena.play.matches.leases import Claim
from arena.play.matches.playing import Run
from arena.play.rounds import planning
from arena.queries.leaderboards import leaderboard
from arena.store.models import Match, MatchState, Seat, Session
from arena.tournaments import lifecycle
from arena.tournaments.referees import nobody_asked
from referee.deals.shuffle import session_seed
from referee.errors import MatchRefused, RefereeUnavailable
from referee.matches.match import MatchSpec, Progress, Rated, SessionResult
from tests.arena.fakes import ROOT, play_at_once, session_result
from tests.arena.world import LEASE, SEED, World


def claim(world: World, match_id: int) -> Claim:
    claimed = leases.claim(world.storage, match_id, world.clock(), LEASE)
    assert claimed is not None
    return claimed


def row(world: World, match_id: int) -> Match:
    with world.storage.read() as tx:
        return tx.get_one(Match, match_id)


@pytest.fixture
def match_id(world: World) -> int:
    """Hand out the one match of a running tournament's first round."""
    world.advance(world.tournament(4).id)
    return world.messages[0]


def stops_after(sessions: int, error: Exception | None = None) -> Run:
    """Return a referee that stops after this many sessions, with an error if one is given."""

    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        for session in spec.sessions[:sessions]:
            yield session_result(spec, session)
        if error:
            raise error

    return run


def test_claim_when_taken_then_its_sessions_have_the_published_seeds(world: World, match_id: int) -> None:
    spec = claim(world, match_id).spec
    assert (spec.match_id, spec.round, spec.table, spec.deals) == ("cup/1/1", 1, 1, 2)
    assert [session.seed for session in spec.sessions] == [session_seed(SEED, 1, 1, n) for n in (1, 2, 3)]
    assert sorted(bot.name for bot in spec.bots) == [f"owner-{n}/bot-{n}@1" for n in range(4)]
    assert spec.ruleset["name"] == "chinese"
    assert spec.limits.join_seconds == 30


def test_claim_when_the_tournament_has_clocks_of_its_own_then_the_referee_is_told(world: World) -> None:
    clocks = {"decision_ms": 900, "bank_ms": 60_000, "increment_ms": 50, "credit_ms": 107, "ask_forced": True}
    more = {"join_seconds": 15, "faults": 3, "on_forfeit": "stand_in"}
    more |= {"match_seconds": 90, "min_sessions": 4}
    world.advance(world.tournament(4, **more, **clocks).id)
    limits = claim(world, world.messages[0]).spec.limits
    assert limits.model_dump() == clocks | {
        "join_seconds": 15,
        "faults": 3,
        "on_forfeit": "stand_in",
        "match_seconds": 90,
        "min_sessions": 4,
    }


def test_claim_when_the_tournament_is_rated_then_the_referee_is_told_the_ratings(world: World) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, name="first").id)
    world.advance(world.tournament_of([*names[:3], *world.register(1)]).id)
    spec = claim(world, world.messages[0]).spec
    in_pool = {
        line.bot: Rated(round(line.rating), line.matches) for line in leaderboard(world.storage).leaderboard
    }
    newcomer = {name: Rated(1500, 0) for name in ("owner-0/bot-0@2",)}
    assert {bot.name: bot.rated for bot in spec.bots} == {
        name: in_pool[name] for name in names[:3]
    } | newcomer
    assert spec.pool == "chinese@1, tables of 4"


def test_claim_when_the_tournament_is_not_rated_then_the_referee_is_told_no_ratings(world: World) -> None:
    world.advance(world.tournament(4, rated=False).id)
    spec = claim(world, world.messages[0]).spec
    assert (spec.pool, [bot.rated for bot in spec.bots]) == ("", [None] * 4)


def test_claim_when_somebody_has_the_match_then_there_is_none(world: World, match_id: int) -> None:
    claim(world, match_id)
    assert leases.claim(world.storage, match_id, world.clock(), LEASE) is None


def test_claim_when_the_lease_ran_out_then_only_the_other_sessions_are_asked_for(
    world: World, match_id: int
) -> None:
    first = claim(world, match_id)
    done = session_result(first.spec, first.spec.sessions[1])
    storing.store_session(world.storage, first, done, world.clock())
    world.clock.move(LEASE.total_seconds() + 1)
    second = claim(world, match_id)
    assert [session.number for session in second.spec.sessions] == [1, 3]
    assert [session.seed for session in second.spec.sessions] == [
        first.spec.sessions[place].seed for place in (0, 2)
    ]
    assert [session.attempt for session in second.spec.sessions] == [2, 2]


def test_store_when_the_lease_is_another_attempts_then_nothing_is_stored(world: World, match_id: int) -> None:
    first = claim(world, match_id)
    world.clock.move(LEASE.total_seconds() + 1)
    claim(world, match_id)
    with pytest.raises(LeaseLost):
        storing.store_session(
            world.storage, first, session_result(first.spec, first.spec.sessions[0]), world.clock()
        )
    with pytest.raises(LeaseLost):
        leases.renew(world.storage, first, world.clock())
    assert world.status().sessions_done == 0


def test_store_when_the_lease_ran_out_but_nobody_came_then_it_still_counts(
    world: World, match_id: int
) -> None:
    claimed = claim(world, match_id)
    world.clock.move(LEASE.total_seconds() + 1)
    result = session_result(claimed.spec, claimed.spec.sessions[0])
    storing.store_session(world.storage, claimed, result, world.clock())
    assert world.status().sessions_done == 1


def test_session_when_stored_then_points_and_faults_stand_with_their_seats(
    world: World, match_id: int
) -> None:
    world.play(match_id)
    with world.storage.read() as tx:
        stored = tx.exec(select(Session).where(Session.match_id == match_id)).all()
        seats = {seat.position: seat for seat in tx.exec(select(Seat).where(Seat.match_id == match_id))}
    assert sorted(session.number for session in stored) == [1, 2, 3]
    for position, seat in seats.items():
        places = [(session, session.seating.index(position)) for session in stored]
        assert seat.points == sum(session.points[place] for session, place in places)
        assert seat.faults == sum(session.faults[place] for session, place in places)
    assert all(session.points == [*map(sum, zip(*session.deal_points, strict=True))] for session in stored)
    done = row(world, match_id)
    assert (done.state, done.deals_done, done.lease_owner) == (MatchState.DONE, 6, None)


def test_play_when_the_referee_is_not_there_then_the_match_waits_longer_each_time(
    world: World, match_id: int
) -> None:
    waits = []
    for _ in range(7):
        assert world.play(match_id, stops_after(0, RefereeUnavailable("referee h:1: gone")))
        assert not world.play(match_id)
        after = row(world, match_id)
        assert after.state == MatchState.WAITING
        assert after.not_before is not None
        waits.append((after.not_before - world.clock()).total_seconds())
        world.clock.now = after.not_before
    assert waits == [1, 2, 4, 8, 15, 15, 15]
    assert world.status().waiting == ("round 1 table 1: referee h:1: gone",)


def test_play_when_the_referee_comes_back_then_the_trouble_is_forgotten(world: World, match_id: int) -> None:
    world.play(match_id, stops_after(0, RefereeUnavailable("gone")))
    world.clock.move(1)
    world.play(match_id)
    assert (row(world, match_id).failures, world.status().waiting) == (0, ())


def test_play_when_the_referee_dies_in_the_middle_then_stored_sessions_stay(
    world: World, match_id: int
) -> None:
    world.play(match_id, stops_after(2, RefereeUnavailable("gone")))
    assert world.status().sessions_done == 2
    world.clock.move(1)
    world.play(match_id, stops_after(1))
    assert row(world, match_id).state == MatchState.DONE


def test_play_when_the_referee_ends_too_early_then_the_match_is_tried_again(
    world: World, match_id: int
) -> None:
    world.play(match_id, stops_after(1))
    assert row(world, match_id).problem == "the referee ended the match before all its sessions"


def test_play_when_something_breaks_then_the_match_is_given_back_and_says_why(
    world: World, match_id: int
) -> None:
    with pytest.raises(ZeroDivisionError):
        world.play(match_id, stops_after(1, ZeroDivisionError("by zero")))
    assert world.status().waiting == ("round 1 table 1: ZeroDivisionError: by zero",)


def test_play_after_a_failure_then_another_referee_is_asked(world: World, match_id: int) -> None:
    first = claim(world, match_id)
    leases.hand_back(world.storage, first, world.clock(), "gone")
    world.clock.move(1)
    assert claim(world, match_id).route == first.route + 1


def test_play_when_refused_then_the_tournament_halts_and_says_why(world: World, match_id: int) -> None:
    world.play(match_id, stops_after(1, MatchRefused("ruleset: unknown field")))
    halted = world.status()
    assert (halted.state, halted.problem) == ("failed", "round 1 table 1: ruleset: unknown field")
    assert halted.seed is None
    assert halted.waiting == ("round 1 table 1: ruleset: unknown field",)
    world.clock.move(60)
    world.messages.clear()
    world.advance(halted.id)
    assert world.messages == []
    assert not world.play(match_id)


def test_start_when_the_tournament_had_failed_then_it_goes_on(world: World, match_id: int) -> None:
    world.play(match_id, stops_after(1, MatchRefused("no")))
    again = lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    assert (again.state, again.problem, again.waiting) == ("running", None, ())
    world.finish(again.id)
    assert (world.status().state, world.status().sessions_done) == ("finished", 3)


def test_cancel_when_a_match_is_running_then_its_worker_stops(world: World, match_id: int) -> None:
    closed = []

    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        try:
            yield session_result(spec, spec.sessions[0])
            planning.cancel(world.storage, ROOT, "cup", world.clock())
            world.clock.move(LEASE.total_seconds() / 2)
            yield Progress(0, 2, ())
            pytest.fail("it went on after its lease was gone")
        finally:
            closed.append(True)

    world.play(match_id, run)
    assert closed == [True]
    ended = world.status()
    assert (ended.state, ended.sessions_done, ended.seed) == ("cancelled", 1, SEED.hex())
    assert row(world, match_id).state == MatchState.CANCELLED


def test_cancel_when_rounds_are_unfinished_then_they_are_not_rated_and_nothing_goes_on(
    world: World, match_id: int
) -> None:
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    world.messages.clear()
    world.advance(world.status().id)
    assert world.messages == []
    assert not world.play(match_id)
    with pytest.raises(StateError, match="cancelled already"):
        planning.cancel(world.storage, ROOT, "cup", world.clock())
    with pytest.raises(StateError, match="cannot be started"):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)


def test_progress_when_it_comes_often_then_the_lease_is_renewed_now_and_then(
    world: World, match_id: int
) -> None:
    leases = set()

    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        for _ in range(10):
            world.clock.move(1)
            yield Progress(0, 3, ())
            leases.add(row(world, match_id).lease_until)
        yield from play_at_once(route, spec)

    start = world.clock()
    world.play(match_id, run)
    seconds = sorted((until - start).total_seconds() for until in leases if until)
    assert seconds == [30, 33, 36, 39]


def test_play_when_the_tournament_is_over_then_a_late_message_does_nothing(
    world: World, match_id: int
) -> None:
    world.finish(world.status().id)
    assert not world.play(match_id)
