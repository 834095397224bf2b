"""The tables. Rows of results never change once they are written; what a row waits for stands in its state.

Public names are unique and never change, so they are stored with the row they name. All times are UTC.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, Index, LargeBinary, UniqueConstraint
from sqlalchemy import Enum as EnumType
from sqlmodel import Field, SQLModel

from referee.auth import Scope
from referee.journal import EntryKind

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
"""Names of constraints, so that later migrations can name them on every database."""

SQLModel.metadata.naming_convention = NAMING


def utc_now() -> datetime:
    """The clock that everything outside tests uses."""
    return datetime.now(UTC)


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


class Arrival(StrEnum):
    """How a member came to its place in a season."""

    NEW = "new"
    """It had no place in the season before."""
    STAYED = "stayed"
    PROMOTED = "promoted"
    RELEGATED = "relegated"


class RoundState(StrEnum):
    """Where a round stands."""

    PLANNED = "planned"
    OPEN = "open"
    CLOSED = "closed"
    """All its matches are done and the ratings are applied."""
    CANCELLED = "cancelled"


class MatchState(StrEnum):
    """Where a match stands."""

    WAITING = "waiting"
    RUNNING = "running"
    """A worker has it, or had it when its lease ran out."""
    DONE = "done"
    FAILED = "failed"
    """A referee refused it."""
    CANCELLED = "cancelled"


def _text(states: type[StrEnum]) -> EnumType:
    """Stores an enum's values as plain text on every database."""
    return EnumType(
        states, native_enum=False, length=16, values_callable=lambda of: [one.value for one in of]
    )


class Owner(SQLModel, table=True):
    """The account behind bots."""

    __tablename__: ClassVar[str] = "owners"

    id: int = Field(default=None, primary_key=True)
    """Given by the database when the row is stored, in every table."""
    name: str = Field(unique=True)
    """Unique for good."""
    created_at: datetime
    """When its first bot was registered."""


class Bot(SQLModel, table=True):
    """A named program with an owner."""

    __tablename__: ClassVar[str] = "bots"
    __table_args__ = (UniqueConstraint("owner_id", "name"),)

    id: int = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id")
    """Whose it is."""
    name: str
    """Unique for its owner."""
    created_at: datetime
    """When its first version was registered."""


class BotVersion(SQLModel, table=True):
    """An immutable release of a bot: it plays and is rated."""

    __tablename__: ClassVar[str] = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bots.id")
    """The bot that this is a release of."""
    number: int
    """Counts the bot's versions from 1."""
    name: str = Field(unique=True)
    """The public name, ``owner/bot@number``."""
    token_hash: str = Field(unique=True)
    """SHA-256 of its token in hexadecimal; the token itself is stored nowhere."""
    created_at: datetime
    """When it was registered."""
    revoked_at: datetime | None = None
    """When its token was revoked; NULL: the token is good."""
    language: str | None = None
    """What it is written in, as its author says; NULL: not told."""
    check_passed_at: datetime | None = None
    """When it passed the latest check; NULL: never checked, or the latest check failed."""
    check_report: dict[str, object] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """What the latest check found; NULL: never checked."""


class Token(SQLModel, table=True):
    """What anyone but a bot shows to a referee."""

    __tablename__: ClassVar[str] = "tokens"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """What people call it; unique for good."""
    scope: Scope = Field(sa_type=_text(Scope))
    """What it allows."""
    token_hash: str = Field(unique=True)
    """SHA-256 of the token in hexadecimal; the token itself is stored nowhere."""
    created_at: datetime
    """When it was made."""
    revoked_at: datetime | None = None
    """When it was revoked; NULL: it is good."""


class BotLogEntry(SQLModel, table=True):
    """A line of the log that a bot's author may read: connections, faults, notices. Old ones are deleted."""

    __tablename__: ClassVar[str] = "bot_log"
    __table_args__ = (Index(None, "version_id", "id"),)

    id: int = Field(default=None, primary_key=True)
    version_id: int = Field(foreign_key="bot_versions.id")
    """Whom it is about."""
    at: datetime
    """When it happened, by the referee's clock."""
    referee: str
    """Address of the referee that saw it."""
    kind: EntryKind = Field(sa_type=_text(EntryKind))
    """What it tells of."""
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``match/number``; empty where it is not about a session."""
    details: dict[str, object] = Field(sa_type=JSON)
    """For a fault the position, and what was answered and played."""


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


class Tournament(SQLModel, table=True):
    """Rounds of matches between entrants under one ruleset."""

    __tablename__: ClassVar[str] = "tournaments"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Unique for good; deal records carry it."""
    format: str
    """``round-robin`` or ``swiss``."""
    state: TournamentState = Field(sa_type=_text(TournamentState), index=True)
    """Where it stands."""
    problem: str | None = None
    """Why it failed; NULL: it has not."""
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """What is played."""
    table_size: int
    """Bots at a table."""
    rounds: int | None = None
    """Rounds in all; NULL: known once the round-robin is paired."""
    paired: int = 0
    """Rounds paired so far; conditional updates of it keep two pairings apart."""
    sessions: int
    """Sessions in a match."""
    deals: int | None = None
    """Deals in a session; NULL: as the ruleset says."""
    decision_ms: int
    """How long a decision may take."""
    join_ms: int
    """How long absent bots are waited for when a match starts."""
    faults: int
    """Number of faults at which a session is forfeit."""
    bank_ms: int = 0
    """Thinking time of each seat for all decisions of a session; 0: no bank."""
    increment_ms: int = 0
    """What each decision adds to the bank."""
    credit_ms: int = 100
    """The most that is credited to a decision for the network."""
    ask_forced: bool = False
    """Whether bots are asked even where they have no choice."""
    require_check: bool = False
    """Whether every entrant must have passed the check of its protocol."""
    duplicate: bool = False
    """Whether all tables of a round play the same deals; a bot is then held to its seat elsewhere."""
    options: dict[str, object] = Field(default_factory=dict, sa_type=JSON)
    """Options of the format alone."""
    seed: str
    """32 random bytes in hexadecimal, secret until the tournament has ended."""
    commitment: str
    """SHA-256 of the seed, public from the beginning; pairings are drawn from it."""
    created_at: datetime
    """When it was created."""
    started_at: datetime | None = None
    """When it was first started; NULL: never."""
    advanced_at: datetime | None = None
    """When it last moved on; every step begins by updating it, which keeps two steps apart. NULL: never."""
    finished_at: datetime | None = None
    """When it finished or was cancelled; NULL: not yet."""


class Entrant(SQLModel, table=True):
    """A bot version in a tournament."""

    __tablename__: ClassVar[str] = "entrants"
    __table_args__ = (
        UniqueConstraint("tournament_id", "number"),
        UniqueConstraint("tournament_id", "version_id"),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """Who plays."""
    number: int
    """Place in the list of entrants, from 1: the seeding, and what pairings are drawn with."""
    withdrawn_after: int | None = None
    """Number of the last round that it plays; NULL: it stays to the end."""
    entered_at_round: int = 1
    """Number of the first round that it plays."""


class Round(SQLModel, table=True):
    """Matches that are paired together."""

    __tablename__: ClassVar[str] = "rounds"
    __table_args__ = (UniqueConstraint("tournament_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    number: int
    """Counts from 1."""
    state: RoundState = Field(sa_type=_text(RoundState))
    """Where it stands; at most one round of a tournament is open."""
    byes: list[int] = Field(sa_type=JSON)
    """Numbers of the entrants that sit out."""
    created_at: datetime
    """When it was paired."""
    started_at: datetime | None = None
    """When it was opened; NULL: not yet."""
    finished_at: datetime | None = None
    """When it was closed or cancelled; NULL: not yet."""


class Match(SQLModel, table=True):
    """The sessions of one table in a round: what a worker runs and what is rated."""

    __tablename__: ClassVar[str] = "matches"
    __table_args__ = (UniqueConstraint("round_id", "table_number"), Index(None, "round_id", "state"))

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id", index=True)
    """The round's tournament."""
    round_id: int = Field(foreign_key="rounds.id")
    """The round."""
    table_number: int
    """Counts the tables of the round from 1."""
    state: MatchState = Field(sa_type=_text(MatchState))
    """Where it stands."""
    problem: str | None = None
    """What last kept it from being played; NULL: nothing does."""
    failures: int = 0
    """Failed attempts in a row; sets the wait before the next one, and which referee it goes to."""
    handed_out_at: datetime | None = None
    """When a message for it was last sent; NULL: none since a worker last had it."""
    not_before: datetime | None = None
    """No worker gets it before; NULL: at once."""
    lease_owner: str | None = None
    """The attempt that has it; NULL: none."""
    lease_until: datetime | None = None
    """When the attempt loses it unless it is renewed; NULL: no attempt has it."""
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


class Seat(SQLModel, table=True):
    """An entrant's place at a match's table."""

    __tablename__: ClassVar[str] = "seats"
    __table_args__ = (UniqueConstraint("match_id", "position"), UniqueConstraint("match_id", "entrant_id"))

    id: int = Field(default=None, primary_key=True)
    match_id: int = Field(foreign_key="matches.id")
    """The match."""
    position: int
    """Place at the table, from 0; the sessions' seatings are made of positions."""
    entrant_id: int = Field(foreign_key="entrants.id", index=True)
    """Who has it."""
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
    """The seat that forfeited the session; NULL: none."""
    deal_points: list[list[int]] = Field(sa_type=JSON)
    """For each deal the points of each seat, as in the records."""
    records: bytes = Field(sa_type=LargeBinary)
    """The deal records without what all deals of the session share, one JSON line a deal, zlib."""
    finished_at: datetime
    """When it was stored."""


class Rating(SQLModel, table=True):
    """A bot version's rating in a pool; a pool is a ruleset and a table size."""

    __tablename__: ClassVar[str] = "ratings"
    __table_args__ = (
        UniqueConstraint("ruleset_id", "table_size", "version_id"),
        Index(None, "ruleset_id", "table_size", "value"),
    )

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """Who is rated."""
    value: float
    """The rating: what the latest of its changes gave."""
    matches: int = 0
    """Matches that it comes from."""
    deals: int = 0
    """Deals in those matches."""


class RatingChange(SQLModel, table=True):
    """What one match did to one rating; in order of their ids they make up the pool."""

    __tablename__: ClassVar[str] = "rating_changes"
    __table_args__ = (UniqueConstraint("match_id", "seat_id"),)

    id: int = Field(default=None, primary_key=True)
    match_id: int = Field(foreign_key="matches.id")
    """The match."""
    seat_id: int = Field(foreign_key="seats.id")
    """Whose seat in it."""
    rating_id: int = Field(foreign_key="ratings.id", index=True)
    """The rating that changed."""
    before: float
    """Its value before the match."""
    after: float
    """Its value after the match."""
    created_at: datetime
    """When the round was closed."""


class League(SQLModel, table=True):
    """Divisions whose seasons start by themselves; what it is to be like stands in ``spec``."""

    __tablename__: ClassVar[str] = "leagues"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Unique for good; the names of its tournaments begin with it."""
    spec: dict[str, object] = Field(sa_type=JSON)
    """What the organiser asked for last (``arena.league.LeagueSpec``)."""
    created_at: datetime
    """When it was first applied."""
    applied_at: datetime
    """When it was last changed."""
    seasons: int = 0
    """Seasons started so far; conditional updates of it keep two starts apart."""
    next_at: datetime | None = None
    """When the next season is due; NULL: there is none left."""
    problem: str | None = None
    """What keeps a season that is due from starting; NULL: nothing does."""


class LeagueMember(SQLModel, table=True):
    """A bot that has joined a league."""

    __tablename__: ClassVar[str] = "league_members"
    __table_args__ = (UniqueConstraint("league_id", "name"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    name: str
    """``owner/bot``: its newest version plays; ``owner/bot@number``: always this one."""
    owner_id: int = Field(foreign_key="owners.id")
    """Whose it is."""
    joined_at: datetime
    """When it joined, the last time if it had left."""
    left_at: datetime | None = None
    """When it left; NULL: it is in the league."""


class Season(SQLModel, table=True):
    """A dated run of tournaments in a league, one for each division."""

    __tablename__: ClassVar[str] = "seasons"
    __table_args__ = (UniqueConstraint("league_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    number: int
    """Counts the league's seasons from 1."""
    due_at: datetime
    """When it was to start."""
    started_at: datetime
    """When it started."""
    finished_at: datetime | None = None
    """When it was noted that all its tournaments have ended; NULL: not yet."""


class SeasonDivision(SQLModel, table=True):
    """A division in a season."""

    __tablename__: ClassVar[str] = "season_divisions"
    __table_args__ = (UniqueConstraint("season_id", "level"),)

    id: int = Field(default=None, primary_key=True)
    season_id: int = Field(foreign_key="seasons.id")
    """The season."""
    level: int
    """0 for the highest."""
    name: str
    """Its name then; ``qualification`` for those who want to get into the lowest."""
    tournament_id: int | None = Field(default=None, foreign_key="tournaments.id", unique=True)
    """What it plays; NULL: there are not enough for a table."""


class SeasonPlace(SQLModel, table=True):
    """A member's place in a season."""

    __tablename__: ClassVar[str] = "season_places"
    __table_args__ = (UniqueConstraint("division_id", "number"), UniqueConstraint("division_id", "member_id"))

    id: int = Field(default=None, primary_key=True)
    division_id: int = Field(foreign_key="season_divisions.id")
    """The division."""
    member_id: int = Field(foreign_key="league_members.id", index=True)
    """Who has the place."""
    version_id: int = Field(foreign_key="bot_versions.id")
    """Which version plays."""
    number: int
    """Place in the division when the season starts, from 1: the seeding."""
    arrival: Arrival = Field(sa_type=_text(Arrival))
    """How it came there."""
    final: int | None = None
    """Place in the division when the season has ended, from 1, no two alike; NULL: not yet."""
