"""Who may enter a tournament or join a league if its organiser decides: invitations and requests."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.models.columns import text_of

EITHER = "(tournament_id IS NULL) <> (league_id IS NULL)"
"""A row belongs to a tournament or to a league."""


class EntryState(StrEnum):
    """The state of a bot's request to enter."""

    ASKED = "asked"
    """The organiser has not answered."""
    APPROVED = "approved"
    """It has entered, and may enter again if it withdraws."""
    DECLINED = "declined"


class EntryRequest(SQLModel, table=True):
    """A bot's request to enter a tournament or to join a league; it does so when it is approved."""

    __tablename__: ClassVar[str] = "entry_requests"
    __table_args__ = (
        CheckConstraint(EITHER, name="ck_entry_requests_either"),
        UniqueConstraint("tournament_id", "bot"),
        UniqueConstraint("league_id", "bot"),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int | None = Field(default=None, foreign_key="tournaments.id")
    """The tournament; NULL if it is to join a league."""
    league_id: int | None = Field(default=None, foreign_key="leagues.id")
    """The league; NULL if it is to enter a tournament."""
    bot_id: int = Field(foreign_key="bots.id", index=True)
    """The bot that is to play."""
    bot: str
    """Its version, ``owner/bot@number``; in a league also ``owner/bot``, for its newest in each season."""
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


class EntryInvitation(SQLModel, table=True):
    """An owner or a bot that an organiser lets enter a tournament or join a league."""

    __tablename__: ClassVar[str] = "entry_invitations"
    __table_args__ = (
        CheckConstraint(EITHER, name="ck_entry_invitations_either"),
        UniqueConstraint("tournament_id", "invited"),
        UniqueConstraint("league_id", "invited"),
    )

    id: int = Field(default=None, primary_key=True)
    tournament_id: int | None = Field(default=None, foreign_key="tournaments.id")
    """The tournament; NULL if they are invited to a league."""
    league_id: int | None = Field(default=None, foreign_key="leagues.id")
    """The league; NULL if they are invited to a tournament."""
    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Name of the account that invited, empty if at the arena's own terminal."""
    invited_at: datetime
    """When they were invited."""
