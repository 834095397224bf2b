"""Accounts of people, their keys, browsers and invitations; whose tournaments and leagues there are."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0029"
down_revision: str | None = "0028"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ORGANISED = ("leagues", "tournaments")


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("name", name="uq_accounts_name"),
    )
    op.create_table(
        "kept_answers",
        sa.Column("key_hash", sa.String(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("sealed", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("key_hash", name="pk_kept_answers"),
    )
    op.create_index("ix_kept_answers_created_at", "kept_answers", ["created_at"])

    op.create_table(
        "api_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key_hash", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_on", sa.Date(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_api_keys_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("account_id", "name", name="uq_api_keys_account_id_name"),
        sa.UniqueConstraint("key_hash", name="uq_api_keys_key_hash"),
    )
    op.create_table(
        "browser_sessions",
        sa.Column("id_hash", sa.String(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_browser_sessions_account_id"),
        sa.PrimaryKeyConstraint("id_hash", name="pk_browser_sessions"),
    )
    op.create_index("ix_browser_sessions_account_id", "browser_sessions", ["account_id"])
    op.create_index("ix_browser_sessions_expires_at", "browser_sessions", ["expires_at"])

    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("invited_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name="fk_invitations_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("code_hash", name="uq_invitations_code_hash"),
    )
    op.create_table(
        "memberships",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_memberships_account_id"),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name="fk_memberships_owner_id"),
        sa.PrimaryKeyConstraint("account_id", "owner_id", name="pk_memberships"),
    )
    op.create_index("ix_memberships_owner_id", "memberships", ["owner_id"])

    for table in ORGANISED:  # in one statement, as SQLite adds no constraint to a table that is there
        column = f"organiser_id INTEGER CONSTRAINT fk_{table}_organiser_id REFERENCES accounts (id)"
        op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")


def downgrade() -> None:
    for table in ORGANISED:
        op.drop_column(table, "organiser_id")
    op.drop_index("ix_memberships_owner_id", "memberships")
    op.drop_table("memberships")
    op.drop_table("invitations")
    op.drop_index("ix_browser_sessions_expires_at", "browser_sessions")
    op.drop_index("ix_browser_sessions_account_id", "browser_sessions")
    op.drop_table("browser_sessions")
    op.drop_table("api_keys")
    op.drop_index("ix_kept_answers_created_at", "kept_answers")
    op.drop_table("kept_answers")
    op.drop_table("accounts")
