"""Tests for the reference: what it makes of a deal's cards depends on the cards alone."""

import pytest

from referee.deals.deal import Deal
from referee.deals.shuffle import deal_seed
from referee.reference.sums import deal_sums, reference_sums
from referee.rules.plays import compile_ruleset
from referee.rules.rulebook import rules_of
from referee.ruleset import load_ruleset, preset_names

SESSION = bytes(range(32))


@pytest.mark.parametrize("name", preset_names())
def test_the_reference_plays_deals_of_every_preset(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))
    sums = [reference_sums(rules, deal_seed(SESSION, number), number, 0) for number in (1, 2, 3)]
    assert all(len(by_seat) == rules.ruleset.players for by_seat in sums)
    assert len(set(sums)) > 1
    if rules.ruleset.settle == "pairwise":
        assert not any(map(sum, sums))


def test_who_leads_and_who_exchanges_cards_makes_no_difference() -> None:
    rules = rules_of({"extends": "chinese-3", "exchange": "loser_to_winner", "lead": "winner"})
    seed = deal_seed(SESSION, 2)
    deals = [
        Deal(rules, seed, 2, 1, -1, leader=leader, exchange=exchange)
        for leader, exchange in ((0, None), (2, None), (2, (1, 2)))
    ]
    assert {deal_sums(deal) for deal in deals} == {reference_sums(rules, seed, 2, 1)}
