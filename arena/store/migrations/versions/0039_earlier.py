"""An index that leads to a rating's last change until any time, in place of one by times alone."""

from collections.abc import Sequence

from alembic import op

revision: str = "0039"
down_revision: str | None = "0038"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OLD, NEW = ["created_at"], ["rating_id", "created_at", "id"]


def upgrade() -> None:
    _replace(OLD, NEW)


def downgrade() -> None:
    _replace(NEW, OLD)


def _replace(old: list[str], new: list[str]) -> None:
    op.create_index(f"ix_rating_changes_{'_'.join(new)}", "rating_changes", new)
    op.drop_index(f"ix_rating_changes_{'_'.join(old)}", "rating_changes")
