"""Connections, matches and sessions of a referee, with the clock passed in."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from referee.deals.deal import Deal
from referee.errors import ConnectionRefused, Draining, MatchRefused, RulesetError
from referee.matches.clock import UNSENT_GRACE
from referee.matches.connection import BACKLOG, LOST_SECONDS, PING_SECONDS, READY_SECONDS, CloseCode
from referee.matches.events import DealStarted, Notice, NoticeCode, SessionEnd, SessionEnded, SessionStarted
from referee.matches.journal import EntryKind
from referee.matches.lobby import BEAT_SECONDS, FAILING, MAX_VOIDED, STOPPED_BY_WORKER, TAKEN_OVER
from referee.matches.match import DealsFinished, Limits, MatchSpec, SessionSpec
from referee.matches.resuming import finished_deals
from referee.matches.running import MAX_UNFETCHED
from referee.matches.table import Table
from tests.referee.harness import FakeBot, Harness
from tests.referee.support import check_records, match_spec, without_times

LIMITS = Limits(decision_ms=1000, faults=1000, join_ms=2000)
UNSENT = 1 + UNSENT_GRACE + 0.01
"""Seconds after which a turn that no stream took ends in something."""


def four(harness: Harness, max_sessions: int = 256) -> list[FakeBot]:
    return [harness.connect(number, max_sessions) for number in (1, 2, 3, 4)]


def started(bot: FakeBot) -> list[SessionStarted]:
    bot.read()
    return [event for event in bot.events if isinstance(event, SessionStarted)]


# Connections


def test_connect_when_the_bot_is_here_then_a_second_is_refused() -> None:
    harness = Harness()
    first = harness.connect(1)
    with pytest.raises(ConnectionRefused, match="owner/bot1@1 has a live connection already"):
        harness.connect(1)
    assert first.here


def test_disconnect_when_the_stream_was_replaced_then_the_new_one_stays() -> None:
    harness = Harness()
    first = harness.connect(1)
    harness.lobby.close(first.connection, CloseCode.REPLACED, "gone", harness.now)
    second = harness.connect(1)
    harness.lobby.disconnect(first.connection, harness.now)
    assert second.here


def test_beat_when_streams_live_then_each_is_pinged_now_and_then() -> None:
    harness = Harness()
    bot = harness.connect(1)
    while bot.connection.ping_due:
        bot.read()
    before = len(bot.pings)
    for _ in range(3):
        harness.advance(PING_SECONDS + 0.1)
        bot.read()
    assert len(bot.pings) == before + 3


def test_beat_when_a_stream_answers_no_ping_then_it_is_given_up() -> None:
    harness = Harness()
    bot = harness.connect(1)
    bot.read(pong=False)
    harness.advance(LOST_SECONDS - 1)
    assert harness.lobby.connected() == [1]
    harness.advance(PING_SECONDS + 2)
    assert not harness.lobby.connected()
    assert bot.connection.closing == (CloseCode.LOST, "the bot answers no ping")


def test_beat_when_too_much_waits_for_a_stream_then_it_is_given_up() -> None:
    harness = Harness()
    bot = harness.connect(1)
    for _ in range(BACKLOG + 1):
        bot.connection.outbox.put(Notice(NoticeCode.UNEXPECTED, ""))
    harness.advance(PING_SECONDS + 0.2)
    assert not bot.here


# Sessions


def test_sessions_when_a_bot_takes_few_then_the_others_wait_for_room() -> None:
    harness = Harness()
    bots = [*four(harness)[:3]]
    harness.lobby.disconnect(harness.lobby.connection(4), harness.now)  # type: ignore[arg-type]
    bots.append(harness.connect(4, 2))
    spec = match_spec(sessions=5, deals=1, limits=replace(LIMITS, decision_ms=60_000))
    match = harness.open(spec)
    assert (len(match.tables), len(match.waiting)) == (2, 3)
    results = harness.play_out(match, *bots)
    assert [result.number for result in results] == [1, 2, 3, 4, 5]
    assert harness.lobby.presence(4).sessions == 0


def test_room_when_a_match_is_closed_then_the_waiting_one_gets_it() -> None:
    harness = Harness()
    bots = four(harness, 1)
    first = harness.open(match_spec(match_id="first", limits=LIMITS))
    second = harness.open(match_spec(match_id="second", limits=LIMITS))
    assert not second.tables
    harness.lobby.close_match(first, STOPPED_BY_WORKER)
    harness.advance(0.2)
    assert len(second.tables) == 1
    assert [start.info.session_id for start in started(bots[0])] == ["first/1", "second/1"]


def test_room_when_a_flood_forfeits_a_session_then_the_next_one_begins_or_is_waited_for() -> None:
    harness = Harness()
    bots = four(harness, 1)
    match = harness.open(match_spec(sessions=2, limits=replace(LIMITS, faults=1)))
    for bot in bots:
        bot.read()
    (bot,) = [bot for bot in bots if bot.turns]
    while bot.here:
        bot.send(77, 1, 0)
    assert len(match.take_results()) == 1
    harness.advance(3)
    (result,) = match.take_results()
    assert result.forfeit is not None
    assert match.done


def test_absent_bots_when_the_wait_is_over_then_they_forfeit_in_turn() -> None:
    harness = Harness()
    bots = [harness.connect(1), harness.connect(2)]
    spec = match_spec(sessions=4, limits=LIMITS)
    match = harness.open(spec)
    harness.advance(1.9)
    assert not match.tables
    assert harness.lobby.progress(match).waiting_for == ("owner/bot3@1", "owner/bot4@1")
    harness.advance(0.2)
    results = harness.play_out(match, *bots)
    forfeits = [
        session.seating[result.forfeit]
        for session, result in zip(spec.sessions, results, strict=True)
        if result.forfeit is not None
    ]
    assert sorted(forfeits) == [2, 2, 3, 3]


def test_reconnect_when_sessions_are_open_then_the_bot_is_told_of_each() -> None:
    harness = Harness()
    bots = four(harness)
    harness.open(match_spec(sessions=3, limits=LIMITS))
    assert len(started(bots[0])) == 3
    harness.lobby.disconnect(bots[0].connection, harness.now)
    again = started(harness.connect(1))
    assert [start.resumed for start in again] == [True] * 3
    assert {start.info.handle for start in again} == {start.info.handle for start in started(bots[0])}


def test_match_when_it_is_stopped_then_authors_are_told_once_and_answers_on_their_way_get_no_notice() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(sessions=40, limits=LIMITS))
    for bot in bots:
        bot.read()
    owed = {bot: list(bot.turns.values()) for bot in bots}
    assert sum(map(len, owed.values())) == 40
    harness.lobby.close_match(match, STOPPED_BY_WORKER)
    for bot, turns in owed.items():
        for turn in turns:
            bot.send(turn.info.handle, turn.sequence, 0)
        bot.read()
        assert bot.notices() == []
        entries = harness.journal.of(bot.number, EntryKind.NOTICE)
        assert [(entry.code, entry.text) for entry in entries] == [
            (
                "void",
                "40 sessions of match m void: the worker ended the call; "
                "what is missing is played on later, with new cards",
            )
        ]


def test_answer_when_its_session_was_void_long_ago_then_a_second_one_gets_the_notice() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(limits=LIMITS))
    harness.lobby.close_match(match, STOPPED_BY_WORKER)
    for _ in range(2):
        bots[0].send(1, 1, 0)
    bots[0].read()
    assert [notice.code for notice in bots[0].notices()] == [NoticeCode.UNKNOWN_SESSION]


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
    """Play until a session is void after so many of four deals; return spec, bots and updates."""
    harness = Harness()
    bots = four(harness)
    spec = match_spec(deals=4, limits=replace(limits, decision_ms=60_000))
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
    limits = replace(LIMITS, bank_ms=50_000, faults=3)
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
    match = harness.open(match_spec(deals=3, limits=replace(LIMITS, decision_ms=60_000)))
    told = []
    while not match.done:
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                bot.play(turn)
        harness.advance(0.001)
        told += [json.loads(record)["deal"] for deals in match.take_deals() for record in deals.records]
    assert told == [1, 2]


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


def test_room_when_a_bot_comes_back_and_takes_no_sessions_then_it_is_waited_for_as_if_absent() -> None:
    harness = Harness()
    bots = [*four(harness)[:3]]
    harness.lobby.disconnect(harness.lobby.connection(4), harness.now)  # type: ignore[arg-type]
    bots.append(harness.connect(4, 1))
    match = harness.open(match_spec(sessions=4, deals=1, limits=LIMITS))
    assert (len(match.tables), len(match.waiting)) == (1, 3)
    harness.lobby.disconnect(bots[3].connection, harness.now)
    bots[3] = harness.connect(4, 0)
    assert harness.lobby.progress(match).waiting_for == ("owner/bot4@1",)
    results = harness.play_out(match, *bots)
    assert [result.number for result in results] == [1, 2, 3, 4]
    assert [result.forfeit is None for result in results] == [True, False, False, False]
    absent = harness.journal.of(4, EntryKind.FAULT, "absent")
    assert {entry.text for entry in absent} == {
        "the bot took no sessions at this referee when its match began, and forfeits the session"
    }


def test_match_when_a_bot_cannot_play_its_ruleset_then_it_is_waited_for_and_told_once() -> None:
    harness = Harness()
    bots = four(harness)[:3]
    harness.lobby.disconnect(harness.lobby.connection(4), harness.now)  # type: ignore[arg-type]
    unable = harness.connect(4)
    unable.connection.lacks = lambda ruleset: [f"{ruleset.players} seats"]
    match = harness.open(match_spec(sessions=2, deals=1, limits=LIMITS))
    harness.advance(1.0)
    assert not match.tables
    assert harness.lobby.progress(match).waiting_for == ("owner/bot4@1",)
    unable.read()
    (notice,) = unable.notices()
    why = "could not play the ruleset (it asks for 4 seats)"
    assert notice == Notice(NoticeCode.NOT_SEATED, f"match m waits for the bot, which {why}")
    assert [entry.text for entry in harness.journal.of(4, EntryKind.NOTICE)] == [
        f"match m waits for the bot, which {why}"
    ]

    harness.lobby.disconnect(unable.connection, harness.now)
    assert len(harness.play_out(match, *bots, harness.connect(4))) == 2
    assert not harness.journal.of(4, EntryKind.FAULT)


def test_match_when_a_bot_cannot_play_its_ruleset_in_time_then_it_forfeits() -> None:
    harness = Harness()
    bots = four(harness)
    bots[3].connection.lacks = lambda ruleset: ["4 seats"]
    match = harness.open(match_spec(deals=1, limits=LIMITS))
    (result,) = harness.play_out(match, *bots)
    assert result.forfeit == match.spec.sessions[0].seating.index(3)
    (entry,) = harness.journal.of(4, EntryKind.FAULT, "absent")
    why = "could not play the ruleset (it asks for 4 seats)"
    assert entry.text == f"the bot {why} when its match began, and forfeits the session"


def test_room_when_a_bot_with_too_little_of_it_leaves_then_it_is_waited_for_as_if_absent() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3)]
    bots.append(harness.connect(4, 1))
    harness.open(match_spec(match_id="first", limits=replace(LIMITS, decision_ms=60_000)))
    second = harness.open(match_spec(match_id="second", limits=LIMITS))
    assert not second.tables
    harness.lobby.disconnect(bots[3].connection, harness.now)
    harness.advance(BEAT_SECONDS)
    assert harness.lobby.progress(second).waiting_for == ("owner/bot4@1",)
    harness.advance(LIMITS.join_ms / 1000)
    (result,) = second.take_results()
    assert result.forfeit is not None


def test_room_when_a_bot_asks_for_more_in_the_middle_of_a_match_then_it_gets_more() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3)]
    bots.append(harness.connect(4, 1))
    match = harness.open(match_spec(sessions=4, limits=LIMITS))
    assert len(match.tables) == 1
    harness.lobby.resize(bots[3].connection, 3)
    harness.advance(BEAT_SECONDS)
    assert len(match.tables) == 3


def test_results_when_the_worker_does_not_fetch_them_then_no_further_session_begins() -> None:
    harness = Harness()
    bots = four(harness, 8)
    match = harness.open(match_spec(sessions=MAX_UNFETCHED + 30, deals=1, limits=LIMITS))
    for _ in range(5_000):
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                bot.play(turn)
        harness.advance(0.001)
        if not match.tables:
            break
    assert MAX_UNFETCHED <= len(match.results) < MAX_UNFETCHED + 8
    assert match.waiting
    fetched = len(match.take_results())
    assert fetched + len(harness.play_out(match, *bots)) == MAX_UNFETCHED + 30


def test_spectators_when_their_match_has_ended_then_they_count_until_they_are_gone() -> None:
    harness = Harness()
    match = harness.open(match_spec(limits=LIMITS))
    harness.lobby.watch(match)
    harness.lobby.close_match(match, STOPPED_BY_WORKER)
    assert harness.lobby.spectators == 1
    harness.lobby.unwatch(match)
    assert harness.lobby.spectators == 0


# Failures at one table


def break_deal(table: Table) -> None:
    """Make the table fail at whatever is done next."""
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
        seat.clock.deadline = cast(float, None)
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
    match = harness.open(match_spec(limits=LIMITS))
    harness.pause(100)
    harness.advance(1.5)
    assert not match.tables
    harness.advance(1)
    assert not match.tables
    assert match.take_results()[0].forfeit is not None


# Matches


def test_match_when_another_call_names_it_then_the_first_is_ended_and_its_sessions_are_void() -> None:
    harness = Harness()
    bots = four(harness)
    first = harness.open(match_spec(sessions=2, limits=LIMITS))
    second = harness.open(match_spec(sessions=2, limits=LIMITS))
    assert (first.ended, first.tables, first.results) == (TAKEN_OVER, {}, [])
    assert harness.lobby.match("m") is second
    assert len(harness.play_out(second, *bots)) == 2
    harness.lobby.close_match(first, STOPPED_BY_WORKER)
    assert harness.lobby.match("m") is second


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"ruleset": {"name": "chinese", "players": "four"}}, RulesetError),
        ({"deals": -1}, MatchRefused),
        ({"sessions": ()}, MatchRefused),
        ({"sessions": (SessionSpec(1, (0, 1, 2, 2), bytes(32)),)}, MatchRefused),
        ({"sessions": (SessionSpec(1, (0, 1, 2, 3), bytes(31)),)}, MatchRefused),
        ({"limits": Limits(decision_ms=0)}, MatchRefused),
        ({"limits": Limits(bank_ms=-1)}, MatchRefused),
    ],
)
def test_match_when_it_cannot_be_run_then_a_running_one_of_its_name_goes_on(
    change: dict[str, object], error: type[Exception]
) -> None:
    harness = Harness()
    bots = four(harness)
    running = harness.open(match_spec(limits=LIMITS))
    with pytest.raises(error):
        harness.open(replace(match_spec(), **change))  # type: ignore[arg-type]
    assert len(harness.play_out(running, *bots)) == 1


def test_hold_when_sessions_are_open_then_they_finish_and_no_other_begins() -> None:
    harness = Harness()
    bots = four(harness, 2)
    match = harness.open(match_spec(sessions=5, limits=replace(LIMITS, decision_ms=60_000)))
    other = harness.open(match_spec(match_id="other", limits=replace(LIMITS, decision_ms=60_000)))
    harness.lobby.hold(match)
    assert harness.lobby.progress(match).sessions_left == (3, 4, 5)
    assert len(harness.play_out(match, *bots)) == 2
    assert (match.done, match.ended, [len(started(bot)) for bot in bots]) == (True, "", [3] * 4)
    assert len(harness.play_out(other, *bots)) == 1


def test_hold_when_an_open_session_is_void_then_it_is_not_played_again() -> None:
    harness = Harness()
    four(harness)
    match = harness.open(match_spec(limits=LIMITS))
    harness.lobby.hold(match)
    harness.advance(UNSENT)
    assert (match.done, match.ended, match.results) == (True, "", [])


def test_hold_when_bots_are_waited_for_then_the_match_ends_at_once() -> None:
    harness = Harness()
    match = harness.open(match_spec(limits=LIMITS))
    harness.lobby.hold(match)
    assert match.done
    harness.advance(LIMITS.join_ms / 1000 + 1)
    assert (match.results, harness.lobby.sessions) == ([], 0)


def test_drain_when_sessions_are_open_then_they_finish_and_nothing_new_starts() -> None:
    harness = Harness()
    bots = four(harness, 2)
    spec = match_spec(sessions=5, limits=replace(LIMITS, decision_ms=60_000))
    match = harness.open(spec)
    waiting = harness.open(match_spec((1, 2, 3, 9), match_id="waiting", limits=LIMITS))
    harness.lobby.drain("closing")
    assert harness.lobby.draining
    assert not harness.lobby.drained
    assert waiting.ended == "closing"
    with pytest.raises(Draining, match="closing"):
        harness.open(match_spec(match_id="new"))
    results = harness.play_out(match, *bots)
    assert len(results) == 2
    for result in results:
        check_records(spec, result)
    assert match.ended == "closing"
    assert harness.lobby.drained


def test_drain_when_all_sessions_are_open_then_the_match_ends_as_any_other() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(sessions=3, limits=replace(LIMITS, decision_ms=60_000)))
    harness.lobby.drain("closing")
    assert len(harness.play_out(match, *bots)) == 3
    assert not match.ended


def test_close_when_the_referee_stops_then_bots_are_told_and_open_sessions_are_void() -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(match_spec(limits=LIMITS))
    harness.lobby.drain("closing", 9.0)
    harness.lobby.close_all("closing")
    assert match.ended == "closing"
    for bot in bots:
        bot.read()
        ends = [event.reason for event in bot.events if isinstance(event, SessionEnded)]
        assert ends == [SessionEnd.VOID]
        assert bot.connection.take_shutdown() == ("closing", 9.0)
        assert bot.connection.closing == (CloseCode.CLOSING, "closing")


@pytest.mark.parametrize("ask_forced", [False, True])
def test_forced_turns_when_they_are_asked_then_the_records_are_the_same(ask_forced: bool) -> None:
    limits = replace(LIMITS, decision_ms=60_000)
    plain, harness = Harness(), Harness()
    expected = plain.play_out(plain.open(match_spec(sessions=2, limits=limits)), *four(plain))
    match = harness.open(match_spec(sessions=2, limits=replace(limits, ask_forced=ask_forced)))
    results = harness.play_out(match, *four(harness))
    assert without_times(results) == without_times(expected)
    assert (match.decisions > sum(len(r.records) * 52 for r in expected) / 2) or not ask_forced
