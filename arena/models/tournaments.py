"""Rulesets, tournaments under them, and their entrants and rounds."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from sqlalchemy import JSON, BigInteger, Index, String, UniqueConstraint
from sqlalchemy.orm import defer
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of
from arena.terms import Terms
from referee.deals.forfeit import OnForfeit


class TournamentState(StrEnum):
    """Where a tournament stands."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    """Halted by an organiser; it can be resumed."""
    FAILED = "failed"
    """Halted because a referee refused a match; it can be started again."""
    FINISHED = "finished"
    CANCELLED = "cancelled"


class RoundState(StrEnum):
    """Where a round stands."""

    PLANNED = "planned"
    OPEN = "open"
    CLOSED = "closed"
    """All its matches are done and the ratings are applied."""
    CANCELLED = "cancelled"


BEGUN = (RoundState.OPEN, RoundState.CLOSED, RoundState.CANCELLED)
"""States of rounds that may have finished matches."""


class EntrantState(StrEnum):
    """Where an entrant of a continuous tournament is."""

    FREE = "free"
    """It sits at no table; it was connected when the referees were last asked, or has not been asked for."""
    AWAY = "away"
    """It sits at no table, and was not connected when the referees were last asked."""
    SEATED = "seated"
    """It sits at a table whose match is not done."""


class StoredRuleset(SQLModel, table=True):
    """A ruleset's content as it was played; one row for each different content."""

    __tablename__: ClassVar[str] = "rulesets"

    id: int = Field(default=None, primary_key=True)
    name: str
    """The ruleset's own name; two contents may share it."""
    version: int
    """The ruleset's own version."""
    hash: str = Field(unique=True)
    """SHA-256 of the canonical JSON of ``content``."""
    players: int
    """Seats at a table."""
    content: dict[str, object] = Field(sa_type=JSON)
    """The resolved ruleset object."""
    rated_matches: int = 0
    """Matches rated under it; updated before ratings are read, so that two rounds never rate at once."""
    created_at: datetime
    """When it was first used."""

    @property
    def label(self) -> str:
        """Name and version, as ``hong-kong@1``."""
        return f"{self.name}@{self.version}"


class Tournament(SQLModel, Terms, table=True):  # type: ignore[misc]  # both have pydantic's settings
    """Rounds of matches between entrants under one ruleset, on the terms that were asked for.

    ``rounds`` is NULL until it is known, or (continuous) until the tournament is stopped; ``deals`` where it
    is as the ruleset says.
    """

    __tablename__: ClassVar[str] = "tournaments"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Unique for good; deal records carry it."""
    format: str
    """How it is paired: one of ``arena.formats.FORMATS``."""
    state: TournamentState = Field(sa_type=text_of(TournamentState), index=True)
    """Its state."""
    problem: str | None = None
    """Why it failed; NULL: it has not."""
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """What is played."""
    table_size: int
    """Bots at a table."""
    on_forfeit: OnForfeit = Field(default="default_action", sa_type=String(16))
    """What happens to a session when one of its bots forfeits it."""
    entries: Literal["open", "invited", "approved"] = Field(default="open", sa_type=String(16))
    """Who may enter bots once it is created."""
    paired: int = 0
    """Rounds paired so far; conditional updates of it keep two pairings apart."""
    test: bool = False
    """Whether it is a test match: its author started it, and lists leave it out."""
    match_weight: float = 1.0
    """What a match weighs in ratings (``arena.ratings.elo``)."""
    options: dict[str, object] = Field(default_factory=dict, sa_type=JSON)
    """Options of the format."""
    seed: str
    """32 random bytes in hexadecimal, secret until the tournament has ended."""
    seed_hash: str
    """SHA-256 of the seed, public from the beginning."""
    head: dict[str, object] | None = Field(default=None, sa_type=JSON)
    """All that was settled before the first round, as exports begin with it; NULL: it is not locked yet."""
    commitment: str | None = None
    """Digest of the head; pairings are drawn from it. NULL: it is not locked yet."""
    beacon_value: str | None = None
    """What the beacon said; NULL: there is none, or the tournament has not been started."""
    organiser_id: int | None = Field(default=None, foreign_key="accounts.id")
    """Account of the organiser; NULL: it was created at the arena's own terminal."""
    created_at: datetime
    """When it was created."""
    started_at: datetime | None = None
    """When it was first started; NULL: never."""
    advanced_at: datetime | None = None
    """When it last moved on; every step begins by updating it, which keeps two steps apart. NULL: never."""
    finished_at: datetime | None = None
    """When it finished or was cancelled; NULL: not yet."""
    attempts_above: int = Field(default=0, sa_type=BigInteger)
    """Attempts at its sessions that begin from now on have higher numbers: cards that were dealt after a
    backup was made must not come back with the backup. 0: it was never restored."""
    confirmed_at: datetime | None = None
    """When its organiser confirmed its results; NULL: not yet, or that is not asked for (``confirm``)."""


WITHOUT_HEAD = defer(Tournament.head)  # type: ignore[arg-type]
"""For queries of tournaments: heads have all entrants, and are read where they are asked for."""


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
    """Who plays."""
    number: int
    """Place in the list of entrants, from 1: the seeding, and what pairings are drawn with."""
    state: EntrantState = Field(default=EntrantState.FREE, sa_type=text_of(EntrantState))
    """Where it is, in a continuous tournament; in others nobody looks."""
    withdrawn_after: int | None = None
    """Number of the last round that it plays; NULL: it stays to the end."""
    entered_at_round: int = 1
    """Number of the first round that it plays."""
    absences: list[list[int]] = Field(default_factory=list, sa_type=JSON)
    """Rounds that it missed until it entered again: the first and the last of each time."""


class Round(SQLModel, table=True):
    """Matches that are paired together."""

    __tablename__: ClassVar[str] = "rounds"
    __table_args__ = (
        UniqueConstraint("tournament_id", "number"),
        Index(None, "tournament_id", "state", "number"),
        Index(None, "tournament_id", "tables_before"),
        Index(None, "tournament_id", "summed", "state"),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    number: int
    """Counts from 1."""
    state: RoundState = Field(sa_type=text_of(RoundState))
    """Where it stands; more than one is open in continuous tournaments alone."""
    tables_before: int = 0
    """Tables of all earlier rounds of the tournament."""
    byes: list[int] = Field(sa_type=JSON)
    """Numbers of the entrants that sit out."""
    free: list[dict[str, object]] | None = Field(default=None, sa_type=JSON)
    """In a continuous tournament who could be seated, as exports have it; NULL in others."""
    summed: bool = False
    """Whether its matches are in the sums of the standings (``entrant_sums``): it was added as it closed."""
    rated_after: int | None = None
    """Matches rated under the ruleset before those of this round; NULL: it is not rated."""
    created_at: datetime
    """When it was paired."""
    started_at: datetime | None = None
    """When it was opened; NULL: not yet."""
    finished_at: datetime | None = None
    """When it was closed or cancelled; NULL: not yet."""
