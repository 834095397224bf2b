"""Tests for the clocks of a table, with the time passed in: limits, banks, credits, and when clocks run."""

import json

import pytest

from referee.matches.clock import UNSENT_GRACE
from referee.matches.events import Fault, Turn
from referee.matches.kinds import FaultKind, NoticeCode
from referee.matches.lobby import AWAY_SECONDS, BEAT_SECONDS
from referee.matches.match import Limits
from referee.matches.running import Match
from tests.referee.harness import FakeBot, Harness
from tests.referee.support import check_records, match_spec

LIMITS = Limits(decision_ms=1000, faults=1000, credit_ms=100)


def begin(limits: Limits = LIMITS, round_trip: float = 0.0) -> tuple[Harness, dict[int, FakeBot], FakeBot]:
    """Begin a session of four bots; return the harness, the bots by number, and the one asked first."""
    harness = Harness()
    bots = {number: harness.connect(number) for number in (1, 2, 3, 4)}
    for bot in bots.values():
        delay_pongs(bot, round_trip)
    harness.open(match_spec(limits=limits))
    for bot in bots.values():
        bot.read()
    (asked,) = [bot for bot in bots.values() if bot.turns]
    return harness, bots, asked


def delay_pongs(bot: FakeBot, seconds: float) -> None:
    """Make the stream's round trips take this long."""
    while bot.connection.ping_due:
        number = bot.connection.take_ping(bot.harness.now)
        bot.connection.pong(number, bot.harness.now + seconds)


def fault(bot: FakeBot) -> Fault:
    bot.read()
    return bot.faults()[-1]


def next_turn(harness: Harness, bots: dict[int, FakeBot], of: FakeBot) -> Turn:
    """Play until this bot is asked again."""
    for _ in range(200):
        for bot in bots.values():
            bot.read()
        if of.turns:
            return of.turn()
        for bot in bots.values():
            for turn in list(bot.turns.values()):
                bot.play(turn)
    raise AssertionError("it is not asked again")


def test_clock_when_the_limit_is_reached_then_it_is_a_timeout_and_not_before() -> None:
    harness, _, bot = begin()
    harness.advance(0.6)
    bot.read()  # answers the ping
    harness.advance(0.399)
    bot.read()
    assert not bot.faults()
    harness.advance(0.001)
    assert fault(bot).kind is FaultKind.TIMEOUT
    assert fault(bot).reason == "no answer within 1000 ms"


def test_clock_when_the_turn_waits_for_its_stream_then_it_does_not_run() -> None:
    harness, bots, first = begin()
    first.play(first.turn())
    harness.advance(0.9)
    (second,) = [bot for bot in bots.values() if bot.read() and bot.turns]
    assert second.turn().time_ms == 1000
    harness.advance(0.9)
    second.read()
    assert not second.faults()
    harness.advance(0.11)
    assert fault(second).kind is FaultKind.TIMEOUT


def test_clock_when_the_stream_takes_no_messages_then_it_is_a_stall_after_the_grace() -> None:
    harness, bots, first = begin()
    for bot in bots.values():
        bot.block()
    first.play(first.turn())
    harness.advance(1 + UNSENT_GRACE - 0.01)
    assert not any(entry.code == "stall" for entry in harness.journal.entries)
    harness.advance(0.02)
    (entry,) = [entry for entry in harness.journal.entries if entry.code == "stall"]
    assert entry.text == "no answer within 1000 ms: the bot is connected, but takes no messages"
    assert entry.details["elapsed_ms"] == 0


@pytest.mark.parametrize(
    ("round_trip", "most", "credit"), [(0.04, 100, 40), (0.3, 100, 100), (0.3, 0, 0), (0.0, 100, 0)]
)
def test_credit_when_round_trips_are_measured_then_it_is_theirs_up_to_the_cap(
    round_trip: float, most: int, credit: int
) -> None:
    harness, _, bot = begin(LIMITS.model_copy(update={"credit_ms": most}), round_trip)
    turn = bot.turn()
    assert turn.time_ms == 1000
    assert turn.credit_ms == pytest.approx(credit, abs=1)
    harness.advance(0.6)
    bot.read()
    harness.advance(0.398 + credit / 1000)
    bot.read()
    assert not bot.faults()
    harness.advance(0.004)
    assert fault(bot).credit_ms == turn.credit_ms


def test_bank_when_decisions_take_time_then_it_shrinks_by_it_and_grows_by_the_increment() -> None:
    harness, bots, bot = begin(LIMITS.model_copy(update={"bank_ms": 2000, "increment_ms": 100}))
    turn = bot.turn()
    assert (turn.time_ms, turn.bank_ms) == (1000, 2000)
    harness.advance(0.7)
    bot.play(turn)
    turn = next_turn(harness, bots, bot)
    assert (turn.time_ms, turn.bank_ms) == (1000, 1400)
    harness.advance(0.8)
    bot.play(turn)
    turn = next_turn(harness, bots, bot)
    assert (turn.time_ms, turn.bank_ms) == (700, 700)
    harness.advance(0.701)
    assert fault(bot).reason == "no answer within 700 ms (all that was left in the bank)"
    turn = next_turn(harness, bots, bot)
    assert (turn.time_ms, turn.bank_ms) == (100, 100)


def test_bank_when_pongs_are_late_then_the_credit_does_not_spare_it() -> None:
    harness, bots, bot = begin(LIMITS.model_copy(update={"bank_ms": 2000}), 0.06)
    assert bot.turn().credit_ms == pytest.approx(60, abs=1)
    harness.advance(0.26)
    bot.play(bot.turn())
    assert next_turn(harness, bots, bot).bank_ms == pytest.approx(1740, abs=1)


def test_bank_when_a_new_session_begins_then_it_is_full_again() -> None:
    harness = Harness()
    bots = {number: harness.connect(number, 1) for number in (1, 2, 3, 4)}
    match = harness.open(match_spec(sessions=2, deals=1, limits=LIMITS.model_copy(update={"bank_ms": 2000})))
    banks: dict[int, list[int]] = {}
    for _ in range(1000):
        for bot in bots.values():
            bot.read()
            for turn in list(bot.turns.values()):
                assert turn.bank_ms is not None
                banks.setdefault(turn.info.number, []).append(turn.bank_ms)
                harness.advance(0.05)
                bot.play(turn)
        if match.done:
            break
    assert banks[1][0] == banks[2][0] == 2000
    assert min(banks[1]) < 2000 > min(banks[2])


def test_clock_when_the_bot_is_away_and_comes_back_then_it_ran_on() -> None:
    harness, _, bot = begin()
    sequence = bot.turn().sequence
    harness.lobby.disconnect(bot.connection, harness.now)
    harness.advance(0.6)
    again = harness.connect(bot.number)
    turn = again.turn()
    assert (turn.sequence, turn.time_ms) == (sequence, 400)
    harness.advance(0.41)
    assert fault(again).kind is FaultKind.TIMEOUT


def test_clock_when_the_stream_breaks_before_the_turn_was_handed_over_then_it_starts_with_that() -> None:
    harness, bots, first = begin()
    first.play(first.turn())
    harness.advance(0.5)
    for bot in bots.values():
        harness.lobby.disconnect(bot.connection, harness.now)
    harness.advance(0.99)
    assert not harness.journal.entries
    harness.advance(0.02)
    assert harness.journal.entries[0].code == "disconnect"


def test_clock_when_the_referee_was_away_then_it_did_not_run() -> None:
    harness, _, bot = begin()
    harness.pause(30)
    harness.advance(0.5)
    bot.read()
    assert not bot.faults()
    bot.play(bot.turn())
    assert not harness.journal.entries


def test_clock_when_no_message_reaches_the_referee_then_it_does_not_run_though_the_lobby_beats() -> None:
    harness, _, bot = begin()
    turn = bot.turn()
    harness.advance(0.6)
    harness.lobby.loopback_sent(harness.now)
    harness.advance(30)
    assert not harness.journal.entries
    harness.lobby.loopback_back(harness.now)
    harness.advance(0.3)
    bot.play(turn)
    assert not harness.journal.entries


def test_clock_when_messages_reach_the_referee_again_then_it_runs_on() -> None:
    harness, _, bot = begin()
    bot.read()
    harness.lobby.loopback_sent(harness.now)
    harness.advance(30)
    harness.lobby.loopback_back(harness.now)
    harness.advance(1.1)
    assert fault(bot).kind is FaultKind.TIMEOUT


def test_clock_when_a_message_takes_a_little_longer_each_time_then_it_runs_on() -> None:
    harness, _, bot = begin()
    bot.read()
    for _ in range(30):
        harness.lobby.loopback_sent(harness.now)
        harness.advance(BEAT_SECONDS + AWAY_SECONDS - 0.01)
        harness.lobby.loopback_back(harness.now)
    assert fault(bot).kind is FaultKind.TIMEOUT


def test_clock_when_the_referee_was_away_with_a_message_on_its_way_then_it_is_set_back_once() -> None:
    harness, _, bot = begin()
    bot.read()
    harness.lobby.loopback_sent(harness.now)
    harness.pause(30)
    harness.lobby.loopback_back(harness.now)
    harness.advance(1.1)
    assert fault(bot).kind is FaultKind.TIMEOUT


def test_bank_when_no_message_reaches_the_referee_then_it_pays_for_next_to_nothing() -> None:
    harness, _, bot = begin(LIMITS.model_copy(update={"bank_ms": 2000}))
    turn = bot.turn()
    harness.lobby.loopback_sent(harness.now)
    harness.advance(30)
    bot.play(turn)
    assert turn.deal is not None
    assert bot.connection.seats[turn.info.handle].clock.bank > 1.9


def test_clock_when_the_referee_is_late_by_little_then_it_runs_on() -> None:
    harness, _, bot = begin()
    little = BEAT_SECONDS + AWAY_SECONDS - 0.01
    for _ in range(round(1.1 / little)):
        harness.pause(little)
        harness.advance(0.001)
    assert fault(bot).kind is FaultKind.TIMEOUT


def test_clock_when_the_referee_stands_still_again_and_again_then_no_bot_is_charged() -> None:
    harness, _, bot = begin(LIMITS.model_copy(update={"decision_ms": 500, "credit_ms": 0}))
    for _ in range(20):
        harness.pause(0.1)
        harness.advance(0.001)
    bot.read()
    assert not bot.faults()
    bot.play(bot.turn())
    assert not harness.journal.entries


def test_answer_when_the_turn_ran_out_then_a_notice_says_how_late_it_was() -> None:
    harness, _, bot = begin()
    turn = bot.turn()
    harness.advance(1.25)
    bot.answer(turn, 0)
    bot.read()
    notice = bot.notices()[-1]
    assert notice.code is NoticeCode.STALE_MOVE
    assert notice.text == f"turn {turn.sequence} is over: the answer came 250 ms after its time"
    assert (notice.handle, notice.sequence) == (turn.info.handle, turn.sequence)


def test_answer_when_it_comes_twice_or_too_early_then_the_notice_says_so() -> None:
    harness, _, bot = begin()
    turn = bot.turn()
    bot.answer(turn, 0, turn.sequence + 1)
    bot.turns[turn.info.handle] = turn
    bot.play(turn)
    bot.answer(turn, 0)
    bot.read()
    assert [notice.code for notice in bot.notices()] == [NoticeCode.UNKNOWN_TURN, NoticeCode.REPEATED_MOVE]
    assert [entry.code for entry in harness.journal.entries] == ["unknown_turn", "repeated_move"]


def test_record_when_decisions_take_time_then_it_has_the_milliseconds_and_credit_of_each() -> None:
    harness, bots, first = begin(LIMITS.model_copy(update={"faults": 3}), 0.04)
    match = harness.lobby.match("m")
    assert match is not None
    harness.advance(0.3)
    first.play(first.turn(), max)
    for bot in bots.values():
        bot.read()
    harness.advance(1.05)  # somebody is too late
    (result,) = harness.play_out(match, *bots.values())
    record = json.loads(result.records[0])
    asked = [int(one) for one in record["ms"].split() if one != "-"]
    assert len(record["ms"].split()) == len(record["credit_ms"].split()) == len(record["actions"])
    assert (asked[0], asked[1]) == (300, 1040)
    assert set(record["credit_ms"].split()) <= {"40", "39", "0", "-"}
    (fault,) = record["faults"]
    assert fault["ms"] == 1040
    assert fault["credit_ms"] in (39, 40)


@pytest.mark.parametrize("preset", ["indonesia", "gamesky"])
def test_record_when_there_are_decisions_beside_the_actions_then_it_has_their_times_too(preset: str) -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 4)]
    spec = match_spec(ruleset=preset, deals=6, limits=LIMITS)
    (result,) = harness.play_out(harness.open(spec), *bots)
    check_records(spec, result)
    answers = [one for record in result.records for one in json.loads(record).get("answers", ())]
    assert all(set(one) == {"action", "seat", "turn", "ms", "credit_ms"} for one in answers)


def timed_match(seconds: int) -> tuple[Harness, Match, dict[int, FakeBot]]:
    """Begin a match of one session with a time limit."""
    harness = Harness()
    bots = {number: harness.connect(number) for number in (1, 2, 3, 4)}
    match = harness.open(match_spec(limits=LIMITS.model_copy(update={"match_seconds": seconds})))
    for bot in bots.values():
        bot.read()
    return harness, match, bots


def used_by_bot(match: Match) -> list[int]:
    """Return what the last record of the match's only session says that its bots had used."""
    [result] = match.take_results()
    used: list[int] = json.loads(result.records[-1])["used_ms"]
    [session] = match.spec.sessions
    return [used[session.seating.index(bot)] for bot in range(4)]


def play_slowly(harness: Harness, bots: dict[int, FakeBot], seconds: float, until: float) -> None:
    """Let every decision take as long, until then."""
    while harness.now < until:
        for bot in bots.values():
            bot.read()
        harness.advance(seconds)
        for bot in bots.values():
            for turn in list(bot.turns.values()):
                bot.play(turn)


def test_match_time_when_a_turn_is_handed_out_after_it_was_up_then_that_takes_no_time() -> None:
    harness, match, bots = timed_match(2)
    play_slowly(harness, bots, 0.1, 1001.9)
    before = [seat.clock.used for table in match.tables.values() for seat in table.seats]
    (asked,) = [bot for bot in bots.values() if bot.connection.outbox.events]
    harness.late = 0.2
    harness.advance(0.15)
    asked.read()
    assert asked.turns
    harness.advance(0.2)
    used = used_by_bot(match)
    [session] = match.spec.sessions
    assert used == [round(before[session.seating.index(bot)] * 1000) for bot in range(4)]


def test_match_time_when_a_turn_has_run_out_and_is_held_then_its_limit_is_charged() -> None:
    clock_limit = LIMITS.decision_ms / 1000
    harness, match, bots = timed_match(10)
    (asked,) = [bot for bot in bots.values() if bot.turns]
    (seat,) = [seat for table in match.tables.values() for seat in table.seats if seat.turn is not None]
    assert seat.thought(harness.now + 5) == clock_limit
    assert asked.here


def test_match_time_when_a_session_was_void_then_what_its_bots_used_still_counts() -> None:
    harness, match, bots = timed_match(10)
    play_slowly(harness, bots, 0.1, 1000.9)
    [table] = match.tables.values()
    thought = sum(seat.thought(harness.now) for seat in table.seats)
    table.void()
    assert thought > 0.5
    assert sum(match.overrun_at(harness.now).used_ms) == pytest.approx(thought * 1000, abs=4)
