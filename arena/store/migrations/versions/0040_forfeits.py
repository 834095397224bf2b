"""The sums of standings count forfeits, too."""

from collections import Counter
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0040"
down_revision: str | None = "0039"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SESSIONS = sa.table(
    "sessions",
    sa.column("match_id", sa.Integer()),
    sa.column("seating", sa.JSON()),
    sa.column("forfeits", sa.JSON()),
    sa.column("forfeited_from", sa.Integer()),
)
SEATS = sa.table("seats", *(sa.column(name) for name in ("match_id", "position", "entrant_id")))
MATCHES = sa.table("matches", *(sa.column(name) for name in ("id", "round_id", "state")))
ROUNDS = sa.table("rounds", sa.column("id"), sa.column("summed", sa.Boolean()))
SUMS = sa.table("entrant_sums", sa.column("entrant_id"), sa.column("forfeits"))


def upgrade() -> None:
    op.add_column(
        "entrant_sums", sa.Column("forfeits", sa.Integer(), nullable=False, server_default=sa.text("0"))
    )
    connection = op.get_bind()
    forfeited = (
        sa.select(SESSIONS.c.seating, SESSIONS.c.forfeits, SEATS.c.position, SEATS.c.entrant_id)
        .join(SEATS, SEATS.c.match_id == SESSIONS.c.match_id)
        .join(MATCHES, MATCHES.c.id == SESSIONS.c.match_id)
        .join(ROUNDS, ROUNDS.c.id == MATCHES.c.round_id)
        .where(SESSIONS.c.forfeited_from.is_not(None), ROUNDS.c.summed.is_(True), MATCHES.c.state == "done")
    )
    found: Counter[int] = Counter()
    for seating, forfeits, position, entrant_id in connection.execute(forfeited):
        found[entrant_id] += sum(seating[seat] == position for seat in forfeits)
    counts = [{"entrant": entrant_id, "count": count} for entrant_id, count in found.items()]
    if counts:
        own = SUMS.c.entrant_id == sa.bindparam("entrant")
        connection.execute(sa.update(SUMS).where(own).values(forfeits=sa.bindparam("count")), counts)


def downgrade() -> None:
    op.drop_column("entrant_sums", "forfeits")
