"""The lobby: where a referee's streams, its workers' calls and its clock meet the matches that it runs.

Nothing here does I/O, and the time is passed in.
"""

import json
import logging
from collections.abc import Callable, Collection

from referee.errors import Draining, MatchRefused
from referee.matches.broadcast import Encoder, Spectator
from referee.matches.clock import Alarms
from referee.matches.connection import LOST_SECONDS, CloseCode, Connection, Shutdown
from referee.matches.connections import PENALTY_SECONDS, Connections
from referee.matches.events import Notice, notice_entry
from referee.matches.journal import Journal
from referee.matches.kinds import NoticeCode
from referee.matches.match import MatchSpec, Presence, Progress, Signed, check_match
from referee.matches.running import Match, Matches
from referee.matches.table import Table
from referee.matches.tables import Tables
from referee.native import native
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

TAKEN_OVER = "another call took the match over"
OUT_OF_REACH = "most bots are out of this referee's reach"
STOPPED_BY_WORKER = "the worker ended the call"

BEAT_SECONDS = 0.02
"""How often the lobby must be told the time, so that it knows when the referee was away."""
AWAY_SECONDS = 0.03
"""How late the time, or a message of the referee to itself, may come before clocks are set back by the delay:
a pause of the process, a busy machine or a flood is not the bots' fault. Shorter delays are charged to them.
"""

INFINITY = float("inf")

log = logging.getLogger("referee")


@native(allow_interpreted_subclasses=True)
class Lobby:
    """All that one referee holds. Nothing here blocks, waits or reads a clock."""

    def __init__(self, journal: Journal, encode: Encoder, sign: Callable[[str], Signed]) -> None:
        """Create an empty lobby; ``encode`` turns what spectators see into bytes.

        ``sign`` signs the digest of a session's result.
        """
        self.journal = journal
        self.connections = Connections()
        self._matches = Matches()
        self._alarms = Alarms()
        self._tables = Tables(self.connections, self._matches, self._alarms, journal, sign)
        self._encode = encode
        self._shutdown: Shutdown | None = None
        self.spectators = 0
        """How many spectators there are, also of matches that have ended: as long as they cost something."""
        self.hindrance = ""
        """What outside of the lobby keeps the referee from taking a new match; empty if nothing does."""
        self._beaten: float | None = None
        self._sent_at: float | None = None
        """When the message was sent that the referee awaits from itself; None while there is none."""
        self._overdue_at = INFINITY
        """From when on one of the two is too late."""

    # Bots

    def connect(self, connection: Connection, now: float) -> None:
        """Let a bot in, and tell it of its open sessions. Raise ConnectionRefused if it is here already."""
        self.connections.add(connection, now)
        if self._shutdown is not None:
            connection.announce(self._shutdown)
        for seat in list(connection.seats.values()):
            self._tables.guarded(seat.table, seat.table.attach, seat.index, connection.outbox)
        self._tables.start_sessions(now)

    def connection(self, version: int) -> Connection | None:
        """Return the live connection of a bot version."""
        return self.connections.get(version)

    def connected(self) -> list[int]:
        """Return the bot versions that are connected."""
        return self.connections.versions()

    def penalty(self, version: int, now: float) -> float:
        """Return the seconds for which a bot version has to stay away."""
        return self.connections.penalty(version, now)

    def disconnect(self, connection: Connection, now: float, *, left: bool = False) -> None:
        """Note that a bot's stream is gone, ``left`` if the bot has said goodbye; its clocks run on.

        A second call for a stream has no effect.
        """
        orderly = left or (connection.closing is not None and connection.closing.code is not CloseCode.LOST)
        if self.connections.remove(connection, now, broken=not orderly):
            for seat in list(self.connections.seats(connection.identity.version_id).values()):
                self._tables.guarded(seat.table, seat.table.detach, seat.index, now)
            self._tables.unsettle()

    def resize(self, connection: Connection, max_sessions: int) -> None:
        """Change how many sessions at once a bot takes here; those that are open go on."""
        connection.max_sessions, connection.pace = max_sessions, None
        self._tables.unsettle()

    def close(self, connection: Connection, code: CloseCode, reason: str, now: float) -> None:
        """End a bot's stream."""
        connection.close(code, reason)
        self.disconnect(connection, now)

    def useless(self, connection: Connection, now: float) -> None:
        """Note that a message of the bot had no effect: after too many of them, the bot is cut off."""
        if connection.closing is None and connection.useless(now):
            self.cut_off(connection, "too many messages without effect", now)

    def cut_off(self, connection: Connection, why: str, now: float) -> None:
        """End the stream of a bot that floods, and keep it out for a while: its turns are faults."""
        reason = f"flood: {why}; come back in {PENALTY_SECONDS:.0f} s"
        self.connections.penalise(connection.identity.version_id, now)
        for handle, seat in list(connection.seats.items()):
            if handle in connection.seats:  # it may have ended with another one
                self._tables.guarded(seat.table, seat.table.flood, seat.index, now)
        self.close(connection, CloseCode.FLOOD, reason, now)

    def grew(self) -> None:
        """Note that a bot may be given more sessions than before."""
        self._tables.unsettle()

    def misplaced(self, connection: Connection, handle: int, sequence: int, now: float) -> None:
        """Note an answer for a session that is not open for the bot, unless it was on its way at the end."""
        if connection.excuse(handle):
            return
        text = f"session {handle} is not open for this bot"
        self.notice(connection, Notice(NoticeCode.UNKNOWN_SESSION, text, handle, sequence))
        self.useless(connection, now)

    def notice(self, connection: Connection, notice: Notice) -> None:
        """Tell a bot something, and note it for its author."""
        connection.outbox.put(notice)
        self.journal.add(notice_entry(connection.identity.version_id, notice))

    # Matches

    def open_match(self, spec: MatchSpec, now: float, wake: Callable[[], None]) -> Match:
        """Begin a match; stop a running one of the same name. ``wake`` is called when it has news.

        Raise Draining if the referee takes no new match, MatchRefused or RulesetError if this one is wrong.
        """
        if refusal := self._tables.draining or self.not_ready:
            raise Draining(refusal)
        ruleset = load_ruleset(spec.ruleset)
        reason = check_match(spec, ruleset.players)
        if reason:
            raise MatchRefused(reason)
        running = self._matches.get(spec.match_id)
        if running is not None:
            self.close_match(running, TAKEN_OVER)
        text = json.dumps(ruleset.to_object())
        match = Match(spec, compile_ruleset(ruleset), text, now, wake, self._tables.unsettle, self._encode)
        self._matches.add(match)
        self._tables.start_sessions(now)
        return match

    def close_match(self, match: Match, reason: str) -> None:
        """Stop a match: what is not finished is void."""
        self._tables.close_match(match, reason)

    def hold(self, match: Match) -> None:
        """Begin no further session of a match: it is done when its open ones have ended."""
        match.leave()
        match.wake()

    def drain(self, reason: str, end_at: float = 0.0) -> None:
        """Start nothing more; a match ends when its open sessions are finished, and all end at ``end_at``."""
        self._tables.draining = reason
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
        self._tables.draining = reason
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
        """Whether no new match is taken, as the referee shuts down."""
        return bool(self._tables.draining)

    @property
    def not_ready(self) -> str:
        """Why no new match is taken, other than that the referee shuts down; empty if nothing prevents it."""
        return OUT_OF_REACH if self.connections.uplink.outage is not None else self.hindrance

    @property
    def matches(self) -> int:
        """How many matches run."""
        return len(self._matches)

    @property
    def failures(self) -> int:
        """How many tables were ended by an exception."""
        return self._tables.failures

    @property
    def sessions(self) -> int:
        """How many sessions are being played."""
        return len(self._tables)

    def presence(self, version: int) -> Presence:
        """Return the presence of a bot version here."""
        return self.connections.presence(version)

    def progress(self, match: Match) -> Progress:
        """Return the progress of a match."""
        decisions = match.decisions + sum(table.decisions for table in match.tables.values())
        absent = () if match.deadline is None else self._tables.absent(match)
        names = tuple(match.spec.bots[index].name for index in absent)
        return Progress(decisions, len(match.tables), names, match.voided, tuple(match.left))

    # Time

    def beat(self, now: float) -> None:
        """Ping the streams whose turn it is, give up lost ones, and start the sessions for which a closed
        match or stream left room.

        This must be called every ``BEAT_SECONDS``. If it is called too late, the referee itself was away, and
        that time counts on no clock.
        """
        self.note_time(now)
        self._heard(beaten=now, sent_at=self._sent_at)
        self._watch_uplink(now)
        for connection in self.connections.ping(now):
            self.close(connection, CloseCode.LOST, "the bot answers no ping", now)
        self.settle(now)

    def loopback_sent(self, now: float) -> None:
        """Note that the referee sends itself a message, by the route that messages of bots take."""
        self._heard(beaten=self._beaten, sent_at=now)

    def loopback_back(self, now: float) -> None:
        """Note that the message has come back, or is no longer awaited."""
        self.note_time(now)
        self._heard(beaten=self._beaten, sent_at=None)

    def note_time(self, now: float) -> None:
        """Set clocks back by the time that the referee was away, or that no message could reach it.

        Call this before anything is timed.
        """
        if now < self._overdue_at:
            return
        since = self._overdue_at - AWAY_SECONDS
        beaten = None if self._beaten is None else now
        sent_at = None if self._sent_at is None else now - BEAT_SECONDS  # overdue: all time to come counts
        self._heard(beaten=beaten, sent_at=sent_at)
        self._matches.delay(now - since)
        self.connections.delay(now - since)

    def _heard(self, *, beaten: float | None, sent_at: float | None) -> None:
        """Note when the beat last came, and when the message was sent that the referee awaits."""
        self._beaten, self._sent_at = beaten, sent_at
        first = min([when for when in (beaten, sent_at) if when is not None], default=INFINITY)
        self._overdue_at = first + BEAT_SECONDS + AWAY_SECONDS

    def tick(self, now: float) -> None:
        """Do what is due: end turns that ran out of time, and matches that waited long enough."""
        self.note_time(now)
        self._stop_clocks(now)
        self._tables.tick(now)

    def _watch_uplink(self, now: float) -> None:
        """Notice that most bots are out of reach, or within reach again; give up what waits too long."""
        uplink = self.connections.uplink
        before = uplink.outage
        uplink.look(now)
        outage = uplink.outage
        if before is not None and outage is None:
            log.warning("%s: clocks run again after %.1f s", OUT_OF_REACH, now - before.since)
            self._tables.unsettle()
        elif before is None and outage is not None:
            log.warning("%s: clocks stand still", OUT_OF_REACH)
        self._stop_clocks(now)
        if outage is not None and not outage.given_up and now - outage.since >= LOST_SECONDS:
            outage.given_up = True
            self._give_up({stream.identity.version_id for stream in uplink.missing()}, now)

    def _stop_clocks(self, now: float) -> None:
        """Let no time pass on any clock while most bots are out of reach."""
        outage = self.connections.uplink.outage
        if outage is not None and now > outage.stopped_at:  # a tick says when its alarm rang
            self._matches.delay(now - outage.stopped_at)
            outage.stopped_at = now

    def _give_up(self, missing: Collection[int], now: float) -> None:
        """Void the sessions of bots that are out of reach for too long, and close their streams."""
        for match in self._matches:
            if any(bot.version_id in missing for bot in match.spec.bots):
                self.close_match(match, OUT_OF_REACH)
        for connection in [each for each in self.connections if each.identity.version_id in missing]:
            self.close(connection, CloseCode.LOST, "the bot is out of reach", now)

    def next_tick(self) -> float | None:
        """Return when ``tick`` is next needed; None while nothing waits for a time."""
        return self._alarms.soonest()

    def settle(self, now: float) -> None:
        """Start sessions if finished ones left room. Call this after each batch of answers."""
        if self._tables.unsettled:
            self._tables.start_sessions(now)

    def fail(self, table: Table) -> None:
        """End a table at which an exception was raised; this must be called while it is being handled."""
        self._tables.fail(table)
