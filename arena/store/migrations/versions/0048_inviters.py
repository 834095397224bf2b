"""The account that made an invitation, which is valid as long as that account may make it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0048"
down_revision: str | None = "0042"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    # in one statement, as SQLite adds no constraint to a table that is there
    column = "inviter_id INTEGER CONSTRAINT fk_invitations_inviter_id REFERENCES accounts (id)"
    op.execute(f"ALTER TABLE invitations ADD COLUMN {column}")
    named = "SELECT id FROM accounts WHERE accounts.name = invitations.invited_by"
    op.execute(f"UPDATE invitations SET inviter_id = ({named})")  # noqa: S608


def downgrade() -> None:
    op.drop_column("invitations", "inviter_id")
