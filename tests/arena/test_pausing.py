"""Pausing, resuming and cancelling while matches are played, which takes effect between sessions."""

from collections.abc import Callable, Generator

import pytest

from arena.errors import StateError
from arena.play.matches import playing
from arena.play.matches.playing import Run, never_held
from arena.play.rounds import planning
from arena.store.models import MatchState
from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from referee.errors import MatchRefused, RefereeUnavailable
from referee.matches.match import MatchSpec, Progress, SessionResult, SessionSpec
from tests.arena.fakes import ROOT, play_at_once, session_result
from tests.arena.world import LEASE, World, results

Happening = Callable[[], object]


def pause(world: World) -> None:
    lifecycle.pause(world.storage, ROOT, "cup", world.clock())


def resume(world: World) -> None:
    lifecycle.resume(world.storage, ROOT, "cup", world.clock())


def play(world: World, match_id: int, run: Run) -> bool:
    """Do what a worker does with a message, including pauses."""
    hold = getattr(run, "hold", never_held)
    claimed = playing.play(world.storage, match_id, run, clock=world.clock, lease=LEASE, hold=hold)
    return claimed is not None


class Referee:
    """A referee that plays two sessions at once; ``s3=act`` calls ``act`` once three sessions have ended."""

    def __init__(self, at_once: int = 2, **before: Happening) -> None:
        self.at_once = at_once
        self.before = {int(key.removeprefix("s")): happens for key, happens in before.items()}
        self.asked: list[int] = []
        self.held = False
        self.left = False

    def __call__(self, route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        self.asked = [session.number for session in spec.sessions]
        waiting = list(spec.sessions)
        tables: list[SessionSpec] = []
        done = 0
        try:
            while True:
                self.before.get(done, lambda: None)()
                while waiting and len(tables) < self.at_once and not self.held:
                    tables.append(waiting.pop(0))
                yield Progress(0, len(tables), ())
                if not tables:
                    return
                yield session_result(spec, tables.pop(0))
                done += 1
        finally:
            self.left = True

    def hold(self, match_id: str) -> None:
        """Begin no further session."""
        assert match_id == "cup/1/1"
        self.held = True


@pytest.fixture
def match_id(world: World) -> int:
    """Hand out a match of six sessions in a running tournament."""
    world.advance(world.tournament(4, sessions=6).id)
    return world.messages.pop()


def test_pause_when_sessions_are_played_then_they_end_and_no_other_is_stored(
    world: World, match_id: int
) -> None:
    referee = Referee(s1=lambda: pause(world))
    assert play(world, match_id, referee)
    assert referee.left
    paused = world.status()
    # One session had ended; the two in play at that time are stored, and the three others are not.
    assert (paused.state, paused.sessions_done, paused.matches_running) == ("paused", 3, 0)
    assert paused.leased_until is None
    assert paused.waiting == ()


def test_pause_when_it_lasts_then_nothing_moves(world: World, match_id: int) -> None:
    play(world, match_id, Referee(s1=lambda: pause(world)))
    world.clock.move(3600)
    world.advance(1)
    assert world.messages == []
    assert not play(world, match_id, play_at_once)
    assert world.status().sessions_done == 3


def test_pause_when_resumed_then_the_results_are_those_of_an_undisturbed_run(
    make_world: Callable[[], World],
) -> None:
    calm, world = make_world(), make_world()
    for one in (calm, world):
        one.advance(one.tournament(8, sessions=6).id)
    calm.finish(1)
    first = Referee(s1=lambda: pause(world))
    play(world, world.messages[0], first)
    resume(world)
    second = Referee()
    play(world, world.messages[0], second)
    assert (first.asked, second.asked) == ([1, 2, 3, 4, 5, 6], [4, 5, 6])
    world.finish(1)
    assert world.status().state == "finished"
    assert results(world.storage) == results(calm.storage)


def test_pause_when_resumed_before_the_sessions_have_ended_then_the_match_is_handed_out_again(
    world: World, match_id: int
) -> None:
    play(world, match_id, Referee(s1=lambda: pause(world), s2=lambda: resume(world)))
    assert (world.status().state, world.status().sessions_done) == ("running", 3)
    world.finish(1)
    assert (world.status().state, world.status().sessions_done) == ("finished", 6)


def test_pause_when_nothing_is_played_yet_then_the_match_is_given_back_at_once(
    world: World, match_id: int
) -> None:
    play(world, match_id, Referee(at_once=0, s0=lambda: pause(world)))
    assert world.status().sessions_done == 0
    assert world.match_ids(MatchState.WAITING) == [match_id]


def test_pause_when_the_referee_does_not_hear_of_it_then_it_is_told_again(
    world: World, match_id: int
) -> None:
    class Deaf(Referee):
        told = 0

        def hold(self, match_id: str) -> None:
            self.told += 1
            if self.told < 2:
                raise RefereeUnavailable("no answer")
            super().hold(match_id)

    referee = Deaf(s1=lambda: pause(world))
    play(world, match_id, referee)
    assert (referee.told, world.status().sessions_done, world.status().waiting) == (2, 4, ())


def test_pause_when_the_referee_cannot_be_told_then_it_begins_after_the_match(
    world: World, match_id: int
) -> None:
    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        pause(world)
        yield from play_at_once(route, spec)

    play(world, match_id, run)
    assert (world.status().state, world.status().sessions_done) == ("paused", 6)


def test_pause_when_the_last_session_of_a_round_ends_then_the_next_round_waits(world: World) -> None:
    cup = world.tournament(4, format="swiss", rounds=2)
    world.advance(cup.id)
    play(world, world.messages.pop(), Referee(at_once=3, s0=lambda: pause(world)))
    world.advance(cup.id)
    assert (world.status().matches_done, world.status().round, world.messages) == (1, 1, [])
    resume(world)
    world.finish(cup.id)
    assert (world.status().state, world.status().round) == ("finished", 2)


def test_pause_when_a_referee_refuses_meanwhile_then_resuming_tries_again(
    world: World, match_id: int
) -> None:
    def refuse(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        pause(world)
        yield from _refuses(route, spec)

    play(world, match_id, refuse)
    assert (world.status().state, world.status().waiting) == ("paused", ("round 1 table 1: no",))
    resume(world)
    world.finish(1)
    assert world.status().state == "finished"


def test_cancel_when_sessions_are_played_then_whole_ones_stay_and_no_other_is_stored(
    world: World, match_id: int
) -> None:
    referee = Referee(s2=lambda: planning.cancel(world.storage, ROOT, "cup", world.clock()))
    play(world, match_id, referee)
    assert referee.left
    assert (world.status().state, world.status().sessions_done) == ("cancelled", 2)


@pytest.mark.parametrize("state", ["created", "paused", "finished", "cancelled", "failed"])
def test_pause_when_the_tournament_does_not_run_then_that_is_said(world: World, state: str) -> None:
    _bring_to(world, state)
    with pytest.raises(StateError, match=f"tournament cup is {state}; only a running one can be paused"):
        pause(world)


@pytest.mark.parametrize("state", ["created", "running", "finished", "cancelled", "failed"])
def test_resume_when_the_tournament_is_not_paused_then_that_is_said(world: World, state: str) -> None:
    _bring_to(world, state)
    with pytest.raises(StateError, match=f"tournament cup is {state}; only a paused one can be resumed"):
        resume(world)


def _bring_to(world: World, state: str) -> None:
    spec = world.spec(world.register(4))
    cup = creation.create(world.storage, ROOT, spec, world.clock())
    if state == "created":
        return
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    if state == "paused":
        pause(world)
    elif state == "cancelled":
        planning.cancel(world.storage, ROOT, "cup", world.clock())
    elif state == "finished":
        world.finish(cup.id)
    elif state == "failed":
        world.advance(cup.id)
        world.play(world.messages[0], _refuses)
    assert world.status().state == state


def _refuses(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    if spec.sessions:
        raise MatchRefused("no")
    yield Progress(0, 0, ())


def test_paused_tournament_when_started_or_cancelled_then_it_is_resumed_only_by_name(world: World) -> None:
    _bring_to(world, "paused")
    with pytest.raises(StateError, match="tournament cup is paused; it cannot be started; resume it"):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    assert planning.cancel(world.storage, ROOT, "cup", world.clock()).state == "cancelled"


def test_paused_tournament_when_entered_or_left_then_that_holds_after_it(world: World) -> None:
    cup = world.tournament(8, format="swiss", rounds=2)
    pause(world)
    late = world.register(9)[8]
    assert entry.enter(world.storage, ROOT, "cup", late, world.clock(), nobody_asked) == 1
    assert entry.withdraw(world.storage, ROOT, "cup", "owner-0/bot-0@1", world.clock()) == 0
    resume(world)
    world.finish(cup.id)
    played = {name for _, name, *_ in results(world.storage)["seats"]}
    assert late in played
    assert "owner-0/bot-0@1" not in played
