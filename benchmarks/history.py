"""What the past costs: ``python -m benchmarks.history``.

Tournaments that have played 0, 1,000, 10,000 and 100,000 matches, each in a database of its own, continue
side by side: they take turns at playing a match, and every step of it is timed, so that whatever else the
machine does affects all of them alike. First on SQLite, then on PostgreSQL, which is started for it. Prints
medians in milliseconds, and the range of the middle half of all times. ``--quick`` plays less.
"""

import argparse
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from statistics import quantiles
from typing import TypeVar

from sqlalchemy import create_engine, insert, text
from sqlmodel import SQLModel, col, select

from arena.actors import Actor, Role
from arena.bots import versions
from arena.core.specs import make_spec
from arena.host.settings import load_settings
from arena.play.matches import leases, storing
from arena.play.rounds import advance
from arena.store.models import (
    Entrant,
    Match,
    MatchState,
    Rating,
    RatingChange,
    Round,
    RoundState,
    Seat,
    Session,
    SessionRecords,
    Tournament,
    utc_now,
)
from arena.store.storage import Storage, Transaction, migrate_storage, open_storage
from arena.tournaments import creation, lifecycle
from arena.tournaments.referees import nobody_asked
from referee.matches.match import SessionResult, Signed
from tests.arena import servers

ENTRANTS, SEATS = 64, 4
OPERATOR = Actor(Role.OPERATOR, "benchmark")

TABLES = ENTRANTS // SEATS
SESSIONS, DEALS = 2, 8
Row = dict[str, object]
LEASE = timedelta(hours=1)
PASTS = (0, 1_000, 10_000, 100_000)
PLAYS = 240
"""Matches that each tournament plays and times; a continuous one, whose pairing takes long, plays a sixth."""
PART = 250
"""Past rounds put into a database at a time."""

RECORD = json.dumps(
    {
        "deal": 1,
        "seed": "7" * 64,
        "hands": [" ".join(["3D"] * 13)] * 4,
        "leader": 1,
        "actions": ["1:3D 4D 5D 6D 7D", "2:-", "3:-", "0:-"] * 11,
        "points": [-6, 0, -4, -9],
        "end": "out",
    }
)
"""A deal record of about the usual length."""

CLOSED: Row = {"state": RoundState.CLOSED, "byes": []}
DONE: Row = {
    "state": MatchState.DONE,
    "failures": 0,
    "sessions_done": SESSIONS,
    "deals_done": SESSIONS * DEALS,
}
SESSION: Row = {
    "seating": [0, 1, 2, 3],
    "points": [-48, 0, -32, -72],
    "faults": [0, 0, 0, 0],
    "deal_points": [[-6, 0, -4, -9]] * DEALS,
}
"""What the rows of the past have in common."""

RECORDS = os.urandom(1500)
"""As many bytes as the stored records of a session have."""

STEPS = ("claim", "store", "advance", "new tables")
"""The steps timed: claiming a match, storing a session, and ``advance``, which may open new tables."""

Answer = TypeVar("Answer")
Place = Callable[[Path], AbstractContextManager[Callable[[], str]]]
"""Yields a function that returns URLs of empty databases, which exist while the context is open."""


SIGNED = Signed("ab" * 32, "cd" * 64, "ef" * 32)


def session_result(number: int) -> SessionResult:
    """Return what a referee reports of a session."""
    return SessionResult(number, (-48, 0, -32, -72), None, (RECORD,) * DEALS, (0, 0, 0, 0), SIGNED)


@dataclass
class Season:
    """A tournament with matches behind it, in a database of its own."""

    storage: Storage
    tournament_id: int
    clock: Callable[[], float] = time.perf_counter
    """The clock that measures the steps."""
    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """By step: how long it took each time."""
    due: list[int] = field(default_factory=list)
    """Matches that have been handed out."""

    def advance(self) -> None:
        """Let the tournament continue."""
        advance.advance(
            self.storage, self.tournament_id, utc_now(), self.due.append, at_once=10_000, again_after=LEASE
        )

    def play(self) -> None:
        """Play a match as a worker does, without a referee."""
        match_id = self.due.pop(0)
        claimed = self._timed("claim", partial(leases.claim, self.storage, match_id, utc_now(), LEASE))
        assert claimed is not None
        for session in claimed.spec.sessions:
            result = session_result(session.number)
            self._timed("store", partial(storing.store_session, self.storage, claimed, result, utc_now()))
        before = len(self.due)
        self._timed("advance", self.advance)
        if len(self.due) > before:
            self.times["new tables"].append(self.times["advance"].pop())

    def _timed(self, step: str, call: Callable[[], Answer]) -> Answer:
        began = self.clock()
        answer = call()
        self.times[step].append(self.clock() - began)
        return answer


def begin(storage: Storage, url: str, format: str, past: int, ahead: int) -> Season:
    """Start a tournament with this many matches played and this many rounds ahead."""
    names = [f"owner-{number}/bot" for number in range(ENTRANTS)]
    for name in names:
        versions.register_version(storage, OPERATOR, name, utc_now())
    rounds = past // TABLES
    fields = {"name": "season", "format": format, "ruleset": "chinese", "rounds": rounds + ahead}
    fields |= {"sessions": SESSIONS, "deals": DEALS, "entrants": names}
    tournament_id = creation.create(storage, OPERATOR, make_spec(fields), utc_now()).id
    lifecycle.start(storage, OPERATOR, "season", utc_now(), nobody_asked)
    if rounds:
        fill(storage, tournament_id, rounds)
        tidy(url)
    season = Season(storage, tournament_id)
    season.advance()
    return season


def fill(storage: Storage, tournament_id: int, rounds: int) -> None:
    """Give the only tournament of a database this many closed rounds, with everything stored for them."""
    with storage.write() as tx:
        tournament = tx.get_one(Tournament, tournament_id)
        tournament.paired = rounds
        entrants = tx.exec(select(Entrant).order_by(col(Entrant.number))).all()
        pool = {"ruleset_id": tournament.ruleset_id, "table_size": SEATS, "value": 1500.0}
        versions = [pool | {"id": one.id, "version_id": one.version_id} for one in entrants]
        put(tx, Rating, versions, {"matches": rounds, "deals": rounds * SESSIONS * DEALS, "version": 1})
    seats = [one.id for one in entrants]
    for first in range(0, rounds, PART):
        with storage.write() as tx:
            add_rounds(tx, tournament_id, seats, range(first, min(first + PART, rounds)))


def add_rounds(tx: Transaction, tournament_id: int, entrants: Sequence[int], rounds: range) -> None:
    """Add closed rounds, counted from 0; rows are numbered as in a database without any others."""
    now = utc_now()
    ended = {"tournament_id": tournament_id, "created_at": now, "started_at": now, "finished_at": now}
    under = {"ruleset_id": 1}
    tables = [(n * TABLES + at, n, at) for n in rounds for at in range(TABLES)]
    seats = [
        {"id": 1 + match * SEATS + place, "match_id": 1 + match, "position": place}
        | {"entrant_id": entrant, "version_id": entrant}
        for match, _, at in tables
        for place, entrant in enumerate(entrants[at * SEATS : (at + 1) * SEATS])
    ]
    rows = [{"id": 1 + n, "number": 1 + n, "tables_before": n * TABLES} for n in rounds]
    put(tx, Round, rows, ended | CLOSED)
    numbers = [{"id": 1 + match, "round_id": 1 + n, "table_number": 1 + at} for match, n, at in tables]
    put(tx, Match, numbers, ended | under | DONE)
    put(tx, Seat, seats, {"points": 0, "faults": 0})
    sessions = [
        {"id": 1 + match * SESSIONS + n, "match_id": 1 + match, "number": 1 + n}
        for match, _, _ in tables
        for n in range(SESSIONS)
    ]
    put(tx, Session, sessions, SESSION | {"finished_at": now})
    put(tx, SessionRecords, [{"session_id": one["id"]} for one in sessions], {"records": RECORDS})
    changes = [
        {"match_id": seat["match_id"], "seat_id": seat["id"], "rating_id": seat["entrant_id"]}
        for seat in seats
    ]
    put(tx, RatingChange, changes, {"before": 1500.0, "after": 1500.0, "created_at": now})


def put(tx: Transaction, table: type[SQLModel], rows: Sequence[Mapping[str, object]], all_have: Row) -> None:
    """Insert rows that share the given values."""
    tx.connection().execute(insert(table), [{**all_have, **row} for row in rows])


def tidy(url: str) -> None:
    """Do what a database does on its own while it grows gradually, but not when it is filled all at once."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        else:
            for table in (Rating, Round, Match, Seat, Session):
                name = table.__tablename__
                last = f"(SELECT max(id) FROM {name})"
                connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {last})"))
            connection.execute(text("VACUUM ANALYZE"))
    engine.dispose()
    os.sync()


@contextmanager
def sqlite(folder: Path) -> Iterator[Callable[[], str]]:
    """Yield a function that returns URLs of empty SQLite databases."""
    numbers = count(1)
    yield lambda: f"sqlite:///{folder}/{next(numbers)}.db"


@contextmanager
def postgres(_: Path) -> Iterator[Callable[[], str]]:
    """Yield a function that returns URLs of empty databases on a PostgreSQL server."""
    numbers = count(1)
    with servers.postgres(durable=True) as server:
        yield lambda: server.create(f"season{next(numbers)}")


def measure(place: Place, format: str, pasts: Sequence[int], plays: int) -> list[Season]:
    """Let tournaments with these numbers of matches played continue, in turn."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        new = stack.enter_context(place(folder))
        seasons = []
        for past in pasts:
            url = new()
            settings = load_settings({"data": folder, "database_url": url})
            migrate_storage(settings)
            storage = stack.enter_context(open_storage(settings))
            seasons.append(begin(storage, url, format, past, ahead=1 + plays))
        for number in range(plays):
            turn = number % len(seasons)
            for season in (*seasons[turn:], *seasons[:turn]):
                season.play()
        return seasons


def show(name: str, pasts: Sequence[int], seasons: Sequence[Season]) -> None:
    """Print a line for each of the seasons."""
    for past, season in zip(pasts, seasons, strict=True):
        cells = []
        for step in STEPS:
            low, middle, high = quantiles([1000 * one for one in season.times[step]], n=4)
            cells.append(f"{middle:6.2f} ({low:.2f}-{high:.2f})")
        print(f"{name:24} {past:8,} " + " ".join(f"{cell:>22}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="play less")
    parser.add_argument("--no-servers", action="store_true", help="SQLite only")
    options = parser.parse_args()
    pasts, plays = (PASTS[:3], PLAYS // 4) if options.quick else (PASTS, PLAYS)
    print(f"{'milliseconds':24} {'matches':>8} " + " ".join(f"{step:>22}" for step in STEPS))
    places: dict[str, Place] = {"SQLite": sqlite} | ({} if options.no_servers else {"PostgreSQL": postgres})
    for name, place in places.items():
        show(f"{name}, round-robin", pasts, measure(place, "round-robin", pasts, plays))
        show(f"{name}, continuous", pasts, measure(place, "continuous", pasts, plays // 6))


if __name__ == "__main__":
    main()
