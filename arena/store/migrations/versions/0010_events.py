"""What happened to tournaments on the way, in order, and what batches and ratings followed from."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

UNIQUE = "uq_tournament_events_tournament_id_number"


def upgrade() -> None:
    op.create_table(
        "tournament_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament_events")),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name=op.f("fk_tournament_events_tournament_id")
        ),
        sa.UniqueConstraint(
            "tournament_id", "number", name=op.f("uq_tournament_events_tournament_id_number")
        ),
    )
    op.add_column("rounds", sa.Column("free", sa.JSON(), nullable=True))
    op.add_column("rounds", sa.Column("rated_after", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("rounds", "rated_after")
    op.drop_column("rounds", "free")
    op.drop_table("tournament_events")
