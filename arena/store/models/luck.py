"""What the cards of deals were worth by the reference, and what bots made of them (``arena.core.luck``)."""

from typing import ClassVar

from sqlalchemy import JSON, BigInteger
from sqlmodel import Field, SQLModel


class SessionReference(SQLModel, table=True):
    """What the cards of a session's deals were worth, by the reference: written once by a worker.

    It follows from the session's records alone. Sessions of test matches have none.
    """

    __tablename__: ClassVar[str] = "session_references"

    session_id: int = Field(foreign_key="sessions.id", primary_key=True)
    """The session."""
    reference: str = Field(max_length=32)
    """The name of the reference, with its version."""
    worth: list[list[int]] = Field(sa_type=JSON)
    """For each deal, what the cards were worth to each seat, in the reference's parts of a point; empty if
    its records cannot be followed."""
    chances: list[list[int]] = Field(sa_type=JSON)
    """How often a seat could have beaten another one's play at no cost, and how often it passed then: lists
    of seat, other seat, situation, and these two numbers (``arena.core.softplay``)."""


class PoolSlope(SQLModel, table=True):
    """Sums over the rated deals of a pool, from which it follows how far points go along with the cards."""

    __tablename__: ClassVar[str] = "pool_slopes"

    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The pool's ruleset."""
    table_size: int = Field(primary_key=True)
    """The pool's table size."""
    deals: int = 0
    """Number of deals."""
    cards: int = Field(default=0, sa_type=BigInteger)
    """Sum of the squared distances of what cards were worth from the mean of the table, in 64ths of a point,
    times the seats."""
    product: int = Field(default=0, sa_type=BigInteger)
    """Sum of the products of these distances and those of the points, times the seats."""


class LuckSums(SQLModel):
    """Sums over the deals that all bots played to the end, whose cards' worth is known."""

    deals: int = 0
    """Number of deals."""
    points: int = Field(default=0, sa_type=BigInteger)
    """Sum of the points in them above the mean of the table, in 64ths of a point."""
    squares: int = Field(default=0, sa_type=BigInteger)
    """Sum of the squares of these points of each deal."""
    expected: int = Field(default=0, sa_type=BigInteger)
    """Sum of what was expected from the cards, in 64ths of a point."""
    expected_squares: int = Field(default=0, sa_type=BigInteger)
    """Sum of its squares."""
    product: int = Field(default=0, sa_type=BigInteger)
    """Sum of the products of these points and what was expected."""


class LuckTally(LuckSums, table=True):
    """The luck of a bot version in the rated matches of a pool, updated as workers take rounds in."""

    __tablename__: ClassVar[str] = "luck_tallies"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version."""
    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The pool's ruleset."""
    table_size: int = Field(primary_key=True)
    """The pool's table size."""


class EntrantChances(SQLModel, table=True):
    """How often an entrant could beat another one's play at no cost, updated as rounds are taken in."""

    __tablename__: ClassVar[str] = "entrant_chances"

    entrant_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The entrant."""
    other_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """Whose play it was."""
    situation: int = Field(primary_key=True)
    """What the turn was like (``arena.core.softplay``)."""
    chances: int = 0
    """Number of such turns."""
    passed: int = 0
    """At how many of them it passed."""


class EntrantLuck(LuckSums, table=True):
    """The luck of an entrant in its tournament, updated as workers take rounds in."""

    __tablename__: ClassVar[str] = "entrant_luck"

    entrant_id: int = Field(foreign_key="entrants.id", primary_key=True)
    """The entrant."""
