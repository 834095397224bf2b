"""Tests for what the SDK tells a bot when a deal or a session has ended."""

import json
import logging
import threading
from typing import ClassVar

import pytest

from referee.bot import EndedDeal, EndedSession, Play, Turn
from referee.deals.action import OnForfeit
from referee.errors import BotFailed
from referee.matches.match import Limits, SessionResult
from referee.v1 import bots_pb2
from tests.referee.support import lowest, match_spec, play_match, referee, sdk_bots
from tests.referee.test_bot_stream import scripted
from tests.waiting import DEADLINE, until

OTHERS = dict.fromkeys((1, 2, 3), lowest)


class Recorder:
    """Keeps what it is told; each test has a subclass of its own."""

    deals: ClassVar[list[EndedDeal]]
    sessions: ClassVar[list[EndedSession]]
    threads: ClassVar[set[int]]

    def __init_subclass__(cls) -> None:
        cls.deals, cls.sessions, cls.threads = [], [], set()

    def choose(self, turn: Turn) -> Play | None:
        self.threads.add(threading.get_ident())
        return lowest(turn)

    def deal_ended(self, deal: EndedDeal) -> None:
        self.threads.add(threading.get_ident())
        self.deals.append(deal)

    def session_ended(self, session: EndedSession) -> None:
        self.threads.add(threading.get_ident())
        self.sessions.append(session)


async def played(bot: type, faults: int = 10, on_forfeit: OnForfeit = "end_session") -> SessionResult:
    limits = Limits(join_seconds=5, faults=faults, on_forfeit=on_forfeit)
    spec = match_spec(deals=3, limits=limits)
    async with referee() as address, sdk_bots(address, {**OTHERS, 4: bot}):
        (result,) = await play_match(address, spec)
    return result


@pytest.mark.parametrize("ruleset", ["chinese", "hong-kong-relatives-3", "gamesky"])
async def test_deal_ended_when_a_deal_is_over_then_the_bot_sees_what_its_record_has(ruleset: str) -> None:
    class Bot(Recorder):
        pass

    bots = 3 if ruleset.endswith("3") else 4
    spec = match_spec([*range(1, bots), 4], ruleset=ruleset, deals=3)
    async with referee() as address, sdk_bots(address, {**OTHERS, 4: Bot}):
        (result,) = await play_match(address, spec)
    records = [json.loads(record) for record in result.records]
    assert len(Bot.deals) == len(records)
    scores = [0] * bots
    for deal, record in zip(Bot.deals, records, strict=True):
        assert (deal.session, deal.deal, deal.seats[deal.seat]) == ("m/1", record["deal"], "owner/bot4@1")
        assert (deal.ruleset, deal.dealer, deal.end) == (ruleset, record["dealer"], record["end"])
        assert deal.clockwise == (record["direction"] == "clockwise")
        assert [" ".join(hand) for hand in deal.hands] == record["hands"]
        assert [" ".join(hand) for hand in deal.left] == record["left"]
        assert [list(deal.out), list(deal.points)] == [record["out"], record["points"]]
        done = [f"{one.seat}:{' '.join(one.cards) or '-'}" for one in deal.actions if one.kind != "exchange"]
        assert done == [text.partition(" +")[0] for text in record["actions"]]
        scores = [sum(pair) for pair in zip(scores, record["points"], strict=True)]
        assert list(deal.scores) == scores
    (session,) = Bot.sessions
    assert (session.session, session.tournament, session.end) == ("m/1", "test", "played")
    assert (session.points, session.faults, session.forfeits) == (result.points, result.faults, ())
    assert len(Bot.threads) == 1


async def test_session_ended_when_the_bot_forfeits_and_it_goes_on_then_it_sees_it_to_the_end() -> None:
    class Cheating(Recorder):
        def choose(self, turn: Turn) -> Play | None:
            return "3D 4D"  # type: ignore[return-value]

    result = await played(Cheating, faults=2, on_forfeit="stand_in")
    (session,) = Cheating.sessions
    assert (session.end, session.forfeits) == ("played", result.forfeits)
    assert [session.seats[seat] for seat in result.forfeits] == ["owner/bot4@1"]
    assert [deal.end for deal in Cheating.deals] == ["out"] * 3


async def test_session_ended_when_the_bot_forfeits_then_it_is_told() -> None:
    class Cheating(Recorder):
        def choose(self, turn: Turn) -> Play | None:
            return "3D 4D"  # type: ignore[return-value]

    result = await played(Cheating, faults=2)
    (session,) = Cheating.sessions
    assert (session.end, session.forfeits) == ("forfeit", result.forfeits)
    assert session.seats[result.forfeit or 0] == "owner/bot4@1"
    assert Cheating.deals[-1].end == "forfeit"


async def test_session_ended_when_it_is_void_then_there_are_no_points() -> None:
    class Bot(Recorder):
        pass

    async with scripted(Bot) as (desk, _, _):
        session = desk.session({"extends": "chinese"}, 1)
        response = bots_pb2.PlayResponse()
        session.open(response)
        session.void(response)
        desk.send(response)
        await until(lambda: bool(Bot.sessions))
    (told,) = Bot.sessions
    assert (told.end, told.points, told.faults) == ("void", (), ())


async def test_hook_when_it_raises_then_it_is_logged_and_no_fault_of_play(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(Recorder):
        def deal_ended(self, deal: EndedDeal) -> None:
            raise ZeroDivisionError("my bug")

        def session_ended(self, session: EndedSession) -> None:
            raise KeyError("no such session")

    with caplog.at_level(logging.ERROR, logger="bot"):
        result = await played(Failing)
    assert result.faults == (0, 0, 0, 0)
    assert [record.message for record in caplog.records] == [
        *(f"the bot failed in deal_ended: m/1 deal {deal}" for deal in (1, 2, 3)),
        "the bot failed in session_ended: m/1 deal 3",
    ]
    assert "ZeroDivisionError: my bug" in caplog.text


async def test_hook_when_it_raises_in_a_strict_bot_then_the_bot_ends() -> None:
    class Failing(Recorder):
        def session_ended(self, session: EndedSession) -> None:
            raise ZeroDivisionError("my bug")

    async with scripted(Failing, strict=True) as (desk, _, task):
        session = desk.session({"extends": "chinese"}, 1)
        response = bots_pb2.PlayResponse()
        session.open(response)
        session.void(response)
        desk.send(response)
        with pytest.raises(BotFailed, match="ZeroDivisionError: my bug"):
            await task


async def test_hook_when_it_takes_long_then_moves_of_other_sessions_are_sent_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("referee.bot.stream.FLUSH_SECONDS", 3600)
    may_end = threading.Event()
    in_time: list[bool] = []

    class Slow(Recorder):
        def session_ended(self, session: EndedSession) -> None:
            in_time.append(may_end.wait(DEADLINE / 2))

    async with scripted(Slow) as (desk, _, _):
        first, other = (desk.session({"extends": "chinese"}, 1) for _ in range(2))
        response = bots_pb2.PlayResponse()
        first.open(response)
        other.open(response)
        first.void(response)
        desk.send(response)
        request = await desk.hear("moves")
        may_end.set()
        await until(lambda: bool(in_time))
    assert in_time == [True]
    assert [move.session for move in request.moves] == [first.handle, other.handle]
