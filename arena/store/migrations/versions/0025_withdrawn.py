"""An index of those who withdrew, so that a tournament's status reads no list of entrants."""

from collections.abc import Sequence

from alembic import op

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

INDEX = "ix_entrants_tournament_id_withdrawn_after"


def upgrade() -> None:
    op.create_index(INDEX, "entrants", ["tournament_id", "withdrawn_after"])


def downgrade() -> None:
    op.drop_index(INDEX, "entrants")
