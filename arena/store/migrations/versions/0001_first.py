"""The first schema."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("name", name="uq_accounts_name"),
    )
    op.create_table(
        "arena_keys",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_arena_keys"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_subject_id", "audit", ["subject", "id"])

    op.create_table(
        "database_lineage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("lineage", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_database_lineage"),
    )
    op.create_table(
        "kept_answers",
        sa.Column("key_hash", sa.String(), nullable=False),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("sealed", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("key_hash", name="pk_kept_answers"),
    )
    op.create_index("ix_kept_answers_created_at", "kept_answers", ["created_at"])

    op.create_table(
        "owners",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_owners"),
        sa.UniqueConstraint("name", name="uq_owners_name"),
    )
    op.create_table(
        "referee_keys",
        sa.Column("referee", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("referee", name="pk_referee_keys"),
    )
    op.create_table(
        "rulesets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("rated_matches", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rulesets"),
        sa.UniqueConstraint("hash", name="uq_rulesets_hash"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_on", sa.Date(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("name", name="uq_tokens_name"),
        sa.UniqueConstraint("token_hash", name="uq_tokens_token_hash"),
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("sealed_secret", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sa.UniqueConstraint("account", "name", name="uq_webhooks_account_name"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key_hash", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_on", sa.Date(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_api_keys_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("account_id", "name", name="uq_api_keys_account_id_name"),
        sa.UniqueConstraint("key_hash", name="uq_api_keys_key_hash"),
    )
    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("link", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name="fk_bots_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bots"),
        sa.UniqueConstraint("owner_id", "name", name="uq_bots_owner_id_name"),
    )
    op.create_index("ix_bots_name", "bots", ["name"])

    op.create_table(
        "browser_sessions",
        sa.Column("id_hash", sa.String(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_browser_sessions_account_id"),
        sa.PrimaryKeyConstraint("id_hash", name="pk_browser_sessions"),
    )
    op.create_index("ix_browser_sessions_account_id", "browser_sessions", ["account_id"])
    op.create_index("ix_browser_sessions_expires_at", "browser_sessions", ["expires_at"])

    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("invited_by", sa.String(), nullable=False),
        sa.Column("inviter_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["inviter_id"], ["accounts.id"], name="fk_invitations_inviter_id"),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name="fk_invitations_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("code_hash", name="uq_invitations_code_hash"),
    )
    op.create_table(
        "password_resets",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.Column("maker_id", sa.Integer(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_password_resets_account_id"),
        sa.ForeignKeyConstraint(["maker_id"], ["accounts.id"], name="fk_password_resets_maker_id"),
        sa.PrimaryKeyConstraint("account_id", name="pk_password_resets"),
        sa.UniqueConstraint("code_hash", name="uq_password_resets_code_hash"),
    )
    op.create_table(
        "leagues",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("organiser_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seasons", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["organiser_id"], ["accounts.id"], name="fk_leagues_organiser_id"),
        sa.PrimaryKeyConstraint("id", name="pk_leagues"),
        sa.UniqueConstraint("name", name="uq_leagues_name"),
    )
    op.create_table(
        "memberships",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_memberships_account_id"),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name="fk_memberships_owner_id"),
        sa.PrimaryKeyConstraint("account_id", "owner_id", name="pk_memberships"),
    )
    op.create_index("ix_memberships_owner_id", "memberships", ["owner_id"])

    op.create_table(
        "strength_fits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("made", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("deviation", sa.Float(), nullable=False),
        sa.Column("made_deviation", sa.Float(), nullable=True),
        sa.Column("spread", sa.Float(), nullable=False),
        sa.Column("gain", sa.Float(), nullable=False),
        sa.Column("baselines", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lines", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_strength_fits_ruleset_id"),
        sa.PrimaryKeyConstraint("id", name="pk_strength_fits"),
        sa.UniqueConstraint(
            "ruleset_id",
            "table_size",
            "matches",
            "made",
            name="uq_strength_fits_ruleset_id_table_size_matches_made",
        ),
    )
    op.create_table(
        "strength_sums",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("within", sa.Float(), nullable=False),
        sa.Column("between", sa.Float(), nullable=False),
        sa.Column("raw_within", sa.Float(), nullable=False),
        sa.Column("raw_between", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_strength_sums_ruleset_id"),
        sa.PrimaryKeyConstraint("id", name="pk_strength_sums"),
        sa.UniqueConstraint(
            "ruleset_id", "table_size", "kind", name="uq_strength_sums_ruleset_id_table_size_kind"
        ),
    )
    op.create_table(
        "tournaments",
        sa.Column("owner_limit", sa.Integer(), nullable=True),
        sa.Column("confirm", sa.Boolean(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("require_check", sa.Boolean(), nullable=False),
        sa.Column("beacon", sa.String(), nullable=True),
        sa.Column("beacon_form", sa.String(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=True),
        sa.Column("sessions", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=True),
        sa.Column("duplicate", sa.Boolean(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("allow_same_owner", sa.Boolean(), nullable=False),
        sa.Column("decision_ms", sa.Integer(), nullable=False),
        sa.Column("join_seconds", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("increment_ms", sa.Integer(), nullable=False),
        sa.Column("credit_ms", sa.Integer(), nullable=False),
        sa.Column("ask_forced", sa.Boolean(), nullable=False),
        sa.Column("match_seconds", sa.Integer(), nullable=False),
        sa.Column("min_sessions", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("on_forfeit", sa.String(length=16), nullable=False),
        sa.Column("entries", sa.String(length=16), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paired", sa.Integer(), nullable=False),
        sa.Column("test", sa.Boolean(), nullable=False),
        sa.Column("match_weight", sa.Float(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("seed_hash", sa.String(), nullable=False),
        sa.Column("commitment", sa.String(), nullable=True),
        sa.Column("beacon_value", sa.String(), nullable=True),
        sa.Column("organiser_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("advanced_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts_above", sa.BigInteger(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["organiser_id"], ["accounts.id"], name="fk_tournaments_organiser_id"),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_tournaments_ruleset_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tournaments"),
        sa.UniqueConstraint("name", name="uq_tournaments_name"),
    )
    op.create_index("ix_tournaments_state", "tournaments", ["state"])

    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="fk_webhook_deliveries_webhook_id"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.UniqueConstraint("message", name="uq_webhook_deliveries_message"),
    )
    op.create_index("ix_webhook_deliveries_state_next_at", "webhook_deliveries", ["state", "next_at"])
    op.create_index("ix_webhook_deliveries_webhook_id_id", "webhook_deliveries", ["webhook_id", "id"])

    op.create_table(
        "bot_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("token_number", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_on", sa.Date(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("check_passed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("check_report", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_bot_versions_bot_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bot_versions"),
        sa.UniqueConstraint("bot_id", "number", name="uq_bot_versions_bot_id_number"),
        sa.UniqueConstraint("name", name="uq_bot_versions_name"),
        sa.UniqueConstraint("token_hash", name="uq_bot_versions_token_hash"),
    )
    op.create_table(
        "league_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name="fk_league_members_league_id"),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name="fk_league_members_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_league_members"),
        sa.UniqueConstraint("league_id", "name", name="uq_league_members_league_id_name"),
    )
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("tables_before", sa.Integer(), nullable=False),
        sa.Column("byes", sa.JSON(), nullable=False),
        sa.Column("free", sa.JSON(), nullable=True),
        sa.Column("summed", sa.Boolean(), nullable=False),
        sa.Column("rated_after", sa.Integer(), nullable=True),
        sa.Column("weighed", sa.Boolean(), nullable=False),
        sa.Column("beta", sa.Integer(), nullable=True),
        sa.Column("weighed_after", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_rounds_tournament_id"),
        sa.PrimaryKeyConstraint("id", name="pk_rounds"),
        sa.UniqueConstraint("tournament_id", "number", name="uq_rounds_tournament_id_number"),
    )
    op.create_index("ix_rounds_tournament_id_state_number", "rounds", ["tournament_id", "state", "number"])
    op.create_index("ix_rounds_tournament_id_summed_state", "rounds", ["tournament_id", "summed", "state"])
    op.create_index("ix_rounds_tournament_id_tables_before", "rounds", ["tournament_id", "tables_before"])
    op.create_index(
        "ix_rounds_unweighed",
        "rounds",
        ["id"],
        sqlite_where=sa.text("summed AND NOT weighed"),
        postgresql_where=sa.text("summed AND NOT weighed"),
    )

    op.create_table(
        "seasons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("league_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name="fk_seasons_league_id"),
        sa.PrimaryKeyConstraint("id", name="pk_seasons"),
        sa.UniqueConstraint("league_id", "number", name="uq_seasons_league_id_number"),
    )
    op.create_table(
        "tournament_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_tournament_events_tournament_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_tournament_events"),
        sa.UniqueConstraint("tournament_id", "number", name="uq_tournament_events_tournament_id_number"),
    )
    op.create_table(
        "tournament_heads",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("head", sa.JSON(), nullable=False),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_tournament_heads_tournament_id"
        ),
        sa.PrimaryKeyConstraint("tournament_id", name="pk_tournament_heads"),
    )
    op.create_table(
        "baselines",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("named_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_baselines_version_id"),
        sa.PrimaryKeyConstraint("version_id", name="pk_baselines"),
    )
    op.create_table(
        "bot_log",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("referee", sa.String(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_bot_log_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bot_log"),
    )
    op.create_index("ix_bot_log_version_id_id", "bot_log", ["version_id", "id"])

    op.create_table(
        "entrants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("withdrawn_after", sa.Integer(), nullable=True),
        sa.Column("entered_at_round", sa.Integer(), nullable=False),
        sa.Column("absences", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_entrants_tournament_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_entrants_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_entrants"),
        sa.UniqueConstraint("tournament_id", "number", name="uq_entrants_tournament_id_number"),
        sa.UniqueConstraint("tournament_id", "version_id", name="uq_entrants_tournament_id_version_id"),
    )
    op.create_index(
        "ix_entrants_tournament_id_state_withdrawn_after",
        "entrants",
        ["tournament_id", "state", "withdrawn_after"],
    )
    op.create_index(
        "ix_entrants_tournament_id_withdrawn_after", "entrants", ["tournament_id", "withdrawn_after"]
    )
    op.create_index("ix_entrants_version_id", "entrants", ["version_id"])

    op.create_table(
        "entry_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=True),
        sa.Column("league_id", sa.Integer(), nullable=True),
        sa.Column("invited", sa.String(), nullable=False),
        sa.Column("invited_by", sa.String(), nullable=False),
        sa.Column("invited_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(tournament_id IS NULL) <> (league_id IS NULL)", name="ck_entry_invitations_either"
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_entry_invitations_tournament_id"
        ),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name="fk_entry_invitations_league_id"),
        sa.PrimaryKeyConstraint("id", name="pk_entry_invitations"),
        sa.UniqueConstraint("tournament_id", "invited", name="uq_entry_invitations_tournament_id_invited"),
        sa.UniqueConstraint("league_id", "invited", name="uq_entry_invitations_league_id_invited"),
    )
    op.create_table(
        "entry_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=True),
        sa.Column("league_id", sa.Integer(), nullable=True),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("bot", sa.String(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("asked_by", sa.String(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_by", sa.String(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.CheckConstraint("(tournament_id IS NULL) <> (league_id IS NULL)", name="ck_entry_requests_either"),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_entry_requests_tournament_id"
        ),
        sa.ForeignKeyConstraint(["league_id"], ["leagues.id"], name="fk_entry_requests_league_id"),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_entry_requests_bot_id"),
        sa.PrimaryKeyConstraint("id", name="pk_entry_requests"),
        sa.UniqueConstraint("tournament_id", "bot", name="uq_entry_requests_tournament_id_bot"),
        sa.UniqueConstraint("league_id", "bot", name="uq_entry_requests_league_id_bot"),
    )
    op.create_index("ix_entry_requests_bot_id", "entry_requests", ["bot_id"])

    op.create_table(
        "fault_tallies",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_fault_tallies_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_fault_tallies_version_id"),
        sa.PrimaryKeyConstraint("version_id", "ruleset_id", "table_size", "kind", name="pk_fault_tallies"),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("table_number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("handed_out_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.JSON(), nullable=False),
        sa.Column("sessions_done", sa.Integer(), nullable=False),
        sa.Column("deals_done", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_matches_round_id"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_matches_tournament_id"),
        sa.PrimaryKeyConstraint("id", name="pk_matches"),
        sa.UniqueConstraint("round_id", "table_number", name="uq_matches_round_id_table_number"),
    )
    op.create_index("ix_matches_finished_at", "matches", ["finished_at"])
    op.create_index(
        "ix_matches_leased",
        "matches",
        ["tournament_id", "lease_until"],
        sqlite_where=sa.text("lease_until IS NOT NULL"),
        postgresql_where=sa.text("lease_until IS NOT NULL"),
    )
    op.create_index("ix_matches_round_id_state", "matches", ["round_id", "state"])
    op.create_index("ix_matches_ruleset_id_finished_at", "matches", ["ruleset_id", "finished_at"])
    op.create_index("ix_matches_tournament_id_handed_out_at", "matches", ["tournament_id", "handed_out_at"])
    op.create_index(
        "ix_matches_tournament_id_state_round_id_table_number",
        "matches",
        ["tournament_id", "state", "round_id", "table_number"],
    )

    op.create_table(
        "meetings",
        sa.Column("sums_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("ahead", sa.Integer(), nullable=False),
        sa.Column("behind", sa.Integer(), nullable=False),
        sa.Column("lead", sa.BigInteger(), nullable=False),
        sa.Column("last_match_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["other_id"], ["bot_versions.id"], name="fk_meetings_other_id"),
        sa.ForeignKeyConstraint(["sums_id"], ["strength_sums.id"], name="fk_meetings_sums_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_meetings_version_id"),
        sa.PrimaryKeyConstraint("sums_id", "version_id", "other_id", name="pk_meetings"),
    )
    op.create_index("ix_meetings_other_id_sums_id", "meetings", ["other_id", "sums_id"])

    op.create_table(
        "ratings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("last_played", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_ratings_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_ratings_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_ratings"),
        sa.UniqueConstraint(
            "ruleset_id", "table_size", "version_id", name="uq_ratings_ruleset_id_table_size_version_id"
        ),
    )
    op.create_index(
        "ix_ratings_ruleset_id_table_size_last_played", "ratings", ["ruleset_id", "table_size", "last_played"]
    )
    op.create_index(
        "ix_ratings_ruleset_id_table_size_value", "ratings", ["ruleset_id", "table_size", "value"]
    )
    op.create_index("ix_ratings_version_id", "ratings", ["version_id"])

    op.create_table(
        "season_divisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("season_id", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["season_id"], ["seasons.id"], name="fk_season_divisions_season_id"),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name="fk_season_divisions_tournament_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_season_divisions"),
        sa.UniqueConstraint("season_id", "level", name="uq_season_divisions_season_id_level"),
        sa.UniqueConstraint("tournament_id", name="uq_season_divisions_tournament_id"),
    )
    op.create_table(
        "seat_tallies",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("squares", sa.BigInteger(), nullable=False),
        sa.Column("first", sa.Float(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("forfeits", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_seat_tallies_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_seat_tallies_version_id"),
        sa.PrimaryKeyConstraint("version_id", "ruleset_id", "table_size", "seat", name="pk_seat_tallies"),
    )
    op.create_table(
        "strength_points",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("anchored", sa.Boolean(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("deviation", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_strength_points_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_strength_points_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_strength_points"),
    )
    op.create_index("ix_strength_points_version_id_id", "strength_points", ["version_id", "id"])

    op.create_table(
        "strength_scores",
        sa.Column("sums_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["sums_id"], ["strength_sums.id"], name="fk_strength_scores_sums_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_strength_scores_version_id"),
        sa.PrimaryKeyConstraint("sums_id", "version_id", name="pk_strength_scores"),
    )
    op.create_table(
        "strengths",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("above", sa.Float(), nullable=False),
        sa.Column("above_error", sa.Float(), nullable=False),
        sa.Column("anchored", sa.Boolean(), nullable=False),
        sa.Column("ahead", sa.Float(), nullable=True),
        sa.Column("ahead_low", sa.Float(), nullable=True),
        sa.Column("ahead_high", sa.Float(), nullable=True),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("group_number", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("best", sa.Integer(), nullable=False),
        sa.Column("worst", sa.Integer(), nullable=False),
        sa.Column("parts_after", sa.Integer(), nullable=True),
        sa.Column("tier", sa.Integer(), nullable=False),
        sa.Column("last_value", sa.Float(), nullable=False),
        sa.Column("last_error", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_strengths_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_strengths_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_strengths"),
        sa.UniqueConstraint(
            "ruleset_id", "table_size", "version_id", name="uq_strengths_ruleset_id_table_size_version_id"
        ),
    )
    op.create_index(
        "ix_strengths_ruleset_id_table_size_group_number_rank",
        "strengths",
        ["ruleset_id", "table_size", "group_number", "rank"],
    )
    op.create_index("ix_strengths_version_id", "strengths", ["version_id"])

    op.create_table(
        "encounters",
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("ahead", sa.Integer(), nullable=False),
        sa.Column("behind", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_encounters_entrant_id"),
        sa.ForeignKeyConstraint(["other_id"], ["entrants.id"], name="fk_encounters_other_id"),
        sa.PrimaryKeyConstraint("entrant_id", "other_id", name="pk_encounters"),
    )
    op.create_table(
        "entrant_sums",
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("played", sa.Float(), nullable=False),
        sa.Column("points", sa.Float(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("last", sa.Float(), nullable=False),
        sa.Column("last_round", sa.Integer(), nullable=False),
        sa.Column("byes", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("raw", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.Float(), nullable=False),
        sa.Column("squares", sa.Float(), nullable=False),
        sa.Column("forfeits", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_entrant_sums_entrant_id"),
        sa.PrimaryKeyConstraint("entrant_id", name="pk_entrant_sums"),
    )
    op.create_table(
        "open_deals",
        sa.Column("match_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session", sa.Integer(), nullable=False),
        sa.Column("deal", sa.Integer(), nullable=False),
        sa.Column("record", sa.String(), nullable=False),
        sa.Column("bank_ms", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_open_deals_match_id"),
        sa.PrimaryKeyConstraint("match_id", "session", "deal", name="pk_open_deals"),
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
            ["division_id"], ["season_divisions.id"], name="fk_season_places_division_id"
        ),
        sa.ForeignKeyConstraint(["member_id"], ["league_members.id"], name="fk_season_places_member_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_season_places_version_id"),
        sa.PrimaryKeyConstraint("id", name="pk_season_places"),
        sa.UniqueConstraint("division_id", "member_id", name="uq_season_places_division_id_member_id"),
        sa.UniqueConstraint("division_id", "number", name="uq_season_places_division_id_number"),
    )
    op.create_index("ix_season_places_member_id", "season_places", ["member_id"])

    op.create_table(
        "seats",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_seats_entrant_id"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_seats_match_id"),
        sa.PrimaryKeyConstraint("id", name="pk_seats"),
        sa.UniqueConstraint("match_id", "entrant_id", name="uq_seats_match_id_entrant_id"),
        sa.UniqueConstraint("match_id", "position", name="uq_seats_match_id_position"),
    )
    op.create_index("ix_seats_entrant_id_match_id", "seats", ["entrant_id", "match_id"])
    op.create_index(
        "ix_seats_faults",
        "seats",
        ["match_id"],
        sqlite_where=sa.text("faults > 0"),
        postgresql_where=sa.text("faults > 0"),
    )
    op.create_index("ix_seats_version_id_match_id", "seats", ["version_id", "match_id"])

    op.create_table(
        "sessions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seating", sa.JSON(), nullable=False),
        sa.Column("points", sa.JSON(), nullable=False),
        sa.Column("faults", sa.JSON(), nullable=False),
        sa.Column("forfeit", sa.Integer(), nullable=True),
        sa.Column("forfeits", sa.JSON(), nullable=False),
        sa.Column("forfeited_from", sa.JSON(), nullable=False),
        sa.Column("deal_points", sa.JSON(), nullable=False),
        sa.Column("deal_attempts", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("signed", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_sessions_match_id"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("match_id", "number", name="uq_sessions_match_id_number"),
    )
    op.create_table(
        "highlights",
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("deal", sa.Integer(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_highlights_ruleset_id"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_highlights_session_id"),
        sa.PrimaryKeyConstraint("session_id", "kind", name="pk_highlights"),
    )
    op.create_index(
        "ix_highlights_ruleset_id_table_size_kind_value_session_id",
        "highlights",
        ["ruleset_id", "table_size", "kind", "value", "session_id"],
    )

    op.create_table(
        "rating_changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seat_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rating_id", sa.Integer(), nullable=False),
        sa.Column("before", sa.Float(), nullable=False),
        sa.Column("after", sa.Float(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_rating_changes_match_id"),
        sa.ForeignKeyConstraint(["rating_id"], ["ratings.id"], name="fk_rating_changes_rating_id"),
        sa.ForeignKeyConstraint(["seat_id"], ["seats.id"], name="fk_rating_changes_seat_id"),
        sa.PrimaryKeyConstraint("id", name="pk_rating_changes"),
        sa.UniqueConstraint("match_id", "seat_id", name="uq_rating_changes_match_id_seat_id"),
    )
    op.create_index(
        "ix_rating_changes_rating_id_created_at_id", "rating_changes", ["rating_id", "created_at", "id"]
    )
    op.create_index("ix_rating_changes_rating_id_id", "rating_changes", ["rating_id", "id"])

    op.create_table(
        "session_records",
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("records", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_session_records_session_id"),
        sa.PrimaryKeyConstraint("session_id", name="pk_session_records"),
    )

    op.create_table(
        "deal_estimates",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("deal", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decisions", sa.JSON(), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_deal_estimates_session_id"),
        sa.ForeignKeyConstraint(["asked_by"], ["accounts.id"], name="fk_deal_estimates_asked_by"),
        sa.PrimaryKeyConstraint("id", name="pk_deal_estimates"),
        sa.UniqueConstraint("session_id", "deal", "seat", name="uq_deal_estimates_session_id_deal_seat"),
    )
    op.create_index("ix_deal_estimates_asked_by", "deal_estimates", ["asked_by"])
    op.create_index("ix_deal_estimates_ended_at", "deal_estimates", ["ended_at"])
    op.create_table(
        "session_references",
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reference", sa.String(32), nullable=False),
        sa.Column("worth", sa.JSON(), nullable=False),
        sa.Column("chances", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_session_references_session_id"),
        sa.PrimaryKeyConstraint("session_id", name="pk_session_references"),
    )
    op.create_table(
        "pool_slopes",
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("cards", sa.BigInteger(), nullable=False),
        sa.Column("product", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_pool_slopes_ruleset_id"),
        sa.PrimaryKeyConstraint("ruleset_id", "table_size", name="pk_pool_slopes"),
    )
    op.create_table(
        "luck_tallies",
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("squares", sa.BigInteger(), nullable=False),
        sa.Column("expected", sa.BigInteger(), nullable=False),
        sa.Column("expected_squares", sa.BigInteger(), nullable=False),
        sa.Column("product", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("ruleset_id", sa.Integer(), nullable=False),
        sa.Column("table_size", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ruleset_id"], ["rulesets.id"], name="fk_luck_tallies_ruleset_id"),
        sa.ForeignKeyConstraint(["version_id"], ["bot_versions.id"], name="fk_luck_tallies_version_id"),
        sa.PrimaryKeyConstraint("version_id", "ruleset_id", "table_size", name="pk_luck_tallies"),
    )
    op.create_table(
        "entrant_chances",
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("situation", sa.Integer(), nullable=False),
        sa.Column("chances", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_entrant_chances_entrant_id"),
        sa.ForeignKeyConstraint(["other_id"], ["entrants.id"], name="fk_entrant_chances_other_id"),
        sa.PrimaryKeyConstraint("entrant_id", "other_id", "situation", name="pk_entrant_chances"),
    )
    op.create_table(
        "entrant_luck",
        sa.Column("deals", sa.Integer(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("squares", sa.BigInteger(), nullable=False),
        sa.Column("expected", sa.BigInteger(), nullable=False),
        sa.Column("expected_squares", sa.BigInteger(), nullable=False),
        sa.Column("product", sa.BigInteger(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name="fk_entrant_luck_entrant_id"),
        sa.PrimaryKeyConstraint("entrant_id", name="pk_entrant_luck"),
    )
    op.execute("INSERT INTO database_lineage (id, lineage) VALUES (1, '')")
