"""Leagues with their members, and the seasons that they have played."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of


class Arrival(StrEnum):
    """How a member came to its place in a season."""

    NEW = "new"
    """It had no place in the season before."""
    STAYED = "stayed"
    PROMOTED = "promoted"
    RELEGATED = "relegated"


class League(SQLModel, table=True):
    """Divisions whose seasons start on schedule, as described by ``spec``."""

    __tablename__: ClassVar[str] = "leagues"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Unique, never reused; the names of its tournaments begin with it."""
    spec: dict[str, object] = Field(sa_type=JSON)
    """What the organiser asked for last (``arena.leagues.spec.LeagueSpec``)."""
    organiser_id: int | None = Field(default=None, foreign_key="accounts.id")
    """Account of the organiser; NULL: it was created at the arena's own terminal."""
    created_at: datetime
    """When it was first applied."""
    applied_at: datetime
    """When it was last changed."""
    seasons: int = 0
    """Seasons started so far; conditional updates of it keep two starts apart."""
    next_at: datetime | None = None
    """When the next season is due; NULL: there is none left."""
    problem: str | None = None
    """Why a season that is due has not started; NULL: none is held up."""


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
    """The owner."""
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
    arrival: Arrival = Field(sa_type=text_of(Arrival))
    """How it came there."""
    final: int | None = None
    """Place in the division when the season has ended, from 1, no two alike; NULL: not yet."""
