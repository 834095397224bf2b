"""Who may enter a tournament: whom its organiser has invited, who has asked, and how many of an owner."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0032"
down_revision: str | None = "0031"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("entries", sa.String(16), nullable=False, server_default="open"))
    op.add_column("tournaments", sa.Column("owner_limit", sa.Integer(), nullable=True))
    op.create_table(
        "entry_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_by", sa.String(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_entry_requests_tournament_id"
        ),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_entry_requests_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_entry_requests"),
        sa.UniqueConstraint("tournament_id", "version_id", name="uq_entry_requests_tournament_id_version_id"),
    )
    op.create_index("ix_entry_requests_version_id", "entry_requests", ["version_id"])
    op.create_table(
        "tournament_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("invited", sa.String(), nullable=False),
        sa.Column("invited_by", sa.String(), nullable=False),
        sa.Column("invited_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_tournament_invitations_tournament_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_tournament_invitations"),
        sa.UniqueConstraint(
            "tournament_id", "invited", name="uq_tournament_invitations_tournament_id_invited"
        ),
    )


def downgrade() -> None:
    op.drop_table("tournament_invitations")
    op.drop_index("ix_entry_requests_version_id", "entry_requests")
    op.drop_table("entry_requests")
    op.drop_column("tournaments", "owner_limit")
    op.drop_column("tournaments", "entries")
