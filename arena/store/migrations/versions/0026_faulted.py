"""Seats with faults have an index of their own."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0026"
down_revision: str | None = "0025"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FAULTED = sa.text("faults > 0")


def upgrade() -> None:
    op.create_index("ix_seats_faults", "seats", ["match_id"], sqlite_where=FAULTED, postgresql_where=FAULTED)


def downgrade() -> None:
    op.drop_index("ix_seats_faults", "seats")
