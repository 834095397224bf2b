"""Strengths: the sums that they follow from, and what was fitted to these."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel


class StrengthSums(SQLModel, table=True):
    """What the rated matches of a pool come to (``arena.strength.sums``); plain and duplicate deals apart."""

    __tablename__: ClassVar[str] = "strength_sums"
    __table_args__ = (UniqueConstraint("ruleset_id", "table_size", "duplicate"),)

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    duplicate: bool
    """Whether these are scores of duplicate deals."""
    matches: int = 0
    """Matches."""
    deals: int = 0
    """Their deals."""
    within: float = 0.0
    """Squared distances of deals from the means of their matches."""
    between: float = 0.0
    """Squared mean scores of the matches, times their deals."""


class StrengthScore(SQLModel, table=True):
    """What a bot version has made of its deals in one of the sums."""

    __tablename__: ClassVar[str] = "strength_scores"

    sums_id: int = Field(foreign_key="strength_sums.id", primary_key=True)
    """Which sums."""
    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """Whose score."""
    deals: int = 0
    """Deals."""
    score: float = 0.0
    """Points less the mean of the table, summed over the deals."""


class Meeting(SQLModel, table=True):
    """What came of two bot versions sitting at one table, in one of the sums.

    Who was ahead and by how much follows from points, also where it is scores of duplicate deals that count.
    """

    __tablename__: ClassVar[str] = "meetings"
    __table_args__ = (Index(None, "other_id", "sums_id"),)

    sums_id: int = Field(foreign_key="strength_sums.id", primary_key=True)
    """Which sums."""
    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The one with the lower id."""
    other_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The other one."""
    deals: int = 0
    """Deals that both sat in."""
    matches: int = 0
    """Matches with such deals."""
    ahead: int = 0
    """Deals in which ``version_id`` had more points."""
    behind: int = 0
    """Deals in which ``other_id`` had more points."""
    lead: int = Field(default=0, sa_type=BigInteger)
    """Points of ``version_id`` less those of ``other_id``, summed over the deals."""
    last_match_id: int = 0
    """The latest of the matches, by id."""


class StrengthFit(SQLModel, table=True):
    """The strengths of a pool as they were fitted once; the latest are in ``strengths`` too.

    Not all fits are kept: see ``arena.strength.history``.
    """

    __tablename__: ClassVar[str] = "strength_fits"
    __table_args__ = (UniqueConstraint("ruleset_id", "table_size", "matches"),)

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    matches: int
    """Matches that were fitted."""
    deals: int
    """Their deals."""
    deviation: float
    """Standard deviation of a bot's points in one deal."""
    spread: float
    """Standard deviation of the strengths."""
    gain: float
    """Standard deviation of what one bot gains from another beyond their strengths."""
    baselines: list[int] = Field(default_factory=list, sa_type=JSON)
    """The bot versions that were its baselines, ascending."""
    seconds: float
    """How long the fit took."""
    fitted_at: datetime
    """When."""
    lines: bytes = Field(sa_type=LargeBinary)
    """By bot version [id, strength, error]; JSON, compressed."""


class Strength(SQLModel, table=True):
    """A bot version's strength in a pool, by the latest fit."""

    __tablename__: ClassVar[str] = "strengths"
    __table_args__ = (
        UniqueConstraint("ruleset_id", "table_size", "version_id"),
        Index(None, "ruleset_id", "table_size", "group_number", "rank"),
    )

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """Whose strength."""
    value: float
    """Points a deal more than the mean of its group."""
    error: float
    """Standard error of that."""
    above: float
    """Points a deal more than the baselines of its group; than its mean if it has none."""
    above_error: float
    """Standard error of that."""
    anchored: bool
    """Whether its group has baselines."""
    ahead: float | None
    """How often it finishes a deal ahead of another bot of its group, from 0 to 1; NULL: not known."""
    ahead_low: float | None
    """The lower end of the 95 % interval of that."""
    ahead_high: float | None
    """The upper end."""
    deals: int
    """Deals that it comes from."""
    group_number: int
    """Number of its group: bots that never met, not even indirectly, are not comparable."""
    rank: int
    """Place in its group."""
    best: int
    """The best place that it may have."""
    worst: int
    """The worst place."""
    tier: int
    """Number of its tier."""
    told_value: float
    """The ``above`` that its history ends with (``StrengthPoint``)."""
    told_error: float
    """The standard error that its history ends with."""


class StrengthPoint(SQLModel, table=True):
    """A bot version's strength in a pool when it had changed: what its history is made of."""

    __tablename__: ClassVar[str] = "strength_points"
    __table_args__ = (Index(None, "version_id", "id"),)

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    version_id: int = Field(foreign_key="bot_versions.id")
    """Whose strength."""
    fitted_at: datetime
    """When it was fitted."""
    value: float
    """``above`` in ``strengths``."""
    error: float
    """``above_error`` in ``strengths``."""
    anchored: bool
    """As in ``strengths``."""
    deals: int
    """Deals that it came from."""
    deviation: float
    """As in ``strength_fits``."""


class Baseline(SQLModel, table=True):
    """A bot version on which the scale of strengths hangs in the pools that it plays in."""

    __tablename__: ClassVar[str] = "baselines"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """Which."""
    named_at: datetime
    """Since when."""
