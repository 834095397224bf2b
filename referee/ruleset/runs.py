"""The kinds that are runs: so many cards of each of several consecutive ranks, perhaps with pairs."""

from collections.abc import Mapping

from referee.ruleset.model import Ruleset
from referee.ruleset.straights import StraightOrder, straight_order

RUNS: Mapping[str, int] = {
    "run": 1,
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


def run_order(ruleset: Ruleset, kind: str) -> dict[int, StraightOrder]:
    """Return, by number of ranks, the sequences of ranks of runs of this kind, weakest first."""
    if kind == "triple_plus_two_pairs":
        return {1: tuple((rank,) for rank in ruleset.rank_names)}
    shortest = {"run": ruleset.run_from, "pair_run": ruleset.pair_run_from}.get(kind, 2)
    lengths = list(range(shortest, len(ruleset.ranks) + 1))
    if kind == "run" and _OF_FIVE & set(ruleset.plays):
        lengths = [length for length in lengths if length != 5]
    if kind == "run" and "dragon" in ruleset.plays:
        lengths = lengths[:-1]
    orders = {length: straight_order(ruleset.run_order, ruleset.ranks, length) for length in lengths}
    return {length: order for length, order in orders.items() if order}
