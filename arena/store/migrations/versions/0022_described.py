"""Bots have a language and a link; strengths are read in the order of their ranks."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

POOL = ("ruleset_id", "table_size")
BY_VALUE = "ix_strengths_ruleset_id_table_size_value"
BY_RANK = "ix_strengths_ruleset_id_table_size_group_number_rank"

NEWEST = """
UPDATE bots SET language = (
    SELECT language FROM bot_versions
    WHERE bot_versions.bot_id = bots.id AND language IS NOT NULL ORDER BY number DESC LIMIT 1
)
"""


def upgrade() -> None:
    op.add_column("bots", sa.Column("language", sa.String(), nullable=True))
    op.add_column("bots", sa.Column("link", sa.String(), nullable=True))
    op.execute(NEWEST)
    op.drop_index(BY_VALUE, "strengths")
    op.create_index(BY_RANK, "strengths", [*POOL, "group_number", "rank"])


def downgrade() -> None:
    op.drop_index(BY_RANK, "strengths")
    op.create_index(BY_VALUE, "strengths", [*POOL, "value"])
    op.drop_column("bots", "link")
    op.drop_column("bots", "language")
