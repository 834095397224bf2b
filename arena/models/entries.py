"""Who may enter a tournament or join a league whose organiser decides that: invitations and requests."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of


class EntryState(StrEnum):
    """What became of a bot that asked to enter."""

    ASKED = "asked"
    """The organiser has not answered."""
    APPROVED = "approved"
    """It has entered, and may enter again if it withdraws."""
    DECLINED = "declined"


class EntryRequest(SQLModel, table=True):
    """A bot version that asked to enter a tournament; it is none of the entrants before it is approved."""

    __tablename__: ClassVar[str] = "entry_requests"
    __table_args__ = (UniqueConstraint("tournament_id", "version_id"),)

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """Who is to play."""
    state: EntryState = Field(sa_type=text_of(EntryState))
    """What became of it."""
    asked_by: str
    """Account of whoever asked."""
    asked_at: datetime
    """When."""
    answered_by: str | None = None
    """Account of whoever answered, empty at the arena's own terminal; NULL: nobody has."""
    answered_at: datetime | None = None
    """When; NULL: nobody has."""
    reason: str | None = None
    """Why it was declined; NULL: it was not."""


class TournamentInvitation(SQLModel, table=True):
    """An owner, or a bot, whom an organiser lets enter a tournament."""

    __tablename__: ClassVar[str] = "tournament_invitations"
    __table_args__ = (UniqueConstraint("tournament_id", "invited"),)

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Account of whoever invited, empty at the arena's own terminal."""
    invited_at: datetime
    """When."""


class LeagueRequest(SQLModel, table=True):
    """A bot that asked to join a league; it is no member before it is approved."""

    __tablename__: ClassVar[str] = "league_requests"
    __table_args__ = (UniqueConstraint("league_id", "bot"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    bot: str
    """What is to join: ``owner/bot``, or a version of it."""
    state: EntryState = Field(sa_type=text_of(EntryState))
    """What became of it."""
    asked_by: str
    """Account of whoever asked."""
    asked_at: datetime
    """When."""
    answered_by: str | None = None
    """Account of whoever answered, empty at the arena's own terminal; NULL: nobody has."""
    answered_at: datetime | None = None
    """When; NULL: nobody has."""
    reason: str | None = None
    """Why it was declined; NULL: it was not."""


class LeagueInvitation(SQLModel, table=True):
    """An owner, or a bot, whom an organiser lets join a league."""

    __tablename__: ClassVar[str] = "league_invitations"
    __table_args__ = (UniqueConstraint("league_id", "invited"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Account of whoever invited, empty at the arena's own terminal."""
    invited_at: datetime
    """When."""
