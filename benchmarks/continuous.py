"""What a finished match costs when there are many entrants: ``python -m benchmarks.continuous``.

Continuous tournaments of 100, 1,000 and 10,000 bots run side by side, on SQLite and then on PostgreSQL, which
is started for it. They take turns at playing a match, after which its bots are seated again. Nearly all other
bots sit at open tables, and each tournament has already played as many batches as it has bots. Prints the
milliseconds of each step (the median, and the range of the middle half), and the number of statements that a
whole match takes. ``--quick`` plays less, with 1,000 bots at most.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import median, quantiles

from sqlalchemy import Engine, event, update
from sqlmodel import col

from arena.bots.bulk import NewBot, register_all
from arena.core.specs import make_spec
from arena.host.settings import load_settings
from arena.play.rounds import advance
from arena.store.models import (
    Entrant,
    EntrantState,
    Match,
    MatchState,
    Round,
    RoundState,
    Seat,
    Tournament,
    utc_now,
)
from arena.store.storage import Storage, Transaction, changed, migrate_storage, open_storage
from arena.tournaments import creation, lifecycle
from arena.tournaments.referees import nobody_asked
from benchmarks.history import (
    DEALS,
    DONE,
    LEASE,
    OPERATOR,
    SEATS,
    Place,
    Row,
    Season,
    postgres,
    put,
    sqlite,
    tidy,
)

FIELDS = (100, 1_000, 10_000)
"""Numbers of entrants."""

FREE = 32
"""Bots that are free at the beginning (or a few more); all others sit at tables that are being played."""

PLAYS, WARM_UP = 200, 16
"""Matches that each tournament plays, and how many of them are played before times are measured."""

STEPS = ("claim", "store", "advance")
"""The steps that are timed; after every second match, ``advance`` closes a round and opens a batch."""


class Queue(Season):
    """A continuous tournament; ``advance`` is told the round of the match played, as a worker does."""

    def advance(self) -> None:
        """Let the tournament continue after the match that has just been played."""
        self._advance(self.round_id)

    def look(self) -> None:
        """Let the tournament continue as the beat does."""
        self._advance(None)

    def play(self) -> None:
        with self.storage.read() as tx:
            self.round_id = tx.get_one(Match, self.due[0]).round_id
        super().play()
        self.times["advance"] += self.times.pop("new tables", [])

    def _advance(self, round_id: int | None) -> None:
        advance.advance(
            self.storage,
            self.tournament_id,
            utc_now(),
            self.due.append,
            at_once=32,
            again_after=LEASE,
            round_id=round_id,
        )


def begin(storage: Storage, url: str, entrants: int) -> Queue:
    """Start a continuous tournament of this many bots with a long past; most of them sit at tables.

    Its past has as many batches as there are bots. ``FREE`` bots are seated by the first new batches.
    """
    names = [f"owner-{number}/bot" for number in range(entrants)]
    register_all(storage, OPERATOR, [NewBot(bot=name) for name in names], utc_now(), lambda _: None)
    fields = {"name": "queue", "format": "continuous", "ruleset": "chinese", "sessions": 1, "deals": DEALS}
    spec = make_spec(fields | {"entrants": names})
    tournament_id = creation.create(storage, OPERATOR, spec, utc_now()).id
    lifecycle.start(storage, OPERATOR, "queue", utc_now(), nobody_asked)
    rng = Random(entrants)
    with storage.write() as tx:
        free = FREE + (entrants - FREE) % (2 * SEATS)
        past = [rng.sample(range(1, entrants + 1), 2 * SEATS) for _ in range(entrants)]
        add_batches(tx, tournament_id, past, first=0, done=True)
        playing = [range(at, at + 2 * SEATS) for at in range(free + 1, entrants + 1, 2 * SEATS)]
        add_batches(tx, tournament_id, playing, first=len(past), done=False)
        at_tables = update(Entrant).where(col(Entrant.number) > free)
        changed(tx, at_tables.values(state=EntrantState.SEATED))
        tx.get_one(Tournament, tournament_id).paired = len(past) + len(playing)
    tidy(url)
    queue = Queue(storage, tournament_id)
    queue.look()
    return queue


def add_batches(
    tx: Transaction, tournament_id: int, batches: Sequence[Sequence[int]], first: int, *, done: bool
) -> None:
    """Add batches of two tables, after ``first`` others, to the tournament of an otherwise empty database."""
    now = utc_now()
    rounds = [
        {"id": 1 + n, "number": 1 + n, "tables_before": 2 * n} for n in range(first, first + len(batches))
    ]
    of_it = {"tournament_id": tournament_id, "created_at": now, "started_at": now}
    put(tx, Round, rounds, of_it | {"byes": [], "state": RoundState.CLOSED if done else RoundState.OPEN})
    matches = [
        {"id": 2 * round["number"] - 1 + at, "round_id": round["id"], "table_number": 1 + at}
        for round in rounds
        for at in range(2)
    ]
    leased: Row = {"state": MatchState.RUNNING, "lease_owner": "another", "lease_until": now + LEASE}
    put(tx, Match, matches, of_it | {"ruleset_id": 1} | (DONE | {"finished_at": now} if done else leased))
    seats = [
        {
            "match_id": match["id"],
            "position": position,
            "entrant_id": entrant,
            "version_id": entrant,
        }
        for match, table in zip(matches, _tables(batches), strict=True)
        for position, entrant in enumerate(table)
    ]
    put(tx, Seat, seats, {"points": 0, "faults": 0})


def _tables(batches: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    return [batch[at : at + SEATS] for batch in batches for at in (0, SEATS)]


@contextmanager
def counted() -> Iterator[list[str]]:
    """Yield a list of the statements executed while the context is open."""
    statements: list[str] = []

    def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def measure(place: Place, fields: Sequence[int], plays: int) -> list[tuple[Queue, float]]:
    """Let tournaments of these sizes play in turn; return each with the number of statements for a match."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        new = stack.enter_context(place(folder))
        queues = []
        for entrants in fields:
            url = new()
            settings = load_settings({"data": folder, "database_url": url})
            migrate_storage(settings)
            queues.append(begin(stack.enter_context(open_storage(settings)), url, entrants))
        taken: list[list[int]] = [[] for _ in queues]
        for number in range(plays):
            for queue, statements in zip(queues, taken, strict=True):
                if number == WARM_UP:
                    queue.times.clear()
                with counted() as executed:
                    queue.play()
                statements.append(len(executed))
        return [(queue, median(each[WARM_UP:])) for queue, each in zip(queues, taken, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.continuous", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="play less, and with fewer bots")
    parser.add_argument("--no-servers", action="store_true", help="SQLite only")
    options = parser.parse_args()
    fields, plays = (FIELDS[:2], PLAYS // 4) if options.quick else (FIELDS, PLAYS)
    heads = " ".join(f"{step:>22}" for step in STEPS)
    print(f"{'milliseconds':16} {'entrants':>8} {heads} {'statements':>10}")
    places: dict[str, Place] = {"SQLite": sqlite} | ({} if options.no_servers else {"PostgreSQL": postgres})
    for name, place in places.items():
        for entrants, (queue, statements) in zip(fields, measure(place, fields, plays), strict=True):
            cells = []
            for step in STEPS:
                low, middle, high = quantiles([1000 * one for one in queue.times[step]], n=4)
                cells.append(f"{middle:6.2f} ({low:.2f}-{high:.2f})")
            line = " ".join(f"{cell:>22}" for cell in cells)
            print(f"{name:16} {entrants:8,} {line} {statements:10.0f}", flush=True)


if __name__ == "__main__":
    main()
