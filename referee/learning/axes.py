"""The ruleset as numbers, so that one policy can learn several."""

from functools import lru_cache
from typing import Literal, get_args, get_origin, get_type_hints

from referee.ruleset import Ruleset
from referee.ruleset.axes import AXES
from referee.ruleset.axis import Numbers


@lru_cache(maxsize=64)
def axes(ruleset: Ruleset) -> dict[str, float]:
    """Return numbers from -1 to 1 that distinguish rulesets, by name; all rulesets have the same names."""
    return dict(number for field in _FIELDS for number in _encode(ruleset, field))


def _encode(ruleset: Ruleset, field: str) -> Numbers:
    if field in _OWN:
        return _OWN[field](ruleset)
    value = getattr(ruleset, field)
    if field in _SCALES:
        return [(field, value / _SCALES[field])]
    if field in _FLAGS:
        return [(field, float(value))]
    return [(f"{field}.{choice}", float(choice == value)) for choice in _CHOICES[field]]


_OWN = {field: axis.encode for field, axis in AXES.items() if axis.encode}
_SCALES = {field: axis.scale for field, axis in AXES.items() if axis.scale}
_HINTS = {field: hint for field, hint in get_type_hints(Ruleset).items() if field not in _OWN}
_FLAGS = [field for field, hint in _HINTS.items() if hint is bool]
_CHOICES = {field: get_args(hint) for field, hint in _HINTS.items() if get_origin(hint) is Literal}

_FIRST = (
    *("players", "decks", "ranks", "hand_size", "suits", "jokers", "removed_cards", "plays"),
    *("five_card_order", "run_order", "run_from", "pair_run_from", "bombs", "bombs_beat", "straights"),
    *(*_FLAGS, *_CHOICES, "first_lead", "last_cards", "lead_includes_lowest"),
)
_FIELDS = tuple(dict.fromkeys((*_FIRST, *_OWN, *_SCALES)))
"""The fields in the order of their numbers, on which trained networks depend: others follow the first."""
