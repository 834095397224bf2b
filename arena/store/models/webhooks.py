"""Organisers' webhooks, and an outbox for their messages from which nothing is lost."""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from sqlalchemy import JSON, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.models.columns import text_of


class DeliveryState(StrEnum):
    """The state of a message."""

    PENDING = "pending"
    """It is yet to be sent, or sent again."""
    DELIVERED = "delivered"
    FAILED = "failed"
    """It was given up after the last attempt."""


class Webhook(SQLModel, table=True):
    """An address at which an organiser wants to be notified of events in its tournaments."""

    __tablename__: ClassVar[str] = "webhooks"
    __table_args__ = (UniqueConstraint("account", "name"),)

    id: int = Field(default=None, primary_key=True)
    account: str
    """Name of the organiser's account; empty for tournaments created at the arena's own terminal."""
    name: str
    """A name for people to recognise it."""
    url: str
    """The URL that messages are sent to."""
    events: list[str] = Field(sa_type=JSON)
    """The events to notify of: some of ``arena.webhooks.hooks.EVENTS``."""
    sealed_secret: str
    """The secret with which messages are signed, encrypted."""
    created_at: datetime
    """When it was created."""


class WebhookDelivery(SQLModel, table=True):
    """A message to a webhook, written in the transaction that makes the change that it reports."""

    __tablename__: ClassVar[str] = "webhook_deliveries"
    __table_args__ = (Index(None, "state", "next_at"), Index(None, "webhook_id", "id"))

    id: int = Field(default=None, primary_key=True)
    webhook_id: int = Field(foreign_key="webhooks.id")
    """The webhook that it is sent to."""
    message: str = Field(unique=True)
    """Its id, the same in every attempt."""
    event: str
    """The event that it reports."""
    body: str = Field(sa_type=Text)
    """The body that is sent, the same in every attempt."""
    created_at: datetime
    """When it was made."""
    state: DeliveryState = Field(sa_type=text_of(DeliveryState))
    """Its state."""
    attempts: int = 0
    """Number of attempts begun."""
    next_at: datetime
    """When it is to be sent, unless it has ended; while it is being sent, when to retry if the
    worker dies."""
    status: int | None = None
    """HTTP status of the latest answer; NULL if there was none."""
    problem: str | None = None
    """Why the latest attempt failed; NULL if it did not, or there was none."""
    ended_at: datetime | None = None
    """When it was delivered or given up; NULL if it was not."""
