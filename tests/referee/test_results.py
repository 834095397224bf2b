"""Tests for signed results: a referee and its records give the same digest of what all seats were shown."""

import json
from dataclasses import replace
from hashlib import sha256
from random import Random

import pytest

from referee.deals.session import Session
from referee.matches.events import SessionEnded, SessionStarted
from referee.matches.match import MatchSpec, SessionResult
from referee.matches.tables import finished_deals
from referee.records.random_play import play_randomly
from referee.records.record import MEASURED, deal_json, deal_text
from referee.records.results import (
    NO_DEALS,
    Result,
    add_deal,
    deal_as_shown,
    measured_digest,
    record_as_shown,
    shown_digest,
)
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.signing import is_valid
from tests.referee.harness import Harness
from tests.referee.key import KEY
from tests.referee.support import match_spec
from tests.referee.test_encode import PRESETS


@pytest.mark.parametrize("preset", PRESETS)
def test_deal_when_played_then_its_record_is_shown_as_the_deal_itself(preset: str) -> None:
    session = Session(compile_ruleset(load_ruleset(preset)), bytes(32), 3)
    digest, records = NO_DEALS, []
    while not session.over:
        deal = session.next_deal()
        play_randomly(deal, Random(preset))
        session.close_deal()
        records.append(json.loads(deal_json(deal)))
        shown = deal_as_shown(deal, deal_text(deal), measured_digest("{}"))
        assert record_as_shown(records[-1]) == shown
        digest = add_deal(digest, shown)
    assert shown_digest(records) == digest


def test_record_when_cards_were_drawn_then_only_their_number_is_shown() -> None:
    record = {"deal": 1, "dealer": 0, "direction": "clockwise", "hands": ["3D"], "out": [], "left": [""]}
    record |= {"points": [0], "end": "out", "actions": ["0:- +7H", "1:- +7S 10C", "2:3D", "0!4D 4H 4S 4C 5D"]}
    shown = json.loads(record_as_shown(record))
    assert shown["actions"] == ["0:- +1", "1:- +2", "2:3D", "0!4D 4H 4S 4C 5D"]


FAULT = {"action": 0, "seat": 0, "kind": "timeout", "ms": 5}
MEASUREMENTS: dict[str, tuple[object, object]] = {
    "absent": ([1], [0]),
    "answers": ([{"action": 1, "seat": 0, "turn": "bomb", "ms": 5}], [{"action": 1, "seat": 0, "ms": 4}]),
    "credit_ms": ("0 40", "40 0"),
    "faults": ([FAULT], [FAULT | {"kind": "illegal"}]),
    "ms": ("5 6", "6 5"),
    "played_for": ([{"seat": 0, "why": "faults"}], [{"seat": 0, "why": "absent"}]),
    "used_ms": ([5, 6], [6, 5]),
}


@pytest.mark.parametrize("field", MEASURED)
def test_record_when_what_the_referee_measured_is_altered_then_its_digest_is_another(field: str) -> None:
    record: dict[str, object] = {"deal": 1, "dealer": 0, "direction": "clockwise", "hands": [], "end": "out"}
    record |= {"actions": [], "left": [], "out": [], "points": []}
    records = [record, *(record | {field: value} for value in MEASUREMENTS[field])]
    assert len({shown_digest([one]) for one in records}) == 3


def test_result_when_digested_then_it_is_as_documented() -> None:
    result = Result("c0", "cup/1/1/1", 2, ["a/a@1", "b/b@1"], [1, -1], [0, 3], [1], "dd")
    text = (
        '{"attempt":2,"commitment":"c0","deals":"dd","faults":[0,3],"forfeits":[1],'
        '"format":"bigtwo-result/1","points":[1,-1],"seats":["a/a@1","b/b@1"],"session":"cup/1/1/1"}'
    )
    assert result.digest == sha256(text.encode()).hexdigest()


def play(deals: int) -> SessionResult:
    harness = Harness()
    bots = [harness.connect(number) for number in range(1, 5)]
    [result] = harness.play_out(harness.open(match_spec(deals=deals)), *bots)
    return result


def test_session_when_it_ends_then_the_referee_has_signed_its_result() -> None:
    spec = match_spec(deals=2)
    result = play(2)
    seats = [spec.bots[bot].name for bot in spec.sessions[0].seating]
    whole = Result(
        commitment=spec.commitment,
        session=f"{spec.match_id}/1",
        attempt=1,
        seats=seats,
        points=result.points,
        faults=result.faults,
        forfeits=(),
        deals=shown_digest(map(json.loads, result.records)),
    )
    assert result.signed == KEY.sign(whole.digest)
    assert is_valid(result.signed)


def rest_of_a_session() -> tuple[MatchSpec, list[str], SessionResult]:
    """Play a session in two attempts; return its spec, the first attempt's one record, and the result."""
    whole = play(3)
    spec = match_spec(deals=3)
    before = [whole.records[0]]
    after = finished_deals(before, (), spec.ruleset)
    spec = replace(spec, sessions=(replace(spec.sessions[0], attempt=2, after=after),))
    harness = Harness()
    bots = [harness.connect(number) for number in range(1, 5)]
    [rest] = harness.play_out(harness.open(spec), *bots)
    for bot in bots:
        [started] = [event for event in bot.events if isinstance(event, SessionStarted)]
        assert (started.info.attempt, started.deals_digest) == (2, after.deals_digest)
    return spec, before, rest


def test_session_when_it_is_played_in_two_attempts_then_all_its_deals_are_signed() -> None:
    spec, before, rest = rest_of_a_session()
    assert len(rest.records) == 2
    result = Result(
        commitment=spec.commitment,
        session="m/1",
        attempt=2,
        seats=[spec.bots[bot].name for bot in spec.sessions[0].seating],
        points=rest.points,
        faults=rest.faults,
        forfeits=(),
        deals=shown_digest(map(json.loads, [*before, *rest.records])),
    )
    assert rest.signed == KEY.sign(result.digest)


def test_bot_when_it_comes_back_then_it_is_told_the_digest_of_the_deals_that_it_missed() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in range(1, 5)]
    match = harness.open(match_spec(deals=3))
    [table] = match.tables.values()
    while len(table.records) < 1:
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                bot.play(turn)
        harness.advance(0.001)
    harness.lobby.disconnect(bots[0].connection, harness.now)
    back = harness.connect(1)
    back.read()
    [started] = [event for event in back.events if isinstance(event, SessionStarted)]
    assert started.deals_digest == shown_digest([json.loads(table.records[0])])


def test_session_when_it_is_void_then_nothing_is_signed() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in range(1, 5)]
    match = harness.open(match_spec())
    [table] = match.tables.values()
    table.void()
    bots[0].read()
    [ended] = [event for event in bots[0].events if isinstance(event, SessionEnded)]
    assert (ended.signed, ended.faults, table.signed) == (None, (), None)
