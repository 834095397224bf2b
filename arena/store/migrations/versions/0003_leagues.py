"""Leagues, their seasons and places."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "leagues",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seasons", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leagues")),
        sa.UniqueConstraint("name", name=op.f("uq_leagues_name")),
    )
    op.create_table(
        "league_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name=op.f("fk_league_members_league_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_league_members_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_league_members")),
        sa.UniqueConstraint("league_id", "name", name=op.f("uq_league_members_league_id_name")),
    )
    op.create_table(
        "seasons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name=op.f("fk_seasons_league_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seasons")),
        sa.UniqueConstraint("league_id", "number", name=op.f("uq_seasons_league_id_number")),
    )
    op.create_table(
        "season_divisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("season_id", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["season_id"], ["seasons.id"], name=op.f("fk_season_divisions_season_id")),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name=op.f("fk_season_divisions_tournament_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_season_divisions")),
        sa.UniqueConstraint("season_id", "level", name=op.f("uq_season_divisions_season_id_level")),
        sa.UniqueConstraint("tournament_id", name=op.f("uq_season_divisions_tournament_id")),
    )
    op.create_table(
        "season_places",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("division_id", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("arrival", sa.String(16), nullable=False),
        sa.Column("final", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["division_id"], ["season_divisions.id"], name=op.f("fk_season_places_division_id")
        ),
        sa.ForeignKeyConstraint(
            ["member_id"], ["league_members.id"], name=op.f("fk_season_places_member_id")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_versions.id"], name=op.f("fk_season_places_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_season_places")),
        sa.UniqueConstraint("division_id", "member_id", name=op.f("uq_season_places_division_id_member_id")),
        sa.UniqueConstraint("division_id", "number", name=op.f("uq_season_places_division_id_number")),
    )
    op.create_index(op.f("ix_season_places_member_id"), "season_places", ["member_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_season_places_member_id"), table_name="season_places")
    op.drop_table("season_places")
    op.drop_table("season_divisions")
    op.drop_table("seasons")
    op.drop_table("league_members")
    op.drop_table("leagues")
