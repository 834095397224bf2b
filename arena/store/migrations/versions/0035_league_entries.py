"""Who may join a league: whom its organiser has invited, and who has asked."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0035"
down_revision: str | None = "0034"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "league_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league_id", sa.Integer(), nullable=False),
        sa.Column("bot", sa.String(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_by", sa.String(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name="fk_league_requests_league_id"),
        sa.PrimaryKeyConstraint("id", name="pk_league_requests"),
        sa.UniqueConstraint("league_id", "bot", name="uq_league_requests_league_id_bot"),
    )
    op.create_table(
        "league_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league_id", sa.Integer(), nullable=False),
        sa.Column("invited", sa.String(), nullable=False),
        sa.Column("invited_by", sa.String(), nullable=False),
        sa.Column("invited_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name="fk_league_invitations_league_id"),
        sa.PrimaryKeyConstraint("id", name="pk_league_invitations"),
        sa.UniqueConstraint("league_id", "invited", name="uq_league_invitations_league_id_invited"),
    )


def downgrade() -> None:
    op.drop_table("league_invitations")
    op.drop_table("league_requests")
