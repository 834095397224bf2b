"""Heads of tournaments name the arena's key for decisions, and the form of their beacon's value."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0050"
down_revision: str | None = "0049"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "arena_keys",
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_arena_keys"),
    )
    op.add_column(
        "tournaments", sa.Column("beacon_form", sa.String(), nullable=False, server_default="hex:64")
    )


def downgrade() -> None:
    op.drop_column("tournaments", "beacon_form")
    op.drop_table("arena_keys")
