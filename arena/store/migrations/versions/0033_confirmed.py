"""Results that wait for their organiser to confirm them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0033"
down_revision: str | None = "0032"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column(
        "tournaments", sa.Column("confirm", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("tournaments", sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("tournaments", "confirmed_at")
    op.drop_column("tournaments", "confirm")
