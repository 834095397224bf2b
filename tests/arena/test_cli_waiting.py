"""Following a tournament that makes no progress: what it waits for is reported, once."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from types import MappingProxyType

import pytest
from rich.console import Console

from arena.bots import versions
from arena.cli.watch import follow
from arena.host.settings import load_settings
from arena.play.matches.leases import Claim, claim, hand_back
from arena.play.rounds import planning
from arena.play.rounds.waiting import obstacles
from arena.tournaments import lifecycle
from arena.tournaments.referees import Answer, Ask, asker, nobody_asked
from referee.matches.match import Presence
from referee.net.client import RefereeStatus
from tests.arena.consoles import log, on_both, text_of
from tests.arena.fakes import ROOT
from tests.arena.ports import deaf_address
from tests.arena.world import LEASE, World
from tests.referee.support import WORKER_TOKEN, WireBot, referee
from tests.waiting import DEADLINE

Step = Callable[[], object]


def watch(world: World, out: Console, steps: Iterable[Step], ask: Ask = nobody_asked) -> list[str]:
    """Follow ``cup``, taking a step before each look, two seconds apart; return the notes.

    After the last step the tournament is cancelled.
    """
    doing: Iterator[Step] = iter([*steps, lambda: planning.cancel(world.storage, ROOT, "cup", world.clock())])

    def tick() -> None:
        world.clock.move(2)
        next(doing)()

    seconds = count(0, 2)
    follow(
        world.storage,
        "cup",
        out,
        ask=ask,
        tick=tick,
        clock=lambda: next(seconds),
        now=world.clock,
        sleep=lambda _: None,
    )
    told = [line.rstrip() for line in text_of(out).splitlines() if "cup: " in line]
    notes = [line[line.index("cup: ") + 5 :] for line in told]
    return [note for note in notes if not re.match(r"round \d+ of ", note)]


def nothing() -> None:
    """Do nothing in this step."""


def take(world: World) -> Claim:
    """Take the first match that was handed out, as a worker does."""
    taken = claim(world.storage, world.messages.pop(0), world.clock(), LEASE)
    assert taken is not None
    return taken


SINCE = "; nothing of it has finished since 2026-01-01 00:00 UTC"


def says(
    connected: Callable[[int], bool] = lambda _: True,
    *,
    draining: bool = False,
    lacking: Mapping[int, tuple[str, ...]] = MappingProxyType({}),
) -> Ask:
    """Stand in for a referee that reports this about itself and about the bot versions."""

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> list[Answer]:
        assert ruleset
        assert ruleset["name"] == "chinese"
        places = tuple(
            Presence(connected(one), 8 if connected(one) else 0, 0, lacking.get(one, ()))
            for one in version_ids
        )
        return [Answer("a.example:8710", RefereeStatus(draining, 0, 0, 0, 0, places))]

    return ask


def cancelling(world: World, looks: int) -> Callable[[], None]:
    """Return a function that cancels the cup when it is called for the ``looks``-th time."""
    left = iter(range(looks - 1, -1, -1))

    def tick() -> None:
        if next(left) == 0:
            planning.cancel(world.storage, ROOT, "cup", world.clock())

    return tick


def test_follow_of_what_does_not_move_asks_once_whether_anybody_works(world: World) -> None:
    world.tournament(8)
    times = iter(range(0, 1000, 4))
    tick = cancelling(world, 12)
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
    tick = cancelling(world, 12)
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
    tick = cancelling(world, 12)
    out = log()
    follow(world.storage, "cup", out, tick=tick, clock=lambda: next(times), sleep=lambda _: None)
    assert "cup: round 1 table 1: referee 127.0.0.1:1: unavailable" in text_of(out)
    assert "no worker" not in text_of(out)


@on_both
def test_follow_when_it_is_paused_and_resumed_then_each_is_told_once(
    world: World, make_out: Callable[[], Console]
) -> None:
    cup = world.tournament(4)
    world.advance(cup.id)
    out = make_out()
    pause = [lambda: lifecycle.pause(world.storage, ROOT, "cup", world.clock()), *[nothing] * 20]
    resume = [lambda: lifecycle.resume(world.storage, ROOT, "cup", world.clock()), nothing]
    told = watch(world, out, [nothing, *pause, *resume, *pause])
    paused = "paused; resume with: arena tournament resume cup"
    assert told[:3] == [paused, "goes on", paused]
    assert "no worker" not in text_of(out)


def test_follow_in_a_pause_shows_no_rate(world: World) -> None:
    world.advance(world.tournament(4).id)
    lifecycle.pause(world.storage, ROOT, "cup", world.clock())
    out = log()
    watch(world, out, [nothing])
    assert "cup: round 1 of 1, 0 of 3 sessions, paused\n" in text_of(out)


@on_both
def test_follow_when_a_match_is_played_in_a_pause_then_it_is_told_to_come_to_its_end(
    world: World, make_out: Callable[[], Console]
) -> None:
    world.advance(world.tournament(4).id)
    taken = take(world)
    lifecycle.pause(world.storage, ROOT, "cup", world.clock())
    end = [lambda: hand_back(world.storage, taken, world.clock()), nothing, nothing]
    told = watch(world, make_out(), [nothing, nothing, *end])
    assert told[:2] == [
        "paused; open sessions are being finished",
        "paused; resume with: arena tournament resume cup",
    ]


@on_both
async def test_follow_when_a_bot_is_not_connected_then_the_match_that_waits_for_it_is_told(
    world: World, tmp_path: Path, make_out: Callable[[], Console]
) -> None:
    world.advance(world.tournament(4).id)
    take(world)
    out, loop = make_out(), asyncio.get_running_loop()
    async with referee() as address:
        settings = load_settings({"data": tmp_path, "worker_token": WORKER_TOKEN, "referees": [address]})
        last = WireBot(address, 4)

        def connect() -> None:
            asyncio.run_coroutine_threadsafe(last.connect(), loop).result(DEADLINE)

        async with WireBot(address, 1), WireBot(address, 2), WireBot(address, 3), asyncio.timeout(DEADLINE):
            steps = [nothing, nothing, nothing, connect, nothing]
            told = await asyncio.to_thread(watch, world, out, steps, asker(settings))
            await last.close()
    line = f"round 1 table 1 waits for owner-3/bot-3@1, which is not connected{SINCE}"
    assert told[:2] == [line, "goes on"]
    assert text_of(out).count(line) == 1


def test_follow_when_other_bots_go_then_the_change_is_told_and_those_revoked_are_named_so(
    world: World,
) -> None:
    world.advance(world.tournament(4).id)
    take(world)
    versions.revoke_version(world.storage, ROOT, "owner-1/bot-1@1", world.clock())
    here = {3, 4}
    told = watch(
        world, log(), [nothing, nothing, lambda: here.remove(3), nothing], says(lambda one: one in here)
    )
    revoked = "owner-1/bot-1@1 (its token is revoked)"
    assert told[:2] == [
        f"round 1 table 1 waits for owner-0/bot-0@1 and {revoked}, which are not connected{SINCE}",
        f"round 1 table 1 waits for owner-0/bot-0@1, {revoked} and owner-2/bot-2@1, "
        f"which are not connected{SINCE}",
    ]


def test_follow_when_a_connected_bot_cannot_play_then_what_it_lacks_is_told(world: World) -> None:
    world.advance(world.tournament(4).id)
    take(world)
    seats = "4 seats, and the bot supports at most 3"
    here = {1, 2, 3, 4}
    steps = [nothing, nothing, lambda: here.remove(1), nothing]
    told = watch(world, log(), steps, says(lambda one: one in here, lacking={2: (seats,)}))
    absent = "owner-0/bot-0@1, which is not connected"
    unable = f"owner-1/bot-1@1, which cannot play the ruleset (it asks for {seats})"
    assert told[:2] == [
        f"round 1 table 1 waits for {unable}{SINCE}",
        f"round 1 table 1 waits for {absent}, and for {unable}{SINCE}",
    ]


def test_follow_when_a_bot_is_slow_or_takes_few_sessions_then_it_is_named_with_what_it_plays_elsewhere(
    world: World,
) -> None:
    names = world.register(8)
    world.advance(world.tournament_of(names[:4]).id)
    take(world)
    world.advance(world.tournament_of(names[3:7], name="cap", min_sessions=2).id)
    take(world)
    stands = {4: Presence(True, 1, 1), 2: Presence(True, 8, 2, (), 75), 3: Presence(True, 3, 3)}

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> list[Answer]:
        places = tuple(stands.get(one, Presence(True, 8, 8)) for one in version_ids)
        return [Answer("a.example:8710", RefereeStatus(False, 0, 0, 0, 0, places))]

    def lines(name: str) -> tuple[str, ...]:
        return obstacles(world.storage, world.status(name), ask, world.clock()).lines

    world.clock.move(9)
    assert lines("cup") == ()
    world.clock.move(2)
    slow = "owner-1/bot-1@1, which has owed a decision for more than 60 s"
    few = "owner-3/bot-3@1, which takes 1 session at once, all of them begun (it also plays in cap)"
    assert lines("cup") == (f"round 1 table 1 waits for {slow}, and for {few}{SINCE}",)
    refused = "owner-3/bot-3@1, which takes 1 session at once, fewer than the 2 that are asked for"
    assert lines("cap") == (f"round 1 table 1 waits for {refused}{SINCE}",)


@on_both
def test_follow_when_no_referee_answers_then_that_is_told_once_for_all_matches(
    world: World, tmp_path: Path, make_out: Callable[[], Console]
) -> None:
    world.advance(world.tournament(8, rounds=1).id)
    for _ in range(2):
        hand_back(world.storage, take(world), world.clock(), "referee 127.0.0.1:1: unavailable: …")
    out = make_out()
    with deaf_address() as address:
        values = {"data": tmp_path, "worker_token": WORKER_TOKEN, "referees": [address]}
        told = watch(world, out, [nothing, nothing], asker(load_settings(values)))
    assert told[:1] == [
        f"no referee takes matches: {address} cannot be reached: "
        "nothing listens there; is `arena up` or `arena referee` running?"
    ]
    assert "table" not in text_of(out)


@on_both
def test_follow_when_the_referee_is_drained_then_that_is_told(
    world: World, make_out: Callable[[], Console]
) -> None:
    world.advance(world.tournament(4).id)
    hand_back(world.storage, take(world), world.clock(), "referee a.example:8710: shutting down")
    told = watch(world, make_out(), [nothing, nothing], says(draining=True))
    assert told[:1] == ["no referee takes matches: a.example:8710 is shutting down"]


async def test_follow_when_the_referee_refuses_the_token_then_that_is_told(
    world: World, tmp_path: Path
) -> None:
    world.advance(world.tournament(4).id)
    hand_back(world.storage, take(world), world.clock(), "referee: token_unknown")
    async with referee() as address:
        values = {"data": tmp_path, "worker_token": "another-worker-token", "referees": [address]}
        ask = asker(load_settings(values))
        told = await asyncio.to_thread(watch, world, log(), [nothing, nothing], ask)
    assert f"{address} does not take the workers' token" in told[0]


def test_follow_when_a_referee_takes_matches_again_then_the_next_attempt_is_waited_for(world: World) -> None:
    world.advance(world.tournament(4).id)
    hand_back(world.storage, take(world), world.clock(), "referee a.example:8710: unavailable")
    match_id = world.match_ids()[0]

    def try_again() -> None:
        world.clock.move(20)
        assert claim(world.storage, match_id, world.clock(), LEASE) is not None

    told = watch(world, log(), [nothing, nothing, try_again, nothing], says())
    assert told[:2] == [
        "round 1 table 1: referee a.example:8710: unavailable; it is tried again",
        "goes on",
    ]


@on_both
def test_follow_when_workers_are_at_work_elsewhere_then_that_is_told(
    world: World, make_out: Callable[[], Console]
) -> None:
    names = world.register(4)
    for name in ("spring", "cup"):
        world.tournament_of(names, name=name)
    world.advance(1)
    take(world)
    out = make_out()
    told = watch(world, out, [nothing] * 6)
    assert told[0] == "no worker has come for 8 s: the running ones play spring"


@on_both
def test_follow_when_a_worker_comes_at_last_then_it_is_told_that_it_goes_on(
    world: World, make_out: Callable[[], Console]
) -> None:
    world.advance(world.tournament(4).id)
    told = watch(world, make_out(), [*[nothing] * 8, lambda: take(world), nothing])
    nobody = "no worker has come for 8 s: is `arena up` or `arena worker` running?"
    assert told[:2] == [nobody, "goes on"]


def test_follow_when_attempts_fail_again_and_again_then_no_worker_is_missed(world: World) -> None:
    world.advance(world.tournament(4).id)

    def fail() -> None:
        world.clock.move(20)
        world.advance(1)
        if world.messages:
            hand_back(world.storage, take(world), world.clock(), "referee a.example:8710: unavailable")

    out = log()
    watch(world, out, [*[nothing] * 3, fail] * 12)
    assert "no worker" not in text_of(out)


@on_both
def test_follow_of_a_continuous_tournament_when_bots_are_missing_then_they_are_named(
    world: World, make_out: Callable[[], Console]
) -> None:
    world.tournament(10, format="continuous")
    here = {1, 2, 3}
    out = make_out()
    told = watch(
        world,
        out,
        [*[nothing] * 20, lambda: here.add(4), *[nothing] * 6],
        says(lambda one: one in here),
    )
    names = ", ".join(f"owner-{number % 4}/bot-{number}@1" for number in range(3, 8))
    assert told[:3] == [
        "a table takes 4 bots, and 3 of the 10 are connected; "
        f"it waits for {names} and 2 others, which are not connected",
        "goes on",
        "no worker has come for 8 s: is `arena up` or `arena worker` running?",
    ]


def test_follow_of_a_continuous_tournament_when_no_referee_answers_then_that_is_told(world: World) -> None:
    world.tournament(4, format="continuous")
    away = [Answer("a:1", None, "cannot be reached: x")]
    told = watch(world, log(), [nothing, nothing], lambda _ids, _ruleset: away)
    assert told[0].startswith("no referee takes matches: a:1 cannot be reached: x; ")


def test_follow_where_the_workers_token_is_not_known_asks_nobody_and_draws_none(tmp_path: Path) -> None:
    assert asker(load_settings({"data": tmp_path / "arena"})) is nobody_asked
    assert not (tmp_path / "arena").exists()


def test_follow_for_scripts_tells_what_it_waits_for(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.advance(world.tournament(4).id)
    lifecycle.pause(world.storage, ROOT, "cup", world.clock())
    looks = count()

    def tick() -> None:
        if next(looks) == 2:
            planning.cancel(world.storage, ROOT, "cup", world.clock())

    follow(world.storage, "cup", log(), tick=tick, as_json=True, now=world.clock, sleep=lambda _: None)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["state"], one["notes"]) for one in told] == [
        ("paused", ["paused; resume with: arena tournament resume cup"]),
        ("cancelled", []),
    ]
