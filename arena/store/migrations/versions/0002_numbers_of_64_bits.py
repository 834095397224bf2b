"""Give whole numbers 64 bits: with 32, tournaments stop once an id is past 2,147,483,647."""

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NARROW = """
SELECT relname, attname, pg_get_serial_sequence(quote_ident(relname), attname)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'alembic_version'::regclass)
AND relkind = 'r' AND atttypid = 'integer'::regtype AND attnum > 0
ORDER BY relname, attnum
"""
"""The columns of 32 bits, each with its sequence, if it has one."""


def upgrade() -> None:
    if op.get_context().dialect.name != "postgresql":
        return  # SQLite's whole numbers have 64 bits
    connection = op.get_bind()
    columns: dict[str, list[str]] = defaultdict(list)
    for table, column, sequence in connection.execute(sa.text(NARROW)):
        columns[table].append(f'ALTER COLUMN "{column}" TYPE bigint')
        if sequence is not None:
            op.execute(f"ALTER SEQUENCE {sequence} AS bigint")
    for table, changes in columns.items():  # all of a table at once, since each statement rewrites it
        op.execute(f'ALTER TABLE "{table}" {", ".join(changes)}')
