"""Deals with chosen cards, for tests."""

from collections.abc import Sequence
from typing import Any

from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.dealing import Dealt, take_leftover
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset, preset_names

SEED = bytes(range(32))

UNUSUAL: dict[str, dict[str, Any]] = {
    "next leads": {
        "name": "next-leads",
        "extends": "choi-dai-di",
        "after_out": "next_leads",
        "pass_locks": True,
    },
    "lead drawn": {
        "name": "lead-drawn",
        "lead": "winner",
        "first_lead": "random",
        "lead_includes_lowest": False,
    },
    "two against two": {"name": "two-against-two", "extends": "indonesia", "partners": "opposite"},
    "partners to the last": {
        "name": "partners-to-the-last",
        "extends": "choi-dai-di",
        "partners": "opposite",
        "settle": "places",
        "place_points": [5, 3, 1, 0],
    },
    "exchange of four": {"name": "exchange-of-four", "exchange": "loser_to_winner", "lead": "winner"},
    "nothing played": {"name": "nothing-played", "multipliers": [{"from": "all", "points": 30}]},
    "no two last": {"name": "no-two-last", "last_top_card": "cannot_win", "last_cards": "2"},
    "a spade last loses": {"name": "a-spade-last-loses", "last_top_card": "loses", "last_cards": "S"},
    "named card alone": {
        "name": "named-card-alone",
        "first_lead": "3S",
        "lead_includes_lowest": "alone",
    },
    "hands that win at once": {
        "name": "wins-at-once",
        "extends": "chinese-3",
        "dragon": "wins",
        "instant_wins": ["six_pairs", "four_twos"],
        "instant_win_penalty": 26,
    },
    "dragons and honours": {
        "name": "dragons-and-honours",
        "extends": "chinese-3",
        "plays": ["single", "pair", "triple", "full_house", "bare_quads", "dragon"],
        "five_card_order": ["full_house"],
        "bombs": ["bare_quads", "dragon"],
        "honours_left": [{"honour": "quads", "points": 10}, {"honour": "twos", "times": 2}],
        "final_honours": [{"honour": "top_card", "times": 2}],
        "settle": "winner_collects",
    },
}
"""Rulesets with values that no preset has, by what is unusual about them."""

NAMES = [*preset_names(), *UNUSUAL]
"""What ``rules_named`` accepts."""

TELLING = ("chinese", "hong-kong-relatives-3", "lectio", "tien-len-frame", "zheng-shangyou")
"""Five presets that between them have most of the values that any preset has beyond those of ``UNUSUAL``."""

VARIED = [*TELLING, *UNUSUAL]
"""What tests play that need not play every preset; golden deals, encodings, replays and vectors do."""


def rules_named(name: str) -> Rules:
    """Return the rules of a preset or of one of the unusual rulesets."""
    return compile_ruleset(load_ruleset(UNUSUAL.get(name, name)))


def rules_with(**fields: Any) -> Rules:
    """Return rules that differ from ``chinese`` (or the preset in ``extends``) in some fields."""
    return compile_ruleset(load_ruleset({"name": "test", "version": 1, **fields}))


def deal_of(
    rules: Rules,
    hands: Sequence[str],
    *,
    leftover: str = "",
    dealer: int = 0,
    step: int = 1,
    leader: int | None = None,
    exchange: tuple[int, int] | None = None,
) -> Deal:
    """Make a deal of these hands, whatever the ruleset's hand size."""
    masks = tuple(rules.parse(hand) for hand in hands)
    cards = tuple(rules.parse(card) for card in leftover.split())
    dealt = Dealt(masks, cards, take_leftover(rules, masks, cards, dealer, step))
    return Deal(rules, SEED, 1, dealer, step, leader=leader, exchange=exchange, dealt=dealt)


def play(deal: Deal, *actions: str) -> Deal:
    """Carry out actions in the notation of records; in a bomb window, all other seats decline."""
    for text in actions:
        mark = "!" if "!" in text else ":"
        seat, cards = text.split(mark)
        mask = 0 if cards == "-" else deal.rules.parse(cards)
        if mark == ":" and deal.stage is Stage.BOMBS:
            decline(deal)
        others = [other for other in deal.owing() if other != int(seat)]
        deal.act(int(seat), mask)
        if mark == "!":
            for other in others:
                deal.act(other, 0)
    return deal


def decline(deal: Deal) -> None:
    """Close a bomb window without a bomb."""
    for seat in deal.owing():
        deal.act(seat, 0)


def legal_texts(deal: Deal, seat: int) -> list[str]:
    """Return what the seat may play, weakest first."""
    return [deal.rules.text(code & deal.rules.full) for code in deal.legal(seat)]


def hand_texts(deal: Deal) -> list[str]:
    """Return the present hands as text."""
    return [deal.rules.text(hand) for hand in deal.hands]
