"""The hall: all connections, matches and tables of one referee. Sans-I/O; the clock is passed in."""

import heapq
import json
from collections import deque
from collections.abc import Callable
from itertools import count

from referee.errors import ConnectionRefused, Draining, MatchRefused
from referee.matches.broadcast import Spectator
from referee.matches.connection import PING_SECONDS, CloseCode, Connection
from referee.matches.events import (
    Event,
    Fault,
    FaultKind,
    Notice,
    NoticeCode,
    SessionEnd,
    SessionEnded,
    SessionInfo,
)
from referee.matches.journal import Entry, EntryKind, Journal, NoJournal, event_entry
from referee.matches.match import BotPlace, MatchSpec, Progress, SessionSpec, check_match
from referee.matches.place import Place
from referee.matches.running import Match
from referee.matches.table import INFINITY, Outlets, Table
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.ruleset.limits import most_deals

MAX_SESSIONS = 256
"""Sessions at once for one bot on one referee, unless it asks for fewer."""

TAKEN_OVER = "another call took the match over"
STOPPED_BY_WORKER = "the worker ended the call"

BEAT_SECONDS = 0.1
"""How often the hall is to be told the time, so that it knows when the referee was away."""
AWAY_SECONDS = 0.25
"""How much later than expected the time may come before clocks are set back by it: a pause of the process or
a busy machine is not the bots' fault."""
PENALTY_SECONDS = 10.0
"""How long a bot that was cut off for flooding has to stay away."""
_NOTED = frozenset((Fault, Notice))
"""Events that authors may read later."""
_SETTLING = frozenset((Fault, SessionEnded))
"""Events after which a bot owes the session nothing."""
MAX_VOIDED = 10
"""Sessions of a match that may be voided before the match is given back to the worker."""


class Hall:
    """All that one referee holds. Nothing here blocks, waits or reads a clock."""

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = journal or NoJournal()
        self._connections: dict[int, Connection] = {}
        self._places: dict[int, dict[int, Place]] = {}
        self._matches: dict[str, Match] = {}
        self._handles = count(1)
        self._alarms: list[tuple[float, int]] = []
        """When a table wants to be called, and its handle: what waits here must not keep a closed table."""
        self._tables: dict[int, Table] = {}
        self._room_freed = False
        self._ticked = 0.0
        self._draining = ""
        self._penalties: dict[int, float] = {}
        self._to_ping: deque[tuple[float, Connection]] = deque()
        self._beaten: float | None = None

    # Bots

    def connect(self, connection: Connection, now: float) -> None:
        """A bot is here: tells it of its open sessions. Raises ConnectionRefused if it is here already."""
        version = connection.identity.version_id
        if version in self._connections:
            raise ConnectionRefused(f"{connection.identity.name} has a live connection already")
        self._connections[version] = connection
        connection.live = True
        connection.places = self._places.setdefault(version, {})
        connection.probe()
        self._to_ping.append((now + PING_SECONDS, connection))
        for place in self._places.get(version, {}).values():
            place.table.attach(place.seat, connection.outbox)
        self.start_sessions(now)

    def connection(self, version: int) -> Connection | None:
        """The live connection of a bot version."""
        return self._connections.get(version)

    def connected(self) -> list[int]:
        """The bot versions that are connected."""
        return list(self._connections)

    def penalty(self, version: int, now: float) -> float:
        """Seconds for which the bot has to stay away."""
        until = self._penalties.get(version)
        if until is None:
            return 0.0
        if until <= now:
            del self._penalties[version]
        return max(0.0, until - now)

    def disconnect(self, connection: Connection, now: float) -> None:
        """The bot's stream is gone: its clocks run on. The second call for a stream has no effect."""
        version = connection.identity.version_id
        if self._connections.get(version) is connection:
            del self._connections[version]
            connection.live = False
            for place in list(self._places.get(version, {}).values()):
                place.table.detach(place.seat, now)

    def close(self, connection: Connection, code: CloseCode, reason: str, now: float) -> None:
        """Ends a bot's stream."""
        connection.close(code, reason)
        self.disconnect(connection, now)

    def useless(self, connection: Connection, now: float) -> None:
        """A message of the bot had no effect: too many of them, and the bot is cut off."""
        if connection.closing is None and connection.useless(now):
            version = connection.identity.version_id
            self._penalties[version] = now + PENALTY_SECONDS
            reason = f"flood: too many messages without effect; come back in {PENALTY_SECONDS:.0f} s"
            for place in list(self._places.get(version, {}).values()):
                place.table.flood(place.seat, now)
            self.close(connection, CloseCode.FLOOD, reason, now)

    def misplaced(self, connection: Connection, handle: int, sequence: int, now: float) -> None:
        """A bot's answer for a session that is not open for it."""
        text = f"session {handle} is not open for this bot"
        self.notice(connection, Notice(NoticeCode.UNKNOWN_SESSION, text, handle, sequence))
        self.useless(connection, now)

    def notice(self, connection: Connection, notice: Notice) -> None:
        """Tells a bot something, and notes it for its author."""
        connection.outbox.put(notice)
        self._journal.add(
            Entry(connection.identity.version_id, EntryKind.NOTICE, notice.code.value, notice.text)
        )

    # Matches

    def open_match(self, spec: MatchSpec, now: float, wake: Callable[[], None]) -> Match:
        """Begins a match; a running one of its name is stopped.

        Raises Draining when the referee takes no new match, MatchRefused, RulesetError.
        """
        if self._draining:
            raise Draining(self._draining)
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
        match.broadcast.over = True
        match.wake()

    def hold(self, match: Match) -> None:
        """Begins no further session of a match: it is done when those that are open have ended."""
        match.held = True
        match.waiting.clear()
        match.deadline = None
        match.wake()

    def drain(self, reason: str) -> None:
        """Starts nothing any more; a match ends when its open sessions are finished."""
        self._draining = reason
        for match in list(self._matches.values()):
            if match.waiting:
                match.waiting.clear()
                match.cut = True
            if match.cut and not match.tables:
                self.close_match(match, reason)

    @property
    def drained(self) -> bool:
        """Whether nothing is being played."""
        return not any(match.tables for match in self._matches.values())

    def close_all(self, reason: str) -> None:
        """Stops all matches and tells all bots that the referee closes."""
        self._draining = reason
        for match in list(self._matches.values()):
            self.close_match(match, reason)
        for connection in self._connections.values():
            connection.outbox.put(Notice(NoticeCode.CLOSING, reason))
            connection.close(CloseCode.CLOSING, reason)

    def match(self, match_id: str) -> Match | None:
        """The running match of that name."""
        return self._matches.get(match_id)

    def watch(self, match: Match) -> Spectator:
        """A spectator who is shown the match from now on, beginning with how its tables stand."""
        spectator = match.broadcast.join()
        for table in match.tables.values():
            table.watched = True
        return spectator

    def unwatch(self, match: Match) -> None:
        """A spectator is gone."""
        match.broadcast.leave()
        if not match.broadcast.spectators:
            for table in match.tables.values():
                table.watched = False

    # How busy the referee is

    @property
    def draining(self) -> bool:
        """Whether no new match is taken."""
        return bool(self._draining)

    @property
    def matches(self) -> int:
        """How many matches run."""
        return len(self._matches)

    @property
    def sessions(self) -> int:
        """How many sessions are being played."""
        return sum(len(match.tables) for match in self._matches.values())

    @property
    def spectators(self) -> int:
        """How many spectators follow a match."""
        return sum(match.broadcast.spectators for match in self._matches.values())

    def place_of(self, version: int) -> BotPlace:
        """How a bot version stands here."""
        connection = self._connections.get(version)
        most = connection.max_sessions if connection is not None else 0
        return BotPlace(connection is not None, most, len(self._places.get(version, ())))

    def progress(self, match: Match) -> Progress:
        """How the match stands."""
        decisions = match.decisions + sum(table.decisions for table in match.tables.values())
        absent = () if match.deadline is None else tuple(match.spec.bots[i].name for i in self._absent(match))
        return Progress(decisions, len(match.tables), absent, match.voided)

    # Time

    def beat(self, now: float) -> None:
        """To be called every ``BEAT_SECONDS``: pings the streams whose turn it is, gives up lost ones, and
        starts the sessions for which a closed match or stream left room.

        If it comes too late, the referee itself was away, and no clock ran.
        """
        self.note_time(now)
        self._beaten = now
        while self._to_ping and self._to_ping[0][0] <= now:
            _, connection = self._to_ping.popleft()
            if self._connections.get(connection.identity.version_id) is not connection:
                continue
            if connection.is_lost(now):
                self.close(connection, CloseCode.LOST, "the bot answers no ping", now)
            else:
                connection.probe()
                self._to_ping.append((now + PING_SECONDS, connection))
        self.settle(now)

    def note_time(self, now: float) -> None:
        """Sets clocks back by the time that the referee was away; to be called before anything is timed."""
        if self._beaten is None or now - self._beaten < BEAT_SECONDS + AWAY_SECONDS:
            return
        away, self._beaten = now - self._beaten - BEAT_SECONDS, now
        for match in self._matches.values():
            if match.deadline is not None:
                match.deadline += away
            for table in match.tables.values():
                table.delay(away)
        for connection in self._connections.values():
            connection.delay(away)

    def tick(self, now: float) -> None:
        """Does what time asks for: turns that ran out, matches that waited long enough."""
        self.note_time(now)
        self._ticked = now
        while self._alarms and self._alarms[0][0] <= now:
            when, handle = heapq.heappop(self._alarms)
            table = self._tables.get(handle)
            if table is not None and table.expected == when:
                table.expected = INFINITY
                table.expire(now)
        self.settle(now)
        if any(match.deadline is not None and match.deadline <= now for match in self._matches.values()):
            self.start_sessions(now)

    def next_tick(self) -> float | None:
        """When ``tick`` is next needed; None while nothing waits for a time."""
        soonest = self._alarms[0][0] if self._alarms else None
        for match in self._matches.values():
            deadline = match.deadline
            if deadline is not None and deadline > self._ticked and (soonest is None or deadline < soonest):
                soonest = deadline
        return soonest

    # Sessions

    def start_sessions(self, now: float) -> None:
        """Starts every session whose bots are here, or were waited for long enough, and have room."""
        self._room_freed = False
        if self._draining:
            return
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
            deals=most_deals(match.rules.ruleset, spec.deals),
            commitment=spec.commitment,
            limits=spec.limits,
        )
        versions = [spec.bots[bot].version_id for bot in session.seating]
        absent = self._absent(match)
        table = Table(info, session.seed, self._outlets(match, session, info, versions))
        table.watched = match.broadcast.spectators > 0
        match.tables[handle] = self._tables[handle] = table
        for place, version in zip(table.places, versions, strict=True):
            self._places.setdefault(version, {})[handle] = place
        connections = [self._connections.get(version) for version in versions]
        table.start(now, [None if there is None else there.outbox for there in connections])
        if absent:
            # Of several absent bots, the one to forfeit changes from session to session.
            forfeiter = spec.bots[absent[session.number % len(absent)]]
            text = "the bot was not connected when its match began, and forfeits the session"
            self._journal.add(Entry(forfeiter.version_id, EntryKind.FAULT, "absent", text, info.session_id))
            table.forfeit(versions.index(forfeiter.version_id))

    def _outlets(self, match: Match, session: SessionSpec, info: SessionInfo, versions: list[int]) -> Outlets:
        connections, handle = self._connections, info.handle

        def send(seat: int, event: Event) -> None:
            kind = type(event)
            connection = connections.get(versions[seat])
            if kind in _NOTED:
                assert isinstance(event, Fault | Notice)
                self._journal.add(event_entry(versions[seat], info, event))
            if connection is not None:
                if kind in _SETTLING:
                    connection.outbox.owed.discard(handle)
                connection.outbox.put(event)

        def probe(seat: int) -> None:
            connection = connections.get(versions[seat])
            if connection is not None:
                connection.probe()

        def blame(seat: int, turned_at: float | None) -> FaultKind | None:
            connection = connections.get(versions[seat])
            if connection is None:
                return FaultKind.DISCONNECT
            if turned_at is None:
                return FaultKind.STALL if connection.blocked else None
            return FaultKind.STALL if connection.is_stuck(self._ticked) else FaultKind.TIMEOUT

        def expect(when: float) -> None:
            heapq.heappush(self._alarms, (when, handle))

        def finished() -> None:
            self._finish(match, session, handle, versions)

        return Outlets(send, probe, blame, expect, match.broadcast.show, finished)

    def _finish(self, match: Match, session: SessionSpec, handle: int, versions: list[int]) -> None:
        table = match.tables.pop(handle)
        del self._tables[handle]
        for version in versions:
            self._places[version].pop(handle, None)
        self._room_freed = True
        if table.end is not SessionEnd.VOID:
            match.add_result(table)
        elif not match.ended:
            self._play_again(match, session)
        table.places = ()  # they hold the table, which would wait for a collection of cycles
        if match.cut and not match.tables and not match.ended:
            self.close_match(match, self._draining)

    def _play_again(self, match: Match, session: SessionSpec) -> None:
        """A session came to nothing through the referee's fault: it is played again, with the same deals."""
        match.voided += 1
        if match.voided > MAX_VOIDED:
            self.close_match(match, "the referee is too busy to hand out turns")
        elif self._draining:
            match.cut = True
        elif not match.held:
            match.waiting.append(session)
