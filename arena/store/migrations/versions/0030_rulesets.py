"""Matches name their rulesets, so that an index leads to those under a ruleset in order."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0030"
down_revision: str | None = "0029"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

INDEX = "ix_matches_ruleset_id_finished_at"


def upgrade() -> None:
    op.add_column("matches", sa.Column("ruleset_id", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE matches SET ruleset_id ="
        " (SELECT ruleset_id FROM tournaments WHERE tournaments.id = matches.tournament_id)"
    )
    op.create_index(INDEX, "matches", ["ruleset_id", "finished_at"])


def downgrade() -> None:
    op.drop_index(INDEX, "matches")
    op.drop_column("matches", "ruleset_id")
