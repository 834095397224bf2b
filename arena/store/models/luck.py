"""What the cards of deals were worth by the reference, and what bots made of them (``arena.core.luck``)."""

from datetime import datetime
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


class PlacePiece(SQLModel, table=True):
    """A piece of what places are worth to the reference under a ruleset: written once by a worker."""

    __tablename__: ClassVar[str] = "place_pieces"

    ruleset_id: int = Field(foreign_key="rulesets.id", primary_key=True)
    """The ruleset."""
    reference: str = Field(primary_key=True, max_length=32)
    """The name of the reference, with its version."""
    setup: str = Field(primary_key=True, max_length=32)
    """How the deals begin, seen from the dealer: direction, leader, and the seats that exchange cards."""
    piece: int = Field(primary_key=True)
    """Its number, from 0."""
    totals: list[int] = Field(sa_type=JSON)
    """The sums of the points of its deals, by seat."""


class ReferenceCheck(SQLModel, table=True):
    """What cards were worth, computed again by workers in all sessions: asked for by an operator."""

    __tablename__: ClassVar[str] = "reference_checks"

    id: int = Field(default=None, primary_key=True)
    asked_at: datetime
    """When it was asked for."""
    ended_at: datetime | None = Field(default=None)
    """When it was done; None if it is not yet."""
    last_session_id: int = 0
    """The last session that was computed; sessions are taken in the order of their ids."""
    sessions: int = 0
    """Number of sessions that were computed."""
    deals: int = 0
    """Number of their deals."""
    wrong: int = 0
    """Number of sessions that were not as stored, and have been corrected."""
    betas: int = 0
    """Number of rounds whose beta did not follow from the rounds before, and does now."""
    mended: int = 0
    """Number of sums that follow from these and have been corrected."""
    problem: str | None = None
    """What could not be corrected; None if there is nothing."""


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
    """Sums over the deals whose cards' worth is known and that all played to the end or this one left."""

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
