"""Count the deals that a bot forfeited for this bot alone.

Sums of rounds that were rated before have none of them: ``arena rating rebuild --mend`` adds them.
"""

import json
import zlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

FORFEITED = """
SELECT sessions.id, session_records.records FROM sessions
JOIN session_records ON session_records.session_id = sessions.id
WHERE CAST(sessions.forfeits AS TEXT) <> '[]' AND sessions.id > :after
ORDER BY sessions.id LIMIT 1000
"""


def upgrade() -> None:
    names = ("sums_id", "version_id", "other_id", "deals", "matches", "ahead", "behind")
    op.create_table(
        "left_meetings",
        *(sa.Column(name, WHOLE, nullable=False) for name in names),
        sa.Column("lead", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["other_id"], ["bot_versions.id"], name="fk_left_meetings_other_id"),
        sa.ForeignKeyConstraint(["sums_id"], ["strength_sums.id"], name="fk_left_meetings_sums_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_left_meetings_version_id"),
        sa.PrimaryKeyConstraint("sums_id", "version_id", "other_id", name="pk_left_meetings"),
    )
    op.create_index("ix_left_meetings_other_id_sums_id", "left_meetings", ["other_id", "sums_id"])
    for table in ("strength_fits", "strength_sums"):
        op.add_column(table, sa.Column("forfeited", WHOLE, nullable=False, server_default="0"))
    unique = ["ruleset_id", "table_size", "matches", "made"]
    with op.batch_alter_table("strength_fits") as batch:
        batch.drop_constraint("uq_strength_fits_ruleset_id_table_size_matches_made", type_="unique")
        name = "uq_strength_fits_ruleset_id_table_size_matches_made_forfeited"
        batch.create_unique_constraint(name, [*unique, "forfeited"])
    op.add_column("sessions", sa.Column("leaver", WHOLE, nullable=True))
    connection = op.get_bind()
    store = sa.text("UPDATE sessions SET leaver = :leaver WHERE id = :id")
    rows, after = sa.text(FORFEITED), 0
    while some := connection.execute(rows, {"after": after}).all():
        for after, records in some:
            deals = [json.loads(line) for line in zlib.decompress(records).splitlines()]
            connection.execute(store, {"id": after, "leaver": _leaver(deals)})


def _leaver(deals: Sequence[dict[str, Any]]) -> int | None:
    """As ``arena.core.duplicate.leaver_of`` was when this was written."""
    last = deals[-1]
    for forfeit in last.get("played_for", ()):
        return None if forfeit["why"] == "absent" and forfeit["deal"] == 1 else int(forfeit["seat"])
    return None if "absent" in last and len(deals) == 1 else last.get("forfeit")
