"""What an axis of the rules is beyond the type and the docstring of its field; ``axes`` has them all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

Numbers = Iterable[tuple[str, float]]
"""Names, and for each a number from -1 to 1."""


class Conflict(NamedTuple):
    """A contradiction, and the fields that may be to blame for it: the first of them that was given."""

    reason: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """What a field of a ruleset means for the code that treats all fields alike."""

    off: Any = None
    """The value by which its rule is off, or else the usual one."""
    idle: "Callable[[Ruleset], bool] | None" = None
    """Whether the field makes no difference to play under the rest of the ruleset; it is then ``off``.

    Ratings are kept by a ruleset's content, so two that play alike must have the same.
    """
    settled: "Callable[[Ruleset], Any] | None" = None
    """Else the value that stands for all with which the ruleset plays alike."""
    needs: "Callable[[Ruleset], bool] | None" = None
    """Whether the ruleset has what any value but ``off`` needs; the field is idle without it."""
    refusal: str = ""
    """What is wrong if a given value lacks what it needs; empty if that is fine, or said by ``conflicts``."""
    never: "tuple[tuple[object, str, object], ...]" = ()
    """Values of this field that rule out a value of another field: the value, the field, its value."""
    conflicts: "Callable[[Ruleset], Iterable[str | Conflict]] | None" = None
    """Further contradictions to other fields."""
    scale: int = 0
    """What the value is divided by for learners; 0 for what ``encode`` or the type says."""
    encode: "Callable[[Ruleset], Numbers] | None" = None
    """The field for learners; None for what its type says, a number for a flag or for each of its choices."""
    written: "Callable[[Ruleset], object] | None" = None
    """The field as a JSON value; None for the value as it is."""
    words: Mapping[Any, str] = field(default_factory=dict)
    """By value, what is said to people in all rulesets that have what the field needs."""
    brief: Mapping[Any, str] = field(default_factory=dict)
    """By value, the same in few words; it lacks the usual values."""
    turn: str = ""
    """The stage of deals that brings bots turns of a kind of their own unless the field is ``off``."""
    bound: tuple[Literal["max_seats", "max_packs"], str] | None = None
    """The field of a bot's capabilities that bounds this one, and what both count."""


class Section(NamedTuple):
    """What some fields say to people, under a title."""

    words: "Sequence[str | Callable[[Ruleset], Iterable[str]]]"
    """The fields that have words, or functions for sentences that depend on several, in their order."""
    brief: "Sequence[str | Callable[[Ruleset], Iterable[str]]]" = ()
    """The same for what sets a ruleset apart, in few words."""


def squashed(points: float) -> float:
    """Map points to a number between -1 and 1."""
    return points / (abs(points) + _TYPICAL)


_TYPICAL = 10
"""The number of points that becomes 0.5."""


def place_in(order: Sequence[str], name: str) -> float:
    """Return the place of a name in an order, 1 for the last; 0 if it is not there."""
    return (order.index(name) + 1) / len(order) if name in order else 0.0
