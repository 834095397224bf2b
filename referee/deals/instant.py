"""Hands that win as soon as they are dealt: a dragon, and the others that a ruleset may name.

Sources: pagat.com (Hong Kong Big Two) for the dragon; the rules of Tien Len on liquisearch.com and
greatgroupgames.com for four twos, six pairs and runs.
"""

from collections.abc import Callable, Sequence

from referee.deals.dealing import landmarks, seats_after
from referee.rules.plays import Rules


def instant_winner(rules: Rules, hands: Sequence[int], dealer: int, step: int) -> tuple[int, str] | None:
    """Return the seat whose hand wins at once and what that hand is, or None if nobody's does.

    Of several, it is the one with the strongest hand, if hands compete, and of equals the first after the
    dealer.
    """
    ruleset = rules.ruleset
    wins = (*ruleset.instant_wins, "dragon") if ruleset.dragon == "wins" else ruleset.instant_wins
    if not wins:
        return None
    held: dict[int, int] = {}
    for seat in seats_after(dealer, step, len(hands)):
        places = [place for place, win in enumerate(wins) if _IS[win](rules, hands[seat])]
        if places:
            held[seat] = places[-1]
    if not held:
        return None
    winner = max(held, key=held.__getitem__) if ruleset.instant_wins_compete else next(iter(held))
    return winner, wins[held[winner]]


def _is_dragon(rules: Rules, hand: int) -> bool:
    return all(hand & rank for rank in landmarks(rules).ranks)


def _is_dragon_without_two(rules: Rules, hand: int) -> bool:
    two = rules.twos
    return all(hand & rank for rank in landmarks(rules).ranks if rank != two)


def _has_four_twos(rules: Rules, hand: int) -> bool:
    return all(hand & two for two in landmarks(rules).twos)


def _has_six_pairs(rules: Rules, hand: int) -> bool:
    return _pairs(_counts(rules, hand)) >= 6


def _has_five_pairs_and_triple(rules: Rules, hand: int) -> bool:
    counts = _counts(rules, hand)
    pairs = _pairs(counts)
    # Taking a triple from an odd number of cards breaks one pair, from an even number two.
    return any(count > 2 and pairs - 2 + count % 2 >= 5 for count in counts)


def _has_run(rules: Rules, hand: int, size: int, length: int) -> bool:
    """Return whether ``length`` ranks in a row, below the two, have at least ``size`` cards each."""
    row = 0
    for count in _counts(rules, hand)[: len(rules.ruleset.ranks) - 1]:
        row = row + 1 if count >= size else 0
        if row == length:
            return True
    return False


def _counts(rules: Rules, hand: int) -> list[int]:
    return [(hand & rank).bit_count() for rank in rules.rank_masks]


def _pairs(counts: Sequence[int]) -> int:
    return sum([count // 2 for count in counts])


_IS: dict[str, Callable[[Rules, int], bool]] = {
    "dragon": _is_dragon,
    "dragon_without_two": _is_dragon_without_two,
    "four_twos": _has_four_twos,
    "six_pairs": _has_six_pairs,
    "five_pairs_and_triple": _has_five_pairs_and_triple,
    "five_pair_run": lambda rules, hand: _has_run(rules, hand, 2, 5),
    "three_triple_run": lambda rules, hand: _has_run(rules, hand, 3, 3),
}
