"""Clocks, options and checks of tournaments; tokens with scopes; the log of a bot."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("name", name=op.f("uq_tokens_name")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_tokens_token_hash")),
    )
    op.create_table(
        "bot_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("referee", sa.String(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name=op.f("fk_bot_log_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_log")),
    )
    op.create_index(op.f("ix_bot_log_version_id_id"), "bot_log", ["version_id", "id"], unique=False)
    for table, columns in _added().items():
        for column in columns:
            op.add_column(table, column)


def downgrade() -> None:
    for table, columns in _added().items():
        for column in columns:  # in place: a table made anew would be missed by those that refer to it
            op.drop_column(table, column.name)
    op.drop_index(op.f("ix_bot_log_version_id_id"), table_name="bot_log")
    op.drop_table("bot_log")
    op.drop_table("tokens")


def _added() -> dict[str, list[sa.Column[object]]]:
    """Return the new columns of older tables, with defaults for the rows that are there."""
    return {
        "bot_versions": [
            sa.Column("language", sa.String(), nullable=True),
            sa.Column("check_passed_at", sa.DateTime(timezone=True), nullable=True),
            sa.Column("check_report", sa.JSON(), nullable=True),
        ],
        "entrants": [
            sa.Column("withdrawn_after", sa.Integer(), nullable=True),
            sa.Column("entered_at_round", sa.Integer(), server_default="1", nullable=False),
        ],
        "tournaments": [
            sa.Column("bank_ms", sa.Integer(), server_default="0", nullable=False),
            sa.Column("increment_ms", sa.Integer(), server_default="0", nullable=False),
            sa.Column("credit_ms", sa.Integer(), server_default="100", nullable=False),
            sa.Column("ask_forced", sa.Boolean(), server_default=sa.false(), nullable=False),
            sa.Column("require_check", sa.Boolean(), server_default=sa.false(), nullable=False),
            sa.Column("duplicate", sa.Boolean(), server_default=sa.false(), nullable=False),
            sa.Column("options", sa.JSON(), server_default="{}", nullable=False),
        ],
    }
