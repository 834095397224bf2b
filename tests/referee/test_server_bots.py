"""The Play stream, message by message, over real sockets."""

import asyncio

import grpc
import pytest

from referee.matches.match import Limits
from referee.v1 import play_pb2, referee_pb2_grpc
from tests.referee.support import (
    DEADLINE,
    WireBot,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)


async def refusal(address: str, request: play_pb2.PlayRequest) -> tuple[grpc.StatusCode, str]:
    """How a stream ends that opens with this message."""
    async with grpc.aio.insecure_channel(address) as channel:
        call = referee_pb2_grpc.RefereeServiceStub(channel).Play(None)
        await call.write(request)
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call.read()
        return caught.value.code(), str(caught.value.details())


def hello(**fields: object) -> play_pb2.PlayRequest:
    return play_pb2.PlayRequest(
        hello=play_pb2.Hello(**{"token": "bot-1", "protocol_version": 1, **fields})  # type: ignore[arg-type]
    )


async def test_hello_when_right_then_welcome_names_the_bot() -> None:
    async with referee() as address, WireBot(address, 7, max_sessions=3) as bot:
        assert bot.welcome.bot == "owner/bot7@1"
        assert bot.welcome.max_sessions == 3


@pytest.mark.parametrize(
    ("request_", "code", "details"),
    [
        (hello(token="nobody"), grpc.StatusCode.UNAUTHENTICATED, "token: unknown or revoked"),
        (
            hello(protocol_version=9),
            grpc.StatusCode.FAILED_PRECONDITION,
            "protocol_version: 9 is not spoken here, 1 is",
        ),
        (
            play_pb2.PlayRequest(moves=[play_pb2.Move(session=1)]),
            grpc.StatusCode.INVALID_ARGUMENT,
            "hello: the first message must be a hello",
        ),
    ],
)
async def test_hello_when_wrong_then_the_stream_ends_with_the_reason(
    request_: play_pb2.PlayRequest, code: grpc.StatusCode, details: str
) -> None:
    async with referee() as address:
        assert await refusal(address, request_) == (code, details)


async def test_connection_when_the_version_is_here_then_a_second_is_refused() -> None:
    async with referee() as address, WireBot(address, 1):
        code, details = await refusal(address, hello())
    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert details == "owner/bot1@1 has a live connection already"


async def test_turn_when_legal_plays_are_asked_for_then_a_bot_without_rules_can_play() -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4, list_legal_plays=True) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(deals=1)))
        while not running.done():
            turn = asyncio.create_task(bot.next("turn"))
            await asyncio.wait([running, turn], return_when=asyncio.FIRST_COMPLETED)
            if not turn.done():
                turn.cancel()
                break
            asked = turn.result()
            assert asked.legal_plays
            await bot.move(asked, asked.legal_plays[0].cards)
        (result,) = await running
    assert result.faults == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        ({"cards": [1, 3, 60]}, play_pb2.FAULT_KIND_MALFORMED, "card 60 is not in this ruleset's pack"),
        ({"cards": [5, 5]}, play_pb2.FAULT_KIND_MALFORMED, "card 5 is named more often than the pack has it"),
        ({"cards": [5], "passes": True}, play_pb2.FAULT_KIND_MALFORMED, "the move has both cards and a pass"),
        ({"passes": False}, play_pb2.FAULT_KIND_MALFORMED, "the move has neither cards nor a pass"),
        ({"cards": list(range(1, 53))}, play_pb2.FAULT_KIND_ILLEGAL, ""),
    ],
)
async def test_move_when_it_is_wrong_then_a_fault_tells_why_and_the_default_is_played(
    answer: dict[str, object], kind: int, reason: str
) -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        running = asyncio.create_task(
            play_match(address, match_spec(deals=1, limits=Limits(join_ms=5000, faults=1)))
        )
        turn = await bot.next("turn")
        await bot.move(turn, **answer)  # type: ignore[arg-type]
        fault = await bot.next("fault")
        assert (fault.sequence, fault.kind, fault.faults, fault.fault_limit) == (turn.sequence, kind, 1, 1)
        assert reason in fault.reason
        (result,) = await running
    assert result.forfeit is not None
    assert result.faults[result.forfeit] == 1


async def test_move_when_late_then_it_is_a_fault_and_the_answer_is_stale() -> None:
    limits = Limits(decision_ms=250, join_ms=20_000, faults=100)
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(deals=1, limits=limits)))
        turn = await bot.next("turn")
        fault = await bot.next("fault")
        assert fault.kind == play_pb2.FAULT_KIND_TIMEOUT
        assert fault.sequence == turn.sequence
        await bot.move(turn)
        notice = await bot.next("notice")
        assert notice.code == play_pb2.NOTICE_CODE_STALE_MOVE
        assert notice.sequence == turn.sequence
        (result,) = await running
    assert result.forfeit is None
    assert sum(result.faults) >= 1


async def test_move_when_the_session_is_unknown_then_a_notice_says_so() -> None:
    async with referee() as address, WireBot(address, 1) as bot:
        await bot.move(play_pb2.Turn(session=99, sequence=5))
        notice = await bot.next("notice")
    assert (notice.code, notice.session, notice.sequence) == (play_pb2.NOTICE_CODE_UNKNOWN_SESSION, 99, 5)


async def test_reconnect_when_in_mid_deal_then_the_bot_gets_all_that_it_needs() -> None:
    limits = Limits(decision_ms=60_000, join_ms=20_000)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, match_spec(deals=1, limits=limits)))
            await bot.next("turn")
        async with WireBot(address, 4, list_legal_plays=True) as again:
            started = await again.next("session_started")
            assert started.resumed
            dealt = await again.next("deal_started")
            assert len(dealt.hand) == 13
            while not running.done():
                waiting = asyncio.create_task(again.next("turn"))
                await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
                if not waiting.done():
                    waiting.cancel()
                    break
                turn = waiting.result()
                await again.move(turn, turn.legal_plays[0].cards)
            (result,) = await running
    assert result.forfeit is None


async def test_disconnect_when_the_bot_stays_away_then_its_faults_are_disconnects_until_it_forfeits() -> None:
    limits = Limits(decision_ms=500, join_ms=20_000, faults=3)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, match_spec(deals=1, limits=limits)))
            await bot.next("turn")
        (result,) = await running
    assert result.forfeit is not None
    assert '"kind":"disconnect"' in result.records[0]
