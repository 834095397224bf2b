"""Tests for deal records as they are written."""

import json

from referee.deals.deal import Deal
from referee.deals.session import Session
from referee.records.record import deal_record, full_record
from tests.referee.deals import SEED, deal_of, play, rules_with


def small_deal() -> Deal:
    deal = deal_of(rules_with(players=2), ["3D 5S 2H", "4D 9D"], leftover="6H 3S")
    return play(deal, "0:3D", "1:4D", "0:2H", "1:-", "0:5S")


def test_deal_record_of_a_deal_played_out() -> None:
    assert deal_record(small_deal()) == {
        "deal": 1,
        "seed": SEED.hex(),
        "dealer": 0,
        "direction": "clockwise",
        "hands": ["3D 5S 2H", "4D 9D"],
        "leftover": "6H 3S",
        "leader": 0,
        "actions": ["0:3D", "1:4D", "0:2H", "1:-", "0:5S"],
        "out": [0],
        "left": ["", "9D"],
        "points": [0, -1],
        "end": "out",
    }


def test_deal_record_has_the_keys_in_the_order_of_the_format() -> None:
    deal = small_deal()
    assert list(deal_record(deal)) == [
        "deal",
        "seed",
        "dealer",
        "direction",
        "hands",
        "leftover",
        "leader",
        "actions",
        "out",
        "left",
        "points",
        "end",
    ]


def test_deal_record_of_drawn_cards_and_bombs_out_of_turn() -> None:
    rules = rules_with(
        players=2, leftover="stock", draw_on_pass="one", bombs=["quads"], bombs_out_of_turn=True
    )
    deal = deal_of(rules, ["3D 9D", "5D 5C 5H 5S 6D 7D 8C"], leftover="6H 3S")
    play(deal, "0:3D", "1!5D 5C 5H 5S 6D", "0:-", "1:7D", "0:-", "1:8C")
    expected = ["0:3D", "1!5D 5C 5H 5S 6D", "0:- +6H", "1:7D", "0:- +3S", "1:8C"]
    assert deal_record(deal)["actions"] == expected


def test_deal_record_of_an_exchange() -> None:
    rules = rules_with(players=3, exchange="loser_to_winner")
    deal = deal_of(rules, ["3D", "4D 2H", "5D"], exchange=(1, 2))
    play(deal, "2:5D", "0:3D")
    record = deal_record(deal)
    assert record["exchange"] == {"loser": 1, "winner": 2, "given": "2H", "returned": "5D"}
    assert record["hands"] == ["3D", "4D 2H", "5D"]
    assert record["left"] == ["", "4D 5D", "2H"]


def test_deal_record_of_a_forfeit_names_the_seat() -> None:
    deal = deal_of(rules_with(players=2), ["3D 5S", "4D 9D"])
    deal.forfeit(1)
    record = deal_record(deal)
    assert (record["end"], record["forfeit"], record["actions"], record["out"]) == ("forfeit", 1, [], [])


def test_deal_record_holds_faults_as_they_are_given() -> None:
    fault = {"action": 4, "seat": 0, "kind": "timeout", "ms": 12}
    assert deal_record(small_deal(), faults=[fault])["faults"] == [fault]


def test_full_record_adds_what_names_the_deal() -> None:
    session = Session(rules_with(), SEED)
    deal = session.next_deal()
    deal.forfeit(0)
    lean = json.loads(json.dumps(deal_record(deal)))
    seats = ["a/x@1", "b/y@2", "c/z@1", "d/w@1"]
    ruleset = session.rules.ruleset.to_object()
    record = full_record(lean, ruleset=ruleset, tournament="t", round=1, table=2, session=3, seats=seats)
    assert list(record)[:9] == [
        "format",
        "ruleset",
        "tournament",
        "round",
        "table",
        "session",
        "deal",
        "seats",
        "seed",
    ]
    assert record["format"] == "bigtwo-deal/1"
    assert record["ruleset"] == ruleset
    assert record["seats"] == seats
