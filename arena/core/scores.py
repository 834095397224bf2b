"""What may count as a bot's score."""

from enum import StrEnum


class ScoreKind(StrEnum):
    """What is counted as a bot's score in a deal; scores of different kinds vary by luck differently."""

    PLAIN = "plain"
    """Its points."""
    MADE = "made"
    """What it made of its cards: its points less what was expected from the cards (``arena.core.luck``)."""
    DUPLICATE = "duplicate"
    """Its points beside those of the bots that had the same cards at other tables."""
