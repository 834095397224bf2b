"""The values that pairing works with: a round's tables and byes, and what has been played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Tables = list[list[int]]
"""Tables while they are being searched: lists of point or entrant numbers."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """One round: who sits together and who sits out."""

    tables: tuple[tuple[int, ...], ...]
    """Entrants of each table, all tables of one size, in the order of their positions at the table."""

    byes: tuple[int, ...] = ()
    """Entrants without a table in this round."""


@dataclass(frozen=True, slots=True)
class History:
    """The past that matters to a new round."""

    tables: Sequence[Sequence[int]] = ()
    """Every table of every round so far, in the order of positions."""

    byes: Sequence[int] = ()
    """Everyone who sat out, once for each time."""

    owners: Mapping[int, int] = field(default_factory=dict)
    """Entrant to owner; whoever is not in it shares no owner with anyone."""

    scores: Mapping[int, float] = field(default_factory=dict)
    """Entrant to score; if it is empty, places in the standing take the place of scores."""

    owners_apart: bool = False
    """Whether no owner may be twice at a table; otherwise that is only avoided."""
