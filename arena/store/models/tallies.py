"""Counts that queries read instead of history, kept in step with the results behind them.

Each is written in the transaction that stores its session or closes its round, and ``arena rating rebuild``
recomputes it. Other rows hold such values too: ``meetings`` (``arena.store.models.strengths``),
``ratings.last_played`` and ``seats.version_id``.
"""

from enum import StrEnum
from typing import ClassVar

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from arena.store.models.columns import text_of
from referee.matches.kinds import FaultKind


class HighlightKind(StrEnum):
    """Why a deal is worth seeing; ``arena.results.sessions`` defines the value of each kind."""

    CLOSEST = "closest"
    SWING = "swing"
    LONGEST = "longest"
    BOMBS = "bombs"
    BEST_MADE = "best-made"
    WORST_MADE = "worst-made"


class SeatTally(SQLModel, table=True):
    """A bot version's results in one seat in the rated matches of a pool, updated as rounds close.

    Deals, points and firsts count only deals that all bots played to the end or that this one left, as
    strengths do; faults and forfeits count all. The sum over the seats is the bot version's total.
    """

    __tablename__: ClassVar[str] = "seat_tallies"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version."""
    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The pool's ruleset."""
    table_size: int = Field(primary_key=True)
    """The pool's table size."""
    seat: int = Field(primary_key=True)
    """The seat in the session, from 0."""
    deals: int = 0
    """Number of deals."""
    points: int = Field(default=0, sa_type=BigInteger)
    """Sum of the points in them, as in the deal records."""
    squares: int = Field(default=0, sa_type=BigInteger)
    """Sum of the squares of the points of each deal."""
    first: float = 0.0
    """Deals in which nobody had more points; one that n bots share counts as 1/n."""
    faults: int = 0
    """Number of faults."""
    forfeits: int = 0
    """Number of sessions that it forfeited."""


class FaultTally(SQLModel, table=True):
    """A bot version's faults of one kind in all stored sessions of a pool, rated or not."""

    __tablename__: ClassVar[str] = "fault_tallies"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version."""
    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The pool's ruleset."""
    table_size: int = Field(primary_key=True)
    """The pool's table size."""
    kind: FaultKind = Field(sa_type=text_of(FaultKind), primary_key=True)
    """The kind of fault."""
    count: int = 0
    """Number of such faults."""


class Highlight(SQLModel, table=True):
    """The deal of a session that stands out most in one respect, written once together with the session."""

    __tablename__: ClassVar[str] = "highlights"
    __table_args__ = (Index(None, "ruleset_id", "table_size", "kind", "value", "session_id"),)

    session_id: int = Field(foreign_key="sessions.id", primary_key=True)
    """The session."""
    kind: HighlightKind = Field(sa_type=text_of(HighlightKind), primary_key=True)
    """The respect in which it stands out."""
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    deal: int
    """Number of the deal in the session, from 1; the first of several equal ones."""
    value: int
    """How much it stands out, in the unit of the kind."""
