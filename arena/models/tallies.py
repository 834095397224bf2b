"""What queries read in place of history: counts that are kept with the results from which they follow.

Each is written in the transaction that stores its session or closes its round, and ``arena rating rebuild``
recomputes it. What stands on other rows is there too: ``meetings`` (``arena.models.strengths``),
``ratings.last_played`` and ``seats.version_id``.
"""

from enum import StrEnum
from typing import ClassVar

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of
from referee.matches.kinds import FaultKind


class HighlightKind(StrEnum):
    """Why a deal is worth seeing; ``arena.tallies.highlights`` tells what the value of each is."""

    CLOSEST = "closest"
    SWING = "swing"
    LONGEST = "longest"
    BOMBS = "bombs"


class SeatTally(SQLModel, table=True):
    """What a bot version made of one seat in the rated matches of a pool, as rounds close.

    Deals, points and firsts are of deals that were played out with all bots, as strengths are; faults and
    forfeits of all. The sum over the seats is the bot version's total.
    """

    __tablename__: ClassVar[str] = "seat_tallies"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """Who sat there."""
    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The pool's ruleset."""
    table_size: int = Field(primary_key=True)
    """The pool's table size."""
    seat: int = Field(primary_key=True)
    """The seat in the session, from 0."""
    deals: int = 0
    """Deals."""
    points: int = Field(default=0, sa_type=BigInteger)
    """Points in them, as in the deal records."""
    squares: int = Field(default=0, sa_type=BigInteger)
    """Sum of the squares of the points of each deal."""
    first: float = 0.0
    """Deals in which nobody had more points; one that n bots share counts 1/n."""
    faults: int = 0
    """Faults."""
    forfeits: int = 0
    """Sessions that it forfeited."""


class FaultTally(SQLModel, table=True):
    """How many faults of a kind a bot version made in all stored sessions of a pool, rated or not."""

    __tablename__: ClassVar[str] = "fault_tallies"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """Whose faults."""
    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The pool's ruleset."""
    table_size: int = Field(primary_key=True)
    """The pool's table size."""
    kind: FaultKind = Field(sa_type=text_of(FaultKind), primary_key=True)
    """What it did wrong."""
    count: int = 0
    """How often."""


class Highlight(SQLModel, table=True):
    """The deal of a session that stands out most in one respect; written once, with the session."""

    __tablename__: ClassVar[str] = "highlights"
    __table_args__ = (Index(None, "ruleset_id", "table_size", "kind", "value", "session_id"),)

    session_id: int = Field(foreign_key="sessions.id", primary_key=True)
    """The session."""
    kind: HighlightKind = Field(sa_type=text_of(HighlightKind), primary_key=True)
    """In which respect."""
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    deal: int
    """Which deal of the session, from 1; of several alike the first."""
    value: int
    """How much it has of it."""
