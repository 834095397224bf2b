"""Attempts at sessions are counted, and finished deals of open sessions are kept."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("matches", sa.Column("attempts", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("sessions", sa.Column("deal_attempts", sa.JSON(), nullable=True))
    op.create_table(
        "open_deals",
        sa.Column("match_id", sa.Integer(), nullable=False),
        sa.Column("session", sa.Integer(), nullable=False),
        sa.Column("deal", sa.Integer(), nullable=False),
        sa.Column("record", sa.String(), nullable=False),
        sa.Column("bank_ms", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_open_deals_match_id")),
        sa.PrimaryKeyConstraint("match_id", "session", "deal", name=op.f("pk_open_deals")),
    )


def downgrade() -> None:
    op.drop_table("open_deals")
    op.drop_column("sessions", "deal_attempts")
    op.drop_column("matches", "attempts")
