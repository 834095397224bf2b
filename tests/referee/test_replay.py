"""Tests for checking records: right ones are accepted, whatever happened in the deal, and wrong ones not."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.deals.session import Session
from referee.records.random_play import play_randomly, random_records
from referee.records.record import deal_record, full_record
from referee.records.replay import Replayer
from referee.records.tools import replay
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset, load_ruleset, preset_names
from tests.referee.deals import SEED, rules_with
from tests.referee.strategies import rulesets

Record = dict[str, Any]
OK = {"ok": True}


def records_of(
    rules: Rules, deals: int, session_deals: int | None = None, seed: bytes = SEED
) -> list[Record]:
    """Return records of random play, as read from a file."""
    return [json.loads(json.dumps(record)) for record in random_records(rules, seed, deals, session_deals)]


def session_records(session: Session, forfeit_in: int = 0) -> list[Record]:
    """Return the records of a session; the last seat forfeits it in deal ``forfeit_in``, if there is one."""
    records = []
    while not session.over:
        deal = session.next_deal()
        if deal.number == forfeit_in:
            deal.forfeit(len(deal.hands) - 1)
        else:
            play_randomly(deal, Random(deal.number))
        session.close_deal()
        lean = deal_record(deal)
        seats = [f"o/b{seat}@1" for seat in range(len(deal.hands))]
        ruleset = session.rules.ruleset.to_object()
        full = full_record(lean, ruleset=ruleset, tournament="t", round=1, table=1, session=1, seats=seats)
        records.append(json.loads(json.dumps(full)))
    return records


@pytest.mark.parametrize("name", preset_names())
def test_replay_of_random_play_under_every_preset_is_right(name: str) -> None:
    replayer = Replayer()
    for record in records_of(compile_ruleset(load_ruleset(name)), 12, 4):
        assert replay(replayer, record) == OK


@given(rulesets(), st.binary(min_size=32, max_size=32))
def test_replay_of_random_play_under_any_ruleset_is_right(ruleset: Ruleset, seed: bytes) -> None:
    replayer = Replayer()
    records = records_of(compile_ruleset(ruleset), 6, 3, seed)
    for record in records:
        assert replay(replayer, record) == OK
    for record in records:
        assert replay(Replayer(), record) == OK


@given(rulesets(), st.binary(min_size=32, max_size=32), st.data())
def test_replay_of_a_tampered_record_is_wrong(ruleset: Ruleset, seed: bytes, data: st.DataObject) -> None:
    *before, record = records_of(compile_ruleset(ruleset), 3, 3, seed)
    replayer = Replayer()
    for earlier in before:
        replay(replayer, earlier)
    data.draw(st.sampled_from(TAMPERING))(record)
    assert not replay(replayer, record)["ok"]


def reseed(record: Record) -> None:
    record["seed"] = f"{int(record['seed'], 16) ^ 1:064x}"


def swap_hands(record: Record) -> None:
    record["hands"] = [*record["hands"][1:], record["hands"][0]]


def lose_an_action(record: Record) -> None:
    record["actions"] = record["actions"][:-1] if record["actions"] else ["0:-"]


def add_an_action(record: Record) -> None:
    record["actions"].append(record["actions"][-1] if record["actions"] else "0:-")


def raise_points(record: Record) -> None:
    record["points"][0] += 1


def turn_round(record: Record) -> None:
    record["direction"] = {"clockwise": "anticlockwise", "anticlockwise": "clockwise"}[record["direction"]]


def move_the_lead(record: Record) -> None:
    record["leader"] = (record["leader"] + 1) % len(record["seats"])


def move_the_deal(record: Record) -> None:
    record["dealer"] = (record["dealer"] + 1) % len(record["seats"])


def drop_out(record: Record) -> None:
    record["out"] = [] if record["out"] else [0]


def keep_a_card(record: Record) -> None:
    record["left"][0] = f"{record['left'][0]} 3D".strip()


def call_it_a_forfeit(record: Record) -> None:
    record["forfeit"] = 0


def end_otherwise(record: Record) -> None:
    record["end"] = "forfeit"


TAMPERING = [
    reseed,
    swap_hands,
    lose_an_action,
    add_an_action,
    raise_points,
    turn_round,
    move_the_lead,
    move_the_deal,
    drop_out,
    keep_a_card,
    call_it_a_forfeit,
    end_otherwise,
]


# Forfeits


@given(rulesets(), st.integers(0, 2**32), st.integers(0, 60))
def test_replay_of_a_forfeit_after_any_action_is_right(ruleset: Ruleset, seed: int, after: int) -> None:
    rng = Random(seed)
    session = Session(compile_ruleset(ruleset), seed.to_bytes(32, "big"), 1)
    deal = session.next_deal()
    while not deal.over and len(deal.actions) < after:
        seat = rng.choice(deal.owing())
        answers = [play & deal.rules.full for play in deal.legal(seat)] + [0] * deal.can_pass(seat)
        deal.act(seat, rng.choice(answers))
    if not deal.over:
        deal.forfeit(rng.randrange(len(deal.hands)))
    seats = ["x"] * len(deal.hands)
    lean, resolved = deal_record(deal), ruleset.to_object()
    record = full_record(lean, ruleset=resolved, tournament="t", round=1, table=1, session=1, seats=seats)
    assert replay(Replayer(), json.loads(json.dumps(record))) == OK


def test_replay_of_a_forfeit_in_the_exchange_is_right_with_and_without_the_deal_before() -> None:
    rules = rules_with(extends="chinese-3", exchange="loser_to_winner")
    first, second = session_records(Session(rules, SEED), forfeit_in=2)
    assert (second["leader"], second["actions"], "exchange" in second) == (None, [], False)
    replayer = Replayer()
    assert [replay(replayer, record) for record in (first, second)] == [OK, OK]
    assert replay(Replayer(), second) == OK


def test_replay_of_a_null_leader_without_an_exchange_is_wrong() -> None:
    (record,) = session_records(Session(rules_with(), SEED), forfeit_in=1)
    assert replay(Replayer(), record) == OK
    record["leader"] = None
    assert str(replay(Replayer(), record)["error"]).startswith("leader: is null, should be ")


# The deal before


def linked(**fields: Any) -> list[Record]:
    session = {"deals": 3, "target": None, "chips": None}
    return session_records(Session(rules_with(session=session, **fields), SEED))


def test_replay_without_the_deal_before_takes_dealer_and_leader_as_given() -> None:
    _, second, _ = linked(lead="winner")
    assert replay(Replayer(), second) == OK


def test_replay_with_the_deal_before_holds_the_dealer_to_it() -> None:
    first, second, _ = linked(dealer="rotate")
    other = linked(dealer="winner", lead="lowest")[1]
    replayer = Replayer()
    assert replay(replayer, first) == OK
    second["dealer"] = (second["dealer"] + 1) % 4
    assert str(replay(replayer, second)["error"]).startswith("dealer: is ")
    assert replay(Replayer(), other) == OK


def test_replay_after_a_wrong_deal_takes_the_next_as_given() -> None:
    first, second, _ = linked(lead="winner")
    first["points"][0] += 1
    replayer = Replayer()
    assert not replay(replayer, first)["ok"]
    assert replay(replayer, second) == OK


def test_replay_without_the_deal_before_holds_the_leader_to_the_lowest_card() -> None:
    _, second, _ = linked(lead="lowest")
    second["leader"] = (second["leader"] + 1) % 4
    assert str(replay(Replayer(), second)["error"]).startswith("leader: is ")


def test_replay_without_the_deal_before_takes_the_exchange_seats_as_given() -> None:
    records = linked(extends="chinese-3", exchange="loser_to_winner")
    assert replay(Replayer(), records[1]) == OK
    del records[1]["exchange"]
    assert replay(Replayer(), records[1]) == {"ok": False, "action": None, "error": "exchange: is missing"}


def test_replay_of_an_exchange_in_the_first_deal_is_wrong() -> None:
    first, second, _ = linked(extends="chinese-3", exchange="loser_to_winner")
    first["exchange"] = second["exchange"]
    assert replay(Replayer(), first)["error"] == "exchange: this deal has none"


@pytest.mark.parametrize(("field", "value"), [("given", "3D"), ("returned", "2S 2H"), ("returned", "XX")])
def test_replay_of_another_exchange_is_wrong(field: str, value: str) -> None:
    first, second, _ = linked(extends="chinese-3", exchange="loser_to_winner")
    replayer = Replayer()
    replay(replayer, first)
    second["exchange"][field] = value
    answer = replay(replayer, second)
    assert (answer["ok"], answer["action"]) == (False, None)
    assert str(answer["error"]).startswith("exchange.")
