"""What a bot needs so that its strength is more than provisional."""

from sqlalchemy import ColumnElement, and_
from sqlmodel import col

from arena.models import Strength
from arena.strength.scale import ENOUGH


def is_provisional(deals: int | None) -> bool:
    """Return whether a bot's strength is from fewer than ``ENOUGH`` deals; None: it has none yet."""
    return deals is None or deals < ENOUGH


def settled() -> ColumnElement[bool]:
    """Return the condition on Strength, which may be joined from outside, that it is not provisional."""
    return and_(col(Strength.id).is_not(None), col(Strength.deals) >= ENOUGH)
