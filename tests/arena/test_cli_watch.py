"""Following a tournament: rate, time left, and what a log gets to see."""

import io
import json
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from rich.console import Console
from sqlalchemy import update

from arena.cli.watch import Pace, duration, follow
from arena.models import Tournament, TournamentState
from arena.services import tournaments
from arena.services.matches import claim, hand_back
from arena.storage import changed
from tests.arena.world import LEASE, World


def log() -> Console:
    return Console(file=io.StringIO(), width=200, markup=False, highlight=False)


def text_of(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_pace_is_that_of_the_last_seconds() -> None:
    pace = Pace()
    pace.add(0, 0)
    assert pace.rate == 0
    pace.add(5, 10)
    assert pace.rate == 2
    for second in range(6, 30):
        pace.add(second, 10)
    assert pace.rate == 0


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_duration_is_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def playing(world: World) -> Callable[[], None]:
    """A tick in which one match is played."""

    def tick() -> None:
        if world.messages:
            world.play(world.messages.pop(0))
        world.clock.move(1)
        world.advance(1)

    return tick


def test_follow_in_a_log_prints_a_line_now_and_then(world: World) -> None:
    world.tournament(8)
    world.advance(1)
    out = log()
    now = iter(range(1000))
    status = follow(
        world.storage, "cup", out, tick=playing(world), clock=lambda: next(now), sleep=lambda _: None
    )
    lines = text_of(out).splitlines()
    assert status.ended
    assert 5 < len(lines) <= 12
    assert lines[2].startswith("cup: round 2 of 7, 9 of 42 sessions, ")
    assert "/s, " in lines[2]
    assert lines[2].endswith(" left")
    assert lines[-1] == "cup: round 7 of 7, 42 of 42 sessions"


def test_follow_on_a_terminal_draws_a_bar(world: World) -> None:
    world.tournament(8)
    world.advance(1)
    out = Console(file=io.StringIO(), width=100, force_terminal=True)
    follow(world.storage, "cup", out, tick=playing(world), sleep=lambda _: None)
    assert "42 of 42 sessions" in text_of(out)


def test_follow_of_what_does_not_move_asks_once_whether_anybody_works(world: World) -> None:
    world.tournament(8)
    times = iter(range(0, 1000, 4))
    seen = []

    def tick() -> None:
        seen.append(1)
        if len(seen) == 12:
            tournaments.cancel(world.storage, "cup", world.clock())

    out = log()
    follow(world.storage, "cup", out, tick=tick, clock=lambda: next(times), sleep=lambda _: None)
    asked = "cup: no worker has come for 8 s: is `arena up` or `arena worker` running?"
    assert text_of(out).count(asked) == 1


@pytest.mark.parametrize(("after_the_lease", "asks"), [(-1, False), (1, True)])
def test_follow_when_the_worker_of_a_match_is_dead_then_it_asks_once_the_lease_is_over(
    world: World, after_the_lease: int, asks: bool
) -> None:
    world.advance(world.tournament(4).id)
    taken = claim(world.storage, world.messages[0], world.clock(), LEASE)
    assert taken is not None
    now = world.clock() + LEASE + timedelta(seconds=after_the_lease)
    times = iter(range(0, 1000, 4))
    seen = []

    def tick() -> None:
        seen.append(1)
        if len(seen) == 12:
            tournaments.cancel(world.storage, "cup", world.clock())

    out = log()
    follow(
        world.storage, "cup", out, tick=tick, clock=lambda: next(times), now=lambda: now, sleep=lambda _: None
    )
    assert ("no worker has come" in text_of(out)) == asks


def test_follow_when_a_match_is_held_up_then_that_is_told_and_nobody_is_looked_for_yet(world: World) -> None:
    world.advance(world.tournament(4).id)
    taken = claim(world.storage, world.messages[0], world.clock(), LEASE)
    assert taken is not None
    hand_back(world.storage, taken, world.clock(), "referee 127.0.0.1:1: unavailable")
    times = iter(range(0, 1000, 2))
    seen = []

    def tick() -> None:
        seen.append(1)
        if len(seen) == 12:
            tournaments.cancel(world.storage, "cup", world.clock())

    out = log()
    follow(world.storage, "cup", out, tick=tick, clock=lambda: next(times), sleep=lambda _: None)
    assert "cup: round 1 table 1: referee 127.0.0.1:1: unavailable" in text_of(out)
    assert "no worker" not in text_of(out)


def test_follow_for_scripts_prints_an_object_for_each_change(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.tournament(8)
    world.advance(1)
    follow(
        world.storage, "cup", log(), tick=playing(world), as_json=True, now=world.clock, sleep=lambda _: None
    )
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["sessions_done"] for one in told] == sorted(one["sessions_done"] for one in told)
    assert (told[-1]["state"], told[-1]["sessions_done"], told[-1]["notes"]) == ("finished", 42, [])
    assert all(one != other for one, other in pairwise(told))


def test_follow_of_a_failed_tournament_returns(world: World) -> None:
    world.tournament(8)

    def fail() -> None:
        with world.storage.write() as tx:
            changed(tx, update(Tournament).values(state=TournamentState.FAILED, problem="why"))

    assert follow(world.storage, "cup", log(), tick=fail).problem == "why"
