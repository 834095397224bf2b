"""A ruleset in words, generated from its fields so that the two cannot drift apart."""

from collections.abc import Callable

from referee.describe import combinations, deal, scoring, turns
from referee.ruleset import Ruleset

_SECTIONS: dict[str, Callable[[Ruleset], list[str]]] = {
    "Cards": deal.cards,
    "Deal": deal.deal,
    "Before the play": deal.before_play,
    "Lead": deal.lead,
    "Combinations": combinations.kinds,
    "Five cards": combinations.five_cards,
    "Sequences": combinations.straights,
    "Flushes": combinations.flushes,
    "Bombs": combinations.bombs,
    "Turns": turns.turns,
    "Last cards": turns.last_cards,
    "End": turns.end,
    "Loser": deal.loser,
    "Points": scoring.scoring,
    "Bonuses": scoring.bonuses,
    "Session": scoring.session,
}


def describe(ruleset: Ruleset) -> list[str]:
    """Return the rules as a person would explain them: paragraphs, each ``Topic: sentences``."""
    sections = {topic: section(ruleset) for topic, section in _SECTIONS.items()}
    return [f"{topic}: {' '.join(sentences)}" for topic, sentences in sections.items() if sentences]
