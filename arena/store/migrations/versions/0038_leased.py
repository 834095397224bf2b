"""Indexes that lead to leases that ran out past all others, and to free entrants past those who play."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0038"
down_revision: str | None = "0037"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LEASED = sa.text("lease_until IS NOT NULL")
OLD, NEW = ["tournament_id", "state"], ["tournament_id", "state", "withdrawn_after"]
"""Columns of the index of entrants."""


def upgrade() -> None:
    op.create_index(
        "ix_matches_leased",
        "matches",
        ["tournament_id", "lease_until"],
        sqlite_where=LEASED,
        postgresql_where=LEASED,
    )
    _replace(OLD, NEW)


def downgrade() -> None:
    _replace(NEW, OLD)
    op.drop_index("ix_matches_leased", "matches")


def _replace(old: list[str], new: list[str]) -> None:
    op.create_index(f"ix_entrants_{'_'.join(new)}", "entrants", new)
    op.drop_index(f"ix_entrants_{'_'.join(old)}", "entrants")
