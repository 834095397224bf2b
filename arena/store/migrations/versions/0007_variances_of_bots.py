"""Keep how much each bot varies, errors of pairs, and how far their anchor moved.

Until ``arena rating rebuild --mend``, all bots of a pool vary alike in the matches so far, and the scores of
pairs are points.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

MATCHES = """
UPDATE strength_scores SET matches = (
    SELECT COALESCE(SUM(meetings.matches), 0) / (strength_sums.table_size - 1)
    FROM strength_sums JOIN meetings ON meetings.sums_id = strength_sums.id
    WHERE strength_sums.id = strength_scores.sums_id
    AND strength_scores.version_id IN (meetings.version_id, meetings.other_id)
    GROUP BY strength_sums.table_size
) WHERE deals > 0
"""
SHARE = """
UPDATE strength_scores SET "{name}" = (
    SELECT strength_sums."{name}" / NULLIF({all}, 0)
    FROM strength_sums WHERE strength_sums.id = strength_scores.sums_id
) * {own} WHERE {own} > 0
"""


def upgrade() -> None:
    op.add_column("meetings", sa.Column("score", sa.Float(), nullable=False, server_default="0"))
    op.add_column("strength_scores", sa.Column("matches", WHOLE, nullable=False, server_default="0"))
    for name in ("within", "between"):
        op.add_column("strength_scores", sa.Column(name, sa.Float(), nullable=False, server_default="0"))
    op.add_column("strengths", sa.Column("shift", sa.Float(), nullable=False, server_default="0"))
    op.add_column("strength_fits", sa.Column("pair_errors", sa.LargeBinary(), nullable=True))
    op.execute("UPDATE meetings SET score = lead")
    op.execute(MATCHES)
    size, deals, matches = (f"strength_sums.{name}" for name in ("table_size", "deals", "matches"))
    op.execute(SHARE.format(name="within", all=f"({size} * ({deals} - {matches}))", own="(deals - matches)"))
    op.execute(SHARE.format(name="between", all=f"({size} * {matches})", own="matches"))
