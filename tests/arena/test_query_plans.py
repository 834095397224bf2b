"""How SQLite finds what queries read: by indexes, never by reading a growing table from end to end."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import event, insert
from sqlalchemy.engine import Engine
from sqlalchemy.exc import InternalError
from sqlmodel import col, select

from arena.queries import faults, highlights, histories, leaderboards, luck, matches
from arena.queries.leaderboards import leaderboard
from arena.queries.matches import Result, find_matches
from arena.queries.meetings import crosstable
from arena.queries.names import search
from arena.queries.now import on_now
from arena.queries.operator import work
from arena.queries.ownbots import deals_for
from arena.queries.profiles import profile
from arena.queries.tournaments import ended_of, last_finished
from arena.queries.versus import versus
from arena.results.luck.references import weigh_due
from arena.results.strength.fitting import fit_due
from arena.store.database import SKEWED
from arena.store.models import HighlightKind, Owner, Seat, StoredRuleset
from arena.store.models.columns import utc_now
from arena.store.storage import Storage, among
from arena.tournaments.overview import find_tournament
from referee.matches.journal import DealQuery
from tests.arena.fakes import ROOT, Clock
from tests.arena.random_play import play_with_faults
from tests.arena.servers import Postgres
from tests.arena.world import World

BOT, OTHER = "owner-0/bot-0", "owner-1/bot-1"

SMALL = {"rulesets", "leagues", "strength_sums", "json_each"}
"""Tables that do not grow with what is played, and the one made of a query's parameters."""

IN_ORDER = {"ix_seats_faults", "ix_matches_finished_at", "ix_rounds_unweighed"}
"""Indexes that are read from one end until a page is full, or that have only what waits for workers."""

SETTINGS = "jit", "max_parallel_workers_per_gather"

TIMES_UNTIL_PREPARED = 5
"""How many times psycopg executes a statement on a connection before it prepares it on the server."""

SCAN = re.compile(r"^SCAN (\w+)(.*)")


@contextmanager
def statements(storage: Storage) -> Iterator[list[tuple[str, Any]]]:
    """Record the statements of queries with their parameters."""
    found: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: object) -> None:
        if statement.startswith(("SELECT", "WITH")):
            found.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def scans(storage: Storage, statement: str, parameters: Any) -> list[str]:
    """Return what the plan reads from end to end: tables and indexes without a condition."""
    with storage.read() as tx:
        plan = tx.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    steps = [SCAN.match(str(row[-1])) for row in plan]
    return [step[0] for step in steps if step and step[1] != "CONSTANT"]


def luck_of_entrants(world: World) -> object:
    """Read the luck of the entrants of the tournament ``cup``."""
    with world.storage.read() as tx:
        return luck.entrants_luck(tx, find_tournament(tx, "cup"))


QUESTIONS: dict[str, Callable[[World], object]] = {
    "leaderboard": lambda world: leaderboard(world.storage, limit=3),
    "leaderboard, second page": lambda world: leaderboard(
        world.storage, limit=3, cursor=leaderboard(world.storage, limit=3).next
    ),
    "leaderboard, last page": lambda world: leaderboard(world.storage),
    "leaderboard, owner": lambda world: leaderboard(
        world.storage, leaderboards.LeaderboardQuery(owner="owner-0")
    ),
    "leaderboard, active": lambda world: leaderboard(
        world.storage, leaderboards.LeaderboardQuery(active_since=world.clock() - timedelta(days=1))
    ),
    "leaderboard, around": lambda world: leaderboard(world.storage, limit=3, around=BOT),
    "leaderboard, since": lambda world: leaderboard(
        world.storage, leaderboards.LeaderboardQuery(since=world.clock())
    ),
    "matches of a bot": lambda world: find_matches(world.storage, matches.MatchQuery(BOT)),
    "matches of two": lambda world: find_matches(world.storage, matches.MatchQuery(BOT, OTHER)),
    "matches lost": lambda world: find_matches(world.storage, matches.MatchQuery(BOT, result=Result.LOST)),
    "matches of a tournament": lambda world: find_matches(
        world.storage, matches.MatchQuery(tournament="cup")
    ),
    "matches with faults": lambda world: find_matches(world.storage, matches.MatchQuery(faults=True)),
    "matches since": lambda world: find_matches(world.storage, matches.MatchQuery(since=world.clock())),
    "what is on now": lambda world: on_now(world.storage, 10),
    "names": lambda world: search(world.storage, "bot", 8),
    "names of an owner's bots": lambda world: search(world.storage, "owner-1/b", 8),
    "tournaments of a bot that ended": lambda world: ended_of(world.storage, BOT, 5),
    "tournaments that finished": lambda world: last_finished(world.storage, 5),
    "deal of the day": lambda world: highlights.deal_of_day(world.storage, world.clock() + timedelta(days=1)),
    "profile": lambda world: profile(world.storage, BOT),
    "versus": lambda world: versus(world.storage, BOT, OTHER),
    "crosstable": lambda world: crosstable(world.storage, [BOT, OTHER]),
    "history": lambda world: histories.history(world.storage, histories.HistoryQuery(BOT)),
    "deals": lambda world: highlights.find_deals(
        world.storage, highlights.HighlightQuery(HighlightKind.SWING)
    ),
    "deals of a bot": lambda world: highlights.find_deals(
        world.storage, highlights.HighlightQuery(HighlightKind.SWING, bot=BOT)
    ),
    "luck of entrants": luck_of_entrants,
    "luck of a session": lambda world: luck.session_luck(world.storage, "cup", 1, 1, 1),
    "rounds that wait for a reference": lambda world: weigh_due(world.storage, world.clock, monotonic),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_question_when_it_is_asked_then_no_table_that_grows_is_scanned(pool: World, question: str) -> None:
    with statements(pool.storage) as found:
        QUESTIONS[question](pool)
    assert found
    for statement, parameters in found:
        for scan in scans(pool.storage, statement, parameters):
            _, what, *how = scan.split()
            assert what in SMALL or what.startswith(("(", "anon")) or IN_ORDER & {*how}, (scan, statement)


def test_faults_of_all_bots_read_one_tally_for_each_bot_and_kind(pool: World) -> None:
    with statements(pool.storage) as found:
        faults.faults_by_bot(pool.storage)
    read = [one for statement in found for one in scans(pool.storage, *statement)]
    assert [one.split()[1] for one in read] == ["fault_tallies"]


def steps(storage: Storage, statement: str, parameters: Any) -> list[str]:
    """Return the steps of a statement's plan."""
    with storage.read() as tx:
        plan = tx.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    return [str(row[-1]) for row in plan]


def test_what_stood_long_ago_is_led_to_by_an_index_past_all_that_came_later(pool: World) -> None:
    with statements(pool.storage) as found:
        leaderboard(pool.storage, leaderboards.LeaderboardQuery(since=pool.clock()))
    [plan] = [steps(pool.storage, *one) for one in found if "FROM rating_changes" in one[0]]
    assert any("(rating_id=? AND created_at<?)" in step for step in plan), plan


def test_matches_of_two_bots_are_found_in_an_index_that_has_all_that_is_asked_of_both(pool: World) -> None:
    with statements(pool.storage) as found:
        find_matches(pool.storage, matches.MatchQuery(BOT, OTHER))
    plans = [steps(pool.storage, *one) for one in found if "EXISTS" in one[0]]
    assert plans
    for plan in plans:
        seats = [step for step in plan if " seats" in step]
        assert len(seats) == 2
        assert all("USING COVERING INDEX" in step for step in seats), plan


@pytest.mark.parametrize("ids", [[], [2], [3, 1], range(1, 1_000)])
def test_ids_that_rows_have_are_one_parameter_and_an_index_leads_to_the_rows(
    pool: World, ids: Sequence[int]
) -> None:
    with statements(pool.storage) as found, pool.storage.read() as tx:
        rows = select(Seat.id).order_by(col(Seat.id))
        seats = tx.exec(rows.where(among(Seat.match_id, ids))).all()
        assert seats == tx.exec(rows.where(col(Seat.match_id).in_(ids))).all()
    statement, parameters = found[0]
    assert len(parameters) == 1
    assert any("(match_id=?)" in step for step in steps(pool.storage, statement, parameters))


def test_what_workers_have_to_do_is_found_without_the_rounds_that_are_over(pool: World) -> None:
    with statements(pool.storage) as found:
        work(pool.storage, ROOT)
    [plan] = [steps(pool.storage, *one) for one in found if "JOIN rounds" in one[0]]
    assert any("SEARCH matches" in step and "(tournament_id=? AND state=?)" in step for step in plan), plan


def test_page_of_a_leaderboard_asks_for_nothing_that_it_does_not_show(pool: World) -> None:
    with statements(pool.storage) as found:
        assert len(leaderboard(pool.storage, limit=3).leaderboard) == 3
    assert len(found) == 3, found  # for the pools, the lines and their luck


@pytest.mark.parametrize("session", [None, "cup"])
def test_deals_of_a_bot_for_its_author_are_read_in_the_order_of_an_index(
    pool: World, session: str | None
) -> None:
    with statements(pool.storage) as found:
        assert deals_for(pool.storage, ROOT, DealQuery(BOT, session=session)).deals
    plans = [steps(pool.storage, *one) for one in found if "ORDER BY seats.match_id DESC" in one[0]]
    index = re.compile(r"SEARCH seats .*INDEX ix_seats_(version|entrant)_id_match_id")
    assert plans
    for plan in plans:
        assert any(map(index.match, plan)), plan
        assert "USE TEMP B-TREE FOR ORDER BY" not in plan  # which would sort everything
    assert len(found) < 12  # no matter how many sessions there are


def test_server_is_told_that_pages_are_asked_for_and_still_is_after_what_is_taken_back(
    postgres: Postgres,
) -> None:
    with Storage(postgres.create_migrated("pages")) as storage:
        for _ in range(2):  # on one connection, whose transaction is rolled back at its end
            with storage.write() as tx:
                shown = [tx.connection().exec_driver_sql(f"SHOW {one}").scalar() for one in SETTINGS]
                assert shown == ["off", "0"]
                tx.rollback()


def test_server_keeps_statements_that_were_only_read_prepared_but_not_skewed_ones(postgres: Postgres) -> None:
    plain = select(Seat.id).where(Seat.id == 1)
    skewed = select(Seat.id).where(Seat.id == 2, Seat.position == 0).execution_options(**{SKEWED: True})
    with Storage(postgres.create_migrated("prepared")) as storage:
        for _ in range(TIMES_UNTIL_PREPARED + 1):
            for statement in (plain, skewed):
                with storage.read() as tx:
                    tx.exec(statement).all()
                with storage.connect() as connection:
                    connection.execute(statement).all()
        with storage.connect() as connection:
            kept = connection.exec_driver_sql("SELECT statement FROM pg_prepared_statements").scalars().all()
    assert [statement for statement in kept if "FROM seats" in statement and "position" not in statement]
    assert not [statement for statement in kept if "position" in statement]


def test_server_lets_nothing_be_written_where_it_is_only_read(postgres: Postgres) -> None:
    with Storage(postgres.create_migrated("only-read")) as storage:
        with pytest.raises(InternalError, match="read-only transaction"), storage.read() as tx:
            tx.connection().execute(insert(Owner).values(name="alice", created_at=utc_now()))
        with storage.read() as tx:
            tx.add(Owner(name="alice", created_at=utc_now()))
        with storage.read() as tx:
            assert tx.exec(select(Owner)).all() == []
        with storage.write() as tx:  # on the same connection
            tx.add(Owner(name="alice", created_at=utc_now()))


def test_questions_on_a_server_are_answered_too(postgres: Postgres) -> None:
    with Storage(postgres.create_migrated("questions")) as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(4, rounds=2).id, play_with_faults)
        fit_due(storage, world.clock())
        for question in QUESTIONS.values():
            question(world)
        assert len(leaderboard(storage).leaderboard) == 4
        assert len(faults.faults_by_bot(storage, limit=1).bots) == 1
        pages = [histories.history(storage, histories.HistoryQuery(BOT), 1)]
        while pages[-1].next is not None:
            pages.append(histories.history(storage, histories.HistoryQuery(BOT), 1, pages[-1].next))
        whole = histories.history(storage, histories.HistoryQuery(BOT), 100)
        assert [line for page in pages for line in page.history] == [*whole.history]


def test_deals_of_all_pools_when_there_are_very_many_then_no_more_statements_are_executed(
    pool: World,
) -> None:
    def executed() -> int:
        with statements(pool.storage) as found:
            for kind in HighlightKind:
                highlights.find_deals(pool.storage, highlights.HighlightQuery(kind), 2)
        return len(found)

    few = executed()
    with pool.storage.write() as tx:
        known = tx.exec(select(StoredRuleset)).first()
        assert known is not None
        for number in range(40):
            values = known.model_dump(exclude={"id", "hash"})
            tx.add(StoredRuleset(**values, hash=f"{number:064}"))
    assert executed() == few
