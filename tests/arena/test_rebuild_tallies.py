"""Wrong tallies are found and mended, and nobody has to wait meanwhile."""

import sqlite3
from collections.abc import Callable, Generator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import delete, select

from arena.host.settings import Settings, load_settings
from arena.results import ledgers
from arena.results.ratings.rebuild import mend, rebuild
from arena.results.strength.fitting import fit_due
from arena.store.models import (
    FaultTally,
    Highlight,
    HighlightKind,
    Meeting,
    Rating,
    SeatTally,
    Strength,
    StrengthScore,
    StrengthSums,
)
from arena.store.storage import Storage, Transaction, open_storage
from referee.matches.kinds import FaultKind
from referee.matches.match import MatchSpec, SessionResult
from tests.arena.databases import open_new
from tests.arena.fakes import ROOT, Clock
from tests.arena.interleaving import once_at
from tests.arena.servers import Postgres
from tests.arena.tallied import counted, kept
from tests.arena.world import World
from tests.referee.harness import Harness
from tests.referee.test_forfeits import fail_when

TERMS: dict[str, Any] = {"decision_ms": 5000, "join_seconds": 10, "faults": 100, "sessions": 4}


def fumbling(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
    """Play at a referee whose last bot answers illegally."""
    harness = Harness()
    bots = [harness.connect(bot.version_id, 2) for bot in spec.bots]
    yield from fail_when(harness, harness.open(spec), bots, lambda bot, turn: bot is bots[-1])


READING = ["sessions.deal_points", "FROM meetings", "session_records", "FROM fault_tallies"]
"""Parts of the statements by which mending reads a lot."""


def first(tx: Transaction, table: Any) -> Any:
    """Return the first row of a table by its key."""
    return tx.exec(select(table).order_by(*table.__table__.primary_key.columns)).first()


def change(table: Any, **more: int) -> Callable[[Transaction], None]:
    """Return a change that adds to columns of the first row."""

    def act(tx: Transaction) -> None:
        row = first(tx, table)
        for name, value in more.items():
            setattr(row, name, getattr(row, name) + value)

    return act


def drop(table: Any) -> Callable[[Transaction], None]:
    return lambda tx: tx.delete(first(tx, table))


def invent(row: Callable[[], Any]) -> Callable[[Transaction], None]:
    return lambda tx: tx.add(row())


def later(tx: Transaction) -> None:
    rating = first(tx, Rating)
    rating.last_played += timedelta(seconds=1)


def empty(tx: Transaction) -> None:
    """Empty the tallies, as they are right after the migration that added them."""
    for table in (SeatTally, FaultTally, Highlight):
        tx.exec(delete(table))
    for meeting in tx.exec(select(Meeting)):
        meeting.matches = meeting.ahead = meeting.behind = meeting.lead = meeting.last_match_id = 0


def without_sums(tx: Transaction) -> None:
    for table in (Meeting, StrengthScore, StrengthSums):
        tx.exec(delete(table))


MEETINGS, SEATS = "the results of meetings are wrong", "the results of bots by seat are wrong"
SUMS, HIGHLIGHTS = "the sums of deals, from which strengths follow, are wrong", ": its highlights are wrong"

WRONG: dict[str, tuple[Callable[[Transaction], None], str]] = {
    "who was ahead": (change(Meeting, ahead=1), MEETINGS),
    "by how much": (change(Meeting, lead=-1), MEETINGS),
    "deals of a meeting": (change(Meeting, deals=1), MEETINGS),
    "a meeting is missing": (drop(Meeting), MEETINGS),
    "a meeting that never was": (
        invent(lambda: Meeting(sums_id=1, version_id=1, other_id=1, deals=1)),
        MEETINGS,
    ),
    "a seat's points": (change(SeatTally, points=1), SEATS),
    "a seat is missing": (drop(SeatTally), SEATS),
    "a seat that there is not": (
        invent(lambda: SeatTally(version_id=1, ruleset_id=1, table_size=4, seat=4)),
        SEATS,
    ),
    "a score": (change(StrengthScore, score=1), SUMS),
    "a score is missing": (drop(StrengthScore), SUMS),
    "all sums are missing": (without_sums, SUMS),
    "the last match": (later, "last match: is "),
    "faults too many": (change(FaultTally, count=1), ": counts 1 more illegal faults than its records have"),
    "faults are missing": (drop(FaultTally), " fewer illegal faults than its records have"),
    "faults of another kind": (
        invent(lambda: FaultTally(version_id=1, ruleset_id=1, table_size=4, kind=FaultKind.STALL, count=2)),
        ": counts 2 more stall faults than its records have",
    ),
    "a highlight": (change(Highlight, value=1), HIGHLIGHTS),
    "a highlight is missing": (drop(Highlight), HIGHLIGHTS),
    "a highlight that is none": (
        invent(
            lambda: Highlight(
                session_id=1, kind=HighlightKind.BOMBS, ruleset_id=1, table_size=4, deal=1, value=1
            )
        ),
        HIGHLIGHTS,
    ),
    "as migrated": (empty, MEETINGS),
}


LEDGERS: dict[Any, set[str]] = {
    ledgers.RATINGS: {"id", "ruleset_id", "version"},
    ledgers.TOTALS: {"id", "ruleset_id"},
    ledgers.SCORES: {"sums_id"},
    ledgers.MEETINGS: {"sums_id"},
    ledgers.LEFT: {"sums_id"},
    ledgers.SEATS: {"ruleset_id", "table_size"},
    ledgers.ENTRANTS: set(),
    ledgers.ENCOUNTERS: set(),
    ledgers.SLOPES: {"ruleset_id"},
    ledgers.LUCK: {"ruleset_id", "table_size"},
    ledgers.CHANCES: set(),
    ledgers.ENTRANT_LUCK: set(),
    ledgers.FAULTS: set(),
    ledgers.HIGHLIGHTS: set(),
}
"""The columns of each table that are neither in its key nor counted."""


def test_ledgers_when_a_table_has_a_column_then_it_is_counted_again() -> None:
    assert {*LEDGERS} == {each for each in vars(ledgers).values() if isinstance(each, ledgers.Ledger)}
    for ledger, rest in LEDGERS.items():
        assert set(ledger.table.model_fields) == {*ledger.key, *ledger.columns} | rest


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the database after a tournament with faults and a fit of strengths."""
    settings = load_settings({"data": tmp_path_factory.mktemp("played")})
    with open_new(settings) as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(8, rounds=1, **TERMS).id, fumbling)
        fit_due(storage, world.clock())
    return (settings.data / "arena.db").read_bytes()


@pytest.fixture
def rated(migrated: Settings, played: bytes) -> Iterator[World]:
    """Open an arena with this tournament."""
    (migrated.data / "arena.db").write_bytes(played)
    with open_storage(migrated) as storage:
        yield World(storage, Clock())


@pytest.mark.parametrize("name", WRONG)
def test_rebuild_when_a_tally_is_wrong_then_it_is_named_and_mended(rated: World, name: str) -> None:
    tamper, problem = WRONG[name]
    before = kept(rated.storage)
    with rated.storage.write() as tx:
        tamper(tx)
    assert problem in str(rebuild(rated.storage).problem)
    found = mend(rated.storage, ROOT, rated.clock())
    assert found.problem is None
    assert found.mended > 0
    assert kept(rated.storage) == before
    assert rebuild(rated.storage).problem is None
    assert mend(rated.storage, ROOT, rated.clock()).mended == 0


@pytest.mark.parametrize(
    ("name", "fitted"), [("by how much", True), ("as migrated", True), ("a score", False)]
)
def test_mending_when_strengths_do_not_follow_from_what_was_wrong_then_they_stay(
    rated: World, name: str, fitted: bool
) -> None:
    with rated.storage.write() as tx:
        WRONG[name][0](tx)
    mend(rated.storage, ROOT, rated.clock())
    with rated.storage.read() as tx:
        assert (tx.exec(select(Strength)).first() is not None) == fitted


@pytest.mark.parametrize("statement", READING)
def test_mending_when_it_reads_then_another_command_can_write(
    rated: World, migrated: Settings, statement: str
) -> None:
    def write() -> None:
        with sqlite3.connect(migrated.data / "arena.db", timeout=0, isolation_level=None) as others:
            others.execute("BEGIN IMMEDIATE")

    with once_at(statement, write):
        assert mend(rated.storage, ROOT, rated.clock()).problem is None


def test_mending_when_another_mends_meanwhile_then_faults_are_not_added_twice(rated: World) -> None:
    with rated.storage.write() as tx:
        empty(tx)
    others = []
    with once_at("session_records", lambda: others.append(mend(rated.storage, ROOT, rated.clock()))):
        found = mend(rated.storage, ROOT, rated.clock())
    assert others[0].problem is None
    assert found.problem == "another repair ran meanwhile; fault counts were not changed"
    assert rebuild(rated.storage).problem is None


@pytest.fixture
def on_postgres(postgres: Postgres, request: pytest.FixtureRequest) -> Iterator[World]:
    """Make an arena in a database of its own on the server."""
    with Storage(postgres.create_migrated(request.node.name[-50:-1].replace(".", "_"))) as storage:
        yield World(storage, Clock())


@pytest.mark.parametrize("statement", READING)
def test_mending_when_a_round_is_played_and_closed_meanwhile_then_nothing_is_lost(
    world: World, statement: str
) -> None:
    check_played_meanwhile(world, statement)


@pytest.mark.parametrize("statement", READING)
def test_mending_on_a_server_when_a_round_is_played_and_closed_meanwhile_then_nothing_is_lost(
    on_postgres: World, statement: str
) -> None:
    check_played_meanwhile(on_postgres, statement)


def check_played_meanwhile(world: World, statement: str) -> None:
    """Check that what is stored and rated during mending counts exactly once."""
    names = world.register(8)
    world.finish(world.tournament_of(names, name="one", rounds=1, **TERMS).id, fumbling)
    late = world.tournament_of(names, name="two", rounds=1, **TERMS).id
    with world.storage.write() as tx:
        empty(tx)
    with once_at(statement, lambda: world.finish(late, fumbling)):
        found = mend(world.storage, ROOT, world.clock())
    assert found.problem is None
    assert kept(world.storage) == counted(world.storage)
    assert rebuild(world.storage).problem is None
