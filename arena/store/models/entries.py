"""Who may enter a tournament or join a league if its organiser decides: invitations and requests."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.models.columns import text_of


class EntryState(StrEnum):
    """The state of a bot's request to enter."""

    ASKED = "asked"
    """The organiser has not answered."""
    APPROVED = "approved"
    """It has entered, and may enter again if it withdraws."""
    DECLINED = "declined"


class EntryRequest(SQLModel, table=True):
    """A bot version's request to enter a tournament; it becomes an entrant when it is approved."""

    __tablename__: ClassVar[str] = "entry_requests"
    __table_args__ = (UniqueConstraint("tournament_id", "version_id"),)

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """The bot version that is to play."""
    state: EntryState = Field(sa_type=text_of(EntryState))
    """The state of the request."""
    asked_by: str
    """Name of the account that asked."""
    asked_at: datetime
    """When it was asked."""
    answered_by: str | None = None
    """Name of the account that answered, empty if at the arena's own terminal; NULL if nobody has."""
    answered_at: datetime | None = None
    """When it was answered; NULL if it was not."""
    reason: str | None = None
    """Why it was declined; NULL if it was not."""


class TournamentInvitation(SQLModel, table=True):
    """An owner or a bot that an organiser lets enter a tournament."""

    __tablename__: ClassVar[str] = "tournament_invitations"
    __table_args__ = (UniqueConstraint("tournament_id", "invited"),)

    id: int = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Name of the account that invited, empty if at the arena's own terminal."""
    invited_at: datetime
    """When they were invited."""


class LeagueRequest(SQLModel, table=True):
    """A bot's request to join a league; it becomes a member when it is approved."""

    __tablename__: ClassVar[str] = "league_requests"
    __table_args__ = (UniqueConstraint("league_id", "bot"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    bot: str
    """The bot that is to join: ``owner/bot``, or a version of it."""
    state: EntryState = Field(sa_type=text_of(EntryState))
    """The state of the request."""
    asked_by: str
    """Name of the account that asked."""
    asked_at: datetime
    """When it was asked."""
    answered_by: str | None = None
    """Name of the account that answered, empty if at the arena's own terminal; NULL if nobody has."""
    answered_at: datetime | None = None
    """When it was answered; NULL if it was not."""
    reason: str | None = None
    """Why it was declined; NULL if it was not."""


class LeagueInvitation(SQLModel, table=True):
    """An owner or a bot that an organiser lets join a league."""

    __tablename__: ClassVar[str] = "league_invitations"
    __table_args__ = (UniqueConstraint("league_id", "invited"),)

    id: int = Field(default=None, primary_key=True)
    league_id: int = Field(foreign_key="leagues.id")
    """The league."""
    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Name of the account that invited, empty if at the arena's own terminal."""
    invited_at: datetime
    """When they were invited."""
