"""Heads of tournaments get a table of their own, so that a tournament's row stays short."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0041"
down_revision: str | None = "0040"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "tournament_heads",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("head", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_tournament_heads_tournament_id"
        ),
        sa.PrimaryKeyConstraint("tournament_id", name="pk_tournament_heads"),
    )
    op.execute(
        "INSERT INTO tournament_heads (tournament_id, head)"
        " SELECT id, head FROM tournaments WHERE commitment IS NOT NULL"
    )
    op.drop_column("tournaments", "head")


def downgrade() -> None:
    op.add_column("tournaments", sa.Column("head", sa.JSON(), nullable=True))
    op.execute(
        "UPDATE tournaments SET head = (SELECT head FROM tournament_heads"
        " WHERE tournament_heads.tournament_id = tournaments.id)"
    )
    op.drop_table("tournament_heads")
