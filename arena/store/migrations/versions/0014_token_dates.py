"""Tokens of bots can be replaced; all tokens can expire, and tell when they were last used."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    number = sa.Column("token_number", sa.Integer(), nullable=False, server_default="1")
    op.add_column("bot_versions", number)
    for table in ("bot_versions", "tokens"):
        op.add_column(table, sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
        op.add_column(table, sa.Column("last_used_on", sa.Date(), nullable=True))


def downgrade() -> None:
    for table in ("tokens", "bot_versions"):
        op.drop_column(table, "last_used_on")
        op.drop_column(table, "expires_at")
    op.drop_column("bot_versions", "token_number")
