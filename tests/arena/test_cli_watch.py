"""Following a tournament: the rate, the time left, and what is shown where."""

import io
import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from rich.console import Console
from sqlalchemy import update

from arena.cli.watch import Pace, duration, follow
from arena.store.models import Tournament, TournamentState
from arena.store.storage import changed
from tests.arena.consoles import log, text_of
from tests.arena.world import World


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
    """Return a tick that plays one match."""

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
