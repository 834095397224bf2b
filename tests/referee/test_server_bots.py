"""Tests for the Play stream, message by message, over real sockets."""

import asyncio

import grpc
import pytest

from referee.errors import MatchRefused
from referee.matches.match import Limits, Presence
from referee.net.client import referee_status
from referee.protocol.reasons import Failure, Reason, read_failure
from referee.ruleset import load_ruleset
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2, bots_pb2_grpc
from tests.referee.support import (
    LEGAL_PLAYS,
    WORKER_TOKEN,
    WireBot,
    bearer,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)
from tests.waiting import DEADLINE


async def refusal(address: str, request: bots_pb2.PlayRequest | None, token: str = "bot-1") -> Failure:
    """Return how a stream ends that opens with this message, or with none."""
    async with grpc.aio.insecure_channel(address) as channel:
        call = bots_pb2_grpc.BotServiceStub(channel).Play(None, metadata=bearer(token))
        if request is not None:
            await call.write(request)
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call.read()
        return read_failure(caught.value)


def hello(**fields: object) -> bots_pb2.PlayRequest:
    return bots_pb2.PlayRequest(hello=bots_pb2.Hello(**{"protocol_version": 1, **fields}))  # type: ignore[arg-type]


async def test_hello_when_right_then_welcome_names_the_bot() -> None:
    async with referee() as address, WireBot(address, 7, max_sessions=3) as bot:
        assert bot.welcome.bot == "owner/bot7@1"
        assert bot.welcome.max_sessions == 3


@pytest.mark.parametrize(
    ("request_", "reason", "text", "metadata"),
    [
        (
            hello(protocol_version=9),
            Reason.PROTOCOL_VERSION,
            "protocol_version: 9 is not spoken here, 1 is",
            {"supported": "1", "bot": "owner/bot1@1"},
        ),
        (
            bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=1)]),
            Reason.HELLO_MISSING,
            "hello: the first message must be a hello",
            {},
        ),
        (
            hello(max_sessions=0),
            Reason.FIELD_INVALID,
            "hello.max_sessions: must be at least 1",
            {"field": "hello.max_sessions"},
        ),
    ],
    ids=["version", "missing", "no-sessions"],
)
async def test_hello_when_wrong_then_the_stream_ends_with_the_reason(
    request_: bots_pb2.PlayRequest, reason: Reason, text: str, metadata: dict[str, str]
) -> None:
    async with referee() as address:
        failure = await refusal(address, request_)
    told = {name: said for name, said in failure.metadata.items() if name != "now"}
    assert (failure.reason, failure.text, told) == (reason, text, metadata)
    assert failure.final


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("", Reason.TOKEN_MISSING),
        ("nobody", Reason.TOKEN_UNKNOWN),
        ("x" * 600, Reason.TOKEN_UNKNOWN),
        (WORKER_TOKEN, Reason.TOKEN_SCOPE),
    ],
    ids=["none", "unknown", "long", "worker"],
)
async def test_token_when_it_is_no_bots_then_the_stream_ends_before_a_hello(
    token: str, reason: Reason
) -> None:
    async with referee() as address:
        failure = await refusal(address, None, token)
    assert (failure.reason, failure.final) == (reason, True)


async def test_connection_when_the_version_is_here_then_a_second_is_refused_for_now() -> None:
    options = ServerOptions(["a.example:1", "b.example:1"], ids=["a", "b"], share=(1, 2), drain_seconds=0)
    async with referee(options=options) as address, WireBot(address, 1):
        failure = await refusal(address, hello())
    assert failure.reason == Reason.ALREADY_CONNECTED
    assert failure.text == "owner/bot1@1 has a live connection already"
    assert failure.metadata == {"referee_id": "b"}
    assert not failure.final


async def test_turn_when_legal_plays_are_asked_for_then_a_bot_without_rules_can_play() -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4, wants=LEGAL_PLAYS) as bot,
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
        ({"cards": [1, 3, 60]}, bots_pb2.FAULT_KIND_MALFORMED, "card 60 is not in this ruleset's pack"),
        ({"cards": [5, 5]}, bots_pb2.FAULT_KIND_MALFORMED, "card 5 is named more often than the pack has it"),
        ({"cards": [5], "passes": True}, bots_pb2.FAULT_KIND_MALFORMED, "the move has both cards and a pass"),
        ({"passes": False}, bots_pb2.FAULT_KIND_MALFORMED, "the move has neither cards nor a pass"),
        ({"cards": list(range(1, 53))}, bots_pb2.FAULT_KIND_ILLEGAL, ""),
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
            play_match(
                address,
                match_spec(deals=1, limits=Limits(join_seconds=5, faults=1, on_forfeit="end_session")),
            )
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
    limits = Limits(decision_ms=250, join_seconds=20, faults=100)
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(deals=1, limits=limits)))
        turn = await bot.next("turn")
        fault = await bot.next("fault")
        assert fault.kind == bots_pb2.FAULT_KIND_TIMEOUT
        assert fault.sequence == turn.sequence
        await bot.move(turn)
        notice = await bot.next("notice")
        assert notice.code == bots_pb2.NOTICE_CODE_STALE_MOVE
        assert notice.sequence == turn.sequence
        (result,) = await running
    assert result.forfeit is None
    assert sum(result.faults) >= 1


async def test_move_when_the_session_is_unknown_then_a_notice_says_so() -> None:
    async with referee() as address, WireBot(address, 1) as bot:
        await bot.move(bots_pb2.Turn(session=99, sequence=5))
        notice = await bot.next("notice")
    assert (notice.code, notice.session, notice.sequence) == (bots_pb2.NOTICE_CODE_UNKNOWN_SESSION, 99, 5)


async def test_reconnect_when_in_mid_deal_then_the_bot_gets_all_that_it_needs() -> None:
    limits = Limits(decision_ms=60_000, join_seconds=20)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, match_spec(deals=1, limits=limits)))
            await bot.next("turn")
        async with WireBot(address, 4, wants=LEGAL_PLAYS) as again:
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
    limits = Limits(decision_ms=500, join_seconds=20, faults=3, on_forfeit="end_session")
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, match_spec(deals=1, limits=limits)))
            await bot.next("turn")
        (result,) = await running
    assert result.forfeit is not None
    assert '"kind":"disconnect"' in result.records[0]


async def test_capacity_when_it_shrinks_and_grows_then_no_other_sessions_begin_meanwhile() -> None:
    limits = Limits(decision_ms=60_000, join_seconds=60)
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4, max_sessions=1, wants=LEGAL_PLAYS) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(sessions=3, deals=1, limits=limits)))
        turn = await bot.next("turn")
        await bot.write(bots_pb2.PlayRequest(capacity=bots_pb2.Capacity(max_sessions=0)))
        await play_on(bot, turn)
        (told,) = [event.notice for event in bot.seen if event.HasField("notice")]
        assert told.code == bots_pb2.NOTICE_CODE_NOT_SEATED
        assert told.text == "match m waits for the bot, which took no sessions at this referee"
        status = await asyncio.to_thread(referee_status, address, WORKER_TOKEN, [4])
        assert status.bots == (Presence(connected=True, max_sessions=0, sessions=0),)
        await bot.write(bots_pb2.PlayRequest(capacity=bots_pb2.Capacity(max_sessions=9)))
        first, second = await bot.next("session_started"), await bot.next("session_started")
        assert first.session != second.session
        running.cancel()


async def play_on(bot: WireBot, turn: bots_pb2.Turn) -> None:
    """Answer this turn and all that follow, until the session has ended."""
    await bot.move(turn, turn.legal_plays[0].cards)
    while (event := await bot.next_event()).WhichOneof("event") != "session_ended":
        bot.seen.append(event)
        if event.HasField("turn"):
            await bot.move(event.turn, event.turn.legal_plays[0].cards)


async def test_hands_when_they_are_wanted_then_each_turn_carries_them() -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4, wants=bots_pb2.Wants(legal_plays=True, hands=True)) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(deals=1)))
        started = await bot.next("deal_started")
        first = await bot.next("turn")
        assert list(first.hand) == list(started.hand)
        assert sum(first.hand_sizes) == 52 - sum(len(action.cards) for action in first.actions)
        await bot.move(first, first.legal_plays[0].cards)
        second = await bot.next("turn")
        assert set(second.hand) == set(started.hand) - set(first.legal_plays[0].cards)
        running.cancel()


async def test_status_when_a_ruleset_is_named_then_it_says_what_connected_bots_lack() -> None:
    capabilities = bots_pb2.Capabilities(max_seats=3)
    async with referee() as address, WireBot(address, 1, capabilities=capabilities), WireBot(address, 2):
        ruleset = load_ruleset("chinese").to_object()
        status = await asyncio.to_thread(referee_status, address, WORKER_TOKEN, [1, 2, 3], ruleset=ruleset)
        assert [bot.lacks for bot in status.bots] == [("4 seats, and the bot supports at most 3",), (), ()]
        with pytest.raises(MatchRefused, match=r"^ruleset\.colour: "):
            await asyncio.to_thread(referee_status, address, WORKER_TOKEN, [1], ruleset={"colour": 1})
