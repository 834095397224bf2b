"""Running matches: their tables, the results of sessions, and whose turn it is where bots are shared."""

import logging
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from referee.matches.broadcast import Broadcast, Encoder
from referee.matches.connection import Connection
from referee.matches.events import SessionInfo, Sight
from referee.matches.match import DealsFinished, MatchSpec, SessionResult, SessionSpec
from referee.matches.table import Table
from referee.rules.plays import Rules
from referee.ruleset.axes.session import most_deals

log = logging.getLogger("referee")

MAX_UNFETCHED = 64
"""How many results may wait for the worker before a match begins no further session."""


class Overrun(NamedTuple):
    """Who forfeits a match whose time is up, and how long its bots had thought."""

    bot: int
    """The bot that had thought longest, as its index in the match: it forfeits what is not finished."""
    used_ms: tuple[int, ...]
    """For each bot, the milliseconds that it had thought in the match."""


class Match:
    """A running match."""

    def __init__(
        self,
        spec: MatchSpec,
        rules: Rules,
        ruleset: str,
        now: float,
        wake: Callable[[], None],
        freed: Callable[[], None],
        encode: Encoder,
    ) -> None:
        """Create a match.

        ``wake`` is called when there is news for the worker, ``freed`` when it has taken results that held
        sessions back.
        """
        self.ends_at = now + spec.limits.match_seconds if spec.limits.match_seconds else None
        """When what is not finished is forfeited; None for never."""
        self.overrun: Overrun | None = None
        """Who forfeits what is not finished; None while there is time."""
        self.turn = 0
        """The handle of its latest session: of matches that share bots, the one with the lowest goes next."""
        self._seatings = {session.number: session.seating for session in spec.sessions}
        self._used = [0.0] * len(spec.bots)
        """Seconds that each bot thought in the closed sessions."""
        self._throttled = False
        """Whether sessions had to wait for the worker, which is not the bots' fault."""
        self.spec = spec
        self.rules = rules
        self.ruleset = ruleset
        """The resolved ruleset as one JSON object."""
        self.deadline: float | None = None
        """Until when the match waits for absent bots; None while it waits for nobody."""
        self.notified: dict[int, Connection] = {}
        """By version, the streams on which bots were told why the match waits for them."""
        self.waiting = deque(spec.sessions)
        self.tables: dict[int, Table] = {}
        """Open tables by handle."""
        self.results: list[SessionResult] = []
        """Finished sessions that have not been fetched yet."""
        self._played = 0
        """How many sessions are finished."""
        self._deals: list[DealsFinished] = []
        """Finished deals of void sessions that have not been fetched yet."""
        self.left: list[int] = []
        """Numbers of the sessions that will not begin."""
        self.decisions = 0
        """How many turns were asked at the closed tables."""
        self.ended = ""
        """Why the match was stopped; empty if it was not."""
        self.cut = False
        """Whether sessions were left to another attempt at the match because the referee drains."""
        self.voided = 0
        """How many sessions were stopped because the referee could not hand out a turn, or failed."""
        self.failed = False
        """Whether an exception ended a table."""
        self.broadcast = Broadcast(self._sights, encode)
        self._watched = False
        self.wake = wake
        self._freed = freed

    def _sights(self) -> list[Sight]:
        return [sight for table in self.tables.values() for sight in table.sights()]

    @property
    def done(self) -> bool:
        """Whether all sessions are finished, void or left."""
        return not self.waiting and not self.tables

    @property
    def complete(self) -> bool:
        """Whether all sessions were played to their end."""
        return self._played == len(self.spec.sessions)

    @property
    def backlogged(self) -> bool:
        """Whether so many results are waiting to be fetched that no further session may begin."""
        return len(self.results) >= MAX_UNFETCHED

    def may_start(self, now: float, *, absent: bool) -> bool:
        """Return whether its sessions may begin: nobody is absent, or the match has waited long enough."""
        if not absent:
            self.deadline = None
        elif self.deadline is None:
            self.deadline = now + self.spec.limits.join_seconds
        return self.deadline is None or now >= self.deadline

    def is_overdue(self, now: float) -> bool:
        """Return whether its time is up."""
        return self.ends_at is not None and now >= self.ends_at

    def overrun_at(self, now: float) -> "Overrun":
        """Return who forfeits what is not finished, which is settled once, when its time is up.

        Sessions that had to wait for the worker are not begun: another attempt plays them.
        """
        if self.overrun is None:
            if self._throttled:
                self.leave()
                self.wake()
            used = list(self._used)
            for table in self.tables.values():
                self._add_used(used, table, now)
            used_ms = [round(seconds * 1000) for seconds in used]
            self.overrun = Overrun(used_ms.index(max(used_ms)), tuple(used_ms))
        return self.overrun

    def seating(self, table: Table) -> tuple[int, ...]:
        """Return, for each seat of a table, its bot's index in the match."""
        return self._seatings[table.info.number]

    def _add_used(self, used: list[float], table: Table, now: float) -> None:
        for bot, seat in zip(self.seating(table), table.seats, strict=True):
            used[bot] += seat.thought(now)

    def info(self, session: SessionSpec, handle: int) -> SessionInfo:
        """Return what stays the same for a whole session."""
        spec = self.spec
        bots = [spec.bots[bot] for bot in session.seating]
        rated = [bot.rated for bot in bots if bot.rated is not None]
        return SessionInfo(
            handle=handle,
            session_id=f"{spec.match_id}/{session.number}",
            number=session.number,
            tournament=spec.tournament,
            ruleset=self.ruleset,
            rules=self.rules,
            seats=tuple(bot.name for bot in bots),
            deals=most_deals(self.rules.ruleset, spec.deals),
            commitment=spec.commitment,
            limits=spec.limits,
            attempt=session.attempt,
            pool=spec.pool,
            rated=tuple(rated) if len(rated) == len(bots) else (),
        )

    def take_results(self) -> list[SessionResult]:
        """Take out the sessions that have finished since the last call."""
        backlogged = self.backlogged
        results, self.results = self.results, []
        if backlogged:
            self._freed()
        return results

    def leave(self) -> None:
        """Begin none of the sessions that have not begun."""
        self.left += [session.number for session in self.waiting]
        self.waiting.clear()
        self.deadline = None

    def take_deals(self) -> list[DealsFinished]:
        """Take out the deals that have finished since the last call in sessions that are open or void."""
        for table in self.tables.values():
            self._add_deals(table)
        deals, self._deals = self._deals, []
        return deals

    def add_void(self, table: Table) -> None:
        """Keep the finished deals of a table whose session is void, and the time that its bots used."""
        self._add_deals(table)
        try:
            self._add_used(self._used, table, 0.0)
        except Exception:  # a table that failed may have lost its seats
            log.exception("cannot tell what the bots of session %s used", table.info.session_id)
        self.wake()

    def _add_deals(self, table: Table) -> None:
        records = table.take_records()
        if records:
            self._deals.append(DealsFinished(table.info.number, records, table.bank_ms))

    def add_result(self, table: Table) -> None:
        """Keep the result of a table that has finished its session."""
        self._played += 1
        self.decisions += table.decisions
        self._add_used(self._used, table, 0.0)
        self.results.append(table.result)
        self._throttled = self._throttled or self.backlogged
        self.wake()

    def watch(self, watched: bool) -> None:
        """Tell all tables whether there are spectators."""
        if watched != self._watched:
            self._watched = watched
            for table in self.tables.values():
                table.watched = watched


class Matches:
    """The running matches of a referee by their names."""

    def __init__(self) -> None:
        self._running: dict[str, Match] = {}

    def __iter__(self) -> Iterator[Match]:
        """Iterate over the matches that run now, whatever happens to them meanwhile."""
        return iter(list(self._running.values()))

    def __len__(self) -> int:
        return len(self._running)

    def get(self, match_id: str) -> Match | None:
        """Return the running match of that name."""
        return self._running.get(match_id)

    def add(self, match: Match) -> None:
        """Add a match, whose name no other one has."""
        self._running[match.spec.match_id] = match

    def remove(self, match: Match) -> None:
        """Forget a match, unless another one has taken over its name."""
        if self._running.get(match.spec.match_id) is match:
            del self._running[match.spec.match_id]

    def soonest(self, now: float) -> float | None:
        """Return when the next match has waited for absent bots long enough, or runs out of time."""
        times = [when for match in self._running.values() for when in (match.deadline, match.ends_at)]
        return min((when for when in times if when is not None and when > now), default=None)

    def delay(self, seconds: float) -> None:
        """Set all clocks back because the referee was away for ``seconds``."""
        for match in self._running.values():
            if match.deadline is not None:
                match.deadline += seconds
            if match.ends_at is not None:
                match.ends_at += seconds
            for table in match.tables.values():
                table.delay(seconds)


HasRoom = Callable[[int, int], bool]
"""Whether a bot version can have one more session while this number is reserved for others."""


def take_turns(matches: Mapping[Match, Collection[int]], has_room: HasRoom) -> Iterator[Match]:
    """Yield the match that begins a session next, again and again; the caller begins it each time.

    ``matches`` has, for each match, the bot versions that must have room. Matches take turns, beginning with
    the one whose latest session is oldest. If a match finds a bot without room, one session of each of its
    bots is reserved for it, so that later matches cannot take them all for ever: it waits at most for the
    sessions that its bots are playing.
    """
    taken: Counter[int] = Counter()
    queue = sorted(matches, key=lambda match: match.turn)
    while queue:
        began = []
        for match in queue:
            if not match.waiting or match.backlogged:
                continue
            versions = matches[match]
            if all(has_room(version, taken[version]) for version in versions):
                yield match
                began.append(match)
            else:
                taken.update(versions)
        queue = began
