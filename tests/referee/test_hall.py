"""Connections, matches and sessions of a referee, with the clock passed in."""

from dataclasses import replace

import pytest

from referee.errors import ConnectionRefused, Draining, MatchRefused, RulesetError
from referee.matches.connection import BACKLOG, LOST_SECONDS, PING_SECONDS, CloseCode
from referee.matches.events import Notice, NoticeCode, SessionEnd, SessionEnded, SessionStarted
from referee.matches.hall import MAX_VOIDED, STOPPED_BY_WORKER, TAKEN_OVER
from referee.matches.journal import EntryKind
from referee.matches.match import Limits, SessionSpec
from referee.matches.table import UNSENT_GRACE
from tests.referee.lobby import FakeBot, Lobby
from tests.referee.support import check_records, match_spec

LIMITS = Limits(decision_ms=1000, faults=1000, join_ms=2000)
UNSENT = 1 + UNSENT_GRACE + 0.01
"""Seconds after which a turn that no stream took ends in something."""


def four(lobby: Lobby, max_sessions: int = 256) -> list[FakeBot]:
    return [lobby.connect(number, max_sessions) for number in (1, 2, 3, 4)]


def started(bot: FakeBot) -> list[SessionStarted]:
    bot.read()
    return [event for event in bot.events if isinstance(event, SessionStarted)]


# Connections


def test_connect_when_the_bot_is_here_then_a_second_is_refused() -> None:
    lobby = Lobby()
    first = lobby.connect(1)
    with pytest.raises(ConnectionRefused, match="owner/bot1@1 has a live connection already"):
        lobby.connect(1)
    assert first.here


def test_disconnect_when_the_stream_was_replaced_then_the_new_one_stays() -> None:
    lobby = Lobby()
    first = lobby.connect(1)
    lobby.hall.close(first.connection, CloseCode.REPLACED, "gone", lobby.now)
    second = lobby.connect(1)
    lobby.hall.disconnect(first.connection, lobby.now)
    assert second.here


def test_beat_when_streams_live_then_each_is_pinged_now_and_then() -> None:
    lobby = Lobby()
    bot = lobby.connect(1)
    while bot.connection.ping_due:
        bot.read()
    before = len(bot.pings)
    for _ in range(3):
        lobby.advance(PING_SECONDS + 0.1)
        bot.read()
    assert len(bot.pings) == before + 3


def test_beat_when_a_stream_answers_no_ping_then_it_is_given_up() -> None:
    lobby = Lobby()
    bot = lobby.connect(1)
    bot.read(pong=False)
    lobby.advance(LOST_SECONDS - 1)
    assert lobby.hall.connected() == [1]
    lobby.advance(PING_SECONDS + 2)
    assert not lobby.hall.connected()
    assert bot.connection.closing == (CloseCode.LOST, "the bot answers no ping")


def test_beat_when_too_much_waits_for_a_stream_then_it_is_given_up() -> None:
    lobby = Lobby()
    bot = lobby.connect(1)
    for _ in range(BACKLOG + 1):
        bot.connection.outbox.put(Notice(NoticeCode.UNEXPECTED, ""))
    lobby.advance(PING_SECONDS + 0.2)
    assert not bot.here


# Sessions


def test_sessions_when_a_bot_takes_few_then_the_others_wait_for_room() -> None:
    lobby = Lobby()
    bots = [*four(lobby)[:3]]
    lobby.hall.disconnect(lobby.hall.connection(4), lobby.now)  # type: ignore[arg-type]
    bots.append(lobby.connect(4, 2))
    spec = match_spec(sessions=5, deals=1, limits=replace(LIMITS, decision_ms=60_000))
    match = lobby.open(spec)
    assert (len(match.tables), len(match.waiting)) == (2, 3)
    results = lobby.play_out(match, *bots)
    assert [result.number for result in results] == [1, 2, 3, 4, 5]
    assert lobby.hall.place_of(4).sessions == 0


def test_room_when_a_match_is_closed_then_the_waiting_one_gets_it() -> None:
    lobby = Lobby()
    bots = four(lobby, 1)
    first = lobby.open(match_spec(match_id="first", limits=LIMITS))
    second = lobby.open(match_spec(match_id="second", limits=LIMITS))
    assert not second.tables
    lobby.hall.close_match(first, STOPPED_BY_WORKER)
    lobby.advance(0.2)
    assert len(second.tables) == 1
    assert [start.info.session_id for start in started(bots[0])] == ["first/1", "second/1"]


def test_room_when_a_flood_forfeits_a_session_then_the_next_one_begins_or_is_waited_for() -> None:
    lobby = Lobby()
    bots = four(lobby, 1)
    match = lobby.open(match_spec(sessions=2, limits=replace(LIMITS, faults=1)))
    for bot in bots:
        bot.read()
    (bot,) = [bot for bot in bots if bot.turns]
    while bot.here:
        bot.send(77, 1, 0)
    assert len(match.take_results()) == 1
    lobby.advance(3)
    (result,) = match.take_results()
    assert result.forfeit is not None
    assert match.done


def test_absent_bots_when_the_wait_is_over_then_they_forfeit_in_turn() -> None:
    lobby = Lobby()
    bots = [lobby.connect(1), lobby.connect(2)]
    spec = match_spec(sessions=4, limits=LIMITS)
    match = lobby.open(spec)
    lobby.advance(1.9)
    assert not match.tables
    assert lobby.hall.progress(match).waiting_for == ("owner/bot3@1", "owner/bot4@1")
    lobby.advance(0.2)
    results = lobby.play_out(match, *bots)
    forfeits = [
        session.seating[result.forfeit]
        for session, result in zip(spec.sessions, results, strict=True)
        if result.forfeit is not None
    ]
    assert sorted(forfeits) == [2, 2, 3, 3]


def test_reconnect_when_sessions_are_open_then_the_bot_is_told_of_each() -> None:
    lobby = Lobby()
    bots = four(lobby)
    lobby.open(match_spec(sessions=3, limits=LIMITS))
    assert len(started(bots[0])) == 3
    lobby.hall.disconnect(bots[0].connection, lobby.now)
    again = started(lobby.connect(1))
    assert [start.resumed for start in again] == [True] * 3
    assert {start.info.handle for start in again} == {start.info.handle for start in started(bots[0])}


# The referee's own failures


def test_turn_when_the_referee_does_not_hand_it_out_then_the_session_is_void_and_played_again() -> None:
    lobby = Lobby()
    spec = match_spec(limits=LIMITS)
    undisturbed = Lobby()
    expected = undisturbed.play_out(undisturbed.open(spec), *four(undisturbed))
    bots = four(lobby)
    match = lobby.open(spec)
    lobby.advance(UNSENT)
    assert lobby.hall.progress(match).sessions_voided == 1
    assert not match.results
    assert lobby.play_out(match, *bots) == expected
    bots[0].read()
    ends = [event.reason for event in bots[0].events if isinstance(event, SessionEnded)]
    assert ends == [SessionEnd.VOID, SessionEnd.PLAYED]
    assert not [entry for entry in lobby.journal.entries if entry.kind is EntryKind.FAULT]


def test_turn_when_the_referee_never_hands_it_out_then_the_match_is_given_back() -> None:
    lobby = Lobby()
    four(lobby)
    match = lobby.open(match_spec(limits=LIMITS))
    lobby.advance((MAX_VOIDED + 2) * UNSENT)
    assert match.ended == "the referee is too busy to hand out turns"
    assert lobby.hall.matches == 0
    assert not match.results


def test_turn_when_only_its_bot_takes_no_messages_then_the_others_are_not_harmed() -> None:
    lobby = Lobby()
    bots = four(lobby)
    others = [lobby.connect(number) for number in (5, 6, 7, 8)]
    stuck = lobby.open(match_spec(sessions=4, match_id="stuck", limits=LIMITS))
    spec = match_spec((5, 6, 7, 8), sessions=4, match_id="free", limits=LIMITS)
    free = lobby.open(spec)
    bots[0].connection.blocked = True
    results = lobby.play_out(free, *others, *bots[1:])
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 4
    assert not stuck.done
    lobby.play_out(stuck, *bots[1:])
    assert lobby.journal.of(1, EntryKind.FAULT, "stall")
    assert {entry.version_id for entry in lobby.journal.entries} == {1}
    assert stuck.voided == 0


def test_pause_when_the_referee_was_away_then_waiting_matches_and_clocks_wait_as_long() -> None:
    lobby = Lobby()
    bots = four(lobby)
    lobby.hall.disconnect(bots[3].connection, lobby.now)
    match = lobby.open(match_spec(limits=LIMITS))
    lobby.pause(100)
    lobby.advance(1.5)
    assert not match.tables
    lobby.advance(1)
    assert not match.tables
    assert match.take_results()[0].forfeit is not None


# Matches


def test_match_when_another_call_names_it_then_the_first_is_ended_and_its_sessions_are_void() -> None:
    lobby = Lobby()
    bots = four(lobby)
    first = lobby.open(match_spec(sessions=2, limits=LIMITS))
    second = lobby.open(match_spec(sessions=2, limits=LIMITS))
    assert (first.ended, first.tables, first.results) == (TAKEN_OVER, {}, [])
    assert lobby.hall.match("m") is second
    assert len(lobby.play_out(second, *bots)) == 2
    lobby.hall.close_match(first, STOPPED_BY_WORKER)
    assert lobby.hall.match("m") is second


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
    lobby = Lobby()
    bots = four(lobby)
    running = lobby.open(match_spec(limits=LIMITS))
    with pytest.raises(error):
        lobby.open(replace(match_spec(), **change))  # type: ignore[arg-type]
    assert len(lobby.play_out(running, *bots)) == 1


def test_hold_when_sessions_are_open_then_they_finish_and_no_other_begins() -> None:
    lobby = Lobby()
    bots = four(lobby, 2)
    match = lobby.open(match_spec(sessions=5, limits=replace(LIMITS, decision_ms=60_000)))
    other = lobby.open(match_spec(match_id="other", limits=replace(LIMITS, decision_ms=60_000)))
    lobby.hall.hold(match)
    assert len(lobby.play_out(match, *bots)) == 2
    assert (match.done, match.ended, [len(started(bot)) for bot in bots]) == (True, "", [3] * 4)
    assert len(lobby.play_out(other, *bots)) == 1


def test_hold_when_an_open_session_is_void_then_it_is_not_played_again() -> None:
    lobby = Lobby()
    four(lobby)
    match = lobby.open(match_spec(limits=LIMITS))
    lobby.hall.hold(match)
    lobby.advance(UNSENT)
    assert (match.done, match.ended, match.results) == (True, "", [])


def test_hold_when_bots_are_waited_for_then_the_match_ends_at_once() -> None:
    lobby = Lobby()
    match = lobby.open(match_spec(limits=LIMITS))
    lobby.hall.hold(match)
    assert match.done
    lobby.advance(LIMITS.join_ms / 1000 + 1)
    assert (match.results, lobby.hall.sessions) == ([], 0)


def test_drain_when_sessions_are_open_then_they_finish_and_nothing_new_starts() -> None:
    lobby = Lobby()
    bots = four(lobby, 2)
    spec = match_spec(sessions=5, limits=replace(LIMITS, decision_ms=60_000))
    match = lobby.open(spec)
    waiting = lobby.open(match_spec((1, 2, 3, 9), match_id="waiting", limits=LIMITS))
    lobby.hall.drain("closing")
    assert lobby.hall.draining
    assert not lobby.hall.drained
    assert waiting.ended == "closing"
    with pytest.raises(Draining, match="closing"):
        lobby.open(match_spec(match_id="new"))
    results = lobby.play_out(match, *bots)
    assert len(results) == 2
    for result in results:
        check_records(spec, result)
    assert match.ended == "closing"
    assert lobby.hall.drained


def test_drain_when_all_sessions_are_open_then_the_match_ends_as_any_other() -> None:
    lobby = Lobby()
    bots = four(lobby)
    match = lobby.open(match_spec(sessions=3, limits=replace(LIMITS, decision_ms=60_000)))
    lobby.hall.drain("closing")
    assert len(lobby.play_out(match, *bots)) == 3
    assert not match.ended


def test_close_when_the_referee_stops_then_bots_are_told_and_open_sessions_are_void() -> None:
    lobby = Lobby()
    bots = four(lobby)
    match = lobby.open(match_spec(limits=LIMITS))
    lobby.hall.close_all("closing")
    assert match.ended == "closing"
    for bot in bots:
        bot.read()
        ends = [event.reason for event in bot.events if isinstance(event, SessionEnded)]
        assert ends == [SessionEnd.VOID]
        assert bot.notices()[-1].code is NoticeCode.CLOSING


@pytest.mark.parametrize("ask_forced", [False, True])
def test_forced_turns_when_they_are_asked_then_the_records_are_the_same(ask_forced: bool) -> None:
    limits = replace(LIMITS, decision_ms=60_000)
    plain, lobby = Lobby(), Lobby()
    expected = plain.play_out(plain.open(match_spec(sessions=2, limits=limits)), *four(plain))
    match = lobby.open(match_spec(sessions=2, limits=replace(limits, ask_forced=ask_forced)))
    assert lobby.play_out(match, *four(lobby)) == expected
    assert (match.decisions > sum(len(r.records) * 52 for r in expected) / 2) or not ask_forced
