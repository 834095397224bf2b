"""Reading single values out of JSON or TOML: each reader returns a checked value or refuses it.

Every refusal is a RulesetError that names the field and says what it should have been.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from reprlib import Repr

from referee.errors import RulesetError

LARGEST = 1_000_000
"""The largest number, up or down, that a ruleset may hold; what they may come to is less (``limits``)."""

_SHORT = Repr()
_SHORT.maxstring = 60
_SHORT.maxother = 60
_SHORT.maxlevel = 2


def shown(value: object) -> str:
    """Return a short, one-line form of any value."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # a whole number with more digits than Python writes
        return "a number with thousands of digits"


def suggestion(name: str, options: Sequence[str]) -> str:
    """Return "; did you mean …?" for the option nearest to ``name``, or nothing."""
    near = get_close_matches(name[:80], options, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def whole(field: str, value: object, low: int = -LARGEST, high: int = LARGEST) -> int:
    """Return ``value`` as a whole number from ``low`` to ``high``."""
    if type(value) is not int or not low <= value <= high:
        raise RulesetError(field, f"must be a whole number from {low} to {high}, not {shown(value)}")
    return value


def flag(field: str, value: object) -> bool:
    """Return ``value`` as true or false."""
    if type(value) is not bool:
        raise RulesetError(field, f"must be true or false, not {shown(value)}")
    return value


def text(field: str, value: object) -> str:
    """Return ``value`` as a short text of printable characters."""
    if not isinstance(value, str):
        raise RulesetError(field, f"must be a text, not {shown(value)}")
    if not value.isprintable() or value != value.strip() or not 1 <= len(value) <= 80:
        wanted = "1 to 80 printable characters without blanks at the ends"
        raise RulesetError(field, f"must be {wanted}, not {shown(value)}")
    return value


def choice(field: str, value: object, options: Sequence[str]) -> str:
    """Return ``value``, which must be one of ``options``."""
    if isinstance(value, str) and value in options:
        return value
    hint = suggestion(value, options) if isinstance(value, str) else ""
    raise RulesetError(field, f"must be one of {', '.join(options)}, not {shown(value)}{hint}")


def items(field: str, value: object) -> Sequence[object]:
    """Return ``value`` as a list."""
    if not isinstance(value, list | tuple):
        raise RulesetError(field, f"must be a list, not {shown(value)}")
    return value


def choices(field: str, value: object, options: Sequence[str]) -> tuple[str, ...]:
    """Return ``value`` as a list of some of ``options``, none twice."""
    chosen = tuple(choice(field, item, options) for item in items(field, value))
    for name in chosen:
        if chosen.count(name) > 1:
            raise RulesetError(field, f"has {name!r} twice")
    return chosen


def table(
    field: str, value: object, keys: Sequence[str], optional: Sequence[str] = ()
) -> Mapping[str, object]:
    """Return ``value`` as an object with all of ``keys``, perhaps ``optional`` ones, and no others."""
    if not isinstance(value, Mapping):
        raise RulesetError(field, f"must be an object, not {shown(value)}")
    known = (*keys, *optional)
    for key in value:
        if key not in known:
            hint = suggestion(str(key), known)
            raise RulesetError(field, f"has the unknown entry {shown(key)}{hint}")
    for key in keys:
        if key not in value:
            raise RulesetError(field, f"lacks an entry for {key!r}")
    return value
