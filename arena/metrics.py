"""Metrics for Prometheus: what each process counts, and what the database says of all of them together."""

import logging
import threading
import time
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col, func, select

from arena.errors import ArenaError, SettingsError
from arena.models import Match, MatchState, Round, RoundState, Tournament, TournamentState, utc_now
from arena.settings import Settings, split_address
from arena.storage import Storage, Transaction
from referee.matches.events import FaultKind, NoticeCode
from referee.matches.journal import EntryKind
from referee.service.metrics import LATENCY_BOUNDS, Meter, Reading
from referee.service.metrics import Histogram as Values

CACHE_SECONDS = 5.0
"""How long what the database said holds: however often it is scraped, it is not asked more often."""

log = logging.getLogger("arena.metrics")

disable_created_metrics()  # type: ignore[no-untyped-call]  # nobody asks when each of them began

# Worker

WORKER = CollectorRegistry()
"""What a worker counts."""

matches_claimed = Counter("arena_matches_claimed", "Matches that this worker began to run.", registry=WORKER)
matches_ended = Counter(
    "arena_matches_ended",
    "Matches that this worker runs no more: done, handed_back (paused or stopping), unavailable (the referee "
    "failed), refused, lease_lost, error.",
    ["outcome"],
    registry=WORKER,
)
matches_in_hand = Gauge("arena_matches_in_hand", "Matches that this worker runs now.", registry=WORKER)
sessions_stored = Counter("arena_sessions_stored", "Sessions that this worker stored.", registry=WORKER)
store_seconds = Histogram(
    "arena_store_seconds", "Time to store a session.", buckets=LATENCY_BOUNDS, registry=WORKER
)
lease_renewals = Counter(
    "arena_lease_renewals", "Leases renewed beside those by storing a session.", registry=WORKER
)
OUTCOMES = ("done", "handed_back", "unavailable", "refused", "lease_lost", "error")
for _outcome in OUTCOMES:
    matches_ended.labels(_outcome)  # shown from the beginning, as 0

# Referee


class RefereeCollector(Collector):
    """Shows what a referee counts."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def collect(self) -> Iterable[Metric]:
        """The referee's metrics; only that it does not answer, if it does not."""
        reading = self._meter.read()
        yield _gauge("referee_up", "Whether the referee serves and answers.", reading is not None)
        if reading is not None:
            yield from _gauges(reading)
            yield from _counters(reading)
            yield _histogram(
                "referee_decision_seconds",
                "A sample of decisions: from when a turn was sent until it was settled.",
                reading.decision_seconds,
            )


def _gauges(reading: Reading) -> Iterable[Metric]:
    yield _gauge("referee_streams", "Bots that are connected.", reading.streams)
    yield _gauge("referee_sessions_open", "Sessions that are being played.", reading.sessions_open)
    yield _gauge("referee_matches_running", "Matches that run.", reading.matches_running)
    yield _gauge("referee_spectators", "Spectators that watch a match.", reading.spectators)
    yield _gauge("referee_draining", "Whether it takes no new match as it shuts down.", reading.draining)
    yield _gauge("referee_events_waiting", "Events that wait to be sent to bots.", reading.events_waiting)
    yield _gauge("referee_loop_delay_seconds", "How long its event loop took to answer.", reading.loop_delay)
    trips = GaugeMetricFamily(
        "referee_round_trip_seconds", "Round trips of the streams to bots.", labels=["quantile"]
    )
    known = reading.round_trips
    for quantile in (0.5, 0.9, 1.0) if known else ():
        trips.add_metric([f"{quantile:g}"], known[min(int(quantile * len(known)), len(known) - 1)])
    yield trips


def _counters(reading: Reading) -> Iterable[Metric]:
    yield _counter("referee_decisions", "Turns asked.", {(): reading.decisions})
    yield _counter(
        "referee_sessions_finished", "Sessions played to their end.", {(): reading.sessions_finished}
    )
    yield _counter(
        "referee_sessions_voided",
        "Sessions stopped because the referee could not hand out a turn, or failed.",
        {(): reading.sessions_voided},
    )
    yield _counter(
        "referee_tables_failed", "Sessions stopped by an error in the referee.", {(): reading.tables_failed}
    )
    yield _counter("referee_deals_finished", "Deals in the finished sessions.", {(): reading.deals})
    yield _counter(
        "referee_matches_ended",
        "Calls for matches that ended: done, taken_over, stopped (by the worker), given_up (by the referee).",
        _by_one(reading.matches),
        "outcome",
    )
    yield _counter(
        "referee_faults", "Faults of bots.", _of_kind(reading.journal, EntryKind.FAULT, FaultKind), "kind"
    )
    yield _counter(
        "referee_notices", "Notices to bots.", _of_kind(reading.journal, EntryKind.NOTICE, NoticeCode), "code"
    )
    yield _counter(
        "referee_connections",
        "Streams of bots that were opened.",
        {(): reading.journal.get((EntryKind.CONNECTED, ""), 0)},
    )
    ended = _of_kind(reading.journal, EntryKind.LOST)
    ended["goodbye",] = reading.journal.get((EntryKind.LEFT, ""), 0)
    yield _counter("referee_disconnections", "Streams of bots that ended.", ended, "reason")
    yield _counter(
        "referee_handshakes_refused",
        "Streams of bots that were not let in, by the reason.",
        _by_one(reading.handshakes_refused),
        "reason",
    )
    yield _counter(
        "referee_messages", "Messages of the streaming calls.", reading.messages, "call", "direction"
    )
    yield _counter(
        "referee_message_bytes", "Size of those messages.", reading.message_bytes, "call", "direction"
    )


def _of_kind(
    journal: Mapping[tuple[EntryKind, str], int], kind: EntryKind, codes: Iterable[StrEnum] = ()
) -> dict[tuple[str, ...], int]:
    """Counts by code; those of ``codes`` are there from the beginning."""
    counts: dict[tuple[str, ...], int] = {(code.value,): 0 for code in codes}
    return counts | {(code,): count for (of, code), count in journal.items() if of is kind}


def _by_one(counts: Mapping[str, int]) -> dict[tuple[str, ...], int]:
    return {(label,): count for label, count in counts.items()}


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


def _counter(name: str, text: str, counts: Mapping[tuple[str, ...], int], *labels: str) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for key, count in sorted(counts.items()):
        family.add_metric(key, count)
    return family


def _histogram(name: str, text: str, values: Values) -> Metric:
    buckets: list[tuple[str, float]] = []
    below = 0
    for bound, count in zip([*map(str, values.bounds), "+Inf"], values.counts, strict=True):
        below += count
        buckets.append((bound, below))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=values.sum)


# Database


class DatabaseCollector(Collector):
    """Shows what the database says of the whole arena: the queue, leases, tournaments."""

    def __init__(
        self,
        storage: Storage,
        *,
        now: Callable[[], datetime] = utc_now,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._storage = storage
        self._now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._asked_at = float("-inf")
        self._found: list[Metric] = []

    def collect(self) -> Iterable[Metric]:
        """The arena's metrics, as they were a few seconds ago at most; only that it is away, if it is."""
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


# Publishing


@contextmanager
def published(settings: Settings, process: str, *collectors: Collector) -> Iterator[None]:
    """Serves these collectors over HTTP while the block runs, if ``metrics_listen`` is set. SettingsError."""
    if not settings.metrics_listen:
        yield
        return
    registry = CollectorRegistry()
    info = Info("arena_process", "Which process of the arena this is.", registry=registry)
    info.info({"process": process, "version": version("bigtwo-arena")})
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
