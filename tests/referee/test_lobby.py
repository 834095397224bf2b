"""Tests for a referee's connections, matches and sessions, with the time passed in."""

from dataclasses import replace

import pytest

from referee.errors import ConnectionRefused, Draining, MatchRefused, RulesetError
from referee.matches.clock import UNSENT_GRACE
from referee.matches.connection import BACKLOG, LOST_SECONDS, PING_SECONDS, CloseCode
from referee.matches.events import Notice, SessionEnded
from referee.matches.journal import EntryKind
from referee.matches.kinds import NoticeCode, SessionEnd
from referee.matches.lobby import BEAT_SECONDS, STOPPED_BY_WORKER, TAKEN_OVER
from referee.matches.match import Limits, SessionSpec
from referee.matches.running import MAX_UNFETCHED
from tests.referee.harness import Harness, four, started
from tests.referee.support import check_records, match_spec, without_times

LIMITS = Limits(decision_ms=1000, faults=1000, join_seconds=2)
ENDING = LIMITS.model_copy(update={"on_forfeit": "end_session"})
UNSENT = 1 + UNSENT_GRACE + 0.01
"""Seconds after which a turn that no stream has accepted has consequences."""


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
    spec = match_spec(sessions=5, deals=1, limits=LIMITS.model_copy(update={"decision_ms": 60_000}))
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
    match = harness.open(match_spec(sessions=2, limits=ENDING.model_copy(update={"faults": 1})))
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
    spec = match_spec(sessions=4, limits=ENDING)
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
    assert all(len(result.forfeits) == 2 for result in results)


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


# Room


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
    assert [len(result.forfeits) for result in results] == [0, 1, 1, 1]
    absent = harness.journal.of(4, EntryKind.FAULT, "absent")
    assert {entry.text for entry in absent} == {
        "the bot took no sessions at this referee when the session was to begin, and forfeits the session"
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
    assert result.forfeits == (match.spec.sessions[0].seating.index(3),)
    (entry,) = harness.journal.of(4, EntryKind.FAULT, "absent")
    why = "could not play the ruleset (it asks for 4 seats)"
    assert entry.text == f"the bot {why} when the session was to begin, and forfeits the session"
    assert entry.details == {"deal": 1}


def test_room_when_a_bot_with_too_little_of_it_leaves_then_it_is_waited_for_as_if_absent() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3)]
    bots.append(harness.connect(4, 1))
    harness.open(match_spec(match_id="first", limits=LIMITS.model_copy(update={"decision_ms": 60_000})))
    second = harness.open(match_spec(match_id="second", limits=ENDING))
    assert not second.tables
    harness.lobby.disconnect(bots[3].connection, harness.now)
    harness.advance(BEAT_SECONDS)
    assert harness.lobby.progress(second).waiting_for == ("owner/bot4@1",)
    harness.advance(LIMITS.join_seconds)
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
    match = harness.open(match_spec(sessions=5, limits=LIMITS.model_copy(update={"decision_ms": 60_000})))
    other = harness.open(
        match_spec(match_id="other", limits=LIMITS.model_copy(update={"decision_ms": 60_000}))
    )
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
    harness.advance(LIMITS.join_seconds + 1)
    assert (match.results, harness.lobby.sessions) == ([], 0)


def test_drain_when_sessions_are_open_then_they_finish_and_nothing_new_starts() -> None:
    harness = Harness()
    bots = four(harness, 2)
    spec = match_spec(sessions=5, limits=LIMITS.model_copy(update={"decision_ms": 60_000}))
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
    match = harness.open(match_spec(sessions=3, limits=LIMITS.model_copy(update={"decision_ms": 60_000})))
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
    limits = LIMITS.model_copy(update={"decision_ms": 60_000})
    plain, harness = Harness(), Harness()
    expected = plain.play_out(plain.open(match_spec(sessions=2, limits=limits)), *four(plain))
    match = harness.open(match_spec(sessions=2, limits=limits.model_copy(update={"ask_forced": ask_forced})))
    results = harness.play_out(match, *four(harness))
    assert without_times(results) == without_times(expected)
    assert (match.decisions > sum(len(r.records) * 52 for r in expected) / 2) or not ask_forced
