"""Matches, their seats and sessions, and the referees that play them."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from arena.store.models.columns import text_of


class MatchState(StrEnum):
    """The state of a match."""

    WAITING = "waiting"
    RUNNING = "running"
    """A worker is playing it, or was when its lease expired."""
    DONE = "done"
    FAILED = "failed"
    """A referee refused it."""
    CANCELLED = "cancelled"


LEASED = text("lease_until IS NOT NULL")
"""Selects the few matches that a worker is playing, or was when its lease expired."""


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
    """The tournament's ruleset, copied from its row so that an index can list its matches in order."""
    round_id: int = Field(foreign_key="rounds.id")
    """The round."""
    table_number: int
    """Number of the table in the round, from 1."""
    state: MatchState = Field(sa_type=text_of(MatchState))
    """Its state."""
    problem: str | None = None
    """Why the last attempt to play it failed; NULL if nothing hinders it."""
    failures: int = 0
    """Consecutive failed attempts, which decide the wait before the next one and the referee that gets it."""
    handed_out_at: datetime | None = None
    """When a message for it was last sent; NULL if none was since a worker last had it."""
    not_before: datetime | None = None
    """When a worker may claim it at the earliest; NULL if at once."""
    lease_owner: str | None = None
    """The attempt that holds the lease; NULL if none does."""
    lease_until: datetime | None = None
    """When the lease expires unless it is renewed; NULL if no attempt holds it."""
    attempts: list[int] = Field(default_factory=list, sa_type=JSON)
    """For each session, the number of attempts begun; empty if no worker ever had the match."""
    sessions_done: int = 0
    """Number of sessions stored; the match is done when this is all of them."""
    deals_done: int = 0
    """Number of deals in the stored sessions."""
    created_at: datetime
    """When it was created by the pairing of its round."""
    started_at: datetime | None = None
    """When a worker first had it; NULL if never."""
    finished_at: datetime | None = None
    """When its last session was stored, or it was cancelled; NULL if not yet."""


FAULTED = text("faults > 0")


class Seat(SQLModel, table=True):
    """An entrant's place at the table of a match."""

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
    """Place at the table, from 0; the seatings of sessions consist of positions."""
    entrant_id: int = Field(foreign_key="entrants.id")
    """The entrant that has it."""
    version_id: int
    """The entrant's bot version, copied from its row so that an index can list a bot's matches."""
    points: int = 0
    """Points in the sessions stored so far."""
    faults: int = 0
    """Faults in the sessions stored so far."""
    score: float | None = None
    """What counts, where that is not ``points``: in duplicate rounds that ended and in corrected matches."""
    place: int | None = None
    """Place at the table, from 1, where ``score`` decides it or forfeits do; NULL where ``points`` do."""


class Session(SQLModel, table=True):
    """A finished session, written once as a whole and never changed."""

    __tablename__: ClassVar[str] = "sessions"
    __table_args__ = (UniqueConstraint("match_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    match_id: int = Field(foreign_key="matches.id")
    """The match."""
    number: int
    """Number of the session in the match, from 1."""
    seating: list[int] = Field(sa_type=JSON)
    """For each seat, the position at the table of its bot."""
    points: list[int] = Field(sa_type=JSON)
    """For each seat, its points in the session."""
    faults: list[int] = Field(sa_type=JSON)
    """For each seat, its number of faults."""
    forfeit: int | None = None
    """The seat whose forfeit ended the session; NULL if it was played to its end."""
    forfeits: list[int] = Field(default_factory=list, sa_type=JSON)
    """The seats whose bots forfeited the session, by number."""
    forfeited_from: list[int] = Field(default_factory=list, sa_type=JSON)
    """For each of ``forfeits`` the index, from 0, of the first deal that its bot did not play to the end."""
    leaver: int | None = None
    """The seat whose bot forfeited the session first: the deals from there on count for it alone. NULL if
    nobody forfeited, or if that bot was absent before the first card."""
    deal_points: list[list[int]] = Field(sa_type=JSON)
    """For each deal, the points of each seat, as in the records."""
    deal_attempts: list[int] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """For each deal, the attempt that dealt it; NULL if the first attempt dealt all."""
    signed: dict[str, str] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """The result's digest, the referee's signature of it and its public key; NULL if it was not signed."""
    finished_at: datetime
    """When it was stored."""


class SessionRecords(SQLModel, table=True):
    """The deal records of a session, kept apart as they are long and few queries of sessions need them."""

    __tablename__: ClassVar[str] = "session_records"

    session_id: int = Field(foreign_key="sessions.id", primary_key=True)
    """The session."""
    records: bytes = Field(sa_type=LargeBinary)
    """Its deal records without the fields that they share, as JSON lines compressed with zlib."""


class DealEstimate(SQLModel, table=True):
    """What the decisions of a seat cost in a deal, by sage's estimate, for those who asked. Old ones go."""

    __tablename__: ClassVar[str] = "deal_estimates"
    __table_args__ = (UniqueConstraint("session_id", "deal", "seat"),)

    id: int = Field(default=None, primary_key=True)
    session_id: int = Field(foreign_key="sessions.id")
    """The session."""
    deal: int
    """Number of the deal in its session, from 1."""
    seat: int
    """The seat whose decisions they are."""
    asked_by: int = Field(foreign_key="accounts.id", index=True)
    """The account that asked."""
    asked_at: datetime
    """When it asked."""
    ended_at: datetime | None = Field(default=None, index=True)
    """When a worker had computed it; NULL while it waits."""
    decisions: list[dict[str, object]] = Field(default_factory=list, sa_type=JSON)
    """The decisions with a choice, the costliest first; empty while it waits."""
    problem: str | None = None
    """Why there are none; NULL if there is no problem."""


class OpenDeal(SQLModel, table=True):
    """A finished deal of a session that is still open; deleted when the session is stored."""

    __tablename__: ClassVar[str] = "open_deals"

    match_id: int = Field(foreign_key="matches.id", primary_key=True)
    """The session's match."""
    session: int = Field(primary_key=True)
    """The session's number."""
    deal: int = Field(primary_key=True)
    """Number of the deal in the session, from 1."""
    record: str
    """Its record as JSON, without the fields that all deals of the session share."""
    bank_ms: list[int] = Field(sa_type=JSON)
    """Milliseconds left in each seat's bank; empty without banks, or if a later deal was stored with it."""


class ArenaKey(SQLModel, table=True):
    """The public half of a key of the arena's own."""

    __tablename__: ClassVar[str] = "arena_keys"
    DECISIONS: ClassVar[str] = "decisions"
    """The name of the one that signs organisers' decisions."""

    name: str = Field(primary_key=True, max_length=20)
    key: str = Field(max_length=64)
    """The public key, in hexadecimal digits."""
    since: datetime
    """When it was registered."""


class RefereeKey(SQLModel, table=True):
    """The key with which a referee signs the results of sessions."""

    __tablename__: ClassVar[str] = "referee_keys"

    referee: str = Field(primary_key=True, max_length=255)
    """The referee's name."""
    key: str = Field(max_length=64)
    """Its public key, in hexadecimal digits."""
    since: datetime
    """When it was first started with this key."""


class DatabaseLineage(SQLModel, table=True):
    """The history that the database had when attempts at sessions were last begun; one row."""

    __tablename__: ClassVar[str] = "database_lineage"

    id: int = Field(primary_key=True)
    lineage: str = Field(max_length=64)
    """What tells it from other histories (``arena.play.matches.attempts``); empty if none has begun, or the
    database does not say it."""


class Process(SQLModel, table=True):
    """A process of the arena that uses the database; it writes its row now and then, while it runs."""

    __tablename__: ClassVar[str] = "processes"

    name: str = Field(primary_key=True)
    """What it is, its host and its number there."""
    version: str
    """Version, commit and build that run."""
    schema_name: str
    """The schema that it needs (``arena.store.schema.fingerprint``)."""
    ahead_seconds: float
    """By how much its host's clock is ahead of the database's."""
    seen_at: datetime
    """When it wrote this, by the database's clock."""
