"""Tests for failures of the referee, of tables and of streams, and for what is played again."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from referee.deals.deal import Deal
from referee.matches.clock import UNSENT_GRACE
from referee.matches.connection import LOST_SECONDS, PING_SECONDS, READY_SECONDS
from referee.matches.events import DealStarted, SessionEnded
from referee.matches.journal import EntryKind
from referee.matches.kinds import SessionEnd
from referee.matches.lobby import BEAT_SECONDS
from referee.matches.match import DealsFinished, Limits, MatchSpec
from referee.matches.table import Table
from referee.matches.tables import FAILING, MAX_VOIDED, finished_deals
from tests.referee.harness import FakeBot, Harness, four, started
from tests.referee.support import check_records, match_spec

LIMITS = Limits(decision_ms=1000, faults=1000, join_seconds=2)
UNSENT = 1 + UNSENT_GRACE + 0.01
"""Seconds after which a turn that no stream has accepted has consequences."""


# The referee's own failures


def test_turn_when_the_referee_does_not_hand_it_out_then_the_session_is_void_and_not_played_again() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(limits=LIMITS))
    harness.advance(UNSENT)
    assert harness.lobby.progress(match).sessions_voided == 1
    assert (match.done, match.ended, match.results) == (True, "", [])
    bots[0].read()
    ends = [event.reason for event in bots[0].events if isinstance(event, SessionEnded)]
    assert ends == [SessionEnd.VOID]
    assert not [entry for entry in harness.journal.entries if entry.kind is EntryKind.FAULT]


def test_turn_when_the_referee_hands_out_none_then_the_match_is_given_back() -> None:
    harness = Harness()
    four(harness)
    match = harness.open(match_spec(sessions=MAX_VOIDED + 2, limits=LIMITS))
    harness.advance(UNSENT)
    assert match.ended == "the referee is too busy to hand out turns"
    assert harness.lobby.matches == 0
    assert not match.results


# Attempts


def played_until_void(
    deals: int, *, limits: Limits = LIMITS
) -> tuple[MatchSpec, list[FakeBot], DealsFinished]:
    """Play until a session is void after ``deals`` of four deals; return spec, bots and finished deals."""
    harness = Harness()
    bots = four(harness)
    spec = match_spec(deals=4, limits=limits.model_copy(update={"decision_ms": 60_000}))
    match = harness.open(spec)
    (table,) = match.tables.values()
    while len(table.records) < deals:
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                bot.play(turn)
        harness.advance(0.001)
    table.void()
    for bot in bots:
        bot.read()
    (finished,) = match.take_deals()
    return spec, bots, finished


def test_session_when_void_then_its_finished_deals_are_told_once() -> None:
    _, _, finished = played_until_void(1)
    assert (finished.number, [json.loads(record)["deal"] for record in finished.records]) == (1, [1])


def test_session_when_played_again_then_finished_deals_stand_and_no_hand_comes_back() -> None:
    spec, first_bots, finished = played_until_void(1)
    (session,) = spec.sessions
    after = finished_deals(finished.records, finished.bank_ms, spec.ruleset)
    again = replace(spec, sessions=(replace(session, attempt=2, after=after),))
    harness = Harness()
    bots = four(harness)
    match = harness.open(again)
    assert [start.scores for start in started(bots[0])] == [after.scores]
    (result,) = harness.play_out(match, *bots)
    records = [json.loads(record) for record in (*finished.records, *result.records)]
    assert [record["deal"] for record in records] == [1, 2, 3, 4]
    assert [record.get("attempt", 1) for record in records] == [1, 2, 2, 2]
    check_records(spec, replace(result, records=(*finished.records, *result.records)))
    shown = [set(event.hands) for event in first_bots[0].events if isinstance(event, DealStarted)]
    dealt = [set(event.hands) for event in bots[0].events if isinstance(event, DealStarted)]
    assert (len(shown), len(dealt)) == (2, 3)
    assert not any(hands & other for hands in shown for other in dealt)


def test_session_when_played_again_then_faults_and_banks_go_on() -> None:
    limits = LIMITS.model_copy(update={"bank_ms": 50_000, "faults": 3})
    spec, _, finished = played_until_void(2, limits=limits)
    assert len(finished.bank_ms) == 4
    assert max(finished.bank_ms) <= 50_000
    after = replace(
        finished_deals(finished.records, (1000, 2000, 3000, 4000), spec.ruleset), faults=(2, 0, 0, 1)
    )
    harness = Harness()
    four(harness)
    match = harness.open(replace(spec, sessions=(replace(spec.sessions[0], attempt=2, after=after),)))
    (table,) = match.tables.values()
    assert table.faults == (2, 0, 0, 1)
    assert [seat.clock.bank for seat in table.seats] == [1, 2, 3, 4]


def test_deals_when_a_session_is_open_then_each_is_told_once() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(deals=3, limits=LIMITS.model_copy(update={"decision_ms": 60_000})))
    told = []
    while not match.done:
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                bot.play(turn)
        harness.advance(0.001)
        told += [json.loads(record)["deal"] for deals in match.take_deals() for record in deals.records]
    assert told == [1, 2]


# Streams that accept nothing


def test_turn_when_only_its_bot_takes_no_messages_then_the_others_are_not_harmed() -> None:
    harness = Harness()
    bots = four(harness)
    others = [harness.connect(number) for number in (5, 6, 7, 8)]
    stuck = harness.open(match_spec(sessions=4, match_id="stuck", limits=LIMITS))
    spec = match_spec((5, 6, 7, 8), sessions=4, match_id="free", limits=LIMITS)
    free = harness.open(spec)
    bots[0].block()
    results = harness.play_out(free, *others, *bots[1:])
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 4
    assert not stuck.done
    harness.play_out(stuck, *bots[1:])
    assert harness.journal.of(1, EntryKind.FAULT, "stall")
    assert {entry.version_id for entry in harness.journal.entries} == {1}
    assert stuck.voided == 0


def test_turn_when_a_stream_takes_not_even_the_welcome_then_its_bot_is_blamed_and_nothing_is_void() -> None:
    harness = Harness()
    bots = [harness.connect(number, welcomed=number != 1) for number in (1, 2, 3, 4)]
    match = harness.open(match_spec(sessions=2, limits=LIMITS))
    results = harness.play_out(match, *bots[1:])
    assert len(results) == 2
    assert match.voided == 0
    assert {entry.version_id for entry in harness.journal.entries} == {1}
    assert harness.journal.entries[0].code == "stall"


def test_turn_when_its_stream_becomes_ready_at_the_last_moment_then_its_bot_is_blamed() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(limits=LIMITS))
    for bot in bots:
        bot.block()
    harness.advance(UNSENT - READY_SECONDS)
    for bot in bots:
        bot.unblock()
    harness.advance(READY_SECONDS)
    assert match.voided == 0
    assert [entry.code for entry in harness.journal.entries] == ["stall"]


def test_stream_when_it_takes_nothing_for_long_then_it_is_given_up() -> None:
    harness = Harness()
    bot = harness.connect(1, welcomed=False)
    harness.advance(LOST_SECONDS - 1)
    assert bot.here
    harness.advance(PING_SECONDS + 2)
    assert not bot.here


# Failures at one table


def break_deal(table: Table) -> None:
    """Make the table fail at its next action, whatever that is."""
    table._deal = cast(Deal, object())


@pytest.mark.parametrize("cause", ["time", "a lost stream", "a flood"])
def test_table_when_it_fails_then_only_its_session_is_void_and_it_is_logged_and_counted(
    cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(sessions=3, limits=LIMITS))
    for bot in bots:
        bot.read()
    broken = next(iter(match.tables.values()))
    (seat,) = [seat for seat in broken.seats if seat.turn is not None]
    bot = bots[match.spec.sessions[0].seating[seat.index]]
    break_deal(broken)
    if cause == "time":
        harness.advance(1.1)
    elif cause == "a flood":
        while bot.here:
            bot.send(77, 1, 0)
    else:
        seat.clock.handed_at = None
        seat.clock.time = cast(float, None)
        harness.lobby.disconnect(bot.connection, harness.now)
        bots[bot.number - 1] = harness.connect(bot.number)
    assert harness.lobby.failures == 1
    assert match.voided == 1
    assert broken.end is SessionEnd.VOID
    assert [record.getMessage() for record in caplog.records] == ["session m/1 failed, and is void"]
    while harness.lobby.penalty(bot.number, harness.now):
        harness.advance(1)
        for other in bots:
            other.read()
    if not bots[bot.number - 1].here:
        bots[bot.number - 1] = harness.connect(bot.number)
    assert [result.number for result in harness.play_out(match, *bots)] == [2, 3]


def test_table_when_it_cannot_even_be_ended_then_it_is_cleared_all_the_same() -> None:
    harness = Harness()
    four(harness)
    match = harness.open(match_spec(limits=LIMITS))
    (table,) = match.tables.values()
    table.seats = cast(Any, None)
    harness.advance(1.1)
    assert harness.lobby.failures >= 1
    assert table.info.handle not in match.tables
    assert harness.lobby.sessions == len(match.tables)


def test_match_when_many_of_its_tables_fail_then_it_is_given_back() -> None:
    harness = Harness()
    four(harness)
    match = harness.open(match_spec(sessions=MAX_VOIDED + 2, limits=LIMITS))
    for _ in range(MAX_VOIDED + 1):
        harness.lobby.fail(next(iter(match.tables.values())))
        harness.advance(BEAT_SECONDS)
    assert match.ended == FAILING
    assert harness.lobby.failures == MAX_VOIDED + 1


def test_pause_when_the_referee_was_away_then_waiting_matches_and_clocks_wait_as_long() -> None:
    harness = Harness()
    bots = four(harness)
    harness.lobby.disconnect(bots[3].connection, harness.now)
    match = harness.open(match_spec(limits=LIMITS.model_copy(update={"on_forfeit": "end_session"})))
    harness.pause(100)
    harness.advance(1.5)
    assert not match.tables
    harness.advance(1)
    assert not match.tables
    assert match.take_results()[0].forfeit is not None
