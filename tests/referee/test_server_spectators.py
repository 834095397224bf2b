"""Tests for spectators over real sockets: what they see, who may watch, and that they harm nobody."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import pytest

from referee.matches.broadcast import BACKLOG, Spectator
from referee.matches.match import Limits
from referee.net.client import referee_status
from referee.protocol.reasons import MEANINGS, Reason, read_failure
from referee.service import spectators
from referee.service.server import ServerOptions
from referee.v1 import spectators_pb2, spectators_pb2_grpc
from tests.referee.hostile import (
    DATA,
    END_STREAM,
    HEADERS,
    PREFACE,
    Socket,
    headers,
    message,
    settings,
    socket,
    window,
)
from tests.referee.processes import referee_process
from tests.referee.support import (
    ORGANISER_TOKEN,
    SPECTATOR_TOKEN,
    WORKER_TOKEN,
    WireBot,
    bearer,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    without_times,
)
from tests.referee.test_broadcast import check_sequence
from tests.waiting import DEADLINE, until

LIMITS = Limits(decision_ms=60_000, join_seconds=20, faults=1)
CROWD = 1000


async def watch(address: str, token: str = "", match_id: str = "m") -> list[spectators_pb2.WatchUpdate]:
    """Return everything that a spectator sees of a match from now on."""
    updates: list[spectators_pb2.WatchUpdate] = []
    async with grpc.aio.insecure_channel(address) as channel, asyncio.timeout(3 * DEADLINE):
        stub = spectators_pb2_grpc.SpectatorServiceStub(channel)
        request = spectators_pb2.WatchMatchRequest(match_id=match_id)
        async for response in stub.WatchMatch(request, metadata=bearer(token)):
            updates += response.updates
    return updates


@asynccontextmanager
async def held_match(
    address: str,
    sessions: int = 1,
    deals: int = 2,
    *,
    bots: tuple[int, int, int, int] = (1, 2, 3, 4),
    match_id: str = "m",
    shared_deals: bool = False,
) -> AsyncIterator[asyncio.Task[object]]:
    """Run a match that stands still until the block ends; yield the task of its results."""
    async with sdk_bots(address, dict.fromkeys(bots[:3], lowest)):
        async with WireBot(address, bots[3]) as bot:
            spec = match_spec(bots, sessions=sessions, deals=deals, match_id=match_id, limits=LIMITS)
            spec = replace(spec, shared_deals=shared_deals)
            running: asyncio.Task[object] = asyncio.create_task(play_match(address, spec))
            await bot.next("turn")
            yield running
        async with sdk_bots(address, {bots[3]: lowest}):
            await running


async def until_watched(address: str, count: int) -> None:
    async def watched() -> bool:
        return (await asyncio.to_thread(referee_status, address, WORKER_TOKEN)).spectators >= count

    await until(watched)


async def test_watch_when_spectators_come_early_and_late_then_they_see_whole_deals_and_no_open_hands() -> (
    None
):
    async with referee() as address:
        watching = []
        async with held_match(address, sessions=3, deals=3) as running:
            for number in range(3):
                watching.append(asyncio.create_task(watch(address)))
                await until_watched(address, number + 1)
        seen = [await one for one in watching]
        results = await running
    assert isinstance(results, list)
    actions = sum(len(json.loads(record)["actions"]) for result in results for record in result.records)
    for updates in seen:
        check_sequence(updates)
        kinds = [update.WhichOneof("update") for update in updates]
        assert [kinds.count(kind) for kind in ("session_started", "deal_ended", "session_ended")] == [3, 9, 3]
        assert kinds.count("action") == actions
        first_end = kinds.index("deal_ended")
        assert not any(update.deal_started.hand for update in updates)
        assert not any(update.HasField("deal_ended") for update in updates[:first_end])


WATCHING = "watching needs a token of an organiser or a spectator"


@pytest.mark.parametrize("token", [SPECTATOR_TOKEN, ORGANISER_TOKEN, WORKER_TOKEN])
async def test_watch_when_a_token_is_asked_for_then_organisers_spectators_and_the_arena_may(
    token: str,
) -> None:
    options = ServerOptions(drain_seconds=0, open_to_spectators=False)
    async with referee(options=options) as address:
        async with held_match(address):
            watching = asyncio.create_task(watch(address, token))
            await until_watched(address, 1)
        assert (await watching)[-1].HasField("session_ended")


OTHERS = {
    "": Reason.TOKEN_MISSING,
    "nobody": Reason.TOKEN_UNKNOWN,
    "x" * 1000: Reason.TOKEN_UNKNOWN,
    "bot-4": Reason.TOKEN_SCOPE,
    "bot-17": Reason.TOKEN_SCOPE,
    WORKER_TOKEN: Reason.TOKEN_SCOPE,
}
"""Tokens that belong to neither an organiser nor a spectator, and why they are refused."""


def why_refused(token: str, why: str) -> tuple[Reason, str]:
    """Return the reason and the text with which such a token is refused."""
    reason = OTHERS[token]
    return reason, MEANINGS[reason].text if reason is Reason.TOKEN_UNKNOWN else f"authorization: {why}"


@pytest.mark.parametrize("token", [one for one in OTHERS if one != WORKER_TOKEN])
async def test_watch_when_a_token_is_asked_for_then_others_are_refused(token: str) -> None:
    options = ServerOptions(drain_seconds=0, open_to_spectators=False)
    async with referee(options=options) as address, held_match(address):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watch(address, token)
    failure = read_failure(caught.value)
    assert (failure.reason, failure.text) == why_refused(token, WATCHING)


async def test_watch_when_other_tables_play_the_same_deals_then_only_organisers_and_spectators_may() -> None:
    async with referee() as address:
        async with held_match(address, shared_deals=True):
            for token in OTHERS:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await watch(address, token)
                failure = read_failure(caught.value)
                why = f"the deals of this match are played at other tables too; {WATCHING}"
                assert (failure.reason, failure.text) == why_refused(token, why)
            watching = [
                asyncio.create_task(watch(address, token)) for token in (SPECTATOR_TOKEN, ORGANISER_TOKEN)
            ]
            await until_watched(address, 2)
        for seen in watching:
            assert (await seen)[-1].HasField("session_ended")


async def test_watch_when_another_match_of_the_referee_shares_its_deals_then_anyone_may_watch_this_one() -> (
    None
):
    async with (
        referee() as address,
        held_match(address, bots=(5, 6, 7, 8), match_id="shared", shared_deals=True),
    ):
        async with held_match(address):
            watching = asyncio.create_task(watch(address))
            await until_watched(address, 1)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await watch(address, match_id="shared")
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert (await watching)[-1].HasField("session_ended")


async def test_watch_when_a_spectator_reads_too_slowly_then_it_is_told_what_it_missed() -> None:
    async with referee() as address, socket(address) as connection:
        async with held_match(address, sessions=40, deals=3) as running:
            request = spectators_pb2.WatchMatchRequest(match_id="m").SerializeToString()
            await connection.send(PREFACE + settings(initial_window_size=0))
            await connection.send(headers(1, "WatchMatch") + message(1, request, end=True))
            await until_watched(address, 1)
        results = await running
        assert isinstance(results, list)
        assert len(results) == 40
        actions = sum(len(json.loads(record)["actions"]) for result in results for record in result.records)
        await connection.send(window(1 << 24) + settings(initial_window_size=1 << 24))
        updates = await _all_updates(connection)
    gaps = [update.left_out.updates for update in updates if update.HasField("left_out")]
    assert sum(gaps) > 0
    assert len(updates) - len(gaps) + sum(gaps) > actions > BACKLOG


async def _all_updates(connection: Socket) -> list[spectators_pb2.WatchUpdate]:
    """Return all updates that the only call of a connection delivers."""
    data = b""
    async with asyncio.timeout(DEADLINE):
        async for kind, flags, payload in connection.frames():
            if kind == DATA:
                data += payload
            if kind == HEADERS and flags & END_STREAM:
                break
    updates: list[spectators_pb2.WatchUpdate] = []
    while data:
        length = int.from_bytes(data[1:5], "big")
        updates += spectators_pb2.WatchMatchResponse.FromString(data[5 : 5 + length]).updates
        data = data[5 + length :]
    return updates


async def test_watch_when_a_thousand_do_not_read_then_the_results_are_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = match_spec(sessions=24, deals=2, limits=LIMITS)
    outcomes, rates = [], []
    async with referee_process() as (address, process), sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        for count in (0, CROWD):
            running = asyncio.create_task(play_match(address, spec, started := asyncio.Event()))
            await started.wait()
            async with _crowd(address, count):
                begin = time.perf_counter()
                async with sdk_bots(address, {4: lowest}):
                    results = await running
                seconds = time.perf_counter() - begin
            actions = sum(
                len(json.loads(record)["actions"]) for result in results for record in result.records
            )
            outcomes.append(without_times(results))
            rates.append(f"{actions / seconds:,.0f} with {count} spectators")
        assert process.lives
    with capsys.disabled():
        print(f"\nactions a second: {', '.join(rates)}")
    assert outcomes[0] == outcomes[1]


@asynccontextmanager
async def _crowd(address: str, count: int, before: int = 0) -> AsyncIterator[None]:
    """Run ``count`` spectators that read nothing: 200 on each connection, with windows of size 0."""
    if before == count:
        yield
        return
    request = spectators_pb2.WatchMatchRequest(match_id="m").SerializeToString()
    async with socket(address) as connection:
        await connection.send(PREFACE + settings(initial_window_size=0))
        for stream in range(1, 400, 2):
            await connection.send(headers(stream, "WatchMatch") + message(stream, request, end=True))
        await until_watched(address, before + 200)
        async with _crowd(address, count, before + 200):
            yield


async def test_watch_when_spectators_read_nothing_then_no_more_is_sent_than_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spectators, "UNREAD_FROM_PEER", 1)
    taken: list[bytes] = []
    take = Spectator.take

    def taking(spectator: Spectator) -> bytes:
        updates = take(spectator)
        if updates:
            taken.append(updates)
        return updates

    monkeypatch.setattr(Spectator, "take", taking)
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS, deals=1)))
        await bot.next("turn")
        request = spectators_pb2.WatchMatchRequest(match_id="m").SerializeToString()
        async with socket(address) as connection:
            await connection.send(PREFACE + settings(initial_window_size=0))
            for stream in (1, 3, 5):
                await connection.send(headers(stream, "WatchMatch") + message(stream, request, end=True))
            await until_watched(address, 3)
            await bot.close()
            async with sdk_bots(address, {4: lowest}):
                await running
            assert len(taken) == 1
