"""Whether two bots of an owner may sit at one table: where nothing forbade it before, they still may."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FIELD = "allow_same_owner"

TOURNAMENTS = sa.table("tournaments", sa.column(FIELD, sa.Boolean()))
LEAGUES = sa.table("leagues", sa.column("id", sa.Integer()), sa.column("spec", sa.JSON()))


def upgrade() -> None:
    op.add_column("tournaments", sa.Column(FIELD, sa.Boolean(), server_default=sa.false(), nullable=False))
    op.execute(TOURNAMENTS.update().values({FIELD: True}))
    for id_, spec in _leagues():
        _store(id_, {**spec, FIELD: True})


def downgrade() -> None:
    op.drop_column("tournaments", FIELD)
    for id_, spec in _leagues():  # an older version takes a field that it does not know for a mistake
        _store(id_, {key: value for key, value in spec.items() if key != FIELD})


def _leagues() -> list[tuple[int, dict[str, object]]]:
    rows = op.get_bind().execute(sa.select(LEAGUES.c.id, LEAGUES.c.spec))
    return [(id_, spec) for id_, spec in rows]


def _store(id_: int, spec: dict[str, object]) -> None:
    op.execute(LEAGUES.update().where(LEAGUES.c.id == id_).values(spec=spec))
