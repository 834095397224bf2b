"""When a session ends."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from referee.ruleset.annotations import CONFIG, Fields, Points, Positive, Step
from referee.ruleset.axis import Axis, Section
from referee.ruleset.words import counted, listed

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

MAX_DEALS = 1000
"""The most deals in a session, so that it ends and its result fits into one message."""


def _not_zero(value: int, _: Fields) -> int:
    if value == 0:
        raise ValueError("must not be 0")
    return value


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """When a session ends: at the first of these, of which at least one is given."""

    __pydantic_config__: ClassVar = CONFIG

    deals: Positive | None = None
    """After this many deals; None for no such limit."""
    target: Annotated[Points, Step(_not_zero, "after")] | None = None
    """At a score of at least this if above 0, of at most this if below; None for no target."""
    chips: Positive | None = None
    """When a score has fallen to minus this; None for unlimited chips."""

    def __post_init__(self) -> None:
        if self.deals is None and self.target is None and self.chips is None:
            raise ValueError("must have at least one of deals, target and chips")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Session:
    """The field on the session."""

    __slots__ = ()

    session: SessionEnd
    """When a session ends."""


def most_deals(ruleset: "Ruleset", deals: int) -> int:
    """Return how many deals a session may have; ``deals`` is the number asked for, 0 if none was."""
    return deals or min(ruleset.session.deals or MAX_DEALS, MAX_DEALS)


AXES = {
    "session": Axis(
        settled=lambda ruleset: (
            replace(ruleset.session, deals=most_deals(ruleset, 0))
            if ruleset.session.deals
            else ruleset.session
        )
    )
}


def _session(ruleset: "Ruleset") -> list[str]:
    ends = []
    end = ruleset.session
    if end.deals is not None:
        ends.append(f"after {counted(end.deals, 'deal')}")
    if end.target is not None:
        ends.append(f"when a score reaches {end.target}")
    if end.chips is not None:
        ends.append(f"when a player has lost {end.chips} chips, a point being a chip")
    first = ", whichever comes first" if len(ends) > 1 else ""
    return [f"A session ends {listed(ends, 'or')}{first}."]


SECTIONS = {"Session": Section((_session,))}
