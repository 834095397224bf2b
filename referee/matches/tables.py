"""The tables of a referee: which session begins next, and what happens when it ends."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, ParamSpec

from referee.deals.action import Forfeit
from referee.deals.session import legacy
from referee.matches.clock import Alarms
from referee.matches.connections import Connections
from referee.matches.events import Notice, SessionInfo, forfeit_entry, notice_entry
from referee.matches.journal import Entry, EntryKind, Journal
from referee.matches.kinds import NoticeCode, SessionEnd
from referee.matches.link import TableLink
from referee.matches.match import Finished, SessionSpec, Signed
from referee.matches.running import Match, Matches, Overrun, take_turns
from referee.matches.table import INFINITY, Table
from referee.records.reading import read_record
from referee.records.record import full_record
from referee.records.replay import replay
from referee.records.results import shown_digest

MAX_VOIDED = 10
"""How many sessions of a match may be voided before the match is given back to the worker."""
BUSY = "the referee is too busy to hand out turns"
FAILING = "the referee fails at tables of this match; see its log"

_JOINING = 0
"""The handle of the alarms of matches that wait for absent bots; no session has it."""

P = ParamSpec("P")

log = logging.getLogger("referee")


class Tables:
    """The tables at which sessions are played. A failure at one of them ends only that table."""

    def __init__(
        self,
        connections: Connections,
        matches: Matches,
        alarms: Alarms,
        journal: Journal,
        sign: Callable[[str], Signed],
    ) -> None:
        """Begin without tables. ``sign`` signs the digest of a session's result."""
        self._connections = connections
        self._matches = matches
        self._alarms = alarms
        self._journal = journal
        self._sign = sign
        self._open: dict[int, Table] = {}
        """By handle."""
        self._handles = count(_JOINING + 1)
        self._joining = INFINITY
        """The time of the next alarm of the matches that wait for absent bots."""
        self.draining = ""
        """Why no further session begins; empty while sessions may begin."""
        self.unsettled = False
        """Whether something has changed that may let waiting sessions begin, or change what they wait for."""
        self.failures = 0
        """How many tables were ended by an exception."""

    def __len__(self) -> int:
        return len(self._open)

    def unsettle(self) -> None:
        """Note a change that may let waiting sessions begin, or change what they wait for."""
        self.unsettled = True

    def tick(self, now: float) -> None:
        """Do what is due: end turns that ran out of time, and matches that waited long enough."""
        for when, handle in self._alarms.due(now):
            if handle == _JOINING:
                if self._joining == when:
                    self._joining = INFINITY
                    self.unsettled = True
                continue
            table = self._open.get(handle)
            if table is not None and table.expected == when:
                table.expected = INFINITY
                self.guarded(table, table.expire, now)
        if self.unsettled:
            self.start_sessions(now)

    # How sessions begin

    def start_sessions(self, now: float) -> None:
        """Start every session whose bots have room and are here, or whose match has waited long enough.

        What is not finished of a match whose time is up is forfeited.
        """
        self.unsettled = False
        for match in self._matches:
            if match.is_overdue(now):
                self._end_overdue(match, now)
        if self.draining or self._connections.uplink.outage is not None:
            self._expect_joining(now)
            return
        ready: dict[Match, list[int]] = {}
        for match in self._matches:
            if not match.waiting:
                continue
            absent = self.absent(match)
            for index in absent:
                self._tell_absent(match, index)
            if match.may_start(now, absent=bool(absent)):  # those who are absent forfeit, and need no room
                ready[match] = [bot.version_id for i, bot in enumerate(match.spec.bots) if i not in absent]
        for match in take_turns(ready, self._connections.has_room):
            self._start_session(match, match.waiting.popleft(), now)
            if not match.waiting:
                match.deadline = None
        self._expect_joining(now)

    def _end_overdue(self, match: Match, now: float) -> None:
        """Let the bot that thought longest forfeit what is not finished of a match whose time is up.

        If none was asked anything, the bots that are missing forfeit the sessions that have not begun.
        """
        overrun = match.overrun_at(now)
        for table in list(match.tables.values()):
            self._overrun(match, overrun, table, begun=True)
        while match.waiting and not match.backlogged and not self.draining:
            if not any(overrun.used_ms) and not self._missing(match):
                match.leave()
                match.wake()
                return
            self._start_session(match, match.waiting.popleft(), now)

    def _overrun(self, match: Match, overrun: Overrun, table: Table, *, begun: bool) -> None:
        """End a table because the time of its match is up; ``begun`` says whether its bots had been told."""
        seating = match.seating(table)
        used_ms = [overrun.used_ms[bot] for bot in seating]
        text = (
            f"the time of the match, {match.spec.limits.match_seconds} s, was up; the bot had thought "
            f"longest of all, {max(used_ms) / 1000:.3f} s"
        )
        version = match.spec.bots[overrun.bot].version_id
        deal = table.session.deals_played + 1
        self._journal.add(forfeit_entry(version, table.info, "match_time", deal, text))
        seat = seating.index(overrun.bot)
        why = {"used_ms": used_ms} if begun else {"absent": [seat], "used_ms": used_ms}
        self.guarded(table, table.forfeit, seat, why)

    def _missing(self, match: Match) -> list[int]:
        """Return which bots are absent, or if none is, which have no room."""
        room = self._connections.has_room
        return self.absent(match) or [i for i, bot in enumerate(match.spec.bots) if not room(bot.version_id)]

    def _expect_joining(self, now: float) -> None:
        """Set an alarm for when a match has waited for absent bots long enough, or runs out of time."""
        soonest = self._matches.soonest(now)
        if soonest is not None and soonest < self._joining:
            self._joining = soonest
            self._alarms.set(soonest, _JOINING)

    def absent(self, match: Match) -> list[int]:
        """Return which of the match's bots can be given no session here, by their index in it."""
        return [i for i, bot in enumerate(match.spec.bots) if self._why_absent(match, bot.version_id)]

    def _why_absent(self, match: Match, version: int) -> str:
        return self._connections.why_absent(version, match.rules.ruleset, match.spec.limits.min_sessions)

    def _tell_absent(self, match: Match, index: int) -> None:
        """Tell a connected bot why its match waits for it, once on each of its streams."""
        version = match.spec.bots[index].version_id
        connection = self._connections.get(version)
        if connection is not None and match.notified.get(version) is not connection:
            match.notified[version] = connection
            why = self._why_absent(match, version)
            text = f"match {match.spec.match_id} waits for the bot, which {why}"
            notice = Notice(NoticeCode.NOT_SEATED, text)
            connection.outbox.put(notice)
            self._journal.add(notice_entry(version, notice))

    def _start_session(self, match: Match, session: SessionSpec, now: float) -> None:
        """Begin a session; end it at once if it cannot go on without absent bots, or the time is up."""
        versions = [match.spec.bots[bot].version_id for bot in session.seating]
        overrun = match.overrun
        absent = self._missing(match) if overrun else self.absent(match)  # before the bots are seated
        table = self._set_up(match, session, versions)
        streams = [self._connections.get(version) for version in versions]
        outboxes = [None if stream is None else stream.outbox for stream in streams]
        seats = sorted(session.seating.index(index) for index in absent)
        first = table.session.deals_played + 1
        goes_on = not overrun and table.forfeits.goes_on_without(seats)
        self.guarded(table, table.start, now, outboxes, seats if goes_on else ())
        if table.end is SessionEnd.VOID:
            return
        if overrun and any(overrun.used_ms):
            self._overrun(match, overrun, table, begun=False)
        elif absent:
            self._note_absent(match, absent, table.info, first)
            # If several bots are absent, the one whose forfeit ends the session changes from one to the next.
            forfeiter = session.seating.index(absent[session.number % len(absent)])
            if not goes_on:
                self.guarded(table, table.forfeit, forfeiter, {"absent": seats})

    def _set_up(self, match: Match, session: SessionSpec, versions: list[int]) -> Table:
        """Return a new table with the bots seated; ``versions`` are theirs by seat."""
        handle = match.turn = next(self._handles)
        info, finished = match.info(session, handle), partial(self._finish, match, session, handle)
        links = (self._connections, self._alarms, self._journal, self._sign, finished)
        table = Table(info, session.seed, TableLink(info, match, versions, *links))
        if session.after is not None:
            table.go_on(session.after)
        table.watched = match.broadcast.spectators > 0
        match.tables[handle] = self._open[handle] = table
        for seat, version in zip(table.seats, versions, strict=True):
            self._connections.sit(version, handle, seat)
        return table

    def _note_absent(self, match: Match, absent: Sequence[int], info: SessionInfo, deal: int) -> None:
        """Note in the logs of absent bots that these forfeit a session, from this deal on."""
        for index in absent:
            version = match.spec.bots[index].version_id
            why = self._why_absent(match, version) or "had no session left for the match"
            text = f"the bot {why} when the session was to begin"
            self._journal.add(forfeit_entry(version, info, "absent", deal, text))

    # How they end

    def _finish(self, match: Match, session: SessionSpec, handle: int) -> None:
        """Clear the table of a session that is over."""
        table = match.tables.pop(handle)
        del self._open[handle]
        early = table.end is not SessionEnd.PLAYED
        for bot in session.seating:
            self._connections.leave(match.spec.bots[bot].version_id, handle, early=early)
        self.unsettled = True
        if table.end is not SessionEnd.VOID:
            match.add_result(table)
        else:
            match.add_void(table)
            if not match.ended:
                self._count_void(match)
        if match.cut and not match.tables and not match.ended:
            self.close_match(match, self.draining)

    def _count_void(self, match: Match) -> None:
        """Count a session that is void through the referee's fault; another attempt will play it."""
        match.voided += 1
        if match.voided > MAX_VOIDED:
            self.close_match(match, FAILING if match.failed else BUSY)
        elif self.draining:
            match.cut = True

    def close_match(self, match: Match, reason: str) -> None:
        """Stop a match: what is not finished is void."""
        if not match.complete:
            match.ended = match.ended or reason
        match.leave()
        self._note_voids(match)
        for table in list(match.tables.values()):
            self.guarded(table, table.void)
        self._matches.remove(match)
        match.broadcast.over = True
        match.wake()

    def _note_voids(self, match: Match) -> None:
        """Note once in each bot's log that the open sessions of a match are void."""
        if match.tables:
            sessions = f"{len(match.tables)} session{'' if len(match.tables) == 1 else 's'}"
            again = "what is missing is played on later, with new cards"
            text = f"{sessions} of match {match.spec.match_id} void: {match.ended}; {again}"
            for bot in match.spec.bots:
                self._journal.add(Entry(bot.version_id, EntryKind.NOTICE, "void", text))

    # Failures

    def guarded(
        self, table: Table, act: Callable[P, object], *arguments: P.args, **options: P.kwargs
    ) -> None:
        """Let a table act; if that raises an exception, end only this table."""
        try:
            act(*arguments, **options)
        except Exception:
            self.fail(table)

    def fail(self, table: Table) -> None:
        """End a table at which an exception was raised; this must be called while it is being handled.

        The session is void; the exception is logged and counted.
        """
        log.exception("session %s failed, and is void", table.info.session_id)
        self.failures += 1
        handle = table.info.handle
        for match in self._matches:
            match.failed = match.failed or handle in match.tables
        try:
            table.void()
        except Exception:
            log.exception("cannot end session %s", table.info.session_id)
        if handle in self._open:
            table.over, table.end = True, SessionEnd.VOID
            table.events.finished()


def finished_deals(
    records: Sequence[str], bank_ms: tuple[int, ...], ruleset: Mapping[str, object]
) -> Finished:
    """Return how a session stands after its first deals, of which ``records`` are the lean records.

    There must be at least one. ``ruleset`` is resolved; ``bank_ms`` is what is left in the seats' banks,
    empty without banks. Only the last deal is replayed, because the next one follows from it. Raise
    RecordError if its record is wrong.
    """
    deals = [json.loads(record) for record in records]
    seats = len(deals[-1]["points"])
    faults = [0] * seats
    for deal in deals:
        for fault in deal.get("faults", ()):
            faults[fault["seat"]] += 1
    whole = full_record(
        deals[-1],
        ruleset=ruleset,
        tournament="",
        round=1,
        table=1,
        session=1,
        seats=[str(seat) for seat in range(seats)],
    )
    scores = tuple(map(sum, zip(*(deal["points"] for deal in deals), strict=True)))
    last = legacy(replay(read_record(whole), None))
    forfeits = tuple([_forfeit(forfeit) for forfeit in deals[-1].get("played_for", ())])
    return Finished(last, scores, tuple(faults), bank_ms, shown_digest(deals), forfeits)


def _forfeit(played_for: Mapping[str, Any]) -> Forfeit:
    return Forfeit(*(played_for[name] for name in Forfeit._fields))
