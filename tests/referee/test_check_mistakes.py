"""The check of bots: each mistake is caught by the scenario that is for it."""

import asyncio
from collections.abc import Awaitable, Iterable

import pytest

from referee.check import SCENARIOS, Report, check
from tests.referee import check_bots as bots
from tests.referee.good_bots import GoodBot
from tests.referee.test_check import check_bot, program

MISTAKES: list[tuple[type[GoodBot], str, str]] = [
    (bots.NoHello, "HELLO-01", "expected a hello as the first message; got a move"),
    (bots.WrongToken, "HELLO-01", "expected the token in the metadata as it was given"),
    (bots.NoToken, "HELLO-01", 'expected "authorization: Bearer …" in the metadata of the call'),
    (bots.WrongVersion, "HELLO-01", "expected a hello with protocol_version 1; got 2"),
    (bots.Babbler, "HELLO-01", "bytes that are no PlayRequest: ff ff ff ff"),
    (bots.Hasty, "HELLO-02", "expected nothing between the hello and the welcome; got a pong"),
    (bots.Nameless, "HELLO-03", "expected the hello's sdk to name the client library"),
    (bots.Doubled, "HELLO-04", "expected one stream; the bot opened 1 more"),
    (bots.Chatterbox, "HELLO-05", "expected no message, as nothing was asked; got an empty message"),
    (bots.Passive, "TURN-01", "holding 3D 3C 4D 4C 5S, to beat nothing; the bot answered a pass"),
    (bots.Thief, "TURN-02", "the bot answered 2S: seat 1 does not hold 2S"),
    (bots.Both, "TURN-02", "the move has both cards and a pass"),
    (bots.LeadsAnything, "TURN-03", "does not contain 3D, which this lead must"),
    (bots.Thief, "TURN-04", "seat 0 does not hold 2S"),
    (bots.NoGuard, "TURN-05", "does not hinder the next seat"),
    (bots.NoBan, "TURN-06", "2S may not be the last card played"),
    (bots.NoBan, "TURN-07", "2S may not be the last card played"),
    (bots.Unforced, "TURN-08", "the bot's stream ended"),
    (bots.Passive, "TURN-09", "a pass is not legal when leading"),
    (bots.OwnPlaysOnly, "TURN-10", "expected a legal play"),
    (bots.NoExchange, "TURN-11", "one card must be returned in the exchange"),
    (bots.OwnExchangeOnly, "TURN-12", "expected a legal play"),
    (bots.Repeats, "TURN-13", "expected a legal play"),
    (bots.BombsAnything, "TURN-14", "expected a legal play"),
    (bots.OwnPlaysOnly, "TURN-15", "expected a legal play"),
    (bots.NoDraws, "TURN-16", "expected a legal play"),
    (bots.Thief, "RULES-01", "does not hold 2S"),
    (bots.OneCopy, "RULES-02", "expected"),
    (bots.NoTiles, "RULES-03", "the bot's stream ended"),
    (bots.FourSeats, "RULES-04", "the bot's stream ended"),
    (bots.Clockwise, "RULES-05", "the bot's stream ended"),
    (bots.NoLeftover, "RULES-06", "the bot's stream ended"),
    (bots.FirstOut, "RULES-07", "the bot's stream ended"),
    (bots.ChineseOnly, "RULES-08", "expected"),
    (bots.ChineseOnly, "RULES-09", "expected a legal play"),
    (bots.FirstDeal, "SESS-01", "expected"),
    (bots.FirstTurn, "SESS-02", "the bot sent nothing"),
    (bots.Counting, "SESS-03", "the bot sent nothing"),
    (bots.OneRuleset, "SESS-04", "expected"),
    (bots.KeepsHandles, "SESS-05", "expected"),
    (bots.KeepsHandles, "SESS-06", "expected"),
    (bots.NeedsATurn, "SESS-07", "the bot's stream ended"),
    (bots.NeedsScores, "SESS-08", "the bot's stream ended"),
    (bots.NoForfeits, "SESS-09", "the bot's stream ended"),
    (bots.ShortNumbers, "SESS-10", "the bot sent nothing"),
    (bots.OwnPlaysOnly, "SESS-11", "expected a legal play"),
    (bots.NoSeatZero, "SESS-12", "the bot's stream ended"),
    (bots.Twice, "MSG-01", "expected one answer to each turn"),
    (bots.NeedsBatches, "MSG-02", "the bot's stream ended"),
    (bots.FewEvents, "MSG-03", "the bot's stream ended"),
    (bots.SmallMessages, "MSG-04", "the bot's stream ended"),
    (bots.NeedsBatches, "MSG-05", "the bot's stream ended"),
    (bots.OwnSessions, "MSG-06", "the bot's stream ended"),
    (bots.Waits, "MSG-07", "the bot sent nothing"),
    (bots.NoEmpty, "MSG-08", "the bot's stream ended"),
    (bots.NoBank, "CLOCK-01", "the bot's stream ended"),
    (bots.Slow, "CLOCK-02", "expected an answer within 500 ms"),
    (bots.NoPongs, "PING-01", "expected a pong with id 41; the bot sent nothing for 1 s"),
    (bots.WrongPong, "PING-01", "expected a pong with id 41; got a pong with id 42"),
    (bots.PongsTwice, "PING-02", "as its only ping was answered; got a pong with id 42"),
    (bots.EvenPongs, "PING-03", "expected a pong with id 101; got a pong with id 102"),
    (bots.NoZero, "PING-04", "expected a pong with id 0"),
    (bots.EventsFirst, "PING-05", "expected a pong with id 51"),
    (bots.EventsFirst, "PING-06", "expected a pong with id 600"),
    (bots.Slow, "PING-07", "expected a pong within 0.5 s"),
    (bots.NoEmpty, "FUTURE-01", "the bot's stream ended"),
    (bots.Strict, "FUTURE-02", "the bot's stream ended"),
    (bots.PlaysUnknown, "FUTURE-03", "expected a pass"),
    (bots.PassesUnknown, "FUTURE-04", "a pass is not legal when leading"),
    (bots.KnownKinds, "FUTURE-05", "the bot's stream ended"),
    (bots.KnownKinds, "FUTURE-06", "the bot's stream ended"),
    (bots.KnownKinds, "FUTURE-07", "the bot's stream ended"),
    (bots.PackedOnly, "FUTURE-08", "the bot's stream ended"),
    (bots.StrictRules, "FUTURE-09", "the bot's stream ended"),
    (bots.ReadsAll, "FUTURE-10", "the bot's stream ended"),
    (bots.Forgetful, "CONN-01", "expected the token in the metadata as it was given"),
    (bots.Strict, "CONN-02", "the bot's stream ended"),
    (bots.NoPongs, "CONN-03", "expected a pong with id 31"),
    (bots.AnswersOnce, "CONN-04", "the bot sent nothing"),
    (bots.KeepsOldHands, "CONN-05", "expected"),
    (bots.FirstDeal, "CONN-06", "expected"),
    (bots.KeepsOldHands, "CONN-07", "expected"),
    (bots.LateAnswers, "CONN-08", "as no session is open on the new stream; got a move"),
    (bots.Storming, "CONN-13", "expected waits between attempts to connect"),
    (bots.Hurrying, "CONN-13", "expected longer waits from attempt to attempt"),
    (bots.NewPings, "CONN-14", "expected a pong with id 41"),
    (bots.Doubled, "CONN-15", "expected one stream at a time; 1 more were opened"),
    (bots.LeavesWhenClosing, "CONN-16", "the bot's stream ended"),
    (bots.NoPatience, "CONN-17", "expected no attempt before the delay of 1.5 s"),
    (bots.Sociable, "CONN-18", "the bot's stream"),
]

PROGRAMS = [
    ("OneShot", "CONN-01", "expected the bot to connect; its process ended with status 1"),
    ("Proud", "CONN-09", "after a stream that ended with INTERNAL"),
    ("LeavesAtTheEnd", "CONN-09", "after a stream that ended with OK"),
    ("LeavesWhenClosing", "CONN-10", "expected the bot to connect; its process ended with status 1"),
    ("Impatient", "CONN-11", "expected the bot to connect; its process ended with status 1"),
    ("Proud", "CONN-12", "expected the bot to connect; its process ended with status 1"),
    ("GoodBot", "END-01", "expected a stream to each referee"),
    ("Rude", "END-02", "expected a goodbye at SIGTERM"),
    ("Deaf", "END-03", "expected the process to end at SIGTERM"),
    ("Stubborn", "END-04", "expected no further attempt after TOKEN_UNKNOWN"),
    ("Stubborn", "END-05", "expected no further attempt after PROTOCOL_VERSION"),
    ("Stubborn", "END-06", "expected no further attempt after TOKEN_REVOKED"),
    ("EveryAddress", "END-07", "expected no stream to the address"),
    ("KnownReasons", "END-08", "expected no further attempt after OF_THE_FUTURE"),
    ("GoodBot", "END-09", "expected the open session to be finished at SIGTERM"),
]

WARNINGS = {
    ("Nameless", "HELLO-03"),
    ("Slow", "CLOCK-02"),
    ("Slow", "PING-07"),
    ("Hurrying", "CONN-13"),
    ("EveryAddress", "END-07"),
    ("GoodBot", "END-09"),
}


GROUPS = sorted({scenario.code.partition("-")[0] for scenario in SCENARIOS})


async def check_all(checks: Iterable[tuple[str, str, str, Awaitable[Report]]]) -> list[str]:
    """Run checks side by side; return what is wrong with their results."""
    few = asyncio.Semaphore(6)

    async def one(name: str, code: str, reason: str, check: Awaitable[Report]) -> str:
        async with few:
            (result,) = (await check).results
        wanted = "warned" if (name, code) in WARNINGS else "failed"
        if result.outcome == wanted and reason in result.reason:
            return ""
        found = "\n".join([f"{result.outcome}: {result.reason}", *result.output])
        return f"{name}: {code} should have {wanted} with {reason!r}, but {found}"

    return [wrong for wrong in await asyncio.gather(*[one(*each) for each in checks]) if wrong]


@pytest.mark.parametrize("group", GROUPS)
async def test_check_when_a_bot_makes_a_mistake_then_its_scenario_says_so(group: str) -> None:
    assert not await check_all(
        (bot.__name__, code, reason, check_bot(bot(), code, patience=1))
        for bot, code, reason in MISTAKES
        if code.startswith(group)
    )


@pytest.mark.parametrize("group", ["CONN", "END"])
async def test_check_when_a_program_makes_a_mistake_then_its_scenario_says_so(group: str) -> None:
    assert not await check_all(
        (name, code, reason, check(command=program(name), scenarios=[code], patience=3))
        for name, code, reason in PROGRAMS
        if code.startswith(group)
    )


def test_mistakes_when_counted_then_every_scenario_has_one() -> None:
    caught = {code for _, code, _ in MISTAKES} | {code for _, code, _ in PROGRAMS}
    assert {scenario.code for scenario in SCENARIOS} == caught
