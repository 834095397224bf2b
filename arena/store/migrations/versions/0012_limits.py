"""A match may have a time, and bots must take so many sessions at once."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    for name, value in (("match_seconds", "0"), ("min_sessions", "1")):
        op.add_column("tournaments", sa.Column(name, sa.Integer(), nullable=False, server_default=value))


def downgrade() -> None:
    for name in ("min_sessions", "match_seconds"):
        op.drop_column("tournaments", name)
