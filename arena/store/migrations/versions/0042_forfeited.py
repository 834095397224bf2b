"""Sessions say for each bot that forfeited them in which deal it did."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0042"
down_revision: str | None = "0041"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LISTED = sa.table(
    "sessions", sa.column("id"), sa.column("forfeits", sa.JSON()), sa.column("forfeited_from", sa.JSON())
)
FIRST = sa.table("sessions", sa.column("id"), sa.column("forfeited_from", sa.Integer()))
RECORDS = sa.table("session_records", sa.column("session_id"), sa.column("records", sa.LargeBinary()))


def upgrade() -> None:
    op.drop_column("sessions", "forfeited_from")
    op.add_column(
        "sessions", sa.Column("forfeited_from", sa.JSON(), nullable=False, server_default=sa.text("'[]'"))
    )
    connection = op.get_bind()
    forfeited = (
        sa.select(LISTED.c.id, LISTED.c.forfeits, RECORDS.c.records)
        .join(RECORDS, RECORDS.c.session_id == LISTED.c.id)
        .where(sa.cast(LISTED.c.forfeits, sa.String) != "[]")
    )
    for id_, forfeits, packed in connection.execute(forfeited).all():
        records = [json.loads(line) for line in zlib.decompress(packed).splitlines()]
        since = _since(records)
        lost = [since.get(seat, len(records)) for seat in forfeits]
        connection.execute(sa.update(LISTED).where(LISTED.c.id == id_).values(forfeited_from=lost))


def _since(records: Sequence[Any]) -> dict[int, int]:
    """Return the index of the first deal that each bot which forfeited did not play to the end."""
    found: dict[int, int] = {}
    for at, record in enumerate(records):
        gone = [one["seat"] for one in record.get("played_for", ())]
        if "forfeit" in record:
            gone += [record["forfeit"], *record.get("absent", ())]
        for seat in gone:
            found.setdefault(seat, at)
    return found


def downgrade() -> None:
    connection = op.get_bind()
    rows = connection.execute(sa.select(LISTED.c.id, LISTED.c.forfeited_from)).all()
    op.drop_column("sessions", "forfeited_from")
    op.add_column("sessions", sa.Column("forfeited_from", sa.Integer(), nullable=True))
    for id_, since in rows:
        if since:
            connection.execute(sa.update(FIRST).where(FIRST.c.id == id_).values(forfeited_from=min(since)))
