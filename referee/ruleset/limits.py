"""Upper bounds on the points of a deal, so that every score fits into 32 bits, and on the plays of a hand."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any

from referee.errors import Problem
from referee.ruleset.model import Ruleset
from referee.ruleset.runs import RUNS

MAX_DEALS = 1000
"""The most deals in a session, so that it ends and its result fits into one message."""

MOST_POINTS = (2**31 - 1) // MAX_DEALS
"""The most points, up or down, that a deal may come to: a session of ``MAX_DEALS`` then fits into 32 bits."""

MOST_RESTOCKS = 10
"""How often in a deal the cards of finished tricks may become the stock."""

MOST_CARDS_WITH_DRAGONS = 20
"""The most cards in a hand that may play dragons: it holds at most 2^7 of them."""

SETTLED_BY_PENALTIES = ("penalty", "pairwise", "winner_collects", "better_collect", "winner_scores")
"""The settlements that count penalty points."""

MOST_CARDS_WITH_RUNS = 26
"""The most cards of a hand where a kind of ``COUNTED`` is played: more could hold millions of plays."""

MOST_SEQUENCES = 60
"""The most sequences in ``straights``; these bound the number of straights in a hand."""

MANY = ("two_pair", "bare_two_pair", *RUNS)
"""The kinds of which the number of plays soars with the number of cards in a hand."""

COUNTED = (*MANY, "straight_flush_plus_two")
"""The kinds with which hands are smaller, and may have more plays than a turn can list."""

_EACH_PAYS_EACH = ("pairwise", "winner_collects", "better_collect", "difference")


def pack_size(ruleset: Ruleset) -> int:
    """Return the number of cards in all packs."""
    return (len(ruleset.ranks) * 4 - len(ruleset.removed_cards) + ruleset.jokers) * ruleset.decks


def most_cards(ruleset: Ruleset) -> int:
    """Return how many cards a hand can hold at most in the course of a deal."""
    pack, players = pack_size(ruleset), ruleset.players
    size = ruleset.hand_size if isinstance(ruleset.hand_size, int) else -(-pack // players)
    undealt = max(pack - size * players, 0)
    if ruleset.draw_on_pass != "none" and ruleset.leftover == "stock":
        return pack - (players - 1) if ruleset.restock else min(size + undealt, pack)
    if ruleset.leftover == "to_lowest":
        size += undealt
    return size + (ruleset.exchange != "none")


def most_listed(ruleset: Ruleset) -> int:
    """Return the most cards of which all plays may be listed; no hand of the ruleset has more."""
    return MOST_CARDS_WITH_RUNS if any(kind in ruleset.plays for kind in COUNTED) else pack_size(ruleset)


def plays_problem(ruleset: Ruleset) -> Iterator[Problem]:
    """Yield a problem if a hand could hold more plays than can be listed at every turn."""
    many = [kind for kind in COUNTED if kind in ruleset.plays]
    cards, bound = most_cards(ruleset), most_listed(ruleset)
    if cards > bound:
        draws = " with what it draws" if ruleset.draw_on_pass != "none" else ""
        most = f"{bound} are the most with {', '.join(many)} in plays"
        yield Problem("hand_size", f"a hand could have {cards} cards{draws}, and {most}")
    sequences = sum(map(len, ruleset.straights))
    if sequences > MOST_SEQUENCES:
        yield Problem("straights", f"must hold at most {MOST_SEQUENCES} sequences, not {sequences}")


def most_deals(ruleset: Ruleset, deals: int) -> int:
    """Return how many deals a session may have; ``deals`` is the number asked for, 0 if none was."""
    return deals or min(ruleset.session.deals or MAX_DEALS, MAX_DEALS)


def most_points(ruleset: Ruleset) -> int:
    """Return an upper bound on the absolute value of a seat's points in a deal; it need not be reached."""
    together = 1 if ruleset.partners == "none" else 2
    return together * (_settled(ruleset) + _bonuses(ruleset))


def excess(ruleset: Ruleset) -> Iterator[Problem]:
    """Yield a problem if points could exceed ``MOST_POINTS``; it names the field that contributes most."""
    most = most_points(ruleset)
    if most > MOST_POINTS:
        bound = f"must be less: a deal could come to {most} points, and a score holds {MOST_POINTS} a deal"
        yield Problem(_field(ruleset), bound)


def _settled(ruleset: Ruleset) -> int:
    if ruleset.settle == "places":
        return max(map(abs, ruleset.place_points))
    doublings = 4 * ruleset.decks  # every two doubles once, in a hand or in the last play
    doubled = ruleset.double_per_two_left or ruleset.final_twos != "none"
    players, honours = ruleset.players, (*ruleset.honours_left, *ruleset.final_honours)
    most = pack_size(ruleset) * _a_card(ruleset) * _times(ruleset) + players * _amount(ruleset)
    # All factors on all points is more than there can be.
    most += players * sum(entry.points or 0 for entry in honours)
    most = most * prod(entry.times or 1 for entry in honours) << (doublings if doubled else 0)
    most = max(most, players * (ruleset.instant_win_penalty or 0))
    return most * (players if ruleset.settle in _EACH_PAYS_EACH else 1)


def _bonuses(ruleset: Ruleset) -> int:
    bonuses = ruleset.bonuses
    if bonuses is None:
        return 0
    plays = pack_size(ruleset) // 4 * (1 + (MOST_RESTOCKS if ruleset.restock else 0))
    a_play = max(abs(bonuses.quads), abs(bonuses.straight_flush), abs(bonuses.four_twos))
    winner = max(abs(bonuses.winner), abs(bonuses.winner_per_two) * 4 * ruleset.decks)
    return a_play * (plays + abs(bonuses.final_times)) + winner


def _a_card(ruleset: Ruleset) -> int:
    """Return the most that a card can cost, at least 1: some settlements count cards or deals, not points."""
    return max(1, *map(abs, ruleset.card_points))


def _times(ruleset: Ruleset) -> int:
    return max((bracket.times or 1 for bracket in ruleset.multipliers), default=1)


def _amount(ruleset: Ruleset) -> int:
    return max((abs(bracket.points or 0) for bracket in ruleset.multipliers), default=0)


_HONOURS: tuple[tuple[str, Any], ...] = (
    ("instant_win_penalty", None),
    ("honours_left", ()),
    ("final_honours", ()),
)
"""Fields of honours, and the value with which they add nothing."""


def _field(ruleset: Ruleset) -> str:
    if _bonuses(ruleset) > _settled(ruleset):
        return "bonuses"
    if ruleset.settle == "places":
        return "place_points"
    for name, nothing in _HONOURS:
        if most_points(replace(ruleset, **{name: nothing})) <= MOST_POINTS:
            return name
    return "multipliers" if max(_times(ruleset), _amount(ruleset)) > _a_card(ruleset) else "card_points"
