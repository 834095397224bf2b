"""Where the entrants of continuous tournaments are, and how many tables were before a round."""

from collections.abc import Sequence
from itertools import groupby

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NEW = (
    ("entrants", "tournament_id", "state"),
    ("matches", "tournament_id", "handed_out_at"),
    ("matches", "tournament_id", "state", "round_id", "table_number"),
    ("rounds", "tournament_id", "tables_before"),
    ("seats", "entrant_id", "match_id"),
)
"""Indexes: tables and their columns."""

OLD = (("matches", "tournament_id"), ("seats", "entrant_id"))
"""Those that the new ones begin with."""

SEATED = """
UPDATE entrants SET state = 'seated' WHERE id IN (
    SELECT seats.entrant_id FROM seats
    JOIN matches ON matches.id = seats.match_id
    JOIN rounds ON rounds.id = matches.round_id
    JOIN tournaments ON tournaments.id = rounds.tournament_id
    WHERE rounds.state = 'open' AND matches.finished_at IS NULL AND tournaments.format = 'continuous'
)
"""

ROUNDS = """
SELECT rounds.id, rounds.tournament_id, count(matches.id) FROM rounds
LEFT JOIN matches ON matches.round_id = rounds.id
GROUP BY rounds.id, rounds.tournament_id, rounds.number ORDER BY rounds.tournament_id, rounds.number
"""


def upgrade() -> None:
    op.add_column("entrants", sa.Column("state", sa.String(16), nullable=False, server_default="free"))
    op.execute(SEATED)
    op.add_column("rounds", sa.Column("tables_before", sa.Integer(), nullable=False, server_default="0"))
    _count_tables(op.get_bind())
    for table, *columns in NEW:
        op.create_index(_index(table, columns), table, columns)
    for table, *columns in OLD:
        op.drop_index(_index(table, columns), table)


def downgrade() -> None:
    for table, *columns in OLD:
        op.create_index(_index(table, columns), table, columns)
    for table, *columns in NEW:
        op.drop_index(_index(table, columns), table)
    op.drop_column("rounds", "tables_before")
    op.drop_column("entrants", "state")


def _count_tables(connection: sa.Connection) -> None:
    before = []
    rows = connection.execute(sa.text(ROUNDS)).all()
    for _, rounds in groupby(rows, key=lambda row: row[1]):
        tables = 0
        for round_id, _, count in rounds:
            before.append({"round": round_id, "tables": tables})
            tables += count
    if before:
        connection.execute(sa.text("UPDATE rounds SET tables_before = :tables WHERE id = :round"), before)


def _index(table: str, columns: Sequence[str]) -> str:
    return f"ix_{table}_{'_'.join(columns)}"
