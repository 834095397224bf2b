"""An arena of many processes in a storm of kills, duplicated messages and cut connections."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from celery import Celery
from kombu.exceptions import KombuError
from sqlmodel import col, select

from arena.bots import versions
from arena.cli.local import arena_command
from arena.core.specs import make_spec
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.play.broker import ADVANCE, RUN_MATCH
from arena.play.messages import make_app, wake
from arena.play.tasks import BROKEN
from arena.queries.scoreboard import StandingLine, standings
from arena.results.luck.references import weigh_due
from arena.results.ratings.rebuild import rebuild
from arena.store.models import BotLogEntry, Match, utc_now
from arena.store.storage import Storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import nobody_asked
from arena.trust.exports.write import export_lines
from arena.trust.verify import check_export
from referee.errors import RefereeUnavailable
from referee.matches.journal import EntryKind
from referee.net.client import referee_status
from tests.arena.calm import Attempts, attempts_of, forget_begun, in_attempts, play_all
from tests.arena.databases import open_new
from tests.arena.fakes import LOCKED, ROOT
from tests.arena.given_keys import give_keys
from tests.arena.ports import free_address
from tests.arena.running import SAMPLE_BOTS
from tests.arena.servers import Proxy
from tests.arena.world import results
from tests.waiting import wait_for

DEADLINE = 240.0
"""Seconds after which a test gives up waiting."""

SAMPLES = ("greedy.py", "keeper.py", "pairs_first.py", "lowest.py")
BOTS = {f"owner-{number}/bot": SAMPLES[number % len(SAMPLES)] for number in range(8)}
CUP = {
    "format": "swiss",
    "rounds": 5,
    "ruleset": "chinese",
    "sessions": 8,
    "deals": 2,
    "decision_ms": 120_000,  # enough time for a killed bot to come back
    "join_seconds": 300,
    "entrants": list(BOTS),
}
SESSIONS = 80
ROUND = 16
"""Sessions in a round."""
BOT_NAMES = [f"bot{number}" for number in range(len(BOTS))]
ARENA = ["worker1", "worker2", "referee1", "referee2", "beat"]
"""Processes of the arena."""
DOUBLED_SECONDS = 0.6
"""Seconds between superfluous messages, each of which costs a worker as much as a useful one."""
SHOWN = 12
"""Maximum number of differences that a failed test shows."""
FAILURES = ("raised unexpected", BROKEN, "the bot failed")
"""Texts in logs that report a failed task, tournament or bot."""
SEED = bytes(range(32))
IDS = "r1,r2"
"""Ids of the referees, on whose keys the cards depend."""


class Outcome(NamedTuple):
    """Everything that counts as a tournament's result."""

    results: dict[str, list[tuple[object, ...]]]
    """Sessions with their records, seats with points and faults, ratings, and rating changes in order."""
    standings: list[StandingLine]


def differences(outcome: Outcome, calm: Outcome) -> list[str]:
    """Return the differences from the calm run, abridged and with causes first; empty if there are none."""
    found: list[str] = []
    for kind in ("sessions", "seats", "ratings", "changes"):
        ours, theirs = outcome.results[kind], calm.results[kind]
        if len(ours) != len(theirs):
            found.append(f"{len(ours)} {kind} instead of {len(theirs)}")
        found += [f"{kind}: {_apart(a, b)}" for a, b in zip(ours, theirs, strict=False) if a != b]
    lines = zip(outcome.standings, calm.standings, strict=True)
    found += [f"{a} instead of {b}" for a, b in lines if a != b]
    return found[:SHOWN]


def _apart(one: Sequence[object], other: Sequence[object]) -> str:
    """Describe how two rows differ, with only those deals of their records that differ."""
    deals, others = one[-1], other[-1]
    if not isinstance(deals, list) or not isinstance(others, list):
        return f"{one} instead of {other}"
    apart = [f"{a}\n  instead of {b}" for a, b in zip(deals, others, strict=False) if a != b]
    return "\n".join([f"{one[:-1]} instead of {other[:-1]}", *apart])


def register_bots(storage: Storage) -> list[str]:
    """Register the bots; return their tokens."""
    return [versions.register_version(storage, ROOT, name, utc_now()).token for name in BOTS]


def start_cup(storage: Storage) -> int:
    """Create the cup and start it; return its id."""
    cup = creation.create(storage, ROOT, make_spec({"name": "cup"} | CUP), LOCKED, SEED)
    lifecycle.start(storage, ROOT, "cup", LOCKED, nobody_asked)
    return cup.id


def outcome_of(storage: Storage) -> Outcome:
    """Return the outcome of the cup, which must have been played completely."""
    status = overview.status(storage, "cup")
    assert (status.state, status.sessions_done, status.sessions_total) == ("finished", SESSIONS, SESSIONS)
    weigh_due(storage, utc_now, time.monotonic, seconds=60)  # what workers have not done yet
    return Outcome(results(storage), standings(storage, "cup"))


class Cluster:
    """Workers, referees, the beat and bots, each a process that is restarted when it dies.

    ``storage`` is the test's own connection to the database.
    """

    def __init__(self, settings: Settings, storage: Storage, supervisor: Supervisor, app: Celery) -> None:
        self.settings = settings
        self.storage = storage
        self.app = app
        self._workers: list[str] = []
        self._supervisor = supervisor
        self.killed = 0
        """Number of processes killed so far."""
        self._doubled_at = 0.0
        """When superfluous messages were last sent."""

    def start(self, workers: int) -> None:
        """Start everything except the bots."""
        for place, address in enumerate(self.settings.referees, start=1):
            command = arena_command("referee", "--listen", address)
            self._supervisor.start(f"referee{place}", command, stop_with=signal.SIGINT)
        for place in range(1, workers + 1):
            self._supervisor.start(f"worker{place}", arena_command("worker"))
        self._supervisor.start("beat", arena_command("beat"))
        self._workers = [f"worker{place}" for place in range(1, workers + 1)]

    def start_bots(self) -> None:
        """Register the bots and start a process for each."""
        tokens = register_bots(self.storage)
        for number, (file, token) in enumerate(zip(BOTS.values(), tokens, strict=True)):
            environment = {"ARENA_TOKEN": token, "ARENA_REFEREE": ",".join(self.settings.referees)}
            self._supervisor.start(f"bot{number}", [sys.executable, str(SAMPLE_BOTS / file)], environment)

    def start_tournament(self) -> None:
        """Create the cup and start it."""
        wake(self.settings, start_cup(self.storage))

    def rest(self) -> None:
        """Stop the workers and the beat; wait until all bots and the first referee are running."""
        for name in (*self._workers, "beat"):
            self._supervisor.stop(name)
        self._supervisor.check()  # a bot that was killed at the end counts as dead from here on
        self.wait(lambda: all(self._supervisor.pid(name) is not None for name in BOT_NAMES) and self.is_up())

    def status(self) -> TournamentStatus:
        """Return the cup's status."""
        return overview.status(self.storage, "cup")

    def is_up(self) -> bool:
        """Return whether the first referee answers."""
        try:
            referee_status(self.settings.referees[0], self.settings.worker_secret())
        except RefereeUnavailable:
            return False
        return True

    def wait(self, condition: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait until the condition holds, restarting processes that die; fail if that takes too long."""

        def between() -> None:
            self._supervisor.check()
            meanwhile()

        wait_for(condition, meanwhile=between, seen=self.status, seconds=DEADLINE)

    def finish(self, meanwhile: Callable[[], None] = lambda: None) -> Outcome:
        """Wait for the end of the cup, and return its outcome."""
        self.wait(lambda: self.status().ended, meanwhile)
        return outcome_of(self.storage)

    def faults(self) -> list[str]:
        """Return the faults that the referees recorded, including those in sessions that do not count."""
        with self.storage.read() as tx:
            noted = tx.exec(select(BotLogEntry).where(col(BotLogEntry.kind) == EntryKind.FAULT)).all()
        return [f"{entry.session_id}: {entry.code}: {entry.text} {entry.details}" for entry in noted]

    def failures(self) -> list[str]:
        """Return log lines about tasks that raised, and about turns that a bot could not answer."""
        logs = [*self.settings.logs.glob("worker*.log"), *self.settings.logs.glob("bot*.log")]
        lines = [line for log in logs for line in log.read_text().splitlines()]
        return [line for line in lines if any(words in line for words in FAILURES)]

    def kill(self, name: str) -> None:
        """Kill a process without warning, as soon as it is running."""
        self.wait(lambda: self._supervisor.pid(name) is not None)
        pid = self._supervisor.pid(name)
        assert pid is not None
        with suppress(ProcessLookupError):  # it has just died on its own
            os.kill(pid, signal.SIGKILL)
            self.killed += 1

    def empty_broker(self) -> None:
        """Drop all messages in transit."""
        with self.app.connection_for_write() as connection:
            connection.default_channel.queue_purge("arena")

    def send_again(self, random: Random) -> None:
        """Now and then send superfluous messages: two for a random match and two for the cup."""
        if time.monotonic() < self._doubled_at + DOUBLED_SECONDS:
            return
        self._doubled_at = time.monotonic()
        with self.storage.read() as tx:
            matches = tx.exec(select(Match.id)).all()
        messages = [(RUN_MATCH, random.choice(matches))] if matches else []
        with suppress(KombuError, OSError):  # the broker may be away
            for task, number in [*messages, (ADVANCE, 1)] * 2:
                self.app.send_task(task, [number], retry=False)


@contextmanager
def cluster(folder: Path, *, workers: int = 2, database: str = "", **settings_: object) -> Iterator[Cluster]:
    """Run a cluster without bots; ``database`` is the URL that the test itself uses, if different."""
    referees = [free_address(), free_address()]
    quick: dict[str, object] = {"listen": referees[0], "referees": ",".join(referees)}
    quick |= {"referee_ids": IDS, "beat_seconds": 0.5, "lease_seconds": 2}
    settings = load_settings({"data": folder} | quick | settings_)
    own = settings.model_copy(update={"database_url": database or settings.database_url})
    with ExitStack() as stack:
        storage = stack.enter_context(open_new(own))
        give_keys(settings, storage)
        app = stack.enter_context(make_app(settings))
        supervisor = stack.enter_context(Supervisor(settings.logs, settings.environment()))
        running = Cluster(settings, storage, supervisor, app)
        running.start(workers)
        yield running


def calm(running: Cluster, folder: Path, attempts: Attempts) -> Outcome:
    """Return the outcome of an undisturbed cup, with its deals dealt in these attempts.

    It uses a database of its own, and the first referee and the bots of the storm, which is over.
    """
    running.rest()
    settings = load_settings({"data": folder, "referees": ",".join(running.settings.referees)})
    settings = settings.model_copy(update={"referee_ids": running.settings.referee_ids})
    with open_new(settings) as storage:
        give_keys(settings, storage)
        register_bots(storage)  # in the same order, so that they have the numbers that the referee knows
        forget_begun(running.settings.data)
        run = in_attempts(running.settings.referees[0], running.settings.worker_secret(), attempts)
        play_all(storage, start_cup(storage), run, lambda: overview.status(storage, "cup").ended)
        assert running.faults() == []
        return outcome_of(storage)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to an arena."""

    after: int
    """Number of sessions to be stored before it."""
    pause: float
    """Further seconds to wait."""
    name: str
    happen: Callable[[], object]


def kills(running: Cluster, random: Random, victims: Sequence[str]) -> list[Event]:
    """Return events that kill these processes, each at a random moment."""
    return [at_random(random, f"{name} is killed", partial(running.kill, name)) for name in victims]


def cuts(random: Random, what: str, proxy: Proxy, seconds: float = 1.5) -> Event:
    """Return an event that cuts everybody off from a server for some seconds."""

    def cut() -> None:
        proxy.cut()
        time.sleep(seconds)
        proxy.restore()

    # Not before all processes have started: one whose first start fails is not started again.
    return at_random(random, f"{what} is cut off", cut, first=ROUND)


def at_random(random: Random, name: str, happen: Callable[[], object], *, first: int = 0) -> Event:
    """Return an event at a random moment before the cup's last round."""
    return Event(random.randrange(first, SESSIONS - ROUND), random.uniform(0, 0.3), name, happen)


def weather(running: Cluster, random: Random, events: Sequence[Event]) -> Outcome:
    """Play the cup, with the events in order and superfluous messages throughout; return its outcome."""
    running.start_tournament()
    for event in sorted(events, key=lambda event: event.after):
        running.wait(
            lambda least=event.after: running.status().sessions_done >= least,  # type: ignore[misc]
            lambda: running.send_again(random),
        )
        time.sleep(event.pause)
        done = running.status()
        print(f"{done.sessions_done:3} sessions, round {done.round}: {event.name}")
        if not done.ended:
            event.happen()
    return running.finish(lambda: running.send_again(random))


def survive(
    running: Cluster, random: Random, folder: Path, victims: Sequence[str], others: Sequence[Event]
) -> None:
    """Play the cup while these processes are killed and other events happen.

    Then compare it with a calm run, in another folder, that uses the same attempts.
    """
    running.start_bots()
    events = [*kills(running, random, victims), *others]
    outcome = weather(running, random, events)
    assert running.faults() == []
    assert running.failures() == []
    attempts = attempts_of(running.storage)
    print(f"{dealt_again(attempts)} sessions were dealt again")
    report = check_export(line.encode() for line in export_lines(running.storage, "cup"))
    assert report.problem is None
    assert rebuild(running.storage).problem is None
    assert differences(outcome, calm(running, folder / "calm", attempts)) == []
    assert running.killed >= len(victims) - 4


def dealt_again(attempts: Attempts) -> int:
    """Return how many sessions have deals from a later attempt than the first."""
    return sum(max(one) > 1 for one in attempts.values())
