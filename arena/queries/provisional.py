"""When a bot's strength is no longer provisional."""

from sqlalchemy import ColumnElement, and_
from sqlmodel import col

from arena.results.strength.scale import ENOUGH
from arena.store.models import Strength


def is_provisional(deals: int | None) -> bool:
    """Return whether a bot's strength is from fewer than ``ENOUGH`` deals; None if it has no strength yet."""
    return deals is None or deals < ENOUGH


def settled() -> ColumnElement[bool]:
    """Return the condition on Strength, which may be outer-joined, that it is not provisional."""
    return and_(col(Strength.id).is_not(None), col(Strength.deals) >= ENOUGH)
