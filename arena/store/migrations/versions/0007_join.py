"""How long absent bots are waited for is kept in seconds, as organisers say it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.execute("ALTER TABLE tournaments RENAME COLUMN join_ms TO join_seconds")
    op.execute("UPDATE tournaments SET join_seconds = join_seconds / 1000")


def downgrade() -> None:
    op.execute("ALTER TABLE tournaments RENAME COLUMN join_seconds TO join_ms")
    op.execute("UPDATE tournaments SET join_ms = join_ms * 1000")
