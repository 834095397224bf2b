"""Short matches weigh less in ratings; those of existing tournaments weigh what they did."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("match_weight", sa.Float(), nullable=False, server_default="1"))
    op.add_column("ratings", sa.Column("weight", sa.Float(), nullable=False, server_default="0"))
    ratings = sa.table("ratings", sa.column("weight", sa.Float), sa.column("matches", sa.Integer))
    op.execute(ratings.update().values(weight=ratings.c.matches))


def downgrade() -> None:
    op.drop_column("ratings", "weight")
    op.drop_column("tournaments", "match_weight")
