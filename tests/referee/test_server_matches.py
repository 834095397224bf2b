"""Tests for matches over real sockets: bots of the SDK, a worker's client, and the records returned."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot import Play, Turn
from referee.deals.action import OnForfeit
from referee.errors import AttemptsBegun, MatchRefused, NotBegun, RefereeUnavailable
from referee.matches.match import Attempt, Limits, Progress, SessionResult
from referee.net.client import hold_match, run_match
from referee.service.begun import BegunAttempts
from referee.service.server import ServerOptions
from tests.referee.support import (
    WORKER_TOKEN,
    WireBot,
    check_records,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    without_times,
)
from tests.waiting import DEADLINE


async def test_match_when_all_bots_play_then_every_session_has_its_records() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
        results = await play_match(address, match_spec(sessions=6, deals=3))
    assert [result.number for result in results] == [1, 2, 3, 4, 5, 6]
    for result in results:
        records = [json.loads(record) for record in result.records]
        assert [record["deal"] for record in records] == [1, 2, 3]
        assert result.points == tuple(sum(record["points"][seat] for record in records) for seat in range(4))
        assert result.faults == (0, 0, 0, 0)
        assert result.forfeit is None


async def test_match_when_run_twice_then_the_results_are_the_same() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
        first = await play_match(address, match_spec(sessions=3))
        second = await play_match(address, match_spec(sessions=3))
    assert without_times(first) == without_times(second)


async def test_match_when_a_bot_takes_one_session_at_a_time_then_they_run_one_after_another() -> None:
    open_sessions: set[str] = set()

    class Counting:
        def choose(self, turn: Turn) -> Play | None:
            open_sessions.add(turn.session)
            assert max(turn.scores) <= 0
            return lowest(turn)

    async with (
        referee() as address,
        sdk_bots(address, {1: lowest, 2: lowest, 3: lowest}),
        sdk_bots(address, {4: Counting}, max_sessions=1),
    ):
        results = await play_match(address, match_spec(sessions=4, deals=1))
    assert len(results) == 4
    assert len(open_sessions) == 4


async def test_match_when_held_then_it_ends_well_and_every_session_that_began_is_whole() -> None:
    open_sessions: set[str] = set()

    class Counting:
        def choose(self, turn: Turn) -> Play | None:
            open_sessions.add(turn.session)
            return lowest(turn)

    def run(address: str) -> list[SessionResult]:
        results = []
        for update in run_match(address, WORKER_TOKEN, match_spec(sessions=100, deals=30)):
            if isinstance(update, SessionResult):
                results.append(update)
            elif isinstance(update, Progress) and update.sessions_open:
                hold_match(address, WORKER_TOKEN, "m")
        return results

    async with (
        referee() as address,
        sdk_bots(address, {1: lowest, 2: lowest, 3: lowest}),
        sdk_bots(address, {4: Counting}, max_sessions=1),
    ):
        results = await asyncio.to_thread(run, address)
    assert 1 <= len(results) == len(open_sessions) < 100


async def test_match_when_the_referee_has_begun_an_attempt_then_it_deals_it_no_more_even_after_a_restart(
    tmp_path: Path,
) -> None:
    spec = match_spec(sessions=100, deals=1)

    def hold(address: str) -> list[int]:
        left: list[int] = []
        for update in run_match(address, WORKER_TOKEN, spec):
            if isinstance(update, Progress) and update.sessions_open:
                hold_match(address, WORKER_TOKEN, spec.match_id)
            if isinstance(update, Progress):
                left = [*update.sessions_left]
        return left

    async def play(address: str, numbers: Iterable[int], attempt: int = 1) -> list[int]:
        sessions = tuple(replace(spec.sessions[number - 1], attempt=attempt) for number in numbers)
        return [one.number for one in await play_match(address, replace(spec, sessions=sessions))]

    file = tmp_path / "begun.db"
    bots = dict.fromkeys((1, 2, 3, 4), lowest)
    with BegunAttempts(file) as begun:
        options = ServerOptions(drain_seconds=0, begun=begun)
        async with referee(options=options) as address, sdk_bots(address, bots, max_sessions=1):
            left = await asyncio.to_thread(hold, address)
            assert 1 not in left
            with pytest.raises(AttemptsBegun) as caught:
                await play(address, [1, left[-1]])
            assert caught.value.latest == 1
            assert await play(address, left[-2:]) == left[-2:]  # nobody had been shown a card of these
    with BegunAttempts(file) as begun:
        options = ServerOptions(drain_seconds=0, begun=begun)
        async with referee(options=options) as address, sdk_bots(address, bots):
            with pytest.raises(AttemptsBegun):
                await play(address, left[-1:])
            assert await play(address, [1, 2, 3], attempt=7) == [1, 2, 3]
            with pytest.raises(AttemptsBegun) as caught:
                await play(address, [2], attempt=6)
            assert caught.value.latest == 7
            with pytest.raises(MatchRefused):
                await play(address, [])


async def test_match_when_the_referee_does_not_take_it_then_its_attempts_have_not_begun(
    tmp_path: Path,
) -> None:
    spec = match_spec()
    with BegunAttempts(tmp_path / "begun.db") as begun:
        async with referee(options=ServerOptions(drain_seconds=0, begun=begun)) as address:
            with pytest.raises(MatchRefused):
                await play_match(address, replace(spec, bots=spec.bots[:3]))
        assert begun.latest(spec.attempts.values()) == 0
        begun.close()
        async with referee(options=ServerOptions(drain_seconds=0, begun=begun)) as address:
            with pytest.raises(NotBegun, match="cannot note the attempts that it begins"):
                await play_match(address, spec)


def test_begun_attempts_when_there_are_more_than_fit_then_the_latest_are_remembered(tmp_path: Path) -> None:
    attempts = [Attempt(bytes([number]) * 16, 1) for number in range(10)]
    file = tmp_path / "begun.db"
    with BegunAttempts(file, most=4) as begun, BegunAttempts(file, most=4) as another_process:
        for attempt in attempts:
            assert begun.begin([attempt]) == 0
        assert [another_process.latest([attempt]) for attempt in attempts] == [0] * 6 + [1] * 4
        assert another_process.begin([Attempt(b"x" * 16, 1), attempts[-1]]) == 1
        assert begun.latest([Attempt(b"x" * 16, 1)]) == 0  # all or none
    assert file.stat().st_mode & 0o777 == 0o600


async def test_hold_when_no_such_match_runs_then_nothing_happens_and_a_wrong_token_is_refused() -> None:
    async with referee() as address:
        await asyncio.to_thread(hold_match, address, WORKER_TOKEN, "nobody's")
        with pytest.raises(RefereeUnavailable, match="token_unknown"):
            await asyncio.to_thread(hold_match, address, "wrong", "m")


@pytest.mark.parametrize("mode", ["default_action", "stand_in"])
async def test_match_when_a_bot_is_absent_then_it_is_played_for_after_the_wait(mode: OnForfeit) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        spec = match_spec(sessions=2, limits=Limits(join_seconds=1, on_forfeit=mode))
        results = await play_match(address, spec)
    for result, session in zip(results, spec.sessions, strict=True):
        check_records(spec, result)
        assert (result.forfeit, result.forfeits) == (None, (session.seating.index(3),))


async def test_match_when_a_bot_is_absent_and_sessions_end_by_that_then_it_forfeits_after_the_wait() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        spec = match_spec(sessions=2, limits=Limits(join_seconds=1, on_forfeit="end_session"))
        results = await play_match(address, spec)
    for result, session in zip(results, spec.sessions, strict=True):
        assert result.forfeit == session.seating.index(3)
        record = json.loads(result.records[-1])
        assert record["end"] == "forfeit"
        assert record["forfeit"] == result.forfeit


async def test_match_when_it_waits_then_progress_names_who_is_missing() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):

        def first() -> object:
            updates = run_match(address, WORKER_TOKEN, match_spec(limits=Limits(join_seconds=60)))
            seen: list[object] = []
            for update in updates:
                seen.append(update)
                if isinstance(update, Progress) and update.waiting_for == ("owner/bot4@1",):
                    break
            return seen[-1]

        assert await asyncio.to_thread(first) == Progress(0, 0, ("owner/bot4@1",))


async def test_match_when_a_late_bot_comes_then_it_plays() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        running = asyncio.create_task(play_match(address, match_spec()))
        async with sdk_bots(address, {4: lowest}):
            (result,) = await running
    assert result.forfeit is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"bots": (1, 2, 3)}, "bots: the ruleset is for 4 players, the match has 3 bots"),
        ({"bots": (1, 2, 3, 3)}, "bots: a bot version stands twice at the table"),
        ({"sessions": 0}, "sessions: 0 is not between 1 and 10000"),
        ({"deals": 5000}, "deals: 5000 is not between 0 and 1000"),
    ],
)
async def test_match_when_it_cannot_be_run_then_it_is_refused(change: dict[str, object], reason: str) -> None:
    async with referee() as address:
        with pytest.raises(MatchRefused, match=reason):
            await play_match(address, match_spec(**change))  # type: ignore[arg-type]


async def test_match_when_the_worker_token_is_wrong_then_the_referee_is_unavailable_for_it() -> None:
    async with referee() as address:
        with pytest.raises(RefereeUnavailable, match="not a worker's token"):
            await asyncio.to_thread(lambda: list(run_match(address, "bot-1", match_spec())))


async def test_match_when_nobody_listens_then_the_referee_is_unavailable() -> None:
    with pytest.raises(RefereeUnavailable, match=r"127\.0\.0\.1:1"):
        await asyncio.to_thread(lambda: list(run_match("127.0.0.1:1", WORKER_TOKEN, match_spec())))


async def test_match_when_a_second_call_names_it_then_the_first_is_aborted() -> None:
    async with referee() as address:
        spec = match_spec(limits=Limits(join_seconds=60))
        started = asyncio.Event()
        first = asyncio.create_task(play_match(address, spec, started))
        await started.wait()
        async with sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
            second = asyncio.create_task(play_match(address, spec))
            with pytest.raises(RefereeUnavailable, match="another call took the match over"):
                await first
            async with sdk_bots(address, {4: lowest}):
                assert len(await second) == 1


async def test_match_when_the_worker_goes_then_open_sessions_are_void() -> None:
    async with (
        referee() as address,
        WireBot(address, 4) as slow,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):

        def start_and_leave() -> None:
            for update in run_match(address, WORKER_TOKEN, match_spec(deals=100)):
                if isinstance(update, Progress) and update.sessions_open:
                    break

        await asyncio.to_thread(start_and_leave)
        ended = await slow.next("session_ended")
        assert ended.reason == 3
        assert not ended.scores


async def test_match_when_its_time_is_up_then_the_bot_that_does_not_answer_forfeits() -> None:
    limits = Limits(decision_ms=60_000, join_seconds=20, match_seconds=2)
    spec = match_spec(sessions=2, limits=limits)
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as silent,
    ):
        results = await play_match(address, spec)
        async with asyncio.timeout(DEADLINE):
            await silent.next("session_ended")
    seatings = {session.number: session.seating for session in spec.sessions}
    assert [seatings[result.number][result.forfeit or 0] for result in results] == [3, 3]
    assert all("used_ms" in json.loads(result.records[-1]) for result in results)
