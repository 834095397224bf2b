"""Tests for watching matches, the health service and reflection."""

import asyncio
import json

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from referee.errors import ListenError
from referee.v1 import spectators_pb2, spectators_pb2_grpc
from tests.referee.support import LEGAL_PLAYS, WireBot, lowest, match_spec, play_match, referee, sdk_bots
from tests.waiting import DEADLINE


async def test_watch_when_a_match_runs_then_hands_are_hidden_until_the_deal_is_over() -> None:
    async with (
        referee() as address,
        grpc.aio.insecure_channel(address) as channel,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):
        async with WireBot(address, 4, wants=LEGAL_PLAYS) as slow:
            started = asyncio.Event()
            running = asyncio.create_task(play_match(address, match_spec(deals=2), started))
            await started.wait()
            stub = spectators_pb2_grpc.SpectatorServiceStub(channel)
            responses = aiter(stub.WatchMatch(spectators_pb2.WatchMatchRequest(match_id="m")))
            updates: list[spectators_pb2.WatchUpdate] = []
            async with asyncio.timeout(DEADLINE):
                updates += (await anext(responses)).updates
            turn = await slow.next("turn")
            await slow.move(turn, turn.legal_plays[0].cards)
        async with sdk_bots(address, {4: lowest}), asyncio.timeout(DEADLINE):
            async for response in responses:
                updates += response.updates
            (result,) = await running
    kinds = [update.WhichOneof("update") for update in updates]
    assert kinds[:2] == ["session_started", "deal_started"]
    assert kinds.count("deal_ended") == 2
    assert kinds[-1] == "session_ended"
    for update in updates:
        if update.HasField("deal_started"):
            assert not update.deal_started.hand
            assert list(update.deal_started.hand_sizes) == [13] * 4
    actions = [update.action for update in updates if update.HasField("action")]
    assert len(actions) == sum(len(json.loads(record)["actions"]) for record in result.records)


async def test_watch_when_the_match_does_not_run_here_then_it_is_not_found() -> None:
    async with referee() as address, grpc.aio.insecure_channel(address) as channel:
        call = spectators_pb2_grpc.SpectatorServiceStub(channel).WatchMatch(
            spectators_pb2.WatchMatchRequest(match_id="none")
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "match_id: 'none' is not running here"


async def test_health_when_the_referee_serves_then_it_says_so() -> None:
    async with referee() as address, grpc.aio.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest(service="referee.v1.BotService")
        response = await health_pb2_grpc.HealthStub(channel).Check(request)
    assert response.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_when_asked_then_it_lists_the_service() -> None:
    def services(address: str) -> list[str]:
        with grpc.insecure_channel(address) as channel:
            return list(ProtoReflectionDescriptorDatabase(channel).get_services())

    async with referee() as address:
        assert "referee.v1.BotService" in await asyncio.to_thread(services, address)


async def test_listen_when_the_port_is_taken_then_one_line_says_so() -> None:
    async with referee() as address:
        with pytest.raises(ListenError, match=f"cannot listen on {address}"):
            async with referee(address):
                pass
