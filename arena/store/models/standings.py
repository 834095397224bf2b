"""The sums behind standings and crosstables, updated as rounds close."""

from typing import ClassVar

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel


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
