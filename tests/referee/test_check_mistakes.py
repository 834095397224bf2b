"""Tests for the check of bots: each mistake is caught by the scenario made for it."""

import asyncio
from collections.abc import Awaitable, Iterable

import pytest

from referee.check import SCENARIOS, Report, check
from tests.referee.good_bots import GoodBot
from tests.referee.mistakes import messages, streams, turns
from tests.referee.test_check import check_bot, program

MISTAKES: list[tuple[type[GoodBot], str, str]] = [
    (streams.NoHello, "HELLO-01", "expected a hello as the first message; got a move"),
    (streams.WaitsForHeaders, "HELLO-01", "response headers come after the hello"),
    (streams.WrongToken, "HELLO-01", "expected the token in the metadata as it was given"),
    (streams.NoToken, "HELLO-01", 'expected "authorization: Bearer …" in the metadata of the call'),
    (streams.WrongVersion, "HELLO-01", "expected a hello with protocol_version 1; got 2"),
    (streams.Babbler, "HELLO-01", "bytes, no valid PlayRequest: ff ff ff ff"),
    (streams.Hasty, "HELLO-02", "expected nothing between the hello and the welcome; got a pong"),
    (streams.Nameless, "HELLO-03", "expected the hello's sdk to name the client library"),
    (streams.Doubled, "HELLO-04", "expected one stream; the bot opened 1 more"),
    (streams.Chatterbox, "HELLO-05", "expected no message, as nothing was asked; got an empty message"),
    (turns.Passive, "TURN-01", "holding 3D 3C 4D 4C 5S, to beat nothing; the bot answered a pass"),
    (messages.Unnumbered, "TURN-01", "but a move for session 1, turn 0, which is not open"),
    (turns.Thief, "TURN-02", "the bot answered 2S: seat 1 does not hold 2S"),
    (turns.Both, "TURN-02", "the move has both cards and a pass"),
    (turns.LeadsAnything, "TURN-03", "does not contain 3D, which this lead must"),
    (turns.Thief, "TURN-04", "seat 0 does not hold 2S"),
    (turns.NoGuard, "TURN-05", "does not hinder the next seat"),
    (turns.NoBan, "TURN-06", "2S may not be the last card played"),
    (turns.NoBan, "TURN-07", "2S may not be the last card played"),
    (turns.Unforced, "TURN-08", "the bot's stream ended"),
    (turns.Passive, "TURN-09", "a pass is not legal when leading"),
    (turns.OwnPlaysOnly, "TURN-10", "expected a legal play"),
    (turns.NoExchange, "TURN-11", "one card must be returned in the exchange"),
    (turns.OwnExchangeOnly, "TURN-12", "expected a legal play"),
    (turns.Repeats, "TURN-13", "expected a legal play"),
    (turns.BombsAnything, "TURN-14", "expected a legal play"),
    (turns.OwnPlaysOnly, "TURN-15", "expected a legal play"),
    (turns.NoDraws, "TURN-16", "expected a legal play"),
    (turns.Thief, "RULES-01", "does not hold 2S"),
    (turns.OneCopy, "RULES-02", "expected"),
    (turns.NoTiles, "RULES-03", "the bot's stream ended"),
    (turns.FourSeats, "RULES-04", "the bot's stream ended"),
    (turns.Clockwise, "RULES-05", "the bot's stream ended"),
    (turns.NoLeftover, "RULES-06", "the bot's stream ended"),
    (turns.FirstOut, "RULES-07", "the bot's stream ended"),
    (turns.ChineseOnly, "RULES-08", "expected"),
    (turns.ChineseOnly, "RULES-09", "expected a legal play"),
    (turns.NoTiles, "RULES-10", "the bot's stream ended"),
    (messages.FirstDeal, "SESS-01", "expected"),
    (messages.FirstTurn, "SESS-02", "the bot sent nothing"),
    (messages.Counting, "SESS-03", "the bot sent nothing"),
    (messages.OneRuleset, "SESS-04", "expected"),
    (messages.KeepsHandles, "SESS-05", "expected"),
    (messages.KeepsHandles, "SESS-06", "expected"),
    (messages.NeedsATurn, "SESS-07", "the bot's stream ended"),
    (messages.NeedsScores, "SESS-08", "the bot's stream ended"),
    (messages.NoForfeits, "SESS-09", "the bot's stream ended"),
    (messages.ShortNumbers, "SESS-10", "the bot sent nothing"),
    (turns.OwnPlaysOnly, "SESS-11", "expected a legal play"),
    (messages.NoSeatZero, "SESS-12", "the bot's stream ended"),
    (messages.Twice, "MSG-01", "expected one answer to each turn"),
    (messages.NeedsBatches, "MSG-02", "the bot's stream ended"),
    (messages.FewEvents, "MSG-03", "the bot's stream ended"),
    (messages.SmallMessages, "MSG-04", "the bot's stream ended"),
    (messages.NeedsBatches, "MSG-05", "the bot's stream ended"),
    (messages.OwnSessions, "MSG-06", "the bot's stream ended"),
    (messages.Waits, "MSG-07", "the bot sent nothing"),
    (messages.NoEmpty, "MSG-08", "the bot's stream ended"),
    (messages.NoBank, "CLOCK-01", "the bot's stream ended"),
    (messages.Slow, "CLOCK-02", "expected an answer within 500 ms"),
    (messages.Overworked, "CLOCK-03", "expected answers to 40 turns within 1000 ms"),
    (streams.NoPongs, "PING-01", "expected a pong with id 41; the bot sent nothing for 1 s"),
    (streams.WrongPong, "PING-01", "expected a pong with id 41; got a pong with id 42"),
    (streams.PongsTwice, "PING-02", "as its only ping was answered; got a pong with id 42"),
    (streams.EvenPongs, "PING-03", "expected a pong with id 101; got a pong with id 102"),
    (streams.NoZero, "PING-04", "expected a pong with id 0"),
    (streams.EventsFirst, "PING-05", "expected a pong with id 51"),
    (streams.EventsFirst, "PING-06", "expected a pong with id 600"),
    (messages.Slow, "PING-07", "expected a pong within 0.5 s"),
    (messages.NoEmpty, "FUTURE-01", "the bot's stream ended"),
    (messages.Strict, "FUTURE-02", "the bot's stream ended"),
    (messages.PlaysUnknown, "FUTURE-03", "expected a pass"),
    (messages.PassesUnknown, "FUTURE-04", "a pass is not legal when leading"),
    (messages.KnownKinds, "FUTURE-05", "the bot's stream ended"),
    (messages.KnownKinds, "FUTURE-06", "the bot's stream ended"),
    (messages.KnownKinds, "FUTURE-07", "the bot's stream ended"),
    (messages.PackedOnly, "FUTURE-08", "the bot's stream ended"),
    (messages.StrictRules, "FUTURE-09", "the bot's stream ended"),
    (messages.ReadsAll, "FUTURE-10", "the bot's stream ended"),
    (streams.Forgetful, "CONN-01", "expected the token in the metadata as it was given"),
    (messages.Strict, "CONN-02", "the bot's stream ended"),
    (streams.NoPongs, "CONN-03", "expected a pong with id 31"),
    (streams.AnswersOnce, "CONN-04", "the bot sent nothing"),
    (streams.KeepsOldHands, "CONN-05", "expected"),
    (messages.FirstDeal, "CONN-06", "expected"),
    (streams.KeepsOldHands, "CONN-07", "expected"),
    (streams.LateAnswers, "CONN-08", "as no session is open on the new stream; got a move"),
    (streams.Storming, "CONN-13", "expected waits between attempts to connect"),
    (streams.Hurrying, "CONN-13", "expected longer waits from attempt to attempt"),
    (streams.NewPings, "CONN-14", "expected a pong with id 41"),
    (streams.Doubled, "CONN-15", "expected one stream at a time; 1 more were opened"),
    (streams.LeavesWhenClosing, "CONN-16", "the bot's stream ended"),
    (streams.NoPatience, "CONN-17", "expected no attempt before the delay of 1.5 s"),
    (streams.Sociable, "CONN-18", "the bot's stream"),
]

PROGRAMS: list[tuple[type[GoodBot], str, str]] = [
    (streams.OneShot, "CONN-01", "expected the bot to connect; its process ended with status 1"),
    (streams.Proud, "CONN-09", "after a stream that ended with INTERNAL"),
    (streams.LeavesAtTheEnd, "CONN-09", "after a stream that ended with OK"),
    (streams.LeavesWhenClosing, "CONN-10", "expected the bot to connect; its process ended with status 1"),
    (streams.Impatient, "CONN-11", "expected the bot to connect; its process ended with status 1"),
    (streams.Proud, "CONN-12", "expected the bot to connect; its process ended with status 1"),
    (GoodBot, "END-01", "expected a stream to each referee"),
    (streams.Rude, "END-02", "expected a goodbye at SIGTERM"),
    (streams.Deaf, "END-03", "expected the process to end at SIGTERM"),
    (streams.Stubborn, "END-04", "expected no further attempt after TOKEN_UNKNOWN"),
    (streams.Stubborn, "END-05", "expected no further attempt after PROTOCOL_VERSION"),
    (streams.Stubborn, "END-06", "expected no further attempt after TOKEN_REVOKED"),
    (streams.EveryAddress, "END-07", "expected no stream to the address"),
    (streams.KnownReasons, "END-08", "expected no further attempt after OF_THE_FUTURE"),
    (GoodBot, "END-09", "expected the open session to be finished at SIGTERM"),
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
        (bot.__name__, code, reason, check(command=program(bot), scenarios=[code], patience=3))
        for bot, code, reason in PROGRAMS
        if code.startswith(group)
    )


def test_mistakes_when_counted_then_every_scenario_has_one() -> None:
    caught = {code for _, code, _ in MISTAKES} | {code for _, code, _ in PROGRAMS}
    assert {scenario.code for scenario in SCENARIOS} == caught
