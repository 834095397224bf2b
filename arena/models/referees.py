"""Referees that have been started."""

from datetime import datetime
from typing import ClassVar

from sqlmodel import Field, SQLModel


class RefereeKey(SQLModel, table=True):
    """The key with which a referee signs the results of sessions."""

    __tablename__: ClassVar[str] = "referee_keys"

    referee: str = Field(primary_key=True, max_length=255)
    """The referee's name."""
    key: str = Field(max_length=64)
    """Its public key, in hexadecimal digits."""
    since: datetime
    """When it was first started with this key."""
