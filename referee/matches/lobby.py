"""The lobby: brings the bots that are connected to a referee and the matches that it runs together at tables.

Sans-I/O; the clock is passed in.
"""

import json
import logging
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import ParamSpec

from referee.errors import Draining, MatchRefused
from referee.matches.alarms import Alarms
from referee.matches.broadcast import Encoder, Spectator
from referee.matches.connection import CloseCode, Connection, Shutdown
from referee.matches.connections import PENALTY_SECONDS, Connections
from referee.matches.events import Notice, NoticeCode, SessionEnd
from referee.matches.journal import Entry, EntryKind, Journal
from referee.matches.link import TableLink
from referee.matches.match import MatchSpec, Presence, Progress, SessionSpec, Signed, check_match
from referee.matches.running import Match, Matches, Overrun
from referee.matches.shares import take_turns
from referee.matches.table import INFINITY, Table
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

TAKEN_OVER = "another call took the match over"
STOPPED_BY_WORKER = "the worker ended the call"

BEAT_SECONDS = 0.02
"""How often the lobby is to be told the time, so that it knows when the referee was away."""
AWAY_SECONDS = 0.03
"""How much later than expected the time, or a message of the referee to itself, may come before clocks are
set back by it: a pause of the process, a busy machine or a flood is not the bots' fault. What is shorter is
charged to them."""
MAX_VOIDED = 10
"""Sessions of a match that may be voided before the match is given back to the worker."""
BUSY = "the referee is too busy to hand out turns"
FAILING = "the referee fails at tables of this match; its log says how"

_JOINING = 0
"""The handle under which matches that wait for absent bots are called; no session has it."""

P = ParamSpec("P")

log = logging.getLogger("referee")


class Lobby:
    """All that one referee holds. Nothing here blocks, waits or reads a clock."""

    def __init__(self, journal: Journal, encode: Encoder, sign: Callable[[str], Signed]) -> None:
        """Create an empty lobby; ``encode`` turns what spectators see into bytes.

        ``sign`` signs the digest of a session's result.
        """
        self.journal = journal
        self._sign = sign
        self.connections = Connections()
        self._matches = Matches()
        self._alarms = Alarms()
        self._tables: dict[int, Table] = {}
        """Open tables by handle."""
        self._encode = encode
        self._handles = count(_JOINING + 1)
        self._joining = INFINITY
        """The time of the next alarm of the matches that wait for absent bots."""
        self._unsettled = False
        """Whether sessions that wait may begin, or must be waited for in another way."""
        self._draining = ""
        self._shutdown: Shutdown | None = None
        self.spectators = 0
        """How many spectators there are, also of matches that have ended: as long as they cost something."""
        self.failures = 0
        """Tables that were ended by an exception."""
        self._beaten: float | None = None
        self._sent_at: float | None = None
        """When the message was sent that the referee awaits from itself; None while there is none."""

    # Bots

    def connect(self, connection: Connection, now: float) -> None:
        """Let a bot in, and tell it of its open sessions. Raise ConnectionRefused if it is here already."""
        self.connections.add(connection, now)
        if self._shutdown is not None:
            connection.announce(self._shutdown)
        for seat in list(connection.seats.values()):
            self._guarded(seat.table, seat.table.attach, seat.index, connection.outbox)
        self.start_sessions(now)

    def connection(self, version: int) -> Connection | None:
        """Return the live connection of a bot version."""
        return self.connections.get(version)

    def connected(self) -> list[int]:
        """Return the bot versions that are connected."""
        return self.connections.versions()

    def penalty(self, version: int, now: float) -> float:
        """Return the seconds for which a bot version has to stay away."""
        return self.connections.penalty(version, now)

    def disconnect(self, connection: Connection, now: float) -> None:
        """Note that a bot's stream is gone: its clocks run on. A second call for a stream has no effect."""
        if self.connections.remove(connection):
            for seat in list(self.connections.seats(connection.identity.version_id).values()):
                self._guarded(seat.table, seat.table.detach, seat.index, now)
            self._unsettled = True

    def resize(self, connection: Connection, max_sessions: int) -> None:
        """Change how many sessions at once a bot takes here; those that are open go on."""
        connection.max_sessions = max_sessions
        self._unsettled = True

    def close(self, connection: Connection, code: CloseCode, reason: str, now: float) -> None:
        """End a bot's stream."""
        connection.close(code, reason)
        self.disconnect(connection, now)

    def useless(self, connection: Connection, now: float) -> None:
        """Note that a message of the bot had no effect: after too many of them, the bot is cut off."""
        if connection.closing is None and connection.useless(now):
            self.cut_off(connection, "too many messages without effect", now)

    def cut_off(self, connection: Connection, why: str, now: float) -> None:
        """End the stream of a bot that floods, and have it stay away for a while: its turns are faults."""
        reason = f"flood: {why}; come back in {PENALTY_SECONDS:.0f} s"
        self.connections.penalise(connection.identity.version_id, now)
        for handle, seat in list(connection.seats.items()):
            if handle in connection.seats:  # it may have ended with another one
                self._guarded(seat.table, seat.table.flood, seat.index, now)
        self.close(connection, CloseCode.FLOOD, reason, now)

    def misplaced(self, connection: Connection, handle: int, sequence: int, now: float) -> None:
        """Take a bot's answer for a session that is not open for it, unless it was on its way at its end."""
        if connection.excuse(handle):
            return
        text = f"session {handle} is not open for this bot"
        self.notice(connection, Notice(NoticeCode.UNKNOWN_SESSION, text, handle, sequence))
        self.useless(connection, now)

    def notice(self, connection: Connection, notice: Notice) -> None:
        """Tell a bot something, and note it for its author."""
        connection.outbox.put(notice)
        self.journal.add(
            Entry(connection.identity.version_id, EntryKind.NOTICE, notice.code.value, notice.text)
        )

    # Matches

    def open_match(self, spec: MatchSpec, now: float, wake: Callable[[], None]) -> Match:
        """Begin a match; a running one of its name is stopped. ``wake`` is called when it has news.

        Raise Draining when the referee takes no new match, MatchRefused, RulesetError.
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
        text = json.dumps(ruleset.to_object())
        match = Match(spec, compile_ruleset(ruleset), text, now, wake, self._unsettle, self._encode)
        self._matches.add(match)
        self.start_sessions(now)
        return match

    def close_match(self, match: Match, reason: str) -> None:
        """Stop a match: what is not finished is void."""
        if not match.complete:
            match.ended = match.ended or reason
        match.leave()
        self._note_voids(match)
        for table in list(match.tables.values()):
            self._guarded(table, table.void)
        self._matches.remove(match)
        match.broadcast.over = True
        match.wake()

    def _note_voids(self, match: Match) -> None:
        """Note once for each bot's author that the open sessions of a match are void."""
        if match.tables:
            count = f"{len(match.tables)} session{'' if len(match.tables) == 1 else 's'}"
            again = "what is missing is played on later, with new cards"
            text = f"{count} of match {match.spec.match_id} void: {match.ended}; {again}"
            for bot in match.spec.bots:
                self.journal.add(Entry(bot.version_id, EntryKind.NOTICE, "void", text))

    def hold(self, match: Match) -> None:
        """Begin no further session of a match: it is done when those that are open have ended."""
        match.leave()
        match.wake()

    def drain(self, reason: str, end_at: float = 0.0) -> None:
        """Start nothing any more; a match ends when its open sessions are finished, and all at ``end_at``."""
        self._draining = reason
        self._shutdown = Shutdown(reason, end_at)
        for connection in self.connections:
            connection.announce(self._shutdown)
        for match in self._matches:
            if match.waiting:
                match.leave()
                match.cut = True
            if match.cut and not match.tables:
                self.close_match(match, reason)

    @property
    def drained(self) -> bool:
        """Whether nothing is being played."""
        return not self._tables

    def close_all(self, reason: str) -> None:
        """Stop all matches and tell all bots that the referee closes."""
        self._draining = reason
        for match in self._matches:
            self.close_match(match, reason)
        for connection in self.connections:
            connection.close(CloseCode.CLOSING, reason)

    def match(self, match_id: str) -> Match | None:
        """Return the running match of that name."""
        return self._matches.get(match_id)

    def watch(self, match: Match) -> Spectator:
        """Return a spectator who is shown the match from now on, beginning with how its tables stand."""
        spectator = match.broadcast.join()
        self.spectators += 1
        match.watch(True)
        return spectator

    def unwatch(self, match: Match) -> None:
        """Note that a spectator is gone."""
        match.broadcast.leave()
        self.spectators -= 1
        match.watch(match.broadcast.spectators > 0)

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
        return len(self._tables)

    def presence(self, version: int) -> Presence:
        """Return how a bot version stands here."""
        return self.connections.presence(version)

    def progress(self, match: Match) -> Progress:
        """Return how a match stands."""
        decisions = match.decisions + sum(table.decisions for table in match.tables.values())
        absent = () if match.deadline is None else tuple(match.spec.bots[i].name for i in self._absent(match))
        return Progress(decisions, len(match.tables), absent, match.voided, tuple(match.left))

    # Time

    def beat(self, now: float) -> None:
        """Ping the streams whose turn it is, give up lost ones, and start the sessions for which a closed
        match or stream left room. To be called every ``BEAT_SECONDS``.

        If it is called too late, the referee itself was away, and no clock ran.
        """
        self.note_time(now)
        self._beaten = now
        for connection in self.connections.ping(now):
            self.close(connection, CloseCode.LOST, "the bot answers no ping", now)
        self.settle(now)

    def loopback_sent(self, now: float) -> None:
        """Note that the referee sends itself a message, the way that messages of bots take."""
        self._sent_at = now

    def loopback_back(self, now: float) -> None:
        """Note that the message has come back, or is awaited no longer."""
        self.note_time(now)
        self._sent_at = None

    def note_time(self, now: float) -> None:
        """Set clocks back by the time that the referee was away, or that no message could reach it; to be
        called before anything is timed."""
        beaten, sent_at = self._beaten, self._sent_at
        away = 0.0 if beaten is None else now - beaten
        if sent_at is not None and now - sent_at > away:
            away = now - sent_at
        if away < BEAT_SECONDS + AWAY_SECONDS:
            return
        away -= BEAT_SECONDS
        self._beaten = None if beaten is None else now
        self._sent_at = None if sent_at is None else now - BEAT_SECONDS  # overdue: all time to come counts
        self._matches.delay(away)
        self.connections.delay(away)

    def tick(self, now: float) -> None:
        """Do what time asks for: turns that ran out, matches that waited long enough."""
        self.note_time(now)
        for when, handle in self._alarms.due(now):
            if handle == _JOINING:
                if self._joining == when:
                    self._joining = INFINITY
                    self._unsettled = True
                continue
            table = self._tables.get(handle)
            if table is not None and table.expected == when:
                table.expected = INFINITY
                self._guarded(table, table.expire, now)
        self.settle(now)

    def next_tick(self) -> float | None:
        """Return when ``tick`` is next needed; None while nothing waits for a time."""
        return self._alarms.soonest

    # Sessions

    def start_sessions(self, now: float) -> None:
        """Start every session whose bots are here, or were waited for long enough, and have room.

        What is not finished of a match whose time is up is forfeited.
        """
        self._unsettled = False
        for match in self._matches:
            if match.is_overdue(now):
                self._end_overdue(match, now)
        if self._draining:
            self._expect_joining(now)
            return
        ready: dict[Match, list[int]] = {}
        for match in self._matches:
            if not match.waiting:
                continue
            absent = self._absent(match)
            for index in absent:
                self._tell_absent(match, index)
            if match.may_start(now, absent=bool(absent)):  # those who are absent forfeit, and need no room
                ready[match] = [bot.version_id for i, bot in enumerate(match.spec.bots) if i not in absent]
        for match in take_turns(ready, self.connections.has_room):
            self._start_session(match, match.waiting.popleft(), now)
            if not match.waiting:
                match.deadline = None
        self._expect_joining(now)

    def _end_overdue(self, match: Match, now: float) -> None:
        """Have the bot that thought longest forfeit what is not finished of a match whose time is up.

        If none was asked anything, sessions that have not begun are forfeited by those who are not there.
        """
        overrun = match.overrun_at(now)
        for table in list(match.tables.values()):
            self._overrun(match, overrun, table)
        while match.waiting and not match.backlogged and not self._draining:
            if not any(overrun.used_ms) and not self._missing(match):
                match.leave()
                match.wake()
                return
            self._start_session(match, match.waiting.popleft(), now)

    def _overrun(self, match: Match, overrun: Overrun, table: Table) -> None:
        """Have a table end as the time of its match is up."""
        seating = match.seating(table)
        used_ms = [overrun.used_ms[bot] for bot in seating]
        text = (
            f"the time of the match, {match.spec.limits.match_ms / 1000:g} s, was up; the bot had thought "
            f"longest of all, {max(used_ms) / 1000:.3f} s, and forfeits the session"
        )
        version = match.spec.bots[overrun.bot].version_id
        self.journal.add(Entry(version, EntryKind.FAULT, "match_time", text, table.info.session_id))
        self._guarded(table, table.forfeit, seating.index(overrun.bot), {"used_ms": used_ms})

    def _missing(self, match: Match) -> list[int]:
        """Return which bots are absent, or else which have no room."""
        room = self.connections.has_room
        return self._absent(match) or [i for i, bot in enumerate(match.spec.bots) if not room(bot.version_id)]

    def settle(self, now: float) -> None:
        """Start sessions if some that finished left room; to be called after a batch of answers."""
        if self._unsettled:
            self.start_sessions(now)

    def _unsettle(self) -> None:
        self._unsettled = True

    def _expect_joining(self, now: float) -> None:
        """Be called when the first match has waited for absent bots long enough, or has no more time."""
        soonest = self._matches.soonest(now)
        if soonest is not None and soonest < self._joining:
            self._joining = soonest
            self._alarms.set(soonest, _JOINING)

    def _absent(self, match: Match) -> list[int]:
        """Return which of the match's bots can be given no session here, by their index in it."""
        return [i for i, bot in enumerate(match.spec.bots) if self._why_absent(match, bot.version_id)]

    def _why_absent(self, match: Match, version: int) -> str:
        return self.connections.why_absent(version, match.rules.ruleset, match.spec.limits.min_sessions)

    def _tell_absent(self, match: Match, index: int) -> None:
        """Tell a bot that is connected why its match waits for it, once for each of its streams."""
        version = match.spec.bots[index].version_id
        connection = self.connections.get(version)
        if connection is not None and match.told.get(version) is not connection:
            match.told[version] = connection
            why = self._why_absent(match, version)
            text = f"match {match.spec.match_id} waits for the bot, which {why}"
            self.notice(connection, Notice(NoticeCode.NOT_SEATED, text))

    def _start_session(self, match: Match, session: SessionSpec, now: float) -> None:
        handle = next(self._handles)
        versions = [match.spec.bots[bot].version_id for bot in session.seating]
        overrun = match.overrun
        absent = self._missing(match) if overrun else self._absent(match)
        match.turn = handle
        info, finished = match.info(session, handle), partial(self._finish, match, session, handle)
        links = (self.connections, self._alarms, self.journal, self._sign, finished)
        table = Table(info, session.seed, TableLink(info, match, versions, *links))
        if session.after is not None:
            table.go_on(session.after)
        table.watched = match.broadcast.spectators > 0
        match.tables[handle] = self._tables[handle] = table
        for seat, version in zip(table.seats, versions, strict=True):
            self.connections.sit(version, handle, seat)
        streams = [self.connections.get(version) for version in versions]
        outboxes = [None if stream is None else stream.outbox for stream in streams]
        self._guarded(table, table.start, now, outboxes)
        if table.over:
            return
        if overrun and any(overrun.used_ms):
            self._overrun(match, overrun, table)
        elif absent:
            # Of several absent bots, the one to forfeit changes from session to session.
            forfeiter = absent[session.number % len(absent)]
            self._note_absent(match, forfeiter, table.info.session_id)
            seats = sorted(session.seating.index(index) for index in absent)
            self._guarded(table, table.forfeit, session.seating.index(forfeiter), {"absent": seats})

    def _note_absent(self, match: Match, index: int, session_id: str) -> None:
        version = match.spec.bots[index].version_id
        why = self._why_absent(match, version) or "had no session left for the match"
        text = f"the bot {why} when its match began, and forfeits the session"
        self.journal.add(Entry(version, EntryKind.FAULT, "absent", text, session_id))

    def _finish(self, match: Match, session: SessionSpec, handle: int) -> None:
        """Clear the table of a session that is over."""
        table = match.tables.pop(handle)
        del self._tables[handle]
        early = table.end is not SessionEnd.PLAYED
        for bot in session.seating:
            self.connections.leave(match.spec.bots[bot].version_id, handle, early=early)
        self._unsettled = True
        if table.end is not SessionEnd.VOID:
            match.add_result(table)
        else:
            match.add_void(table)
            if not match.ended:
                self._note_void(match)
        if match.cut and not match.tables and not match.ended:
            self.close_match(match, self._draining)

    def _note_void(self, match: Match) -> None:
        """Count a session that came to nothing through the referee's fault: another attempt plays it."""
        match.voided += 1
        if match.voided > MAX_VOIDED:
            self.close_match(match, FAILING if match.failed else BUSY)
        elif self._draining:
            match.cut = True

    # Failures

    def _guarded(self, table: Table, act: Callable[P, object], *given: P.args, **named: P.kwargs) -> None:
        """Have a table do something; if it fails, only that table ends."""
        try:
            act(*given, **named)
        except Exception:
            self.fail(table)

    def fail(self, table: Table) -> None:
        """End a table at which an exception was raised, which is to be called while it is handled.

        Its session is void; the exception is logged and counted.
        """
        log.exception("session %s failed, and is void", table.info.session_id)
        self.failures += 1
        handle = table.info.handle
        for match in self._matches:
            match.failed = match.failed or handle in match.tables
        try:
            table.void()
        except Exception:
            log.exception("session %s cannot be told of its end", table.info.session_id)
        if handle in self._tables:
            table.over, table.end = True, SessionEnd.VOID
            table.events.finished()
