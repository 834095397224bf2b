"""What a referee counts, and its current state, for Prometheus. The referee's host publishes it."""

import asyncio
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from prometheus_client import Counter, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from referee.matches.journal import DealPage, DealQuery, Entry, EntryKind, Journal, LogEntry, LogQuery
from referee.matches.kinds import FaultKind, NoticeCode
from referee.matches.lobby import Lobby
from referee.matches.running import Match
from referee.service.meter import Meter

LATENCY_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of histograms, in seconds; there is one more bucket without a bound."""

READ_SECONDS = 2.0
"""How long the referee's event loop may take to report its state."""

disable_created_metrics()  # type: ignore[no-untyped-call]  # nobody needs to know when each of them began


class Counts:
    """What a referee has counted since it started."""

    def __init__(self) -> None:
        self.sessions_finished = _counter("sessions_finished", "Sessions played to their end.")
        self.deals_finished = _counter("deals_finished", "Deals in the finished sessions.")
        self.matches_ended = _counter(
            "matches_ended",
            "Calls for matches that ended: done, taken_over, stopped (by the worker), given_up (by the "
            "referee).",
            "outcome",
        )
        self.faults = _counter("faults", "Faults of bots.", "kind")
        self.notices = _counter("notices", "Notices to bots.", "code")
        self.connections = _counter("connections", "Streams of bots that were opened.")
        self.disconnections = _counter("disconnections", "Streams of bots that ended.", "reason")
        self.handshakes_refused = _counter(
            "handshakes_refused", "Streams of bots that were not let in, by the reason.", "reason"
        )
        self.messages = _counter("messages", "Messages of the streaming calls.", "call", "direction")
        self.message_bytes = _counter("message_bytes", "Size of those messages.", "call", "direction")
        self.decision_seconds = Histogram(
            "referee_decision_seconds",
            "A sample of decisions: from when a turn was sent until it was settled.",
            buckets=LATENCY_BOUNDS,
            registry=None,
        )
        for kind in FaultKind:  # shown from the beginning, as 0
            self.faults.labels(kind.value)
        for code in NoticeCode:
            self.notices.labels(code.value)
        self.disconnections.labels("goodbye")

    def collect(self) -> Iterator[Metric]:
        """Yield all counts for Prometheus."""
        for counted in vars(self).values():
            yield from counted.collect()

    def note(self, entry: Entry) -> None:
        """Count an entry for an author; its codes are always the referee's own words."""
        match entry.kind:
            case EntryKind.FAULT:
                self.faults.labels(entry.code).inc()
            case EntryKind.NOTICE:
                self.notices.labels(entry.code).inc()
            case EntryKind.CONNECTED:
                self.connections.inc()
            case EntryKind.LOST:
                self.disconnections.labels(entry.code).inc()
            case EntryKind.LEFT:
                self.disconnections.labels("goodbye").inc()


def _counter(name: str, text: str, *labels: str) -> Counter:
    return Counter(f"referee_{name}", text, labels, registry=None)


class PrometheusMeter(Meter, Collector):
    """Counts for one referee. All methods except ``collect`` are for its event loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lobby: Lobby | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: dict[Match, int] = {}
        """Running matches, with the number of decisions seen last."""
        self._decisions = self._voided = 0
        """The decisions and void sessions of matches that no longer run."""
        self.counts = Counts()

    def attach(self, lobby: Lobby) -> None:
        """Observe this lobby from now on; this is called in its event loop."""
        self._lobby, self._loop = lobby, asyncio.get_running_loop()

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, or only ``up`` if the referee does not answer. Call this in another thread."""
        standing = self._ask()
        yield _gauge("up", "Whether the referee serves and answers.", bool(standing))
        if standing:
            yield from standing
            yield from self.counts.collect()

    def _ask(self) -> list[Metric]:
        """Return the state of the referee; nothing if it does not serve or does not answer."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return []
        standing = self._standing(monotonic())
        try:
            return asyncio.run_coroutine_threadsafe(standing, loop).result(READ_SECONDS)
        except (RuntimeError, TimeoutError, asyncio.CancelledError):
            standing.close()
            return []

    async def _standing(self, asked_at: float) -> list[Metric]:
        lobby, delay = self._lobby, monotonic() - asked_at
        assert lobby is not None
        for match, seen in self._running.items():
            self._running[match] = max(seen, lobby.progress(match).decisions)
        voided = self._voided + sum(match.voided for match in self._running)
        waiting = sum(len(connection.outbox) for connection in lobby.connections)
        return [
            _gauge("streams", "Bots that are connected.", len(lobby.connected())),
            _gauge("sessions_open", "Sessions that are being played.", lobby.sessions),
            _gauge("matches_running", "Matches that run.", lobby.matches),
            _gauge("spectators", "Spectators that watch a match.", lobby.spectators),
            _gauge("draining", "Whether it takes no new match as it shuts down.", lobby.draining),
            _gauge("not_ready", "Whether something else keeps it from new matches.", bool(lobby.not_ready)),
            _gauge("events_waiting", "Events that wait to be sent to bots.", waiting),
            _gauge("loop_delay_seconds", "How long its event loop took to answer.", delay),
            _round_trips(lobby),
            _total("decisions", "Turns asked.", self._decisions + sum(self._running.values())),
            _total(
                "sessions_voided",
                "Sessions stopped because the referee could not hand out a turn, or failed.",
                voided,
            ),
            _total("tables_failed", "Sessions stopped by an error in the referee.", lobby.failures),
        ]

    # Matches

    def opened(self, match: Match) -> None:
        """Note that a match begins."""
        self._running[match] = 0

    def finished(self, deals: int) -> None:
        """Count a session that was played to its end."""
        self.counts.sessions_finished.inc()
        self.counts.deals_finished.inc(deals)

    def closed(self, match: Match, decisions: int) -> str:
        """Count an ending call for a match, before what is still open becomes void; return its outcome."""
        self._decisions += max(decisions, self._running.pop(match, 0))
        self._voided += match.voided
        outcome = super().closed(match, decisions)
        self.counts.matches_ended.labels(outcome).inc()
        return outcome

    # Messages

    def refused(self, reason: str) -> None:
        """Count a bot's stream that was not let in; ``reason`` is the protocol's."""
        self.counts.handshakes_refused.labels(reason.lower()).inc()

    def sized(self, call: str, direction: str, convert: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
        """Return ``convert``, which reads ("in") or writes ("out") a call's messages, counting them."""
        convert = convert or bytes
        messages = self.counts.messages.labels(call, direction)
        sizes = self.counts.message_bytes.labels(call, direction)
        into = direction == "in"

        def counted(message: Any) -> Any:
            converted = convert(message)
            messages.inc()
            sizes.inc(len(message if into else converted))
            return converted

        return counted

    def timed(self, context: Any, owed: set[int]) -> "TimedContext":
        """Return the context of a bot's call, with a sample of its turns timed; ``owed`` is the outbox's."""
        return TimedContext(context, owed, self.counts.decision_seconds, self._clock)

    def over(self, journal: Journal) -> "CountingJournal":
        """Return ``journal``, with its new entries counted."""
        return CountingJournal(journal, self.counts)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"referee_{name}", text, value=float(value))


def _total(name: str, text: str, value: int) -> Metric:
    return CounterMetricFamily(f"referee_{name}", text, value=value)


def _round_trips(lobby: Lobby) -> Metric:
    """Return the median, the 90th percentile and the maximum of the known round trips."""
    trips = GaugeMetricFamily(
        "referee_round_trip_seconds", "Round trips of the streams to bots.", labels=["quantile"]
    )
    seconds = sorted(trip for connection in lobby.connections if (trip := connection.round_trip))
    for quantile in (0.5, 0.9, 1.0) if seconds else ():
        trips.add_metric([f"{quantile:g}"], seconds[min(int(quantile * len(seconds)), len(seconds) - 1)])
    return trips


class TimedContext:
    """A bot's call in which one turn at a time is timed: timing every turn would not be worth its cost.

    A turn is identified by its session, which is owed from when the message is sent until it is settled.
    """

    def __init__(
        self, context: Any, owed: set[int], seconds: Histogram, clock: Callable[[], float] = monotonic
    ) -> None:
        self._context = context
        self._owed = owed
        self._seconds = seconds
        self._clock = clock
        self._handle: int | None = None
        """The session whose turn is being timed; None if the next message may begin one."""
        self._since = self._arrived = clock()
        self._earlier: set[int] = set()
        """Sessions whose turn was sent earlier, at an unknown time."""

    async def read(self) -> Any:
        """Return the next message; this is called when the last one has been dealt with."""
        self._settle(self._arrived)
        message = await self._context.read()
        self._arrived = self._clock()
        return message

    async def write(self, message: Any) -> None:
        """Send a message; the turns in it are owed already."""
        now = self._clock()
        self._settle(now)
        if self._handle is None and (fresh := self._owed - self._earlier):
            self._handle, self._since = fresh.pop(), now
        await self._context.write(message)

    def _settle(self, now: float) -> None:
        """End the timing of a turn that is no longer owed."""
        if self._handle is None:
            self._earlier &= self._owed
        elif self._handle not in self._owed:
            self._seconds.observe(max(0.0, now - self._since))
            self._handle, self._earlier = None, set(self._owed)


class CountingJournal:
    """A journal whose new entries are counted."""

    def __init__(self, journal: Journal, counts: Counts) -> None:
        self._journal = journal
        self._counts = counts

    def add(self, entry: Entry) -> None:
        """Count an entry and add it to the journal."""
        self._counts.note(entry)
        self._journal.add(entry)

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return what the journal returns."""
        return self._journal.read(token, query)

    def deals(self, token: str, query: DealQuery) -> DealPage:
        """Return what the journal returns."""
        return self._journal.deals(token, query)
