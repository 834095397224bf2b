"""A ruleset in words, generated from its fields so that the two cannot drift apart."""

from collections.abc import Iterator
from typing import Literal

from referee.ruleset import Ruleset
from referee.ruleset.axes import AXES, SECTIONS


def describe(ruleset: Ruleset) -> list[str]:
    """Return the rules as a person would explain them: paragraphs, each ``Topic: sentences``."""
    sections = {topic: " ".join(_say(ruleset, topic, "words")) for topic in SECTIONS}
    return [f"{topic}: {text}" for topic, text in sections.items() if text]


def summary(ruleset: Ruleset) -> str:
    """Return in a line what sets a ruleset apart from others, apart from the number of players."""
    text = "; ".join(phrase for topic in _MOST_TELLING_FIRST for phrase in _say(ruleset, topic, "brief"))
    return f"{text[0].upper()}{text[1:]}."


_MOST_TELLING_FIRST = (
    *("Points", "End", "Deal", "Cards", "Sequences", "Combinations", "Bombs", "Lead", "Turns"),
    *("Before the play", "Last cards", "Bonuses"),
)


def _say(ruleset: Ruleset, topic: str, form: Literal["words", "brief"]) -> Iterator[str]:
    for part in getattr(SECTIONS[topic], form):
        if not isinstance(part, str):
            yield from part(ruleset)
        elif (axis := AXES[part]).needs is None or axis.needs(ruleset):
            yield from filter(None, [getattr(axis, form).get(getattr(ruleset, part))])
