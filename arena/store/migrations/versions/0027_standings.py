"""Sums of standings; those of rounds that were closed before are added whenever standings are read."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0027"
down_revision: str | None = "0026"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

INDEX = "ix_rounds_tournament_id_summed_state"


def upgrade() -> None:
    op.add_column("rounds", sa.Column("summed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(INDEX, "rounds", ["tournament_id", "summed", "state"])
    op.create_table(
        "entrant_sums",
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        *_numbers("matches", "wins", "last_round", "byes", "deals"),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("played", "points", "last", "total")),
        sa.Column("squares", sa.Float(), nullable=False),
        sa.Column("raw", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_entrant_sums_entrant_id"),
        sa.PrimaryKeyConstraint("entrant_id", name="pk_entrant_sums"),
    )
    op.create_table(
        "encounters",
        *_numbers("entrant_id", "other_id", "matches", "deals", "ahead", "behind"),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_encounters_entrant_id"),
        sa.ForeignKeyConstraint(["other_id"], ["entrants.id"], name="fk_encounters_other_id"),
        sa.PrimaryKeyConstraint("entrant_id", "other_id", name="pk_encounters"),
    )


def downgrade() -> None:
    op.drop_table("encounters")
    op.drop_table("entrant_sums")
    op.drop_index(INDEX, "rounds")
    op.drop_column("rounds", "summed")


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]
