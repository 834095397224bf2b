"""What standings and crosstables follow from, summed up as rounds close."""

from typing import ClassVar

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel


class EntrantSum(SQLModel, table=True):
    """What an entrant made of those of its tournament's rounds that are ``summed``."""

    __tablename__: ClassVar[str] = "entrant_sums"

    entrant_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """Whose sums."""
    matches: int = 0
    """Matches played."""
    played: float = 0.0
    """Sum of the match scores."""
    points: float = 0.0
    """Sum of the points that count."""
    wins: int = 0
    """Matches in which everyone else had fewer points."""
    last: float = 0.0
    """Match score in the latest round."""
    last_round: int = 0
    """The number of that round; 0: it has not played."""
    byes: int = 0
    """Rounds that it sat out."""
    deals: int = 0
    """Deals."""
    raw: int = Field(default=0, sa_type=BigInteger)
    """Points of the deals as they were scored."""
    total: float = 0.0
    """What counts of them: in a duplicate tournament relative to the same seat at other tables."""
    squares: float = 0.0
    """Sum of the squares of what counts of each."""
    forfeits: int = 0
    """Sessions that it forfeited."""


class Encounter(SQLModel, table=True):
    """How often two entrants sat at one table, in the rounds of their tournament that are ``summed``."""

    __tablename__: ClassVar[str] = "encounters"

    entrant_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The one with the lower id."""
    other_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The other one."""
    matches: int = 0
    """Matches at one table."""
    deals: int = 0
    """Deals in them."""
    ahead: int = 0
    """Deals in which the first had more points."""
    behind: int = 0
    """Deals in which the other had more points."""
