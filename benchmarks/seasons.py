"""A season of many matches, made in bulk: rows as if stored session by session, rounds closed as usual.

Sessions are put into the database a round at a time, with what follows from each (``arena.results.tallies``),
computed by the functions that are used for storing a session; rounds are planned and closed by the arena's
own code, so that ratings, sums, tallies and standings are genuine.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from sqlalchemy import bindparam, insert, update
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.bots.bulk import NewBot, register_all
from arena.core.pairing import Pairing
from arena.core.seating import seatings
from arena.core.specs import make_spec
from arena.play.rounds.advance import close_round
from arena.play.rounds.planning import Entered, plan_round
from arena.results.ledgers import FAULTS, HIGHLIGHTS
from arena.results.sessions import FaultKey, tallies_of
from arena.results.strength.pools import Pool
from arena.store.models import (
    BotVersion,
    Entrant,
    Highlight,
    Match,
    MatchState,
    RoundState,
    Seat,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
)
from arena.store.records import pack_records
from arena.store.storage import Storage
from arena.tournaments import creation, lifecycle
from arena.tournaments.referees import nobody_asked
from referee.check import SCENARIOS, Report, Result
from referee.matches.kinds import FaultKind

OPERATOR = Actor(Role.OPERATOR, "benchmark")
SEATS, DEALS = 4, 2
[SEATING] = seatings(SEATS, 1, duplicate=False)
"""For each seat of the only session, the position at the table."""
SPREAD = 4.0
"""Standard deviation of the bots' strengths."""
FAULTY = 0.002
"""Share of the deals in which a bot makes a fault."""
ACTIONS = ["1:3D", "2:4D", "3:5D", "0:6D", "1:7D", "2:-", "3:-", "0:-"] * 4


class Plan(NamedTuple):
    """A match to be stored."""

    match_id: int
    bots: tuple[int, ...]
    """Bot versions by seat."""


@dataclass
class Season:
    """A tournament of many bots that is under way."""

    storage: Storage
    tournament_id: int
    entered: dict[int, Entered]
    """By entrant's number."""
    strengths: dict[int, float]
    """By bot version; a strength of ``SPREAD`` is worth about one point a deal."""
    pool: Pool
    ruleset: dict[str, object]


def begin(storage: Storage, bots: int, rounds: int, now: datetime, *, name: str = "season") -> Season:
    """Register bots, two for each owner, and start a Swiss tournament of them."""
    return start(storage, register(storage, bots, now), rounds, now, name=name)


def register(storage: Storage, bots: int, now: datetime) -> list[str]:
    """Register bots, two for each owner, each of which has passed the check; return their names."""
    names = [f"owner-{number // 2}/bot-{number}" for number in range(bots)]
    languages = ("python", "go", "rust")
    new = [NewBot(bot=bot, language=languages[at % 3]) for at, bot in enumerate(names)]
    register_all(storage, OPERATOR, new, now, lambda _: None)
    results = [Result(one.code, one.title, "passed", "", 0.05) for one in SCENARIOS]
    report = Report("bench/bot", "bench 1", 1, tuple(results)).to_object()
    with storage.write() as tx:
        tx.exec(update(BotVersion).values(check_report=report, checked_at=now, check_passed_at=now))
    return names


def start(
    storage: Storage,
    names: Sequence[str],
    rounds: int,
    now: datetime,
    *,
    name: str = "season",
    ruleset: str = "chinese",
) -> Season:
    """Start a Swiss tournament of these bots."""
    fields = {"name": name, "format": "swiss", "ruleset": ruleset, "rounds": rounds, "sessions": 1}
    spec = make_spec(fields | {"deals": DEALS, "entrants": list(names), "allow_same_owner": True})
    tournament_id = creation.create(storage, OPERATOR, spec, now, bytes(32)).id
    lifecycle.start(storage, OPERATOR, name, now, nobody_asked)
    with storage.read() as tx:
        tournament = tx.get_one(Tournament, tournament_id)
        rows = tx.exec(select(Entrant).where(Entrant.tournament_id == tournament_id)).all()
        content = tx.get_one(StoredRuleset, tournament.ruleset_id).content
    rng = Random(len(names))
    return Season(
        storage,
        tournament_id,
        {row.number: Entered(row.id, row.version_id) for row in rows},
        {row.version_id: rng.gauss(0, SPREAD) for row in rows},
        Pool(tournament.ruleset_id, tournament.table_size),
        content,
    )


def play_round(season: Season, rng: Random, now: datetime) -> None:
    """Pair a round at random, store a session of each match, and close the round."""
    plans = plan(season, rng, now)
    store(season, plans, list(results(season, rng, plans)), now)
    assert close_round(season.storage, season.tournament_id, now)


def plan(season: Season, rng: Random, now: datetime) -> list[Plan]:
    """Open the next round, with random tables."""
    numbers = rng.sample(list(season.entered), len(season.entered) // SEATS * SEATS)
    tables = tuple(tuple(numbers[at : at + SEATS]) for at in range(0, len(numbers), SEATS))
    with season.storage.write() as tx:
        tournament = tx.get_one(Tournament, season.tournament_id)
        tournament.paired += 1
        round = plan_round(tx, tournament, tournament.paired, Pairing(tables), season.entered, now)
        round.state, round.started_at = RoundState.OPEN, now
        tx.flush()
        matches = select(Match.id).where(Match.round_id == round.id).order_by(col(Match.table_number))
        bots = [tuple(season.entered[table[position]].version_id for position in SEATING) for table in tables]
        return [Plan(*one) for one in zip(tx.exec(matches), bots, strict=True)]


def results(season: Season, rng: Random, plans: Sequence[Plan]) -> Iterator[list[str]]:
    """Yield for each match the lean records of its session's deals."""
    for one in plans:
        yield [_record(season, rng, number, one.bots) for number in range(1, DEALS + 1)]


def _record(season: Season, rng: Random, number: int, bots: Sequence[int]) -> str:
    left = [max(1, round(rng.gauss(5 - season.strengths[bot] / SPREAD, 3))) for bot in bots]
    left[min(range(len(bots)), key=left.__getitem__)] = 0
    actions = ACTIONS[: rng.randint(8, len(ACTIONS))]
    points = [-cards for cards in left]
    record: dict[str, object] = {"deal": number, "actions": actions, "points": points, "end": "out"}
    if rng.random() < FAULTY:
        record["faults"] = [{"seat": rng.randrange(SEATS), "kind": FaultKind.TIMEOUT}]
    return json.dumps(record)


def points_of(records: Sequence[str]) -> tuple[int, ...]:
    """Return the points of a session, by seat."""
    return tuple(map(sum, zip(*(json.loads(record)["points"] for record in records), strict=True)))


def faults_by_seat(records: Sequence[str]) -> tuple[int, ...]:
    """Return the faults in a session, by seat."""
    faults = Counter(fault["seat"] for record in records for fault in json.loads(record).get("faults", ()))
    return tuple(faults[seat] for seat in range(SEATS))


def store(season: Season, plans: Sequence[Plan], sessions: Sequence[Sequence[str]], now: datetime) -> None:
    """Store the only session of each match, as ``matches.storing.store_session`` does one by one."""
    with season.storage.write() as tx:
        first = (tx.exec(select(func.max(Session.id))).one() or 0) + 1
        rows, packed, seats = [], [], []
        highlights: dict[tuple[int, str], tuple[int, int, int, int]] = {}
        faulty: Counter[FaultKey] = Counter()
        for session_id, (one, records) in enumerate(zip(plans, sessions, strict=True), start=first):
            deals = [json.loads(record) for record in records]
            points, faults = points_of(records), faults_by_seat(records)
            rows.append(
                {
                    "id": session_id,
                    "match_id": one.match_id,
                    "seating": list(SEATING),
                    "points": list(points),
                    "faults": list(faults),
                    "deal_points": [deal["points"] for deal in deals],
                }
            )
            packed.append({"session_id": session_id, "records": pack_records(list(records))})
            found = tallies_of(season.pool, season.ruleset, deals, one.bots)
            highlights.update(found.highlight_rows(session_id))
            faulty.update(found.fault_counts())
            seats += [
                {"match": one.match_id, "at": position, "made": made, "failed": failed}
                for position, made, failed in zip(SEATING, points, faults, strict=True)
            ]
        alike = {"number": 1, "forfeits": [], "finished_at": now}
        connection = tx.connection()
        connection.execute(insert(Session), [alike | row for row in rows])
        connection.execute(insert(SessionRecords), packed)
        connection.execute(insert(Highlight), HIGHLIGHTS.rows(highlights))
        connection.execute(ADD_POINTS, seats)
        FAULTS.add(tx, faulty)
        connection.execute(DONE, [{"match": one.match_id, "now": now} for one in plans])


ADD_POINTS = (
    update(Seat)
    .where(col(Seat.match_id) == bindparam("match"), col(Seat.position) == bindparam("at"))
    .values(points=bindparam("made"), faults=bindparam("failed"))
)

DONE = (
    update(Match)
    .where(col(Match.id) == bindparam("match"))
    .values(
        state=MatchState.DONE,
        attempts=[1],
        sessions_done=1,
        deals_done=DEALS,
        started_at=bindparam("now"),
        finished_at=bindparam("now"),
    )
)


def make_season(storage: Storage, bots: int, matches: int, now: datetime, days: int = 180) -> Season:
    """Make a season of at least this many matches over the ``days`` before ``now``, round by round."""
    rounds = -(-matches // (bots // SEATS))
    began = now - timedelta(days=days)
    season = begin(storage, bots, rounds, began)
    rng = Random(matches)
    for number in range(rounds):
        play_round(season, rng, began + timedelta(days=days) * (number + 1) / (rounds + 1))
    return season
