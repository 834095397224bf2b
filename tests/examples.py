"""How much tests try: little by default, much in ``make sweep``."""

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

Case = TypeVar("Case")

SWEEP = "sweep"
"""The profile of ``make sweep``, which hypothesis's own option ``--hypothesis-profile`` chooses."""


def is_sweep() -> bool:
    """Return whether this is ``make sweep``."""
    return settings.get_current_profile_name() == SWEEP


def examples(count: int, **others: Any) -> settings:
    """Return settings with so many examples in a sweep, and else with a fifth of them."""
    return settings(max_examples=count if is_sweep() else max(count // 5, 5), **others)


def some(cases: Sequence[Case], every: int = 5) -> Sequence[Case]:
    """Return all cases in a sweep, and else the first of every five, or however many."""
    return cases if is_sweep() else cases[::every]
