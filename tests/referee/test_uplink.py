"""Tests for bots that fall silent at the same time: the referee is to blame unless they belong together."""

import pytest

from referee.errors import Draining
from referee.matches.connection import LOST_SECONDS, STUCK_SECONDS, CloseCode
from referee.matches.events import SessionEnded
from referee.matches.journal import EntryKind
from referee.matches.kinds import SessionEnd
from referee.matches.lobby import OUT_OF_REACH
from referee.matches.match import Limits
from referee.matches.running import Match
from referee.matches.uplink import RETURN_SECONDS, SUSPICIOUS_SECONDS
from tests.referee.harness import FakeBot, Harness
from tests.referee.support import match_spec

LIMITS = Limits(decision_ms=1000, faults=1000, join_seconds=2)
IN_DOUBT = SUSPICIOUS_SECONDS + STUCK_SECONDS + 0.1
"""Seconds after which a silence has been judged."""
STRANGERS = [(f"owner{n}", f"192.0.2.{n}") for n in range(1, 5)]
"""Owners and hosts of bots that have nothing to do with each other."""


def seated(*origins: tuple[str, str], limits: Limits = LIMITS) -> tuple[Harness, list[FakeBot], Match]:
    """Connect bots of these owners and hosts, and begin a match of the first four."""
    harness = Harness()
    bots = [harness.connect(n, owner=owner, host=host) for n, (owner, host) in enumerate(origins, start=1)]
    match = harness.open(match_spec(deals=2, limits=limits))
    for bot in bots:
        for _ in range(4):  # the first pings
            bot.read()
    return harness, bots, match


def live(harness: Harness, seconds: float, bots: list[FakeBot], *awake: FakeBot) -> None:
    """Let time pass while all ``bots`` are sent their messages, but only those ``awake`` answer any."""
    for _ in range(round(seconds / 0.02)):
        for bot in bots:
            bot.read(pong=bot in awake)
            for turn in list(bot.turns.values()) if bot in awake else ():
                bot.play(turn)
        harness.advance(0.02)


def blamed(harness: Harness) -> set[int]:
    """Return the bots with a fault."""
    return {entry.version_id for entry in harness.journal.entries if entry.kind is EntryKind.FAULT}


def test_silence_when_it_is_that_of_all_owners_then_clocks_stand_still_and_the_match_goes_on() -> None:
    harness, bots, match = seated(*STRANGERS)
    live(harness, 20.0, bots)
    assert not any(harness.lobby.presence(bot.number).connected for bot in bots)
    results = harness.play_out(match, *bots)
    assert [(result.faults, result.forfeit) for result in results] == [((0, 0, 0, 0), None)]
    assert not blamed(harness)


@pytest.mark.parametrize(
    "origins",
    [
        [("owner", f"192.0.2.{n}") for n in range(4)],
        [(f"owner{n}", "192.0.2.1") for n in range(4)],
        [("a", "192.0.2.1"), ("a", "192.0.2.2"), ("b", "192.0.2.2"), ("b", "192.0.2.1")],
        [*STRANGERS, ("owner5", "192.0.2.5"), ("owner6", "192.0.2.6")],
    ],
    ids=["one owner", "one host", "linked", "two thirds"],
)
def test_silence_when_it_is_that_of_too_few_parties_then_each_of_them_is_blamed(
    origins: list[tuple[str, str]],
) -> None:
    harness, bots, _ = seated(*origins)
    live(harness, 20.0, bots, *bots[4:])
    assert blamed(harness) == {1, 2, 3, 4}


def test_silence_when_bots_on_the_referees_host_answer_then_they_prove_nothing() -> None:
    harness, bots, _ = seated(*STRANGERS, ("house", ""), ("baselines", ""), ("staff", ""))
    live(harness, 20.0, bots, *bots[4:])
    assert not blamed(harness)


def test_silence_when_all_addresses_are_hidden_then_owners_count() -> None:
    harness, bots, _ = seated(*[(owner, "") for owner, _ in STRANGERS])
    live(harness, 20.0, bots)
    assert not blamed(harness)
    live(harness, 1.0, bots, *bots)
    assert not blamed(harness)


def test_silence_when_it_is_one_bots_then_its_fault_comes_as_soon_as_the_others_have_answered() -> None:
    harness, bots, _ = seated(*STRANGERS)
    silent = next(bot for bot in bots if bot.turns)
    others = [bot for bot in bots if bot is not silent]
    live(harness, 1.0 + IN_DOUBT, bots, *others)
    assert blamed(harness) == {silent.number}
    silent.read(pong=False)
    (fault,) = silent.faults()
    assert fault.elapsed_ms == 1000
    live(harness, 10.0, bots, *others)
    silent.read(pong=False)
    faults = silent.faults()
    assert len(faults) > 1
    assert {fault.kind.value for fault in faults} == {"stall"}
    assert all(fault.elapsed_ms <= 1040 for fault in faults)  # nothing is in doubt any more


def test_answer_when_it_comes_while_it_is_in_doubt_who_is_to_blame_then_it_is_too_late() -> None:
    harness, bots, _ = seated(*STRANGERS)
    silent = next(bot for bot in bots if bot.turns)
    (turn,) = list(silent.turns.values())
    sequence, cards = turn.sequence, turn.deal.default(turn.seat)
    live(harness, 1.0 + SUSPICIOUS_SECONDS / 2, bots, *[bot for bot in bots if bot is not silent])
    assert not blamed(harness)
    silent.answer(turn, cards, sequence)
    harness.advance(0.1)
    silent.read()
    assert [fault.kind.value for fault in silent.faults()] == ["timeout"]
    assert [notice.code.value for notice in silent.notices()] == ["stale_move"]


def test_streams_when_those_of_all_owners_break_then_clocks_stand_still_until_they_are_back() -> None:
    harness, bots, match = seated(*STRANGERS)
    for bot in bots:
        harness.lobby.disconnect(bot.connection, harness.now)
        harness.advance(0.2)
    harness.advance(20.0)
    back = []
    for number, (owner, host) in enumerate(STRANGERS, start=1):
        harness.advance(RETURN_SECONDS / 4)
        back.append(harness.connect(number, owner=owner, host=host))
    results = harness.play_out(match, *back)
    assert [result.faults for result in results] == [(0, 0, 0, 0)]


def test_streams_when_one_bot_stays_away_after_all_broke_then_it_is_blamed_in_the_end() -> None:
    harness, bots, _ = seated(*STRANGERS)
    for bot in bots:
        harness.lobby.disconnect(bot.connection, harness.now)
    harness.advance(5.0)
    back = [harness.connect(n, owner=STRANGERS[n - 1][0], host=STRANGERS[n - 1][1]) for n in (1, 2, 3)]
    live(harness, RETURN_SECONDS - 1, back, *back)
    assert not blamed(harness)
    live(harness, 10.0, back, *back)
    assert blamed(harness) == {4}


def test_outage_when_it_lasts_then_the_match_is_given_back_and_another_one_begins_only_after_it() -> None:
    harness, bots, match = seated(*STRANGERS)
    live(harness, LOST_SECONDS + IN_DOUBT, bots)
    assert match.ended == OUT_OF_REACH
    assert not match.results
    assert not blamed(harness)
    assert [bot.connection.closing.code for bot in bots if bot.connection.closing] == [CloseCode.LOST] * 4
    bots[0].read()
    ends = [event.reason for event in bots[0].events if isinstance(event, SessionEnded)]
    assert set(ends) == {SessionEnd.VOID}
    with pytest.raises(Draining, match=OUT_OF_REACH):
        harness.open(match_spec())
    for number, (owner, host) in enumerate(STRANGERS, start=1):
        harness.connect(number, owner=owner, host=host)
    harness.advance(0.1)
    harness.open(match_spec())
    assert harness.lobby.sessions == 1
