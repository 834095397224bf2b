"""Strengths, fitted from sums that are kept as rounds close."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

POOL = ("ruleset_id", "table_size")


def upgrade() -> None:
    """What was rated before is not in the sums; ``arena rating rebuild --mend`` adds it."""
    op.add_column("sessions", sa.Column("forfeited_from", sa.Integer(), nullable=True))
    op.execute(
        "UPDATE sessions SET forfeited_from = json_array_length(deal_points) - 1 WHERE forfeit IS NOT NULL"
    )
    op.create_table(
        "strength_sums",
        *_pool("strength_sums"),
        sa.Column("duplicate", sa.Boolean(), nullable=False),
        *_numbers("matches", "deals"),
        *_floats("within", "between"),
        _unique("strength_sums", *POOL, "duplicate"),
    )
    op.create_table(
        "strength_scores",
        *_keys("strength_scores", sums_id="strength_sums", version_id="bot_versions"),
        *_numbers("deals"),
        *_floats("score"),
    )
    op.create_table(
        "meetings",
        *_keys("meetings", sums_id="strength_sums", version_id="bot_versions", other_id="bot_versions"),
        *_numbers("deals"),
    )
    op.create_table(
        "strength_fits",
        *_pool("strength_fits"),
        *_numbers("matches", "deals"),
        *_floats("deviation", "spread", "gain", "seconds"),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=False),
        _unique("strength_fits", *POOL, "matches"),
    )
    op.create_table(
        "strengths",
        *_pool("strengths"),
        *_references("strengths", version_id="bot_versions"),
        *_floats("value", "error"),
        *_numbers("deals", "group_number", "rank", "best", "worst", "tier"),
        _unique("strengths", *POOL, "version_id"),
    )
    op.create_index("ix_strengths_ruleset_id_table_size_value", "strengths", [*POOL, "value"])
    op.create_index("ix_strengths_version_id", "strengths", ["version_id"])


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), nullable=False) for name in names]


def _floats(*names: str) -> list[sa.Column[float]]:
    return [sa.Column(name, sa.Float(), nullable=False) for name in names]


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


def _pool(table: str) -> list[sa.schema.SchemaItem]:
    """Return the columns of a table whose rows belong to a pool."""
    key = sa.PrimaryKeyConstraint("id", name=f"pk_{table}")
    return [*_numbers("id"), key, *_references(table, ruleset_id="rulesets"), *_numbers("table_size")]


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def downgrade() -> None:
    for table in ("strengths", "strength_fits", "meetings", "strength_scores", "strength_sums"):
        op.drop_table(table)
    op.drop_column("sessions", "forfeited_from")
