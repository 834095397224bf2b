"""What a tournament commits itself to: its whole head, locked before its first round."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.execute("ALTER TABLE tournaments RENAME COLUMN commitment TO seed_hash")
    for name in ("commitment", "beacon", "beacon_value"):
        op.add_column("tournaments", sa.Column(name, sa.String(), nullable=True))
    op.add_column("tournaments", sa.Column("head", sa.JSON(), nullable=True))


def downgrade() -> None:
    for name in ("head", "beacon_value", "beacon", "commitment"):
        op.drop_column("tournaments", name)
    op.execute("ALTER TABLE tournaments RENAME COLUMN seed_hash TO commitment")
