"""Rulesets, and tournaments with their entrants, rounds and events."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, BigInteger, Index, String, UniqueConstraint, text
from sqlmodel import Field, SQLModel, col

from arena.core.specs import Entries, TournamentFields
from arena.store.models.columns import Sorted, text_of
from referee.deals.action import OnForfeit


class TournamentState(StrEnum):
    """The state of a tournament."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    """Halted by an organiser; it can be resumed."""
    FAILED = "failed"
    """Halted because a referee refused a match; it can be started again."""
    FINISHED = "finished"
    CANCELLED = "cancelled"


class RoundState(StrEnum):
    """The state of a round."""

    PLANNED = "planned"
    OPEN = "open"
    CLOSED = "closed"
    """All its matches are done, and ratings have been applied."""
    CANCELLED = "cancelled"
    """It ended with its tournament; its finished matches are done, and ratings have been applied for them."""


COUNTED = (RoundState.CLOSED, RoundState.CANCELLED)
"""States of rounds whose finished matches are in the sums of the standings."""

BEGUN = (RoundState.OPEN, RoundState.CLOSED, RoundState.CANCELLED)
"""States of rounds that may have finished matches."""


class EntrantState(StrEnum):
    """Whether an entrant of a continuous tournament can be seated."""

    FREE = "free"
    """It sits at no table, and was connected when the referees were last asked, or they have
    not been asked yet."""
    AWAY = "away"
    """It sits at no table, and was not connected when the referees were last asked."""
    SEATED = "seated"
    """It sits at a table whose match is not done."""


class StoredRuleset(SQLModel, table=True):
    """A ruleset's content as it was played; one row for each distinct content."""

    __tablename__: ClassVar[str] = "rulesets"

    id: int = Field(default=None, primary_key=True)
    name: str
    """The ruleset's own name; different contents may share it."""
    version: int
    """The ruleset's own version."""
    hash: str = Field(unique=True)
    """SHA-256 of the canonical JSON of ``content``."""
    players: int
    """Number of seats at a table."""
    content: dict[str, object] = Field(sa_type=JSON)
    """The resolved ruleset object."""
    rated_matches: int = 0
    """Matches rated under it; updated before ratings are read, so that no two rounds are rated at once."""
    created_at: datetime
    """When it was first used."""

    @property
    def label(self) -> str:
        """Return name and version, as ``hong-kong@1``."""
        return f"{self.name}@{self.version}"


class Tournament(SQLModel, TournamentFields, table=True):  # type: ignore[misc]  # both have pydantic's settings
    """Rounds of matches between entrants under one ruleset, on the organiser's terms.

    ``rounds`` is NULL until it is known or, for continuous tournaments, until they are stopped; ``deals`` is
    NULL if the ruleset decides it.
    """

    __tablename__: ClassVar[str] = "tournaments"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True, sa_type=Sorted)
    """Unique for good; deal records carry it."""
    format: str
    """The format, which decides its pairings: one of ``arena.core.formats.FORMATS``."""
    state: TournamentState = Field(sa_type=text_of(TournamentState), index=True)
    """Its state."""
    problem: str | None = None
    """Why it failed, cannot be advanced or did not start by itself; NULL if none of these."""
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The ruleset that is played."""
    table_size: int
    """Bots at a table."""
    on_forfeit: OnForfeit = Field(default="default_action", sa_type=String(16))
    """What happens to a session when one of its bots forfeits it."""
    entries: Entries = Field(default="open", sa_type=String(16))
    """Who may enter bots once it is created."""
    start_at: datetime | None = None
    """When it starts by itself; NULL if its organiser starts it."""
    paired: int = 0
    """Rounds paired so far; conditional updates of it keep a round from being paired twice."""
    test: bool = False
    """Whether it is a test match, which an author started and lists leave out."""
    match_weight: float = 1.0
    """The weight of a match in ratings (``arena.core.elo``)."""
    options: dict[str, object] = Field(default_factory=dict, sa_type=JSON)
    """Options of the format."""
    seed: str
    """32 random bytes in hexadecimal, secret until the tournament has ended."""
    seed_hash: str
    """SHA-256 of the seed, public from the beginning."""
    commitment: str | None = None
    """Digest of the head (``TournamentHead``); pairings are drawn from it. NULL if it is not locked yet."""
    beacon_value: str | None = None
    """The value of the beacon; NULL if there is none, or the tournament has not been started."""
    organiser_id: int | None = Field(default=None, foreign_key="accounts.id")
    """Account of the organiser; NULL if it was created at the arena's own terminal."""
    created_at: datetime
    """When it was created."""
    started_at: datetime | None = None
    """When it was first started; NULL if never."""
    advanced_at: datetime | None = None
    """When it last advanced; every step begins by updating this, so that no two run at once.
    NULL if never."""
    finished_at: datetime | None = None
    """When it finished or was cancelled; NULL if not yet."""
    attempts_above: int = Field(default=0, sa_type=BigInteger)
    """Attempts at its sessions that begin from now on get numbers above this, so that a restored backup does
    not deal the cards again that were dealt after it was made. 0 if it was never restored."""
    confirmed_at: datetime | None = None
    """When its organiser confirmed its results; NULL if not yet, or if they need no
    confirmation (``confirm``)."""


STUCK = (col(Tournament.state) == TournamentState.RUNNING, col(Tournament.problem).is_not(None))
"""Selects the tournaments that run and cannot be advanced."""


class TournamentHead(SQLModel, table=True):
    """Everything settled before the first round of a tournament, with which exports begin.

    It is kept apart: it lists all entrants, and its tournament's row is read and changed after every match.
    """

    __tablename__: ClassVar[str] = "tournament_heads"

    tournament_id: int = Field(foreign_key="tournaments.id", primary_key=True)
    """The tournament, which is locked."""
    head: dict[str, object] = Field(sa_type=JSON)
    """The head, in the form of exports."""
    keys: list[str] = Field(sa_type=JSON)
    """Public keys of the referees in the head and in events, for which nothing else has to be read."""


class Entrant(SQLModel, table=True):
    """A bot version in a tournament."""

    __tablename__: ClassVar[str] = "entrants"
    __table_args__ = (
        UniqueConstraint("tournament_id", "number"),
        UniqueConstraint("tournament_id", "version_id"),
        Index(None, "tournament_id", "state", "withdrawn_after"),
        Index(None, "tournament_id", "withdrawn_after"),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """The bot version that plays."""
    number: int
    """Place in the list of entrants, from 1: the seeding, and the number used in drawing pairings."""
    state: EntrantState = Field(default=EntrantState.FREE, sa_type=text_of(EntrantState))
    """Whether it can be seated; of no meaning except in a continuous tournament."""
    withdrawn_after: int | None = None
    """Number of the last round that it plays; NULL if it stays to the end."""
    entered_at_round: int = 1
    """Number of the first round that it plays."""
    absences: list[list[int]] = Field(default_factory=list, sa_type=JSON)
    """Rounds that it missed until it entered again: the first and the last of each absence."""


UNWEIGHED = text("summed AND NOT weighed")
"""Selects the few rounds that have ended and whose luck no worker has taken in."""


class Round(SQLModel, table=True):
    """A set of matches that are paired together."""

    __tablename__: ClassVar[str] = "rounds"
    __table_args__ = (
        UniqueConstraint("tournament_id", "number"),
        Index(None, "tournament_id", "state", "number"),
        Index(None, "tournament_id", "tables_before"),
        Index(None, "tournament_id", "summed", "state"),
        Index("ix_rounds_unweighed", "id", sqlite_where=UNWEIGHED, postgresql_where=UNWEIGHED),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    number: int
    """Number of the round, from 1."""
    state: RoundState = Field(sa_type=text_of(RoundState))
    """Its state; only continuous tournaments have more than one open round."""
    tables_before: int = 0
    """Number of tables in all earlier rounds of the tournament."""
    byes: list[int] = Field(sa_type=JSON)
    """Numbers of the entrants that sit out."""
    free: list[dict[str, object]] | None = Field(default=None, sa_type=JSON)
    """In a continuous tournament, the bots that could be seated, as in exports; NULL in others."""
    summed: bool = False
    """Whether its matches are in the sums of the standings (``entrant_sums``), to which closing or cancelling
    it adds them."""
    rated_after: int | None = None
    """Matches rated under the ruleset before those of this round; NULL if none of its
    matches is rated."""
    weighed: bool = False
    """Whether what was made of its cards has been taken in, or it is of a test match, of which none is."""
    beta: int | None = None
    """The part of what its cards were worth that was expected from them, in 64ths; NULL until it was taken
    in, and for test matches."""
    weighed_after: int | None = None
    """Deals behind ``beta``: those of the pool that were taken in before; NULL where that is."""
    created_at: datetime
    """When it was paired."""
    started_at: datetime | None = None
    """When it was opened; NULL if not yet."""
    finished_at: datetime | None = None
    """When it was closed or cancelled; NULL if not yet."""


class TournamentEvent(SQLModel, table=True):
    """Something that happened after a tournament was locked; in order of number, events form a chain."""

    __tablename__: ClassVar[str] = "tournament_events"
    __table_args__ = (UniqueConstraint("tournament_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    number: int
    """The event's number, from 1."""
    at: datetime
    """When it happened."""
    kind: str = Field(max_length=16)
    """What happened: one of ``arena.core.parts.EventKind``."""
    details: dict[str, object] = Field(sa_type=JSON)
    """Further details, as in exports."""
    digest: str
    """Digest of the event as in exports, which contains the digest of the event before, or of the head."""
