"""Alembic's environment, which works in the transaction that ``arena.store.storage`` passes to it."""

from typing import Any, Literal

from alembic import context
from sqlalchemy import Enum
from sqlmodel import SQLModel
from sqlmodel.sql.sqltypes import AutoString, UTCDateTime

from arena.store.models.columns import Whole


def plain_type(kind: str, item: Any, _: object) -> str | Literal[False]:
    """Render SQLModel's types and enums as plain types, so that later changes do not affect migrations."""
    if kind == "type" and isinstance(item, Enum):
        return f"sa.String({item.length})"
    if kind == "type" and isinstance(item, AutoString):
        return "sa.String()"
    if kind == "type" and item is Whole:
        return 'sa.BigInteger().with_variant(sa.Integer(), "sqlite")'
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
