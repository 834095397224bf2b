"""Deals printed for people to read."""

import io
import json
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from referee.cli.deals import Action, laps, parse_action, show_deal, tricks
from referee.records.record import deal_record, full_record
from tests.arena.random_play import random_deals
from tests.referee.deals import VARIED, rules_named

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("2:3D 3C", Action(2, "3D 3C", "")),
        ("1:-", Action(1, "-", "")),
        ("0!4D 4H 4S 4C 5D", Action(0, "4D 4H 4S 4C 5D", "(bomb out of turn)")),
        ("1:- +7H 8D", Action(1, "-", "(draws 7H 8D)")),
    ],
)
def test_parse_action_reads_every_form(text: str, action: Action) -> None:
    assert parse_action(text) == action


@pytest.mark.parametrize("name", VARIED)
def test_tricks_of_a_record_are_those_that_were_played(name: str) -> None:
    rules = rules_named(name)
    ruleset = rules.ruleset
    seats = [f"ann/bot-{seat}@1" for seat in range(ruleset.players)]
    for deal, leads in islice(random_deals(rules, bytes(32), 6), 6):
        record: dict[str, Any] = full_record(
            deal_record(deal),
            ruleset=ruleset.to_object(),
            tournament="cup",
            round=1,
            table=1,
            session=1,
            seats=seats,
        )
        found = tricks(record)
        assert [0, *accumulate(map(len, found))][:-1] == leads
        show_deal(record, Console(file=io.StringIO()))


def test_laps_begin_a_row_when_play_comes_round() -> None:
    trick = [
        parse_action(text) for text in ("2:3D", "1:-", "0:4D", "3:5D", "1:-", "0:6D", "3:-", "2:-", "1:-")
    ]
    assert laps(trick, [2, 1, 0, 3]) == [
        {2: "3D", 1: "-", 0: "4D", 3: "5D"},
        {1: "-", 0: "6D", 3: "-"},
        {2: "-", 1: "-"},
    ]


@pytest.mark.parametrize("name", ["chinese", "dragon", "bombs", "exchange", "forfeit"])
def test_show_deal_prints_what_stands_in_the_golden_file(name: str) -> None:
    record = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    out = Console(file=io.StringIO(), width=160, markup=False, highlight=False)
    show_deal(record, out)
    assert isinstance(out.file, io.StringIO)
    shown = "".join(f"{line.rstrip()}\n" for line in out.file.getvalue().splitlines())
    assert shown == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
