"""Results of sessions are signed by the referees, whose keys are known."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("signed", sa.JSON(), nullable=True))
    op.create_table(
        "referee_keys",
        sa.Column("referee", sa.String(255), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("referee", name=op.f("pk_referee_keys")),
    )


def downgrade() -> None:
    op.drop_table("referee_keys")
    op.drop_column("sessions", "signed")
