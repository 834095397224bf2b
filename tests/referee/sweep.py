"""Comparing every five-card set of a pack with the slow rules: ``python -m tests.referee.sweep [PRESET…]``.

Without names, all presets are swept. The kind of every set is compared, and the order of all plays.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement, pairwise

from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset, preset_names
from tests.referee.slow_rules import Cards, SlowRules, read

Five = tuple[int, ...]
"""Card indices, ascending."""


def five_card_sets(rules: Rules) -> Iterator[Five]:
    """Yield every set of five cards; with two packs, equal sets only once."""
    cards = sorted(set(rules.pack))
    if rules.decks == 1:
        yield from combinations(cards, 5)
        return
    for five in combinations_with_replacement(cards, 5):
        if all(first != third for first, third in zip(five, five[2:], strict=False)):
            yield five


def sweep(rules: Rules, sets: Iterable[Five]) -> int:
    """Compare the kinds and the order of sets with the slow rules; return how many of them are plays."""
    slow = SlowRules(rules.ruleset)
    cards = {card: read(rules.card_text(card))[0] for card in rules.pack}
    found: dict[int, Cards] = {}
    plays = 0
    for five in sets:
        code = rules.code(rules.mask(five))
        held = tuple(cards[card] for card in five)
        kind = slow.kind(held)
        assert (rules.kind(code) if code else None) == kind, held
        if kind:
            plays += 1
            same = found.setdefault(code >> rules.width, held)
            assert (slow.kind(same), slow.strength(same)) == (kind, slow.strength(held)), (same, held)
    _check_order(rules, slow, found)
    return plays


def _check_order(rules: Rules, slow: SlowRules, found: dict[int, Cards]) -> None:
    """Check the order of all plays; ``found`` has one play of each strength."""
    of_kind: dict[str | None, list[Cards]] = {}
    for _, held in sorted(found.items()):
        of_kind.setdefault(slow.kind(held), []).append(held)
    for plays in of_kind.values():
        for weaker, stronger in pairwise(plays):
            assert slow.beats(stronger, weaker), (stronger, weaker)
    ends = [end for plays in of_kind.values() for end in (plays[0], plays[-1])]
    for a in ends:
        for b in ends:
            assert rules.beats(_code(rules, a), _code(rules, b)) == slow.beats(a, b), (a, b)


def _code(rules: Rules, held: Cards) -> int:
    return rules.code(rules.parse(" ".join(rank + suit for rank, suit in held)))


def main(names: list[str]) -> None:
    """Sweep the presets of these names."""
    for name in names or preset_names():
        rules = compile_ruleset(load_ruleset(name))
        start = time.perf_counter()
        plays = sweep(rules, five_card_sets(rules))
        print(f"{name}: {plays} plays of five cards agree ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main(sys.argv[1:])
