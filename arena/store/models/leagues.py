"""Leagues, their members and their seasons."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar, cast

from sqlalchemy import JSON, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.core.specs import Entries
from arena.store.models.columns import Sorted, text_of


class Arrival(StrEnum):
    """How a member came to its place in a season."""

    NEW = "new"
    """It had no place in the season before."""
    STAYED = "stayed"
    PROMOTED = "promoted"
    RELEGATED = "relegated"


class League(SQLModel, table=True):
    """Divisions with seasons that start on schedule, as described by ``spec``."""

    __tablename__: ClassVar[str] = "leagues"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True, sa_type=Sorted)
    """Unique, never reused; the names of its tournaments begin with it."""
    spec: dict[str, object] = Field(sa_type=JSON)
    """The organiser's latest specification (``arena.leagues.spec.LeagueSpec``)."""
    organiser_id: int | None = Field(default=None, foreign_key="accounts.id")
    """Account of the organiser; NULL if it was created at the arena's own terminal."""
    created_at: datetime
    """When it was first applied."""
    applied_at: datetime
    """When it was last changed."""
    seasons: int = 0
    """Seasons started so far; conditional updates of it keep a season from being started twice."""
    next_at: datetime | None = None
    """When the next season is due; NULL if there is none left."""
    problem: str | None = None
    """Why a season that is due has not started; NULL if nothing holds one up."""

    @property
    def entries(self) -> Entries:
        """Return who may let bots join; the specification leaves out what is as by default."""
        return cast("Entries", self.spec.get("entries", "open"))

    @property
    def owner_limit(self) -> int | None:
        """Return how many bots of one owner may play in a season; None: any number."""
        return cast("int | None", self.spec.get("versions_per_owner"))


class LeagueMember(SQLModel, table=True):
    """A bot that has joined a league."""

    __tablename__: ClassVar[str] = "league_members"
    __table_args__ = (UniqueConstraint("league_id", "name"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    name: str
    """``owner/bot`` if its newest version plays, ``owner/bot@number`` if always this one does."""
    owner_id: int = Field(foreign_key="owners.id")
    """The owner."""
    joined_at: datetime
    """When it joined; if it had left, when it joined again."""
    left_at: datetime | None = None
    """When it left; NULL if it is in the league."""


class Season(SQLModel, table=True):
    """A dated run of tournaments in a league, one for each division."""

    __tablename__: ClassVar[str] = "seasons"
    __table_args__ = (UniqueConstraint("league_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    number: int
    """Number of the season in the league, from 1."""
    due_at: datetime
    """When it was due to start."""
    started_at: datetime
    """When it started."""
    finished_at: datetime | None = None
    """When all its tournaments were found to have ended; NULL if not yet."""


class SeasonDivision(SQLModel, table=True):
    """A division in a season."""

    __tablename__: ClassVar[str] = "season_divisions"
    __table_args__ = (UniqueConstraint("season_id", "level"),)

    id: int = Field(default=None, primary_key=True)
    season_id: int = Field(foreign_key="seasons.id")
    """The season."""
    level: int
    """Its level, from 0 for the highest."""
    name: str
    """Its name in that season; ``qualification`` for those who play for places in the lowest."""
    tournament_id: int | None = Field(default=None, foreign_key="tournaments.id", unique=True)
    """Its tournament; NULL if it had too few bots for a table."""


class SeasonPlace(SQLModel, table=True):
    """A member's place in a season."""

    __tablename__: ClassVar[str] = "season_places"
    __table_args__ = (UniqueConstraint("division_id", "number"), UniqueConstraint("division_id", "member_id"))

    id: int = Field(default=None, primary_key=True)
    division_id: int = Field(foreign_key="season_divisions.id")
    """The division."""
    member_id: int = Field(foreign_key="league_members.id", index=True)
    """The member that has the place."""
    version_id: int = Field(foreign_key="bot_versions.id")
    """The version that plays."""
    number: int
    """Place in the division when the season starts, from 1: the seeding."""
    arrival: Arrival = Field(sa_type=text_of(Arrival))
    """How the member came to the place."""
    final: int | None = None
    """Place in the division at the end of the season, from 1, without ties; NULL before."""
