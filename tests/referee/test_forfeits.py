"""Tests for sessions in which bots forfeit: they continue without them, or end, as the tournament says."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

from referee.deals.action import Forfeit, OnForfeit
from referee.errors import RecordError
from referee.matches.events import SeatForfeited, SessionEnded, Turn
from referee.matches.journal import EntryKind
from referee.matches.kinds import SessionEnd
from referee.matches.match import Limits, MatchSpec, SessionResult
from referee.matches.running import Match
from referee.matches.tables import finished_deals
from referee.records.replay import Replayer
from tests.referee.harness import FakeBot, Harness, four, started
from tests.referee.support import check_records, full_records, match_spec

LIMITS = Limits(decision_ms=1000, faults=3, join_seconds=2)
GOING_ON: tuple[OnForfeit, ...] = ("default_action", "stand_in")
EXCHANGE = {"extends": "hong-kong-relatives-3", "exchange": "loser_to_winner"}
RULESETS: dict[str, tuple[Any, int]] = {
    "plain": ("chinese", 4),
    "exchange": (EXCHANGE, 3),
    "bombs": ("gamesky", 4),
    "stock": ("hong-kong-relatives-3", 3),
    "own": ("indonesia", 4),
}

each_mode = pytest.mark.parametrize("mode", GOING_ON)
each_ruleset = pytest.mark.parametrize(("ruleset", "players"), RULESETS.values(), ids=RULESETS)


def spec_of(mode: OnForfeit, ruleset: Any = "chinese", players: int = 4, **more: Any) -> MatchSpec:
    limits = LIMITS.model_copy(update={"on_forfeit": mode, **more.pop("limits", {})})
    return match_spec(range(1, players + 1), ruleset=ruleset, limits=limits, **more)


def records_of(result: SessionResult) -> list[dict[str, Any]]:
    return [json.loads(record) for record in result.records]


def ended(bot: FakeBot) -> list[SessionEnded]:
    bot.read()
    ends = [event for event in bot.events if isinstance(event, SessionEnded)]
    return sorted(ends, key=lambda end: end.info.number)


def told(bot: FakeBot) -> list[tuple[int, str]]:
    bot.read()
    return [(one.forfeit.seat, one.forfeit.why) for one in bot.events if isinstance(one, SeatForfeited)]


def fail_when(
    harness: Harness, match: Match, bots: list[FakeBot], fails: Callable[[FakeBot, Turn], bool]
) -> list[SessionResult]:
    """Play a match to its end; a bot that ``fails`` answers a turn with its whole hand, which is illegal."""
    results: list[SessionResult] = []
    while not match.done:
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                if fails(bot, turn):
                    bot.answer(turn, turn.deal.hands[turn.seat])
                else:
                    bot.play(turn)
        harness.advance(0.001)
        results += match.take_results()
    return results


@each_mode
@each_ruleset
def test_absent_bot_when_the_session_goes_on_then_its_seat_is_played_for_to_the_end(
    mode: OnForfeit, ruleset: Any, players: int
) -> None:
    harness = Harness()
    spec = spec_of(mode, ruleset, players, sessions=players, deals=3)
    bots = [harness.connect(number) for number in range(2, players + 1)]
    results = harness.play_out(harness.open(spec), *bots)
    assert len(results) == players
    for result, session in zip(results, spec.sessions, strict=True):
        check_records(spec, result)
        seat = session.seating.index(0)
        assert (result.forfeit, result.forfeits, sum(result.faults)) == (None, (seat,), 0)
        for record in records_of(result):
            assert record["played_for"] == [
                {"seat": seat, "deal": 1, "action": 0, "why": "absent", "by": mode}
            ]
            times = zip(record["actions"], record["ms"].split(), strict=True)
            assert {ms for action, ms in times if action[0] == str(seat)} <= {"-"}
        assert told(bots[0]).count((seat, "absent")) >= 1
    assert {end.reason for end in ended(bots[0])} == {SessionEnd.PLAYED}
    assert [end.forfeits for end in ended(bots[0])] == [result.forfeits for result in results]
    assert len(harness.journal.of(1, EntryKind.FAULT, "absent")) == players


@each_mode
@each_ruleset
def test_faults_when_they_are_too_many_then_the_seat_is_played_for_from_there_on(
    mode: OnForfeit, ruleset: Any, players: int
) -> None:
    harness = Harness()
    spec = spec_of(mode, ruleset, players, deals=4)
    bots = [harness.connect(number) for number in range(1, players + 1)]
    (result,) = fail_when(harness, harness.open(spec), bots, lambda bot, turn: bot.number == 2)
    check_records(spec, result)
    seat = spec.sessions[0].seating.index(1)
    assert (result.forfeit, result.forfeits, result.faults[seat]) == (None, (seat,), 3)
    records = records_of(result)
    last = [fault for record in records for fault in record.get("faults", ())][-1]
    (entry,) = records[-1]["played_for"]
    assert (entry["seat"], entry["action"], entry["why"]) == (seat, last["action"], "faults")
    assert all("played_for" not in record for record in records[: entry["deal"] - 1])
    assert all(told(bot) == [(seat, "faults")] for bot in bots)


@each_mode
def test_forfeits_when_a_higher_seat_is_first_then_they_are_by_number_and_played_for_by_time(
    mode: OnForfeit,
) -> None:
    harness = Harness()
    spec, bots = spec_of(mode, deals=4), four(harness)

    def fails(bot: FakeBot, turn: Turn) -> bool:
        return turn.seat == 3 or (turn.seat == 1 and len(told(bot)) > 0)

    (result,) = fail_when(harness, harness.open(spec), bots, fails)
    check_records(spec, result)
    assert (result.forfeit, result.forfeits) == (None, (1, 3))
    records = records_of(result)
    assert [one["seat"] for one in records[-1]["played_for"]] == [3, 1]
    assert [ended(bot)[0].forfeits for bot in bots] == [(1, 3)] * 4
    for one in records[-1]["played_for"]:
        record = records[one["deal"] - 1]
        last = [fault for fault in record["faults"] if fault["seat"] == one["seat"]][-1]
        assert (last["action"], last.get("turn")) == (one["action"], None)
        assert record["actions"][one["action"]].startswith(f"{one['seat']}:")


@each_mode
def test_bot_when_it_leaves_for_good_then_its_turns_run_out_and_the_session_goes_on(mode: OnForfeit) -> None:
    harness = Harness()
    bots = four(harness)
    match = harness.open(spec_of(mode))
    harness.lobby.disconnect(bots[2].connection, harness.now)
    (result,) = harness.play_out(match, *bots[:2], bots[3])
    check_records(match.spec, result)
    assert (result.forfeits, result.faults) == ((2,), (0, 0, 3, 0))


@each_mode
def test_bots_when_two_are_absent_then_both_are_played_for(mode: OnForfeit) -> None:
    harness = Harness()
    spec = spec_of(mode)
    (result,) = harness.play_out(harness.open(spec), harness.connect(1), harness.connect(3))
    check_records(spec, result)
    assert (result.forfeit, result.forfeits) == (None, (1, 3))


@pytest.mark.parametrize("mode", get_args(OnForfeit))
def test_bots_when_all_are_absent_then_the_session_ends_at_once(mode: OnForfeit) -> None:
    harness = Harness()
    spec = spec_of(mode, sessions=4)
    match = harness.open(spec)
    harness.advance(2.1)
    results = match.take_results()
    for result, session in zip(results, spec.sessions, strict=True):
        check_records(spec, result)
        assert result.forfeits == (0, 1, 2, 3)
        assert session.seating[result.forfeit or 0] == session.number % 4
        (record,) = records_of(result)
        assert (record["absent"], record["end"]) == ([0, 1, 2, 3], "forfeit")
        assert "played_for" not in record


@pytest.mark.parametrize("mode", get_args(OnForfeit))
def test_faults_when_all_bots_make_too_many_then_the_last_one_ends_the_session(mode: OnForfeit) -> None:
    harness = Harness()
    spec = spec_of(mode)
    (result,) = fail_when(harness, harness.open(spec), four(harness), lambda bot, turn: True)
    check_records(spec, result)
    assert result.forfeit is not None
    assert len(result.forfeits) == (1 if mode == "end_session" else 4)
    assert len(records_of(result)[-1].get("played_for", ())) == len(result.forfeits) - 1


@each_mode
def test_bot_when_it_comes_back_after_its_forfeit_then_it_is_told_and_asked_in_other_sessions_only(
    mode: OnForfeit,
) -> None:
    harness = Harness()
    spec = spec_of(mode, sessions=2, deals=1, limits={"faults": 1})
    bots = four(harness)
    match = harness.open(spec)
    first = min(match.tables)
    owing = next(seat.index for seat in match.tables[first].seats if seat.turn is not None)
    bot = bots[spec.sessions[0].seating[owing]]
    bot.read()
    bot.answer(bot.turns[first], bot.turns[first].deal.hands[owing])
    harness.lobby.disconnect(bot.connection, harness.now)
    bots[bot.number - 1] = back = harness.connect(bot.number)
    assert {start.info.handle for start in started(back)} == {first, first + 1}
    assert told(back) == [(owing, "faults")]
    results = harness.play_out(match, *bots)
    assert [result.forfeits for result in results] == [(owing,), ()]
    asked = {event.info.handle for event in back.events if isinstance(event, Turn)}
    assert asked == {first + 1}
    assert [end.forfeits for end in ended(back)] == [(owing,), ()]


@each_mode
def test_session_when_another_attempt_goes_on_then_the_seat_is_still_played_for(mode: OnForfeit) -> None:
    harness = Harness()
    spec = spec_of(mode, deals=3)
    (whole,) = harness.play_out(harness.open(spec), *[harness.connect(number) for number in (1, 2, 3)])
    before = list(whole.records[:1])
    after = finished_deals(before, (), spec.ruleset)
    assert after.forfeits == (Forfeit(3, 1, 0, "absent"),)
    again = replace(spec, sessions=(replace(spec.sessions[0], attempt=2, after=after),))
    later = Harness()
    bots = four(later)
    (rest,) = later.play_out(later.open(again), *bots)
    assert rest.forfeits == (3,)
    assert not [event for event in bots[3].events if isinstance(event, Turn)]
    assert [record["deal"] for record in records_of(rest)] == [2, 3]
    replayer = Replayer()
    for record in full_records(spec, replace(rest, records=(*before, *rest.records))):
        replayer.check(record)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: one | {"by": "stand_in"}, "is not what stand_in does"),
        (lambda one: one | {"deal": 9}, "comes after the last action"),
    ],
)
def test_record_when_who_is_played_for_is_altered_then_replay_finds_it(
    change: Callable[[dict[str, Any]], dict[str, Any]], told: str
) -> None:
    harness = Harness()
    spec = spec_of("default_action", deals=1)
    (result,) = harness.play_out(harness.open(spec), *[harness.connect(number) for number in (1, 2, 3)])
    (record,) = full_records(spec, result)
    with pytest.raises(RecordError, match=told):
        Replayer().check(record | {"played_for": [change(record["played_for"][0])]})
