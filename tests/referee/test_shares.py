"""Tests for bots that are slow or accept few sessions: matches share them fairly, and have a time limit."""

import json

import pytest

from referee.matches.events import SessionStarted
from referee.matches.journal import EntryKind
from referee.matches.match import Limits, SessionResult
from referee.matches.running import Match
from tests.referee.harness import FakeBot, Harness
from tests.referee.support import check_records, match_spec

LIMITS = Limits(decision_ms=5000, faults=1000, join_seconds=2)
TIMED = LIMITS.model_copy(update={"match_seconds": 30})


def play_slowly(
    harness: Harness, match: Match, bots: list[FakeBot], thinks: dict[int, float]
) -> list[SessionResult]:
    """Let bots answer, one after another, until the match is over; each thinks for its number of seconds."""
    results = match.take_results()
    while not (match.done or match.ended):
        for bot in bots:
            bot.read()
            for handle in list(bot.turns):
                if handle not in bot.turns:
                    continue
                harness.advance(thinks.get(bot.number, 0.001))
                bot.read()
                if handle in bot.turns:
                    bot.play(bot.turns[handle])
        harness.advance(0.001)
        results += match.take_results()
    return sorted(results + match.take_results(), key=lambda result: result.number)


def records_of(result: SessionResult) -> list[dict[str, object]]:
    return [json.loads(record) for record in result.records]


# The time of a match


def test_match_when_its_time_is_up_then_who_thought_longest_forfeits_what_is_not_finished() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3)]
    bots.append(harness.connect(4, 1))
    began = harness.now
    spec = match_spec(sessions=6, limits=TIMED)
    match = harness.open(spec)
    results = play_slowly(harness, match, bots, {2: 0.7})
    assert 30 <= harness.now - began < 31
    assert [result.number for result in results] == [1, 2, 3, 4, 5, 6]
    for result in results:
        check_records(spec, result)
    seatings = {session.number: session.seating for session in spec.sessions}
    late = [result for result in results if result.forfeit is not None]
    assert 1 <= len(late) < 6  # some were finished in time, one was open, the rest had not begun
    assert {seatings[one.number][one.forfeit or 0] for one in late} == {1}
    used: list[dict[int, int]] = []
    for one in late:
        last = records_of(one)[-1]
        by_seat = last["used_ms"]
        assert isinstance(by_seat, list)
        used.append(dict(zip(seatings[one.number], by_seat, strict=True)))
        assert by_seat.index(max(by_seat)) == one.forfeit == last["forfeit"]
    assert all(one == used[0] for one in used)
    unbegun = [last for one in late if "absent" in (last := records_of(one)[-1])]
    assert len(unbegun) == len(late) - 1  # the open one was begun
    assert all(last["absent"] == [last["forfeit"]] and not last["actions"] for last in unbegun)
    entries = harness.journal.of(2, EntryKind.FAULT, "match_time")
    assert len(entries) == len(late)
    assert entries[0].text.startswith("the time of the match, 30 s, was up; the bot had thought longest of")
    assert not any(result.faults[seat] for result in late for seat in range(4))


def test_match_when_its_time_is_up_for_a_bot_that_owes_its_first_decision_then_that_counts() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 4)]
    match = harness.open(match_spec(limits=TIMED.model_copy(update={"decision_ms": 60_000})))
    for bot in bots:
        bot.read()
    (slow,) = [bot for bot in bots if bot.turns]
    harness.advance(30.1)
    (result,) = match.take_results()
    assert match.spec.sessions[0].seating[result.forfeit or 0] == slow.number - 1
    (record,) = records_of(result)
    assert (record["actions"], match.done) == ([], True)


def test_match_when_its_time_is_up_before_it_found_room_then_who_had_none_forfeits_it() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 5, 6, 7)]
    bots.append(harness.connect(4, 1))
    harness.open(
        match_spec((5, 6, 7, 4), match_id="first", limits=LIMITS.model_copy(update={"decision_ms": 600_000}))
    )
    second = harness.open(match_spec(match_id="second", sessions=2, limits=TIMED))
    assert not second.tables
    for bot in bots:
        bot.read()
    harness.advance(30.1)
    results = second.take_results()
    assert second.done
    for result, session in zip(results, second.spec.sessions, strict=True):
        assert session.seating[result.forfeit or 0] == 3
        assert records_of(result)[0]["absent"] == [result.forfeit]


def test_match_when_the_referee_was_away_then_its_time_is_longer() -> None:
    harness = Harness()
    for number in (1, 2, 3, 4):
        harness.connect(number).read()
    match = harness.open(match_spec(limits=TIMED.model_copy(update={"decision_ms": 600_000})))
    harness.advance(20)
    harness.pause(60)
    harness.advance(9)
    assert not match.done
    harness.advance(2)
    assert match.done


def test_match_when_it_has_no_time_then_it_takes_as_long_as_it_takes() -> None:
    harness = Harness()
    for number in (1, 2, 3, 4):
        harness.connect(number).read()
    match = harness.open(match_spec(limits=LIMITS.model_copy(update={"decision_ms": 3_600_000})))
    harness.advance(1000)
    assert match.tables


# Few sessions at once


def test_absent_bots_when_one_forfeits_then_the_record_names_all_of_them() -> None:
    harness = Harness()
    harness.connect(1)
    harness.connect(2)
    spec = match_spec(sessions=4, limits=LIMITS.model_copy(update={"on_forfeit": "end_session"}))
    match = harness.open(spec)
    harness.advance(2.1)
    for result, session in zip(match.take_results(), spec.sessions, strict=True):
        (record,) = records_of(result)
        assert record["absent"] == sorted(session.seating.index(bot) for bot in (2, 3))


@pytest.mark.parametrize(("takes", "plays"), [(1, False), (3, True)])
def test_bot_when_it_takes_fewer_sessions_than_asked_for_then_it_counts_as_absent(
    takes: int, plays: bool
) -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3)]
    bots.append(harness.connect(4, takes))
    match = harness.open(
        match_spec(sessions=2, deals=1, limits=LIMITS.model_copy(update={"min_sessions": 3}))
    )
    assert bool(match.tables) is plays
    results = harness.play_out(match, *bots)
    assert [not result.forfeits for result in results] == [plays] * 2
    texts = {entry.text for entry in harness.journal.of(4, EntryKind.NOTICE, "not_seated")}
    why = "took 1 sessions at once at this referee, fewer than 3"
    assert texts == (set() if plays else {f"match m waits for the bot, which {why}"})


def numbers_begun(harness: Harness, bot: FakeBot, matches: list[Match], bots: list[FakeBot]) -> list[str]:
    """Play matches to their end; return the matches of the bot's sessions, in the order of their starts."""
    while not all(match.done for match in matches):
        for one in bots:
            one.read()
            for turn in list(one.turns.values()):
                one.play(turn)
        harness.advance(0.001)
        for match in matches:
            match.take_results()
    begun = [event for event in bot.events if isinstance(event, SessionStarted)]
    return [event.info.session_id.partition("/")[0] for event in begun]


def test_bot_when_it_takes_one_session_and_plays_two_matches_then_they_take_turns() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 5, 6, 7)]
    shared = harness.connect(4, 1)
    matches = [
        harness.open(match_spec((*others, 4), match_id=name, sessions=3, deals=1, limits=LIMITS))
        for name, others in (("first", (1, 2, 3)), ("second", (5, 6, 7)))
    ]
    assert numbers_begun(harness, shared, matches, [*bots, shared]) == ["first", "second"] * 3


def test_match_when_two_others_each_take_one_of_its_bots_then_it_is_not_passed_over() -> None:
    harness = Harness()
    few = [harness.connect(number, 1) for number in (1, 2)]
    others = [harness.connect(number) for number in range(3, 11)]
    one = harness.open(match_spec((1, 3, 4, 5), match_id="one", sessions=5, deals=1, limits=LIMITS))
    two = harness.open(match_spec((2, 6, 7, 8), match_id="two", sessions=5, deals=2, limits=LIMITS))
    both = harness.open(match_spec((1, 2, 9, 10), match_id="both", sessions=2, deals=1, limits=LIMITS))
    order = numbers_begun(harness, few[0], [one, two, both], [*few, *others])
    assert order[:2] == ["one", "both"]
    assert sorted(order) == ["both"] * 2 + ["one"] * 5
