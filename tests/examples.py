"""How many examples property tests draw: few by default, many in ``make sweep``."""

from typing import Any

from hypothesis import settings

SWEEP = "sweep"
"""The profile of ``make sweep``, which hypothesis's own option ``--hypothesis-profile`` chooses."""


def examples(count: int, **others: Any) -> settings:
    """Return settings with so many examples in a sweep, and else with a fifth of them."""
    everything = settings.get_current_profile_name() == SWEEP
    return settings(max_examples=count if everything else max(count // 5, 5), **others)
