"""Entrants that withdrew can enter again: which rounds they missed."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("entrants", sa.Column("absences", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("entrants", "absences")
