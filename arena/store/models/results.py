"""Ratings with all their changes, and the sums behind standings and crosstables, kept as rounds close."""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Column, Index, Integer, UniqueConstraint
from sqlmodel import Field, SQLModel

_VERSION = Column("version", Integer, nullable=False)


class Rating(SQLModel, table=True):
    """A bot version's rating in a pool; a pool is a ruleset and a table size."""

    __tablename__: ClassVar[str] = "ratings"
    __table_args__ = (
        UniqueConstraint("ruleset_id", "table_size", "version_id"),
        Index(None, "ruleset_id", "table_size", "value"),
        Index(None, "ruleset_id", "table_size", "last_played"),
    )
    __mapper_args__: ClassVar[dict[str, Any]] = {"version_id_col": _VERSION}

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """The bot version that is rated."""
    value: float
    """The rating after its latest change."""
    matches: int = 0
    """Number of rated matches."""
    weight: float = 0.0
    """Total weight of those matches."""
    deals: int = 0
    """Number of deals in those matches."""
    last_played: datetime | None = None
    """When the last of them finished; NULL if it has none."""
    version: int = Field(default=None, sa_column=_VERSION)
    """How often the row was written, so that nobody overwrites a change that they have not read."""


class RatingChange(SQLModel, table=True):
    """The change of one rating by one match; in the order of their ids they are the history of the pool."""

    __tablename__: ClassVar[str] = "rating_changes"
    __table_args__ = (
        UniqueConstraint("match_id", "seat_id"),
        Index(None, "rating_id", "id"),
        Index(None, "rating_id", "created_at", "id"),
    )

    id: int = Field(default=None, primary_key=True)
    match_id: int = Field(foreign_key="matches.id")
    """The match."""
    seat_id: int = Field(foreign_key="seats.id")
    """The seat of the rated bot in it."""
    rating_id: int = Field(foreign_key="ratings.id")
    """The rating that changed."""
    before: float
    """Its value before the match."""
    after: float
    """Its value after the match."""
    created_at: datetime
    """When the round was closed."""


class EntrantSum(SQLModel, table=True):
    """An entrant's results in the rounds of its tournament that are ``summed``."""

    __tablename__: ClassVar[str] = "entrant_sums"

    entrant_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The entrant."""
    matches: int = 0
    """Matches played."""
    played: float = 0.0
    """Sum of the match scores."""
    points: float = 0.0
    """Sum of the points that count for the standings."""
    wins: int = 0
    """Matches in which everyone else was behind."""
    last: float = 0.0
    """Match score in the latest round."""
    last_round: int = 0
    """Number of that round; 0 if it has not played."""
    byes: int = 0
    """Rounds that it sat out."""
    deals: int = 0
    """Number of deals."""
    raw: int = Field(default=0, sa_type=BigInteger)
    """Sum of the points of the deals as they were scored."""
    total: float = 0.0
    """The part of them that counts: in a duplicate tournament, relative to the same seat at other tables."""
    squares: float = 0.0
    """Sum of the squares of what counts of each deal."""
    forfeits: int = 0
    """Number of sessions that it forfeited."""


class Encounter(SQLModel, table=True):
    """How two entrants fared at the same tables, in the rounds of their tournament that are ``summed``."""

    __tablename__: ClassVar[str] = "encounters"

    entrant_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The entrant with the lower id."""
    other_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The entrant with the higher id."""
    matches: int = 0
    """Number of matches at the same table."""
    deals: int = 0
    """Number of deals in them."""
    ahead: int = 0
    """Deals in which the first had more points."""
    behind: int = 0
    """Deals in which the other had more points."""
