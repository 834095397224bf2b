"""The hall: all connections, matches and tables of one referee. Sans-I/O; the clock is passed in."""

import heapq
import json
from collections import deque
from collections.abc import Callable
from itertools import count

from referee.auth import BotIdentity
from referee.errors import ConnectionRefused, MatchRefused
from referee.events import Event, Fault, Notice, NoticeCode, SessionEnd, SessionEnded, SessionInfo, Sight
from referee.match import MAX_DEALS, MatchSpec, Progress, SessionResult, SessionSpec, check_match
from referee.outbox import Outbox
from referee.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.table import Malformed, Outlets, Table

MAX_SESSIONS = 256
"""Sessions at once for one bot on one referee, unless it asks for fewer."""

TAKEN_OVER = "another call took the match over"
STOPPED_BY_WORKER = "the worker ended the call"

SPECTATOR_BACKLOG = 2000
"""Updates that may wait for a slow spectator before it is told that some were left out."""


class Connection:
    """A bot's live stream."""

    def __init__(
        self, identity: BotIdentity, max_sessions: int, list_plays: bool, wake: Callable[[], None]
    ) -> None:
        self.identity = identity
        self.max_sessions = min(max_sessions or MAX_SESSIONS, MAX_SESSIONS)
        self.list_plays = list_plays
        self.outbox = Outbox(wake)


class Spectator:
    """Someone who follows a match; what it does not read in time is left out."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._sights: deque[Sight] = deque()
        self._left_out = 0
        self._wake = wake
        self.over = False

    def show(self, sight: Sight) -> None:
        if len(self._sights) >= SPECTATOR_BACKLOG:
            self._left_out += 1
        else:
            self._sights.append(sight)
        self._wake()

    def take(self) -> list[Sight]:
        """What is to be sent now, oldest first."""
        sights = list(self._sights)
        self._sights.clear()
        if self._left_out:
            sights.append(
                Notice(NoticeCode.UNEXPECTED, f"{self._left_out} updates were left out: read too slowly")
            )
            self._left_out = 0
        return sights

    def close(self) -> None:
        self.over = True
        self._wake()


class Match:
    """A running match."""

    def __init__(self, spec: MatchSpec, rules: Rules, ruleset: str, wake: Callable[[], None]) -> None:
        self.spec = spec
        self.rules = rules
        self.ruleset = ruleset
        self.deadline: float | None = None
        """When absent bots are waited for no longer; None while nobody is waited for."""
        self.waiting = deque(spec.sessions)
        self.tables: dict[int, Table] = {}
        """Open tables by handle."""
        self.results: list[SessionResult] = []
        """Finished sessions that were not fetched yet."""
        self.actions = 0
        """Actions of the closed tables."""
        self.ended = ""
        """Why the match was stopped; empty while it was not."""
        self.spectators: list[Spectator] = []
        self.wake = wake

    @property
    def done(self) -> bool:
        """Whether all sessions are finished."""
        return not self.waiting and not self.tables

    def take_results(self) -> list[SessionResult]:
        results, self.results = self.results, []
        return results


class Hall:
    """All that one referee holds. Nothing here blocks, waits or reads a clock."""

    def __init__(self) -> None:
        self._connections: dict[int, Connection] = {}
        self._places: dict[int, dict[int, tuple[Table, int]]] = {}
        self._matches: dict[str, Match] = {}
        self._handles = count(1)
        self._alarms: list[tuple[float, int, Table]] = []
        self._alarm_at: dict[Table, float] = {}
        self._ties = count()
        self._room_freed = False
        self._ticked = 0.0

    # Bots

    def connect(self, connection: Connection, now: float) -> None:
        """A bot is here: tells it of its open sessions. Raises ConnectionRefused if it is here already."""
        version = connection.identity.version_id
        if version in self._connections:
            raise ConnectionRefused(f"{connection.identity.name} has a live connection already")
        self._connections[version] = connection
        for table, seat in self._places.get(version, {}).values():
            table.attach(seat)
        self.start_sessions(now)

    def disconnect(self, connection: Connection, now: float) -> None:
        """The bot's stream is gone: its clocks run on."""
        version = connection.identity.version_id
        if self._connections.get(version) is connection:
            del self._connections[version]
            for table, seat in list(self._places.get(version, {}).values()):
                table.detach(seat, now)

    def place(self, connection: Connection, handle: int) -> tuple[Table, int] | None:
        """The table and seat that the bot calls ``handle``."""
        return self._places.get(connection.identity.version_id, {}).get(handle)

    def answer(
        self, connection: Connection, handle: int, sequence: int, cards: int | Malformed, now: float
    ) -> None:
        """A bot's answer to a turn."""
        place = self.place(connection, handle)
        if place is None:
            text = f"session {handle} is not open for this bot"
            connection.outbox.put(Notice(NoticeCode.UNKNOWN_SESSION, text, handle, sequence))
        elif place[0].answer(place[1], sequence, cards, now):
            connection.outbox.owed.discard(handle)

    # Matches

    def open_match(self, spec: MatchSpec, now: float, wake: Callable[[], None]) -> Match:
        """Begins a match; a running one of its name is stopped. Raises MatchRefused, RulesetError."""
        ruleset = load_ruleset(spec.ruleset)
        reason = check_match(spec, ruleset.players)
        if reason:
            raise MatchRefused(reason)
        running = self._matches.get(spec.match_id)
        if running is not None:
            self.close_match(running, TAKEN_OVER)
        match = Match(spec, compile_ruleset(ruleset), json.dumps(ruleset.to_object()), wake)
        self._matches[spec.match_id] = match
        self.start_sessions(now)
        return match

    def close_match(self, match: Match, reason: str) -> None:
        """Stops a match: what is not finished is void."""
        match.ended = match.ended or reason
        match.waiting.clear()
        for table in list(match.tables.values()):
            table.void()
        if self._matches.get(match.spec.match_id) is match:
            del self._matches[match.spec.match_id]
        for spectator in match.spectators:
            spectator.close()
        match.wake()

    def close_all(self, reason: str) -> None:
        """Stops all matches and tells all bots that the referee closes."""
        for match in list(self._matches.values()):
            self.close_match(match, reason)
        for connection in self._connections.values():
            connection.outbox.put(Notice(NoticeCode.CLOSING, reason))

    def match(self, match_id: str) -> Match | None:
        """The running match of that name."""
        return self._matches.get(match_id)

    def watch(self, match: Match, spectator: Spectator) -> None:
        """Shows the match to a spectator from now on, beginning with how its tables stand."""
        for table in match.tables.values():
            for sight in table.sights():
                spectator.show(sight)
            table.watched = True
        match.spectators.append(spectator)

    def unwatch(self, match: Match, spectator: Spectator) -> None:
        """The spectator is gone."""
        match.spectators.remove(spectator)
        if not match.spectators:
            for table in match.tables.values():
                table.watched = False

    def progress(self, match: Match) -> Progress:
        """How the match stands."""
        actions = match.actions + sum(table.actions for table in match.tables.values())
        absent = () if match.deadline is None else tuple(match.spec.bots[i].name for i in self._absent(match))
        return Progress(actions, len(match.tables), absent)

    # Time

    def tick(self, now: float) -> None:
        """Does what time asks for: turns that ran out, matches that waited long enough."""
        while self._alarms and self._alarms[0][0] <= now:
            when, _, table = heapq.heappop(self._alarms)
            if self._alarm_at.get(table) == when:
                del self._alarm_at[table]
                table.expire(now)
        self.settle(now)
        if any(match.deadline is not None and match.deadline <= now for match in self._matches.values()):
            self.start_sessions(now)

    def next_tick(self) -> float | None:
        """When ``tick`` is next needed; None while nothing waits for a time."""
        times = [deadline for deadline in self._deadlines() if deadline > self._ticked]
        if self._alarms:
            times.append(self._alarms[0][0])
        return min(times, default=None)

    def _deadlines(self) -> list[float]:
        return [match.deadline for match in self._matches.values() if match.deadline is not None]

    def _expect(self, table: Table, when: float) -> None:
        if when < self._alarm_at.get(table, float("inf")):
            self._alarm_at[table] = when
            heapq.heappush(self._alarms, (when, next(self._ties), table))

    # Sessions

    def start_sessions(self, now: float) -> None:
        """Starts every session whose bots are here, or were waited for long enough, and have room."""
        self._room_freed = False
        for match in list(self._matches.values()):
            if match.waiting and self._may_start(match, now):
                while match.waiting and self._has_room(match):
                    self._start_session(match, match.waiting.popleft(), now)
                if not match.waiting:
                    match.deadline = None

    def settle(self, now: float) -> None:
        """To be called after a batch of answers: starts sessions if some that finished left room."""
        if self._room_freed:
            self.start_sessions(now)

    def _may_start(self, match: Match, now: float) -> bool:
        absent = self._absent(match)
        if not absent:
            match.deadline = None
        elif match.deadline is None:
            match.deadline = now + match.spec.limits.join_ms / 1000
        return match.deadline is None or now >= match.deadline

    def _absent(self, match: Match) -> list[int]:
        return [i for i, bot in enumerate(match.spec.bots) if bot.version_id not in self._connections]

    def _has_room(self, match: Match) -> bool:
        for bot in match.spec.bots:
            connection = self._connections.get(bot.version_id)
            room = MAX_SESSIONS if connection is None else connection.max_sessions
            if len(self._places.get(bot.version_id, ())) >= room:
                return False
        return True

    def _start_session(self, match: Match, session: SessionSpec, now: float) -> None:
        spec = match.spec
        handle = next(self._handles)
        info = SessionInfo(
            handle=handle,
            session_id=f"{spec.match_id}/{session.number}",
            number=session.number,
            tournament=spec.tournament,
            ruleset=match.ruleset,
            rules=match.rules,
            seats=tuple(spec.bots[bot].name for bot in session.seating),
            deals=spec.deals or min(match.rules.ruleset.session.deals or MAX_DEALS, MAX_DEALS),
            commitment=spec.commitment,
            decision_ms=spec.limits.decision_ms,
            fault_limit=spec.limits.faults,
        )
        versions = [spec.bots[bot].version_id for bot in session.seating]
        absent = self._absent(match)
        table = Table(info, session.seed, self._outlets(match, handle, versions))
        table.watched = bool(match.spectators)
        match.tables[handle] = table
        for seat, version in enumerate(versions):
            self._places.setdefault(version, {})[handle] = (table, seat)
        table.start(now, [version in self._connections for version in versions])
        if absent:
            # Of several absent bots, the one to forfeit changes from session to session.
            table.forfeit(session.seating.index(absent[session.number % len(absent)]))

    def _outlets(self, match: Match, handle: int, versions: list[int]) -> Outlets:
        connections = self._connections

        def send(seat: int, event: Event) -> None:
            connection = connections.get(versions[seat])
            if connection is not None:
                if isinstance(event, (Fault, SessionEnded)):
                    connection.outbox.owed.discard(handle)
                connection.outbox.put(event)

        def expect(when: float) -> None:
            self._expect(match.tables[handle], when)

        def show(sight: Sight) -> None:
            for spectator in match.spectators:
                spectator.show(sight)

        def finished() -> None:
            self._finish(match, handle, versions)

        return Outlets(send, expect, show, finished)

    def _finish(self, match: Match, handle: int, versions: list[int]) -> None:
        table = match.tables.pop(handle)
        self._alarm_at.pop(table, None)
        for version in versions:
            self._places[version].pop(handle, None)
        self._room_freed = True
        match.actions += table.actions
        if table.end is not SessionEnd.VOID:
            match.results.append(_result(table))
            match.wake()


def _result(table: Table) -> SessionResult:
    forfeit = table.session.forfeited_by
    return SessionResult(
        number=table.info.number,
        points=tuple(table.session.scores),
        forfeit=forfeit,
        records=tuple(table.record.records),
        faults=tuple(table.faults),
    )
