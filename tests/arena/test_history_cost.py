"""A tournament does not slow down as it grows, measured by what the database does, not by time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.host.settings import load_settings
from arena.leagues import seasons
from arena.play.rounds import advance
from arena.play.rounds.overview import pairings
from arena.store.models import utc_now
from arena.store.storage import Storage
from benchmarks import continuous
from benchmarks.history import ENTRANTS, TABLES, Season, begin
from tests.arena.databases import open_new
from tests.arena.servers import Postgres
from tests.arena.work import Work, work

__all__ = ["work"]

SHORT, LONG = (ENTRANTS + 10) * TABLES, 3 * (ENTRANTS + 10) * TABLES
"""Matches played beforehand; a continuous tournament looks back as many batches as it has entrants."""

LARGE = 4_000
"""Matches that PostgreSQL would not all go through if it could use an index instead."""

FEW, MANY = 40, 400
"""Bots in a continuous tournament; most of them sit at other tables."""

HISTORY = ("rounds", "matches", "seats", "sessions", "rating_changes", "bot_log", "tournaments", "entrants")
"""Tables that grow with what is played."""

LONGEST = ("matches", "seats", "sessions")
"""Those of them that have thousands of rows after ``LARGE`` matches."""


@contextmanager
def season(folder: Path, format: str, past: int) -> Iterator[Season]:
    """Make a tournament with this many finished matches."""
    url = f"sqlite:///{folder}/{format}-{past}.db"
    with open_new(load_settings({"data": folder, "database_url": url})) as storage:
        yield begin(storage, url, format, past, ahead=10)


@pytest.mark.parametrize("format", ["round-robin", "continuous"])
def test_steps_when_a_tournament_is_long_then_they_cost_what_they_cost_in_a_short_one(
    format: str, work: Work, tmp_path: Path
) -> None:
    costs = []
    for past in (SHORT, LONG):
        with season(tmp_path, format, past) as one:
            one.clock = lambda: work.instructions
            for _ in range(2 * TABLES):
                one.play()
            begun = one.clock()
            shown = pairings(one.storage, "season", 1)
            one.times["show a round"].append(one.clock() - begun)
            assert ([row.round for row in shown.rounds], shown.balance) == ([1], None)
            costs.append({step: max(found) for step, found in one.times.items()})
    short, long = costs
    assert long.keys() == short.keys() == {"claim", "store", "advance", "new tables", "show a round"}
    for step, cost in long.items():
        assert cost <= 1.05 * short[step], step  # a cost that tripled with the length would be far above


@pytest.mark.parametrize("format", ["round-robin", "continuous"])
def test_statements_when_a_tournament_goes_on_then_none_reads_through_a_table_of_the_past(
    format: str, work: Work, tmp_path: Path
) -> None:
    with season(tmp_path, format, SHORT) as one:
        work.statements.clear()
        for _ in range(2 * TABLES):
            one.play()
        advance.running_tournaments(one.storage)
        seasons.advance_leagues(one.storage, utc_now())
        tables = set()
        for statement, parameters in work.statements.copy().items():
            for step in plan(one.storage, statement, parameters):
                words = step.split()
                assert words[0] != "SCAN" or words[1] not in HISTORY, statement
                tables |= {words[1]} if words[0] == "SEARCH" else set()
        freed = {"entrants"} if format == "continuous" else set()
        assert tables >= {"rounds", "matches", "seats", "sessions", "tournaments"} | freed


@pytest.mark.parametrize("format", ["round-robin", "continuous"])
def test_statements_when_on_postgresql_then_none_reads_through_a_table_of_the_past(
    format: str, work: Work, postgres: Postgres, tmp_path: Path
) -> None:
    url = postgres.create_migrated("season")
    with Storage(url) as storage:
        one = begin(storage, url, format, past=LARGE, ahead=10)
        work.statements.clear()
        for _ in range(2 * TABLES):
            one.play()
        tables = set()
        for statement, parameters in work.statements.copy().items():
            with storage.read() as tx:
                steps = tx.connection().exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars().all()
            for table in LONGEST:
                assert not any(f"Seq Scan on {table} " in step for step in steps), [statement, *steps]
                tables |= {table} if any(f"on {table} " in step for step in steps) else set()
        assert tables == {*LONGEST}


def test_finished_match_when_many_more_bots_play_on_and_on_then_it_costs_what_it_costs_among_few(
    work: Work, tmp_path: Path
) -> None:
    costs, taken = [], []
    for entrants in (FEW, MANY):
        url = f"sqlite:///{tmp_path}/{entrants}.db"
        with open_new(load_settings({"data": tmp_path, "database_url": url})) as storage:
            one = continuous.begin(storage, url, entrants)
            one.clock = lambda: work.instructions
            with continuous.counted() as statements:
                for _ in range(16):
                    one.play()
            costs.append({step: sum(found) for step, found in one.times.items()})
            taken.append(len(statements))
            assert not any("tournament_heads" in one for one in statements)  # they list all entrants
    few, many = costs
    assert many.keys() == few.keys() == {*continuous.STEPS}
    for step, cost in many.items():
        assert cost <= 1.05 * few[step], step  # a cost that grew tenfold with the bots would be far above
    assert taken[1] <= 1.05 * taken[0]


def plan(storage: Storage, statement: str, parameters: Any) -> list[str]:
    """Return the steps in which SQLite executes a statement."""
    with storage.read() as tx:
        rows = tx.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        return [row[3] for row in rows]
