"""Sessions go on without bots that forfeited them, if the tournament says so."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Existing tournaments end a session at a forfeit, as they did."""
    rule = sa.Column("on_forfeit", sa.String(16), nullable=False, server_default="end_session")
    op.add_column("tournaments", rule)
    op.add_column("sessions", sa.Column("forfeits", sa.JSON(), nullable=False, server_default="[]"))
    sessions = sa.table("sessions", sa.column("forfeit", sa.Integer), sa.column("forfeits", sa.JSON))
    for seat in range(8):
        ended = sessions.update().where(sessions.c.forfeit == seat)
        op.execute(ended.values(forfeits=[seat]))


def downgrade() -> None:
    op.drop_column("sessions", "forfeits")
    op.drop_column("tournaments", "on_forfeit")
