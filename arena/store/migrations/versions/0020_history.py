"""The history of strengths; it begins with the next fit."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TOLD = {"told_value": "value", "told_error": "error"}


def upgrade() -> None:
    for name in TOLD:
        op.add_column("strengths", sa.Column(name, sa.Float(), nullable=False, server_default="0"))
    strengths = sa.table("strengths", *(sa.column(name, sa.Float) for pair in TOLD.items() for name in pair))
    op.execute(strengths.update().values({told: strengths.c[name] for told, name in TOLD.items()}))
    op.create_table(
        "strength_points",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("deviation", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_strength_points"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_strength_points_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_strength_points_version_id"),
    )
    op.create_index("ix_strength_points_version_id_id", "strength_points", ["version_id", "id"])


def downgrade() -> None:
    op.drop_table("strength_points")
    for name in TOLD:
        op.drop_column("strengths", name)
