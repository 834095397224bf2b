"""Metrics for Prometheus: those that each process counts, and those of the whole arena, from the database."""

import logging
import threading
import time
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import partial
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.core import (
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col, func, select

from arena.errors import ArenaError, SettingsError
from arena.host.addresses import split_address
from arena.host.settings import Settings
from arena.store.models import (
    STUCK,
    UNWEIGHED,
    Match,
    MatchState,
    Round,
    RoundState,
    Tournament,
    TournamentState,
)
from arena.store.schema import fingerprint
from arena.store.storage import Storage, Transaction
from arena.store.watch import DISTRIBUTION, commit
from referee.native import build
from referee.service.metrics import LATENCY_BOUNDS

CACHE_SECONDS = 5.0
"""How long values from the database are reused, however often they are scraped."""

log = logging.getLogger("arena.play.metrics")

# Worker

WORKER = CollectorRegistry()
"""The metrics of a worker."""

matches_claimed = Counter("arena_matches_claimed", "Matches that this worker began to run.", registry=WORKER)
matches_ended = Counter(
    "arena_matches_ended",
    "Matches that this worker has ended: done, handed_back (paused or stopping), unavailable (the referee "
    "failed), dealt_anew (the database had forgotten that it was begun), refused, lease_lost, error.",
    ["outcome"],
    registry=WORKER,
)
matches_in_hand = Gauge("arena_matches_in_hand", "Matches that this worker runs now.", registry=WORKER)
messages_set_aside = Counter(
    "arena_messages_set_aside", "Messages in the broker's folder that could not be read.", registry=WORKER
)
sessions_stored = Counter("arena_sessions_stored", "Sessions that this worker stored.", registry=WORKER)
store_seconds = Histogram(
    "arena_store_seconds", "Time to store a session.", buckets=LATENCY_BOUNDS, registry=WORKER
)
lease_renewals = Counter(
    "arena_lease_renewals", "Leases renewed other than by storing a session.", registry=WORKER
)
OUTCOMES = ("done", "handed_back", "unavailable", "dealt_anew", "refused", "lease_lost", "error")
for _outcome in OUTCOMES:
    matches_ended.labels(_outcome)  # shown from the beginning, as 0

# Database


class DatabaseCollector(Collector):
    """Collects metrics of the whole arena from the database: the queue, leases, tournaments."""

    def __init__(
        self,
        storage: Storage,
        *,
        now: Callable[[], datetime] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._storage = storage
        self._now = now or storage.now
        self._clock = clock
        self._lock = threading.Lock()
        self._asked_at = float("-inf")
        self._found: list[Metric] = []

    def collect(self) -> Iterable[Metric]:
        """Return the arena's metrics, at most a few seconds old; if the database is down, only that."""
        with self._lock:
            if self._clock() - self._asked_at >= CACHE_SECONDS:
                self._found = self._ask()
                self._asked_at = self._clock()
            return self._found

    def _ask(self) -> list[Metric]:
        up = partial(_gauge, "arena_database_up", "Whether the database answers.")
        try:
            with self._storage.read() as tx:
                return [up(True), *_arena(tx, self._now())]
        except (ArenaError, SQLAlchemyError) as error:
            log.warning("the database cannot be asked for metrics: %s", str(error).partition("\n")[0])
            return [up(False)]


def _arena(tx: Transaction, now: datetime) -> Iterator[Metric]:
    states = tx.exec(select(Tournament.state, func.count()).group_by(col(Tournament.state)))
    yield _by_state("arena_tournaments", "Tournaments.", TournamentState, states)
    yield _gauge(
        "arena_tournaments_stuck",
        "Running tournaments that cannot be advanced.",
        tx.exec(select(func.count()).select_from(Tournament).where(*STUCK)).one(),
    )
    matches = tx.exec(select(Match.state, func.count()).group_by(col(Match.state)))
    yield _by_state("arena_matches", "Matches.", MatchState, matches)
    waiting = (
        select(func.count(), func.min(Round.started_at))
        .select_from(Match)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(
            Match.state == MatchState.WAITING,
            Round.state == RoundState.OPEN,
            Tournament.state == TournamentState.RUNNING,
        )
    )
    count, oldest = tx.exec(waiting).one()
    yield _gauge("arena_queue_matches", "Matches of open rounds that no worker has.", count)
    age = (now - oldest).total_seconds() if oldest is not None else 0.0
    yield _gauge(
        "arena_queue_oldest_seconds", "How long ago the oldest round with such a match opened.", max(0.0, age)
    )
    running = select(func.count()).select_from(Match).where(Match.state == MatchState.RUNNING)
    expired = tx.exec(running.where(col(Match.lease_until) < now)).one()
    yield _gauge("arena_leases_expired", "Running matches whose lease has run out.", expired)
    failing = select(func.count()).select_from(Match).where(col(Match.failures) > 0)
    open_ = col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING])
    yield _gauge(
        "arena_matches_failing", "Matches whose last attempt failed.", tx.exec(failing.where(open_)).one()
    )
    unweighed = tx.exec(select(func.count()).select_from(Round).where(UNWEIGHED)).one()
    yield _gauge(
        "arena_rounds_unweighed", "Finished rounds whose card values are not computed yet.", unweighed
    )


def _by_state(
    name: str,
    text: str,
    states: Iterable[StrEnum],
    rows: Iterable[tuple[str, int]],
) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["state"])
    counts = Counts({str(state): count for state, count in rows})
    for state in states:
        family.add_metric([state.value], counts[state.value])
    return family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


# Publishing


@contextmanager
def published(settings: Settings, process: str, *collectors: Collector) -> Iterator[None]:
    """Serve these collectors over HTTP in the block, if ``metrics_listen`` is set. Raise SettingsError."""
    if not settings.metrics_listen:
        yield
        return
    registry = CollectorRegistry()
    info = Info("arena_process", "Which process of the arena this is.", registry=registry)
    info.info(
        {
            "process": process,
            "version": version(DISTRIBUTION),
            "commit": commit(),
            "build": build(),
            "schema": fingerprint(),
        }
    )
    for kind in (ProcessCollector, PlatformCollector, GCCollector):
        kind(registry=registry)
    for collector in collectors:
        registry.register(collector)
    host, port = split_address(settings.metrics_listen)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise SettingsError(
            "metrics_listen", f"cannot listen on {settings.metrics_listen}: {error.strerror}"
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
