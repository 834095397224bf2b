"""What queries read in place of history: tallies, highlights, who sits where; deal records leave sessions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0023"
down_revision: str | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

POOL = ("ruleset_id", "table_size")

INDEXES = (
    ("matches", "finished_at"),
    ("seats", "version_id", "match_id"),
    ("ratings", *POOL, "last_played"),
    ("rating_changes", "rating_id", "id"),
    ("rating_changes", "created_at"),
    ("meetings", "other_id", "sums_id"),
    ("highlights", *POOL, "kind", "value", "session_id"),
)
"""Tables and their columns."""


def upgrade() -> None:
    """Fill what other rows tell; ``arena rating rebuild --mend`` adds what takes reading all deals."""
    op.add_column("seats", sa.Column("version_id", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE seats SET version_id = (SELECT version_id FROM entrants WHERE entrants.id = seats.entrant_id)"
    )
    op.add_column("ratings", sa.Column("last_played", sa.DateTime(timezone=True), nullable=True))
    op.execute(
        "UPDATE ratings SET last_played = (SELECT max(matches.finished_at) FROM rating_changes"
        " JOIN matches ON matches.id = rating_changes.match_id WHERE rating_changes.rating_id = ratings.id)"
    )
    for column in _of_meetings():
        op.add_column("meetings", column)
    _make_tallies()
    op.create_table(
        "session_records",
        *_keys("session_records", session_id="sessions"),
        sa.Column("records", sa.LargeBinary(), nullable=False),
    )
    op.execute("INSERT INTO session_records (session_id, records) SELECT id, records FROM sessions")
    op.drop_column("sessions", "records")
    for table, *columns in INDEXES:
        op.create_index(_index(table, columns), table, columns)
    op.drop_index("ix_rating_changes_rating_id", "rating_changes")


def downgrade() -> None:
    op.create_index("ix_rating_changes_rating_id", "rating_changes", ["rating_id"])
    for table, *columns in INDEXES:
        op.drop_index(_index(table, columns), table)
    op.add_column("sessions", sa.Column("records", sa.LargeBinary(), nullable=False, server_default=""))
    op.execute(
        "UPDATE sessions SET records ="
        " (SELECT records FROM session_records WHERE session_records.session_id = sessions.id)"
    )
    for table in ("session_records", "highlights", "fault_tallies", "seat_tallies"):
        op.drop_table(table)
    for column in _of_meetings():
        op.drop_column("meetings", column.name)
    op.drop_column("ratings", "last_played")
    op.drop_column("seats", "version_id")


def _make_tallies() -> None:
    op.create_table(
        "seat_tallies",
        *_references("seat_tallies", version_id="bot_versions", ruleset_id="rulesets"),
        *_numbers("table_size", "seat", "deals", "faults", "forfeits"),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("squares", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("version_id", *POOL, "seat", name="pk_seat_tallies"),
    )
    op.create_table(
        "fault_tallies",
        *_references("fault_tallies", version_id="bot_versions", ruleset_id="rulesets"),
        *_numbers("table_size", "count"),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("version_id", *POOL, "kind", name="pk_fault_tallies"),
    )
    op.create_table(
        "highlights",
        *_references("highlights", session_id="sessions", ruleset_id="rulesets"),
        *_numbers("table_size", "deal", "value"),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "kind", name="pk_highlights"),
    )


def _of_meetings() -> list[sa.Column[int]]:
    """Return the new columns of meetings."""
    numbers = ("matches", "ahead", "behind", "last_match_id")
    return [
        *(sa.Column(name, sa.Integer(), nullable=False, server_default="0") for name in numbers),
        sa.Column("lead", sa.BigInteger(), nullable=False, server_default="0"),
    ]


def _index(table: str, columns: Sequence[str]) -> str:
    return f"ix_{table}_{'_'.join(columns)}"


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def _references(table: str, **columns: str) -> list[sa.schema.SchemaItem]:
    """Return columns, and what tables they refer to."""
    keys = [
        sa.ForeignKeyConstraint([name], [f"{other}.id"], name=f"fk_{table}_{name}")
        for name, other in columns.items()
    ]
    return [*_numbers(*columns), *keys]


def _keys(table: str, **columns: str) -> list[sa.schema.SchemaItem]:
    """Return columns that refer to other tables and together are the key."""
    return [*_references(table, **columns), sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")]
