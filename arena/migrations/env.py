"""Alembic's environment: it works inside the transaction that ``arena.storage`` hands in."""

from typing import Any, Literal

from alembic import context
from sqlalchemy import Enum
from sqlmodel import SQLModel
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

import arena.models  # noqa: F401  (fills the metadata)


def plain_type(kind: str, item: Any, _: object) -> str | Literal[False]:
    """Keep later changes of SQLModel, and of enums, out of written migrations."""
    if kind == "type" and isinstance(item, Enum):
        return f"sa.String({item.length})"
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    if kind == "type" and isinstance(item, UTCDateTime):
        return "sa.DateTime(timezone=True)"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    transactional_ddl=True,
    render_as_batch=True,  # SQLite can alter little in place
    render_item=plain_type,
)

with context.begin_transaction():
    context.run_migrations()
