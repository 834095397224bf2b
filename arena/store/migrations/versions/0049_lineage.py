"""Keep which history the database has, so that workers notice when it goes back to an earlier state."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0049"
down_revision: str | None = "0048"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "database_lineage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("lineage", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_database_lineage"),
    )
    op.execute("INSERT INTO database_lineage (id, lineage) VALUES (1, '')")


def downgrade() -> None:
    op.drop_table("database_lineage")
