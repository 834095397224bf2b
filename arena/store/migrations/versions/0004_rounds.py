"""A tournament's open round is found without reading those that it has behind it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NAME = "ix_rounds_tournament_id_state_number"


def upgrade() -> None:
    op.create_index(op.f(NAME), "rounds", ["tournament_id", "state", "number"])


def downgrade() -> None:
    op.drop_index(op.f(NAME), table_name="rounds")
