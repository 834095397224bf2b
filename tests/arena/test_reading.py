"""Queries about results are answered by means of indexes, however long a season was."""

import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest
from sqlmodel import SQLModel, col, select

from arena import queries
from arena.host.settings import load_settings
from arena.play.matches import leases, storing
from arena.play.rounds.advance import close_round
from arena.results.ratings.rebuild import rebuild
from arena.results.strength.fitting import fit_due
from arena.store.models import (
    Encounter,
    EntrantSum,
    FaultTally,
    Highlight,
    Match,
    Meeting,
    Rating,
    RatingChange,
    Seat,
    SeatTally,
    Session,
    SessionRecords,
)
from arena.store.storage import Storage
from benchmarks import seasons
from benchmarks.reading import NOW, QUESTIONS, Asker
from referee.matches.match import SessionResult
from tests.arena.databases import open_new
from tests.arena.servers import Postgres
from tests.arena.work import Work, work

__all__ = ["work"]

BOTS = 16

SMALL = {
    "rulesets",
    "leagues",
    "pool_slopes",
    "strength_sums",
    "strength_fits",
    "referee_keys",
    "alembic_version",
    "fault_tallies",  # grows with the bots that make faults, not with their matches
}
"""Tables that hardly grow; all others grow with what is played."""


def new(folder: Path, name: str) -> Storage:
    return open_new(load_settings({"data": folder, "database_url": f"sqlite:///{folder}/{name}.db"}))


@pytest.fixture(scope="module")
def season_once(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("season")
    with new(folder, "season") as storage:
        seasons.make_season(storage, BOTS, 12, NOW)
        fit_due(storage, NOW)
    return (folder / "season.db").read_bytes()


@pytest.fixture
def season(season_once: bytes, work: Work, tmp_path: Path) -> Iterator[Asker]:
    """Copy a short season, and count the statements that read it."""
    (tmp_path / "season.db").write_bytes(season_once)
    with new(tmp_path, "season") as storage:
        work.statements.clear()
        yield Asker(storage, Random(1), BOTS)


def public_queries() -> set[Any]:
    """Return the functions of the arena's query modules that open a transaction of their own."""
    modules = [
        import_module(f"{queries.__name__}.{one.name}") for one in pkgutil.iter_modules(queries.__path__)
    ]
    return {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and "storage" in inspect.signature(function).parameters
    }


def test_questions_when_all_are_asked_then_every_query_was_used(season: Asker) -> None:
    called = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code)

    sys.setprofile(note)
    try:
        for question in QUESTIONS.values():
            question(season)
    finally:
        sys.setprofile(None)
    missing = {function.__name__ for function in public_queries() if function.__code__ not in called}
    assert not missing, "ask it in benchmarks.reading too"


@pytest.mark.parametrize("name", QUESTIONS)
def test_question_when_it_is_asked_then_no_table_that_grows_is_read_through_and_no_head(
    name: str, season: Asker, work: Work
) -> None:
    QUESTIONS[name](season)
    asked = work.statements.copy()
    assert asked
    assert not any("tournament_heads" in statement for statement in asked)  # the head contains all entrants
    with season.storage.read() as tx:
        for statement, parameters in asked.items():
            rows = tx.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row[3] for row in rows]
            for step in steps:
                assert not is_scan(step, steps, statement), (statement, steps)


def is_scan(step: str, steps: Sequence[str], statement: str) -> bool:
    """Return whether a step reads through a growing table; the first rows in an index's order are few."""
    words = step.split()
    table = re.sub(r"_\d+$", "", words[1]) if len(words) > 1 else ""  # a table named twice is numbered
    if words[0] != "SCAN" or table in SMALL or table not in SQLModel.metadata.tables:
        return False
    if words[-1] == "ix_rounds_unweighed":  # only has the rounds that wait for workers
        return False
    return "LIMIT" not in statement or any("TEMP B-TREE FOR ORDER BY" in one for one in steps)


def test_questions_when_the_database_is_a_server_then_they_are_answered_too(postgres: Postgres) -> None:
    with Storage(postgres.create_migrated("reading")) as storage:
        seasons.make_season(storage, BOTS, 8, NOW)
        fit_due(storage, NOW)
        asker = Asker(storage, Random(1), BOTS)
        for question in QUESTIONS.values():
            assert question(asker) is not None
        assert rebuild(storage).problem is None


COMPARED: tuple[type[SQLModel], ...] = (
    Session,
    SessionRecords,
    Seat,
    Rating,
    RatingChange,
    Meeting,
    SeatTally,
    EntrantSum,
    Encounter,
    FaultTally,
    Highlight,
)


def dump(storage: Storage) -> dict[str, list[Any]]:
    """Return what a season has left in the database."""
    found: dict[str, list[Any]]
    with storage.read() as tx:
        found = {
            table.__name__: sorted(str(row.model_dump(exclude={"signed"})) for row in tx.exec(select(table)))
            for table in COMPARED
        }
        matches = tx.exec(select(Match).order_by(col(Match.id)))
        found["Match"] = [
            (one.state, one.sessions_done, one.deals_done, one.attempts, one.finished_at) for one in matches
        ]
        return found


def test_season_made_in_bulk_then_it_is_what_sessions_stored_one_by_one_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seasons, "FAULTY", 0.2)  # so that even a short season has some
    now = datetime(2026, 10, 1, tzinfo=UTC)
    with new(tmp_path, "bulk") as bulk, new(tmp_path, "one-by-one") as single:
        one, other = (seasons.begin(storage, BOTS, 2, now) for storage in (bulk, single))
        for number in range(2):
            rng = Random(number)
            seasons.play_round(one, rng, now)
            rng = Random(number)
            plans = seasons.plan(other, rng, now)
            for plan, records in zip(plans, seasons.results(other, rng, plans), strict=True):
                claimed = leases.claim(single, plan.match_id, now, timedelta(hours=1))
                assert claimed is not None
                points = seasons.points_of(records)
                faults = seasons.faults_by_seat(records)
                result = SessionResult(1, points, None, tuple(records), faults)
                storing.store_session(single, claimed, result, now)
            assert close_round(single, other.tournament_id, now)
        assert dump(bulk) == dump(single)
