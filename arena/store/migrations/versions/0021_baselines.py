"""Baselines, on which the scale of strengths hangs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "baselines",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("named_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("version_id", name="pk_baselines"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_baselines_version_id"),
    )
    op.add_column("strength_fits", sa.Column("baselines", sa.JSON(), nullable=False, server_default="[]"))
    for name in ("above", "above_error"):
        op.add_column("strengths", sa.Column(name, sa.Float(), nullable=False, server_default="0"))
    for table in ("strengths", "strength_points"):
        op.add_column(table, sa.Column("anchored", sa.Boolean(), nullable=False, server_default=sa.false()))
    names = ("value", "error", "above", "above_error")
    strengths = sa.table("strengths", *(sa.column(name, sa.Float) for name in names))
    op.execute(strengths.update().values(above=strengths.c.value, above_error=strengths.c.error))


def downgrade() -> None:
    op.drop_column("strength_points", "anchored")
    for name in ("anchored", "above_error", "above"):
        op.drop_column("strengths", name)
    op.drop_column("strength_fits", "baselines")
    op.drop_table("baselines")
