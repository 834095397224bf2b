"""Webhooks of organisers, and what is sent to them: a box from which nothing is lost."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of


class DeliveryState(StrEnum):
    """What became of a message."""

    PENDING = "pending"
    """It is still to be sent, or sent again."""
    DELIVERED = "delivered"
    FAILED = "failed"
    """It was given up after the last attempt."""


class Webhook(SQLModel, table=True):
    """Where an organiser wants to be told what happens in its tournaments."""

    __tablename__: ClassVar[str] = "webhooks"
    __table_args__ = (UniqueConstraint("account", "name"),)

    id: int = Field(default=None, primary_key=True)
    account: str
    """Name of the organiser's account; empty: of tournaments that were created at the arena's terminal."""
    name: str
    """Its name for people."""
    url: str
    """Where to."""
    events: list[str] = Field(sa_type=JSON)
    """What is told: some of ``arena.webhooks.outbox.EVENTS``."""
    sealed_secret: str
    """What messages are signed with, encrypted."""
    created_at: datetime
    """When it was made."""


class WebhookDelivery(SQLModel, table=True):
    """A message to a webhook; it is written in the transaction that makes what it tells of."""

    __tablename__: ClassVar[str] = "webhook_deliveries"
    __table_args__ = (Index(None, "state", "next_at"), Index(None, "webhook_id", "id"))

    id: int = Field(default=None, primary_key=True)
    webhook_id: int = Field(foreign_key="webhooks.id")
    """To which."""
    message: str = Field(unique=True)
    """Its id, the same in every attempt."""
    event: str
    """What it tells of."""
    body: str = Field(sa_type=Text)
    """What is sent, the same in every attempt."""
    created_at: datetime
    """When it was made."""
    state: DeliveryState = Field(sa_type=text_of(DeliveryState))
    """What became of it."""
    attempts: int = 0
    """Attempts that were begun."""
    next_at: datetime
    """When it is to be sent, unless it has ended; what is being sent comes back then if the worker dies."""
    status: int | None = None
    """HTTP status of the latest answer; NULL: there was none."""
    problem: str | None = None
    """Why the latest attempt came to nothing; NULL: it did not, or there was none."""
    ended_at: datetime | None = None
    """When it was delivered or given up; NULL: it was not."""
