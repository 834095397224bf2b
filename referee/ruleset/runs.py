"""The kinds that are runs: so many cards of each of several consecutive ranks, perhaps with pairs."""

from collections.abc import Mapping

from referee.ruleset.bombs import cards_held
from referee.ruleset.model import Ruleset
from referee.ruleset.straights import StraightOrder, sequences_of, straight_order

RUNS: Mapping[str, int] = {
    "run": 1,
    "suited_run": 1,
    "pair_run": 2,
    "triple_run": 3,
    "triple_run_plus_pairs": 3,
    "triple_plus_two_pairs": 3,
}
"""By kind, how many cards a run has of each rank."""

_OF_FIVE = {"straight", "flush", "straight_flush"}


def pairs_beside(kind: str, length: int) -> int:
    """Return how many pairs of other ranks go with a run of this kind and number of ranks."""
    return {"triple_run_plus_pairs": length, "triple_plus_two_pairs": 2}.get(kind, 0)


def ranks_held(ruleset: Ruleset, cards: int = 1) -> tuple[str, ...]:
    """Return the ranks, low to high and without that of the jokers, of which the packs have so many cards."""
    removed, decks = ruleset.removed_cards, ruleset.decks
    return tuple([rank for rank in ruleset.ranks if cards_held(rank, removed, decks) >= cards])


def run_order(ruleset: Ruleset, kind: str) -> dict[int, StraightOrder]:
    """Return, by number of ranks, the sequences of ranks of runs of this kind, weakest first.

    Those with a rank of which the packs have too few cards are left out.
    """
    if kind == "triple_plus_two_pairs":
        return {1: tuple((rank,) for rank in ruleset.rank_names)}
    one_each = RUNS[kind] == 1
    shortest = {1: ruleset.run_from, 2: ruleset.pair_run_from}.get(RUNS[kind], 2)
    lengths = list(range(shortest, len(ruleset.ranks) + 1))
    if one_each and _OF_FIVE & set(ruleset.plays):
        lengths = [length for length in lengths if length != 5]
    if one_each and "dragon" in ruleset.plays:
        lengths = lengths[:-1]
    orders = {length: straight_order(ruleset.run_order, ruleset.ranks, length) for length in lengths}
    held = ranks_held(ruleset, RUNS[kind])
    if len(held) < len(ruleset.ranks):
        orders = {length: sequences_of(held, order) for length, order in orders.items()}
    return {length: order for length, order in orders.items() if order}
