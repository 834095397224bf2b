"""Databases of earlier versions: existing rows stay, and new columns get their defaults."""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlmodel import col, select

from arena.store import migrations
from arena.store.models import (
    BotVersion,
    Entrant,
    EntrantSum,
    Invitation,
    League,
    Rating,
    Seat,
    Session,
    SessionRecords,
    Tournament,
    TournamentHead,
)
from arena.store.storage import Storage, Transaction, migrate
from tests.arena.servers import Postgres

NOW = "2026-01-01 00:00:00.000000"

FIRST = f"""
INSERT INTO owners (id, name, created_at) VALUES (1, 'ann', '{NOW}');
INSERT INTO bots (id, owner_id, name, created_at) VALUES (1, 1, 'a', '{NOW}');
INSERT INTO bot_versions (id, bot_id, number, name, token_hash, created_at)
    VALUES (1, 1, 1, 'ann/a@1', 'hash', '{NOW}');
INSERT INTO rulesets (id, name, version, hash, players, content, rated_matches, created_at)
    VALUES (1, 'chinese', 1, 'hash', 4, '{{}}', 0, '{NOW}');
INSERT INTO tournaments (id, name, format, state, ruleset_id, table_size, paired, sessions, decision_ms,
    join_ms, faults, seed, commitment, created_at)
    VALUES (1, 'cup', 'swiss', 'created', 1, 4, 0, 4, 900, 30000, 10, 'seed', 'commitment', '{NOW}');
INSERT INTO entrants (id, tournament_id, version_id, number) VALUES (1, 1, 1, 1);
"""
"""Rows as the first version of the arena wrote them."""


def move(storage: Storage, to: str) -> None:
    """Bring the schema to a revision, up or down."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with storage.write() as tx:
        config.attributes["connection"] = tx.connection()
        up = (MigrationContext.configure(tx.connection()).get_current_revision() or "") < to
        (command.upgrade if up else command.downgrade)(config, to)


def columns(tx: Transaction) -> dict[str, set[str]]:
    seen = inspect(tx.connection())
    return {table: {column["name"] for column in seen.get_columns(table)} for table in seen.get_table_names()}


@contextmanager
def filled(url: str) -> Iterator[Storage]:
    """Make a database of the first version, with a row in each table that has gained columns since."""
    with Storage(url) as storage:
        move(storage, "0001")
        with storage.write() as tx:
            for statement in filter(str.strip, FIRST.split(";")):
                tx.connection().execute(text(statement))
        yield storage


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Storage]:
    """Make such a database in a file."""
    with filled(f"sqlite:///{tmp_path}/arena.db") as storage:
        yield storage


def test_migration_when_there_are_rows_then_they_stay_and_get_the_defaults(first: Storage) -> None:
    migrate(first)
    with first.read() as tx:
        cup = tx.exec(select(Tournament)).one()
        assert (cup.name, cup.decision_ms, cup.created_at) == ("cup", 900, datetime(2026, 1, 1, tzinfo=UTC))
        assert (cup.bank_ms, cup.increment_ms, cup.credit_ms) == (0, 0, 100)
        assert (cup.ask_forced, cup.require_check, cup.duplicate, cup.options) == (False, False, False, {})
        entrant = tx.exec(select(Entrant)).one()
        assert (entrant.version_id, entrant.withdrawn_after, entrant.entered_at_round) == (1, None, 1)
        version = tx.exec(select(BotVersion)).one()
        assert (version.name, version.language) == ("ann/a@1", None)
        assert (version.check_passed_at, version.check_report) == (None, None)


def test_migration_when_owners_could_meet_before_then_they_still_can(first: Storage) -> None:
    check_owners(first)


def test_migration_when_owners_could_meet_before_on_a_server_then_they_still_can(postgres: Postgres) -> None:
    with filled(postgres.url()) as storage:
        check_owners(storage)


def check_owners(first: Storage) -> None:
    """Check that upgrading lets owners meet in what existed before; downgrading restores the rows."""
    move(first, "0004")
    spec = {"name": "winter", "divisions": [{"name": "only"}]}
    league = f"VALUES (1, 'winter', :spec, '{NOW}', '{NOW}', 0)"
    with first.write() as tx:
        values = text(f"INSERT INTO leagues (id, name, spec, created_at, applied_at, seasons) {league}")
        tx.connection().execute(values, {"spec": json.dumps(spec)})
    migrate(first)
    with first.read() as tx:
        assert tx.exec(select(Tournament)).one().allow_same_owner
        assert tx.exec(select(League)).one().spec == spec | {"allow_same_owner": True}
    move(first, "0004")
    with first.read() as tx:
        assert "allow_same_owner" not in columns(tx)["tournaments"]
        assert (
            json.loads(tx.connection().execute(text("SELECT CAST(spec AS TEXT) FROM leagues")).scalar_one())
            == spec
        )


def test_migration_when_deals_were_stored_then_records_move_and_seats_say_who_sat_there(
    first: Storage,
) -> None:
    check_tallies(first)


def test_migration_when_deals_were_stored_on_a_server_then_records_move_and_seats_say_who_sat_there(
    postgres: Postgres,
) -> None:
    with filled(postgres.url()) as storage:
        check_tallies(storage)


def test_migration_when_a_tournament_is_locked_then_its_head_moves(first: Storage) -> None:
    check_heads(first)


def test_migration_when_a_tournament_is_locked_on_a_server_then_its_head_moves(postgres: Postgres) -> None:
    with filled(postgres.url()) as storage:
        check_heads(storage)


def check_heads(first: Storage) -> None:
    """Check that upgrading and downgrading move heads, and that a tournament without one stays without."""
    head = {"entrants": ["a/b@1"]}
    for commitment, kept in ((None, []), ("12ab", [head])):
        move(first, "0040")
        with first.write() as tx:
            lock = text("UPDATE tournaments SET head = :head, commitment = :commitment")
            values = {"head": json.dumps(head if commitment else None), "commitment": commitment}
            tx.connection().execute(lock, values)
        migrate(first)
        with first.read() as tx:
            assert tx.exec(select(TournamentHead.head)).all() == kept
            assert "head" not in columns(tx)["tournaments"]
    move(first, "0040")
    with first.read() as tx:
        [found] = tx.connection().execute(text("SELECT CAST(head AS TEXT) FROM tournaments")).scalars()
        assert json.loads(found) == head


DEALS = b"\x00what was played"

PLAYED = f"""
INSERT INTO rounds (id, tournament_id, number, state, byes, created_at)
    VALUES (1, 1, 1, 'closed', '[]', '{NOW}');
INSERT INTO matches (id, tournament_id, round_id, table_number, state, failures, attempts, sessions_done,
    deals_done, created_at, finished_at)
    VALUES (1, 1, 1, 1, 'done', 0, '[]', 1, 1, '{NOW}', '2026-01-03 00:00:00.000000'),
           (2, 1, 1, 2, 'done', 0, '[]', 1, 1, '{NOW}', '2026-01-02 00:00:00.000000');
INSERT INTO seats (id, match_id, position, entrant_id, points, faults)
    VALUES (1, 1, 0, 1, 0, 0), (2, 2, 0, 1, 0, 0);
INSERT INTO sessions (id, match_id, number, seating, points, faults, forfeits, deal_points, records,
    finished_at)
    VALUES (7, 1, 1, '[0]', '[0]', '[0]', '[]', '[[0]]', :records, '{NOW}');
INSERT INTO ratings (id, ruleset_id, table_size, version_id, value, matches, deals, version)
    VALUES (1, 1, 4, 1, 1500, 2, 2, 1), (2, 1, 3, 1, 1500, 0, 0, 1);
INSERT INTO rating_changes (id, match_id, seat_id, rating_id, before, after, created_at)
    VALUES (1, 1, 1, 1, 1500, 1500, '{NOW}'), (2, 2, 2, 1, 1500, 1500, '{NOW}');
"""
"""Rows as they were before deal records had a table of their own."""


def check_tallies(first: Storage) -> None:
    """Check that upgrading fills in what other rows say, and that downgrading moves records back."""
    move(first, "0022")
    with first.write() as tx:
        for statement in filter(str.strip, PLAYED.split(";")):
            given = {"records": DEALS} if ":records" in statement else {}
            tx.connection().execute(text(statement), given)
    migrate(first)
    with first.read() as tx:
        assert tx.exec(select(Seat.version_id)).all() == [1, 1]
        assert tx.exec(select(Rating.last_played).order_by(col(Rating.id))).all() == [
            datetime(2026, 1, 3, tzinfo=UTC),
            None,
        ]
        assert tx.get_one(SessionRecords, 7).records == DEALS
        assert "records" not in columns(tx)["sessions"]
    move(first, "0022")
    with first.read() as tx:
        records = tx.connection().execute(text("SELECT records FROM sessions")).scalar_one()
        assert bytes(records) == DEALS
        assert not {"seat_tallies", "fault_tallies", "highlights", "session_records"} & set(columns(tx))


def test_migration_when_sessions_were_forfeited_then_they_say_since_when_and_sums_count_them(
    first: Storage,
) -> None:
    move(first, "0022")
    deals = zlib.compress(b'{"deal":1}\n{"deal":2,"played_for":[{"seat":0}]}')
    played = PLAYED.replace("'[0]', '[0]', '[0]', '[]'", "'[0]', '[0]', '[0]', '[0]'")
    with first.write() as tx:
        for statement in filter(str.strip, played.split(";")):
            given = {"records": deals} if ":records" in statement else {}
            tx.connection().execute(text(statement), given)
    move(first, "0039")
    zeros = ", ".join(["0"] * 11)
    names = "matches, wins, last_round, byes, deals, played, points, last, total, squares, raw"
    with first.write() as tx:
        tx.connection().execute(text("UPDATE rounds SET summed = true"))
        tx.connection().execute(text("UPDATE sessions SET forfeited_from = 0"))
        tx.connection().execute(text(f"INSERT INTO entrant_sums (entrant_id, {names}) VALUES (1, {zeros})"))
    migrate(first)
    with first.read() as tx:
        assert tx.exec(select(EntrantSum.forfeits)).all() == [1]
        assert tx.exec(select(Session.forfeited_from)).all() == [[1]]
    move(first, "0041")
    with first.read() as tx:
        assert tx.connection().execute(text("SELECT forfeited_from FROM sessions")).scalars().all() == [1]


def test_migration_when_it_is_taken_back_then_the_rows_stay(first: Storage) -> None:
    with first.read() as tx:
        before = columns(tx)
    migrate(first)
    with first.read() as tx:
        assert columns(tx) != before
    move(first, "0001")
    with first.read() as tx:
        assert columns(tx) == before
        assert tx.connection().execute(text("SELECT name, decision_ms FROM tournaments")).all() == [
            ("cup", 900)
        ]
    migrate(first)
    with first.read() as tx:
        assert tx.exec(select(Tournament)).one().credit_ms == 100


def test_migration_when_invitations_were_made_then_they_are_bound_to_the_accounts_of_their_makers(
    first: Storage,
) -> None:
    move(first, "0041")
    with first.write() as tx:
        tx.connection().execute(
            text(f"INSERT INTO accounts (id, name, role, created_at) VALUES (7, 'olga', 'operator', '{NOW}')")
        )
        for code, maker in (("a", "olga"), ("b", "somebody at the terminal")):
            values = f"('{code}', 'operator', '{maker}', '{NOW}', '{NOW}')"
            columns_ = "code_hash, role, invited_by, created_at, expires_at"
            tx.connection().execute(text(f"INSERT INTO invitations ({columns_}) VALUES {values}"))
    migrate(first)
    with first.read() as tx:
        found = tx.exec(select(Invitation.inviter_id).order_by(col(Invitation.code_hash))).all()
    assert found == [7, None]
    move(first, "0041")
    with first.read() as tx:
        assert "inviter_id" not in columns(tx)["invitations"]
