"""The whole road of one big tournament: created, entered, paired, played, watched, exported, verified.

``python -m benchmarks.size --entrants 10000 --rounds 100`` prints what each step takes, at a tenth of the
entrants and then at all of them: seconds, and the most memory of its process beyond what it needs to start.
A step whose work is the same for each entrant (or each session) takes ten times as long for ten times as
many, and no more memory.

Sessions are stored in bulk, as ``arena.play.matches.storing`` stores them one by one. They are genuine, so
that their export can be verified: of a duplicate tournament, in which all tables of a round have the same
cards, so that a few plays of each session serve all tables. The tests' key signs them.
"""

import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fastapi import FastAPI
from sqlalchemy import insert
from sqlmodel import func, select

from arena.actors import Actor, Role
from arena.bots import versions
from arena.bots.bulk import NewBot, register_all
from arena.core.seating import seatings
from arena.core.specs import make_spec
from arena.host.settings import load_settings
from arena.play.rounds.advance import advance, close_round
from arena.queries import scoreboard
from arena.queries.tournaments import round_tables
from arena.results.ledgers import HIGHLIGHTS
from arena.results.sessions import tallies_of
from arena.results.standings.outcomes import tables_of
from arena.results.strength.pools import Pool
from arena.store.models import (
    Highlight,
    RefereeKey,
    Round,
    RoundState,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
    utc_now,
)
from arena.store.records import pack_records
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments import creation, entry, events, lifecycle, overview
from arena.tournaments.referees import nobody_asked
from arena.tournaments.roster import list_entrants
from arena.trust.exports.write import export_lines
from arena.trust.verify import check_export
from arena.web.app import make_app
from arena.web.pages.links import together_url
from benchmarks.pages import of_tournament, taken
from benchmarks.seasons import ADD_POINTS, DONE
from referee.deals import session as sessions
from referee.deals.shuffle import luck, session_seed
from referee.records.random_play import play_randomly
from referee.records.results import Result, shown_digest
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.fakes import timed_json
from tests.referee.key import KEY

SEATS, SESSIONS, DEALS = 4, 4, 1
VARIANTS = 8
"""How many plays of each session of a round there are; each table has one of them, drawn at random."""
BATCH = 500
"""Tables that are stored with one statement."""
LATE = 20
"""How many bots enter one by one, after all others."""
SMALLER = 10
"""How many times as many entrants the whole has as the part that is measured first."""
OPERATOR = Actor(Role.OPERATOR, "benchmark")
NAME = "big"


class Step(NamedTuple):
    """What a step took."""

    seconds: float
    megabytes: float
    """The most memory beyond what the process had when it began."""
    details: str = ""


class Play(NamedTuple):
    """One way in which a session was played."""

    packed: bytes
    points: tuple[int, ...]
    deal_points: Sequence[Sequence[int]]
    digest: str
    highlights: dict[tuple[int, str], tuple[int, int, int, int]]
    """Under the session 0."""


def run(entrants: int, rounds: int, processes: int) -> list[tuple[str, Step]]:
    """Return what each step of a tournament took, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name, call in steps(Path(folder), entrants, rounds, processes):
            print(f"{entrants:,} entrants: {name} …", flush=True)
            found.append((name, _apart(call)))
        return found


def steps(data: Path, entrants: int, rounds: int, processes: int) -> list[tuple[str, Callable[[], str]]]:
    """Return the steps in order, each by its name; it returns further figures in words."""
    file = data / "big.jsonl"
    return [
        ("create", partial(create, data, entrants, rounds)),
        (f"enter {LATE}", partial(enter, data, entrants)),
        ("play", partial(play, data, rounds)),
        ("watch", partial(watch, data, rounds)),
        ("pages", partial(pages, data)),
        ("standings", partial(standings, data)),
        ("export", partial(export, data, file)),
        ("verify, one process", partial(verify, file, 1)),
        (f"verify, {processes} processes", partial(verify, file, processes)),
    ]


def show(sizes: Sequence[int], found: Sequence[Sequence[tuple[str, Step]]]) -> None:
    """Print a line for each step, with its figures at each size."""
    heads = " ".join(f"{f'{size:,} entrants':>22}" for size in sizes)
    print(f"\n{'':22} {heads}   details of the last")
    for at, (name, last) in enumerate(found[-1]):
        cells = " ".join(
            f"{f'{one[at][1].seconds:,.1f} s {one[at][1].megabytes:,.0f} MB':>22}" for one in found
        )
        print(f"{name:22} {cells}   {last.details}", flush=True)


def road(entrants: int, rounds: int) -> None:
    """Measure and print the whole road, for a part of the entrants and for all."""
    sizes = (entrants // SMALLER, entrants)
    show(sizes, [run(size, rounds, len(os.sched_getaffinity(0))) for size in sizes])


def _apart(call: Callable[[], str]) -> Step:
    """Call a function in a process of its own, and return what that took."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_measure, args=(theirs, call))
    process.start()
    theirs.close()
    step: Step = ours.recv()
    process.join()
    return step


def _measure(pipe: Any, call: Callable[[], str]) -> None:
    before, begun = _most_memory(), time.perf_counter()
    details = call()
    pipe.send(Step(time.perf_counter() - begun, _most_memory() - before, details))


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _open(data: Path) -> Storage:
    settings = load_settings({"data": data})
    migrate_storage(settings)
    return open_storage(settings)


def create(data: Path, entrants: int, rounds: int) -> str:
    """Register bots, and create a Swiss tournament of all but the last few."""
    names = [f"owner-{number // 2}/bot-{number}" for number in range(entrants - LATE)]
    fields = {"name": NAME, "format": "swiss", "ruleset": "chinese", "rounds": rounds, "sessions": SESSIONS}
    options = {"deals": DEALS, "duplicate": True, "allow_same_owner": True}
    with _open(data) as storage:
        with storage.write() as tx:
            tx.add(RefereeKey(referee="referee-1", key=KEY.public, since=utc_now()))
        register_all(storage, OPERATOR, [NewBot(bot=name) for name in names], utc_now(), lambda _: None)
        spec = make_spec(fields | options | {"entrants": names})
        creation.create(storage, OPERATOR, spec, utc_now(), bytes(32))
    return ""


def enter(data: Path, entrants: int) -> str:
    """Enter the last few bots one by one, and start the tournament."""
    with _open(data) as storage:
        for number in range(entrants - LATE, entrants):
            bot = versions.register_version(storage, OPERATOR, f"owner-{number // 2}/bot-{number}", utc_now())
            entry.enter(storage, OPERATOR, NAME, bot.bot, utc_now(), nobody_asked)
        lifecycle.start(storage, OPERATOR, NAME, utc_now(), nobody_asked)
    return ""


def play(data: Path, rounds: int) -> str:
    """Pair all rounds, store their sessions, and close them; the details say how long pairing took."""
    paired, stored, closed = [], 0.0, []
    rng = Random(rounds)
    with _open(data) as storage:
        with storage.read() as tx:
            tournament = overview.find_tournament(tx, NAME)
        for _ in range(rounds):
            paired.append(_timed(partial(_advance, storage, tournament.id)))
            stored += _timed(partial(_store_round, storage, tournament, rng))
            closed.append(_timed(partial(close_round, storage, tournament.id, utc_now())))
        _advance(storage, tournament.id)
    times = f"pairing {paired[0]:.1f} s at first, {paired[-1]:.1f} s at last, closing {closed[-1]:.1f} s"
    return f"{times}; {sum(paired):.0f} s pairing, {sum(closed):.0f} s closing, {stored:.0f} s storing"


def _timed(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _advance(storage: Storage, tournament_id: int) -> None:
    advance(storage, tournament_id, utc_now(), lambda _: None, at_once=1, again_after=timedelta(hours=1))


def _store_round(storage: Storage, tournament: Tournament, rng: Random) -> None:
    """Store all sessions of the open round."""
    with storage.write() as tx:
        which = (Round.tournament_id == tournament.id, Round.state == RoundState.OPEN)
        round = tx.exec(select(Round).where(*which)).one()
        content = tx.get_one(StoredRuleset, tournament.ruleset_id).content
        plays = _plays(tournament, content, round.number, rng)
        names = {one.entrant_id: one.name for one in list_entrants(tx, tournament)}
        seated = seatings(SEATS, SESSIONS, duplicate=True)
        now, first = utc_now(), (tx.exec(select(func.max(Session.id))).one() or 0) + 1
        ids, connection = count(first), tx.connection()
        tables = iter(tables_of(tx, round))
        while batch := [*islice(tables, BATCH)]:
            rows: list[dict[str, Any]] = []
            packed: list[dict[str, Any]] = []
            seats: list[dict[str, Any]] = []
            highlights: dict[tuple[int, str], tuple[int, int, int, int]] = {}
            for table in batch:
                points = [0] * SEATS
                for number, seating in enumerate(seated, start=1):
                    played, session_id = rng.choice(plays[number - 1]), next(ids)
                    bots = [names[table.seats[position].entrant_id] for position in seating]
                    result = Result(
                        commitment=str(tournament.commitment),
                        session=f"{NAME}/{round.number}/{table.match.table_number}/{number}",
                        attempt=1,
                        seats=bots,
                        points=played.points,
                        faults=(0,) * SEATS,
                        forfeits=(),
                        deals=played.digest,
                    )
                    rows.append(
                        {
                            "id": session_id,
                            "match_id": table.match.id,
                            "number": number,
                            "seating": [*seating],
                            "points": [*played.points],
                            "faults": [0] * SEATS,
                            "forfeits": [],
                            "deal_points": played.deal_points,
                            "signed": KEY.sign(result.digest)._asdict(),
                            "finished_at": now,
                        }
                    )
                    packed.append({"session_id": session_id, "records": played.packed})
                    highlights |= {(session_id, kind): row for (_, kind), row in played.highlights.items()}
                    for position, made in zip(seating, played.points, strict=True):
                        points[position] += made
                seats += [
                    {"match": table.match.id, "at": position, "made": made, "failed": 0}
                    for position, made in enumerate(points)
                ]
            connection.execute(insert(Session), rows)
            connection.execute(insert(SessionRecords), packed)
            connection.execute(insert(Highlight), HIGHLIGHTS.rows(highlights))
            connection.execute(ADD_POINTS, seats)
            done = [{"match": table.match.id, "now": now} for table in batch]
            connection.execute(DONE.values(attempts=[1] * SESSIONS, sessions_done=SESSIONS), done)


def _plays(tournament: Tournament, content: dict[str, Any], round: int, rng: Random) -> list[list[Play]]:
    """Return some plays of each session of a round."""
    rules = compile_ruleset(load_ruleset(content))
    seed = luck(bytes.fromhex(tournament.seed), tournament.beacon_value)
    pool = Pool(tournament.ruleset_id, tournament.table_size)

    def played(number: int) -> Play:
        session = sessions.Session(rules, session_seed(seed, round, None, number), DEALS, 1)
        records = []
        while not session.over:
            deal = session.next_deal()
            play_randomly(deal, rng)
            session.close_deal()
            records.append(timed_json(deal))
        deals = [json.loads(record) for record in records]
        return Play(
            pack_records(records),
            tuple(session.scores),
            [deal["points"] for deal in deals],
            shown_digest(deals),
            tallies_of(pool, content, deals, [0] * SEATS).highlight_rows(0),
        )

    return [[played(number) for _ in range(VARIANTS)] for number in range(1, SESSIONS + 1)]


def watch(data: Path, rounds: int) -> str:
    """Ask what the pages and the event stream of the tournament ask, about its last round."""
    with _open(data) as storage:
        overview.status(storage, NAME)
        round_tables(storage, NAME, rounds, 24)
        events.updates(storage, {NAME: 0})
    return ""


def pages(data: Path) -> str:
    """Ask for each kind of page of the tournament twice; the details say which take long the second time."""
    with _open(data) as storage:
        app = make_app(load_settings({"data": data}), storage)
        app.state.web.readings.prepare()
        asked = [
            *of_tournament(storage, overview.status(storage, NAME)),
            ("deal at all tables", together_url(NAME, 1, 1, 1)),
            ("standings, as JSON", f"/api/v1/tournaments/{NAME}/standings"),
        ]
        found = asyncio.run(_taken(app, asked))
    slowest = sorted(found, key=lambda one: -one[1])[:3]
    return ", ".join(f"{name} {took:.0f} ms" for name, took in slowest)


async def _taken(app: FastAPI, asked: Sequence[tuple[str, str]]) -> list[tuple[str, float]]:
    found = []
    for name, address in asked:
        for _ in range(2):
            status, _, took = await taken(app, address, "none")
            assert status == HTTPStatus.OK, address
        found.append((name, took))
    return found


def standings(data: Path) -> str:
    """Read the standings."""
    with _open(data) as storage:
        scoreboard.standings(storage, NAME)
    return ""


def export(data: Path, file: Path) -> str:
    """Write the export."""
    begun, lines = time.perf_counter(), 0
    with _open(data) as storage, file.open("w") as out:
        for line in export_lines(storage, NAME):
            out.write(f"{line}\n")
            lines += 1
    size, seconds = file.stat().st_size, time.perf_counter() - begun
    return f"{size / 2**20:,.0f} MB, {lines:,} lines, {lines / seconds:,.0f} a second"


def verify(file: Path, processes: int) -> str:
    """Verify the export."""
    begun = time.perf_counter()
    with file.open("rb") as lines:
        report = check_export(lines, processes=processes, linked=False)
    assert report.problem is None, report.problem
    return f"{report.deals:,} deals, {report.deals / (time.perf_counter() - begun):,.0f} a second"
