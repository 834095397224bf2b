"""Matches, who sits at them, and their sessions."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of


class MatchState(StrEnum):
    """The state of a match."""

    WAITING = "waiting"
    RUNNING = "running"
    """A worker has it, or had it when its lease ran out."""
    DONE = "done"
    FAILED = "failed"
    """A referee refused it."""
    CANCELLED = "cancelled"


LEASED = text("lease_until IS NOT NULL")
"""Of the matches, the few that a worker has, or had when its lease ran out."""


class Match(SQLModel, table=True):
    """The sessions of one table in a round: what a worker runs and what is rated."""

    __tablename__: ClassVar[str] = "matches"
    __table_args__ = (
        UniqueConstraint("round_id", "table_number"),
        Index(None, "round_id", "state"),
        Index(None, "finished_at"),
        Index(None, "ruleset_id", "finished_at"),
        Index(None, "tournament_id", "state", "round_id", "table_number"),
        Index(None, "tournament_id", "handed_out_at"),
        Index(
            "ix_matches_leased", "tournament_id", "lease_until", sqlite_where=LEASED, postgresql_where=LEASED
        ),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The round's tournament."""
    ruleset_id: int
    """The tournament's ruleset, copied from its row so that an index leads to its matches in order."""
    round_id: int = Field(foreign_key="rounds.id")
    """The round."""
    table_number: int
    """Counts the tables of the round from 1."""
    state: MatchState = Field(sa_type=text_of(MatchState))
    """Its state."""
    problem: str | None = None
    """Why it could not be played at the last attempt; NULL: nothing is in the way."""
    failures: int = 0
    """Failed attempts in a row; sets the wait before the next one, and which referee it goes to."""
    handed_out_at: datetime | None = None
    """When a message for it was last sent; NULL: none since a worker last had it."""
    not_before: datetime | None = None
    """No worker may claim it before this time; NULL: at once."""
    lease_owner: str | None = None
    """The attempt that holds the lease; NULL: none."""
    lease_until: datetime | None = None
    """When the attempt loses it unless it is renewed; NULL: no attempt has it."""
    attempts: list[int] = Field(default_factory=list, sa_type=JSON)
    """For each session how many attempts at it were begun; empty: no worker ever had the match."""
    sessions_done: int = 0
    """Sessions stored; all of them: the match is done."""
    deals_done: int = 0
    """Deals in the stored sessions."""
    created_at: datetime
    """When it was paired."""
    started_at: datetime | None = None
    """When a worker first had it; NULL: never."""
    finished_at: datetime | None = None
    """When its last session was stored, or it was cancelled; NULL: not yet."""


FAULTED = text("faults > 0")


class Seat(SQLModel, table=True):
    """An entrant's place at a match's table."""

    __tablename__: ClassVar[str] = "seats"
    __table_args__ = (
        UniqueConstraint("match_id", "position"),
        UniqueConstraint("match_id", "entrant_id"),
        Index(None, "version_id", "match_id"),
        Index("ix_seats_faults", "match_id", sqlite_where=FAULTED, postgresql_where=FAULTED),
        Index(None, "entrant_id", "match_id"),
    )

    id: int = Field(default=None, primary_key=True)
    match_id: int = Field(foreign_key="matches.id")
    """The match."""
    position: int
    """Place at the table, from 0; the sessions' seatings are made of positions."""
    entrant_id: int = Field(foreign_key="entrants.id")
    """Who has it."""
    version_id: int
    """The entrant's bot version, copied from its row so that an index leads to a bot's matches."""
    points: int = 0
    """Points in the sessions stored so far."""
    faults: int = 0
    """Faults in the sessions stored so far."""


class Session(SQLModel, table=True):
    """A finished session: written once, whole, and never changed."""

    __tablename__: ClassVar[str] = "sessions"
    __table_args__ = (UniqueConstraint("match_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    match_id: int = Field(foreign_key="matches.id")
    """The match."""
    number: int
    """Counts the sessions of the match from 1."""
    seating: list[int] = Field(sa_type=JSON)
    """For each seat the position at the table."""
    points: list[int] = Field(sa_type=JSON)
    """For each seat its points in the session."""
    faults: list[int] = Field(sa_type=JSON)
    """For each seat its number of faults."""
    forfeit: int | None = None
    """The seat whose forfeit ended the session; NULL: it was played to its end."""
    forfeits: list[int] = Field(default_factory=list, sa_type=JSON)
    """The seats whose bots forfeited the session, in order."""
    forfeited_from: int | None = None
    """Place, from 0, of the first deal without all bots; NULL: all played all deals."""
    deal_points: list[list[int]] = Field(sa_type=JSON)
    """For each deal the points of each seat, as in the records."""
    deal_attempts: list[int] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """For each deal the attempt that dealt it; NULL: the first dealt all."""
    signed: dict[str, str] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """The result's digest, the referee's signature of it and its public key; NULL: it was not signed."""
    finished_at: datetime
    """When it was stored."""


class SessionRecords(SQLModel, table=True):
    """The deal records of a session, apart from it: they are long, and few who read sessions want them."""

    __tablename__: ClassVar[str] = "session_records"

    session_id: int = Field(foreign_key="sessions.id", primary_key=True)
    """The session."""
    records: bytes = Field(sa_type=LargeBinary)
    """Its deal records without what all deals of the session share, one JSON line a deal, zlib."""


class OpenDeal(SQLModel, table=True):
    """A finished deal of a session that is still open; it goes when the session is stored."""

    __tablename__: ClassVar[str] = "open_deals"

    match_id: int = Field(foreign_key="matches.id", primary_key=True)
    """The session's match."""
    session: int = Field(primary_key=True)
    """The session's number."""
    deal: int = Field(primary_key=True)
    """Counts the deals of the session from 1."""
    record: str
    """Its record without what all deals of the session share, as JSON."""
    bank_ms: list[int] = Field(sa_type=JSON)
    """What was left in the seats' banks; empty without banks, or where a later deal was stored with it."""
