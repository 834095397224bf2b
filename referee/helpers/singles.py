"""Which single cards beat which."""

from functools import lru_cache

from referee.rules.plays import Rules

__all__ = ["stronger_singles"]


@lru_cache(maxsize=64)
def stronger_singles(rules: Rules) -> dict[int, int]:
    """Return, by the code of each single card, the mask of all cards that beat it, every copy included."""
    cards = [1 << card * rules.decks for card in range(rules.width // rules.decks)]
    copies = {rules.code(card): card if rules.decks == 1 else card * 3 for card in cards}
    return {
        code: sum([both for other, both in copies.items() if rules.beats(other, code)]) for code in copies
    }
