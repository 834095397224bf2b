"""Tests for faults at a table: each is reported, recorded and logged, and too many forfeit the session."""

import json
from collections.abc import Callable

import pytest

from referee.matches.connection import ALLOWANCE
from referee.matches.connections import PENALTY_SECONDS
from referee.matches.events import (
    Fault,
    Malformed,
    SessionEnded,
    Turn,
)
from referee.matches.journal import EntryKind
from referee.matches.kinds import FaultKind, SessionEnd
from referee.matches.match import Limits
from tests.referee.harness import FakeBot, Harness
from tests.referee.support import check_records, match_spec

LIMITS = Limits(decision_ms=3000, faults=1000, join_seconds=1)
RULESETS = ("chinese", "gamesky", "indonesia", "hong-kong-relatives-3", "only-a-game-8")


def answer_illegally(bot: FakeBot) -> None:
    turn = bot.turn()
    bot.answer(turn, turn.deal.hands[turn.seat])


def answer_malformed(bot: FakeBot) -> None:
    bot.answer(bot.turn(), Malformed("the move has neither cards nor a pass"))


def think_too_long(bot: FakeBot) -> None:
    bot.read()
    for _ in range(31):
        bot.harness.advance(0.1)
        bot.read()


def answer_no_ping(bot: FakeBot) -> None:
    bot.read(pong=False)
    for _ in range(31):
        bot.harness.advance(0.1)
        bot.read(pong=False)


def take_nothing(bot: FakeBot) -> None:
    bot.block()
    bot.harness.advance(5.1)


def go_away(bot: FakeBot) -> None:
    bot.read()
    bot.harness.lobby.disconnect(bot.connection, bot.harness.now)
    bot.harness.advance(3.1)


def flood(bot: FakeBot) -> None:
    bot.read()
    for _ in range(int(ALLOWANCE) + 1):
        bot.send(999, 1, 0)


MISDEEDS: list[tuple[Callable[[FakeBot], None], FaultKind, str]] = [
    (answer_illegally, FaultKind.ILLEGAL, ""),
    (answer_malformed, FaultKind.MALFORMED, "the move has neither cards nor a pass"),
    (think_too_long, FaultKind.TIMEOUT, "no answer within 3000 ms"),
    (
        answer_no_ping,
        FaultKind.STALL,
        "no answer within 3000 ms: the bot is connected, but answers no ping",
    ),
    (
        take_nothing,
        FaultKind.STALL,
        "no answer within 3000 ms: the bot is connected, but takes no messages",
    ),
    (go_away, FaultKind.DISCONNECT, "no answer within 3000 ms: the bot was not connected"),
    (flood, FaultKind.FLOOD, "the stream was closed for flooding"),
]


def asked(bots: list[FakeBot]) -> FakeBot:
    """Return the first bot with a turn waiting for its stream; read nothing yet."""
    return next(bot for bot in bots if any(isinstance(event, Turn) for event in bot.connection.outbox.events))


each_misdeed = pytest.mark.parametrize(
    ("misdeed", "kind", "reason"), MISDEEDS, ids=lambda value: getattr(value, "__name__", "")
)


@pytest.mark.parametrize("ruleset", RULESETS)
@each_misdeed
def test_misdeed_when_it_happens_then_it_is_told_recorded_and_noted_and_the_default_done(
    ruleset: str, misdeed: Callable[[FakeBot], None], kind: FaultKind, reason: str
) -> None:
    harness = Harness()
    spec = match_spec(range(1, players(ruleset) + 1), ruleset=ruleset, limits=LIMITS, deals=2)
    bots = [harness.connect(bot.version_id) for bot in spec.bots]
    match = harness.open(spec)
    (table,) = match.tables.values()
    bot = asked(bots)
    seat = spec.sessions[0].seating.index(bot.number - 1)
    deal = table.session.deal
    assert deal is not None
    hand, at, default = deal.hands[seat], len(deal.log), deal.default(seat)
    misdeed(bot)

    entry = harness.journal.of(bot.number, EntryKind.FAULT)[0]
    assert (entry.code, entry.session_id) == (kind.value, "m/1")
    assert reason in entry.text
    cards = table.info.rules.text
    assert entry.details["hand"] == cards(hand)
    assert entry.details["default"] == (cards(default) or "-")
    position = [entry.details[name] for name in ("deal", "action", "seat", "faults", "fault_limit")]
    assert position == [1, at, seat, 1, 1000]
    assert entry.details["answered"] == (cards(hand) if kind is FaultKind.ILLEGAL else "")

    bot.unblock()
    bot.read()
    if bot.here:
        fault = bot.faults()[0]
        assert (fault.kind, fault.hand, fault.default, fault.faults) == (kind, hand, default, 1)
        assert reason in fault.reason
    else:
        while harness.lobby.penalty(bot.number, harness.now):
            harness.advance(0.1)
            for other in bots:
                other.read()
        bots[bot.number - 1] = harness.connect(bot.number)
    (result,) = harness.play_out(match, *bots)
    check_records(spec, result)
    first = json.loads(result.records[0])["faults"][0]
    assert {"action": at, "seat": seat, "kind": kind.value}.items() <= first.items()
    assert result.forfeit is None


@each_misdeed
def test_misdeed_when_it_is_one_too_many_and_the_session_ends_by_that_then_it_is_forfeit(
    misdeed: Callable[[FakeBot], None], kind: FaultKind, reason: str
) -> None:
    harness = Harness()
    spec = match_spec(limits=LIMITS.model_copy(update={"faults": 1, "on_forfeit": "end_session"}))
    bots = [harness.connect(number) for number in (1, 2, 3, 4)]
    match = harness.open(spec)
    bot = asked(bots)
    seat = spec.sessions[0].seating.index(bot.number - 1)
    misdeed(bot)
    (result,) = match.take_results()
    assert (result.forfeit, result.forfeits) == (seat, (seat,))
    check_records(spec, result)
    (fault,) = json.loads(result.records[0])["faults"]
    assert (fault["kind"], fault["seat"]) == (kind.value, seat)
    for other in bots:
        if other.here:
            other.read()
            (end,) = [event for event in other.events if isinstance(event, SessionEnded)]
            assert (end.reason, end.forfeited_by, end.scores) == (SessionEnd.FORFEIT, seat, result.points)


def players(ruleset: str) -> int:
    return {"hong-kong-relatives-3": 3, "only-a-game-8": 8}.get(ruleset, 4)


def test_fault_when_the_bot_flooded_then_all_that_it_owes_is_done_and_it_must_stay_away() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 4)]
    match = harness.open(match_spec(sessions=8, limits=LIMITS))
    for bot in bots:
        bot.read()
    bot = max(bots, key=lambda bot: len(bot.turns))
    owed = len(bot.turns)
    assert owed >= 2
    flood(bot)
    assert not bot.here
    faults = harness.journal.of(bot.number, EntryKind.FAULT, "flood")
    assert len(faults) == owed
    assert sum(sum(table.faults) for table in match.tables.values()) == owed
    assert harness.lobby.penalty(bot.number, harness.now) == pytest.approx(PENALTY_SECONDS)
    assert harness.lobby.penalty(bot.number, harness.now + PENALTY_SECONDS) == 0


def test_fault_when_a_move_is_no_fault_then_none_is_counted() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 4)]
    spec = match_spec(limits=LIMITS)
    match = harness.open(spec)
    for bot in bots:
        bot.read()
        for turn in list(bot.turns.values()):
            bot.answer(turn, 0, turn.sequence + 5)
            bot.turns[turn.info.handle] = turn
    (result,) = harness.play_out(match, *bots)
    assert result.faults == (0, 0, 0, 0)
    check_records(spec, result)
    assert not [event for bot in bots for event in bot.events if isinstance(event, Fault)]
