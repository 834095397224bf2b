"""How often a bot finishes ahead; it is known from the next fit on."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0028"
down_revision: str | None = "0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NAMES = ("ahead", "ahead_low", "ahead_high")


def upgrade() -> None:
    for name in NAMES:
        op.add_column("strengths", sa.Column(name, sa.Float(), nullable=True))


def downgrade() -> None:
    for name in NAMES:
        op.drop_column("strengths", name)
