"""A table: one session, its seats, clocks and faults. Sans-I/O: answers go in, messages and deadlines out."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from referee.deal import Deal, Stage
from referee.errors import PlayError
from referee.events import (
    DealEnded,
    DealStarted,
    Event,
    Fault,
    FaultKind,
    Notice,
    NoticeCode,
    Seen,
    SessionEnd,
    SessionEnded,
    SessionInfo,
    SessionStarted,
    Sight,
    Turn,
    TurnDue,
    log_length,
)
from referee.record import deal_record
from referee.session import Session

UNSENT_GRACE = 2.0
"""Seconds by which a turn may wait for its stream beyond the decision limit: it bounds how long a stream that
does not take its messages can keep a table waiting."""


class Ask:
    """A decision that a seat owes."""

    __slots__ = ("deadline", "sequence", "stage")

    def __init__(self, sequence: int, stage: Stage, deadline: float) -> None:
        self.sequence = sequence
        self.stage = stage
        self.deadline = deadline


class Malformed(str):
    """Why an answer could not be read; stands in for the answer's cards."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where a table's messages go."""

    send: Callable[[int, Event], None]
    """Seat and event, for the bot in that seat."""
    expect: Callable[[float], None]
    """Call ``expire`` at that time, or when a time given before comes, if that is earlier."""
    show: Callable[[Sight], None]
    """For spectators."""
    finished: Callable[[], None]
    """The session is over; its result stands in the table."""


@dataclass(slots=True)
class SessionRecord:
    """What a session leaves behind."""

    records: list[str] = field(default_factory=list)
    """Lean deal records, one JSON object a deal."""
    actions: int = 0
    """Actions of all closed deals."""


class Table:
    """Runs one session. All times are seconds of one monotonic clock, passed in."""

    def __init__(self, info: SessionInfo, seed: bytes, outlets: Outlets) -> None:
        self.info = info
        self.over = False
        self.end: SessionEnd | None = None
        self.record = SessionRecord()
        self.faults = [0] * len(info.seats)
        self.session = Session(info.rules, seed, info.deals)
        self.watched = False
        """Whether spectators are to be told."""
        self._out = outlets
        self._deal: Deal | None = None
        self._opening: tuple[int, ...] = ()
        self._deal_faults: list[dict[str, object]] = []
        self._asks: dict[int, Ask] = {}
        self._sequences = [0] * len(info.seats)
        self._told = [0] * len(info.seats)
        self._shown = 0
        self._online = [False] * len(info.seats)
        self._limit = info.decision_ms / 1000

    # What happens to a table

    def start(self, now: float, online: list[bool]) -> None:
        """Begins the session; ``online`` says by seat which bots are connected."""
        self._online = list(online)
        for seat in range(len(self.info.seats)):
            self._out.send(seat, SessionStarted(self.info, seat, tuple(self.session.scores), False))
        if self.watched:
            self._out.show(SessionStarted(self.info, 0, tuple(self.session.scores), False))
        self._open_deal()
        self._go_on(now)

    def answer(self, seat: int, sequence: int, cards: int | Malformed, now: float) -> bool:
        """A seat's answer to a turn: a mask of cards, 0 for a pass, or why it could not be read.

        Gives whether the turn was still open; an answer to another one is ignored with a notice.
        """
        ask = self._asks.get(seat)
        if ask is None or ask.sequence != sequence or self._deal is None:
            text = f"turn {sequence} is over; the answer was ignored"
            self._out.send(seat, Notice(NoticeCode.STALE_MOVE, text, self.info.handle, sequence))
            return False
        if isinstance(cards, Malformed):
            self._fault(seat, ask, FaultKind.MALFORMED, cards, 0)
        else:
            try:
                self._deal.act(seat, cards)
            except PlayError as error:
                self._fault(seat, ask, FaultKind.ILLEGAL, str(error), cards)
        self._asks.pop(seat, None)
        self._go_on(now)
        return True

    def expire(self, now: float) -> None:
        """Acts for the seats whose time is up, and asks to be called again if others still owe an answer."""
        for seat, ask in sorted(self._asks.items()):
            if now < ask.deadline or self._asks.get(seat) is not ask:
                continue
            if self._online[seat]:
                self._fault(seat, ask, FaultKind.TIMEOUT, f"no answer within {self.info.decision_ms} ms", 0)
            else:
                self._fault(
                    seat, ask, FaultKind.DISCONNECT, "no answer in time: the bot was not connected", 0
                )
            self._asks.pop(seat, None)
            self._go_on(now)
        if self._asks:
            self._out.expect(min(ask.deadline for ask in self._asks.values()))

    def detach(self, seat: int, now: float) -> None:
        """The seat's bot lost its stream: the clock of what it owes starts now, if it was not running."""
        self._online[seat] = False
        ask = self._asks.get(seat)
        if ask is not None:
            ask.deadline = min(ask.deadline, now + self._limit)
            self._out.expect(ask.deadline)

    def attach(self, seat: int) -> None:
        """The seat's bot is back: tells it all that it needs to go on."""
        self._online[seat] = True
        self._told[seat] = 0
        self._out.send(seat, SessionStarted(self.info, seat, tuple(self.session.scores), True))
        if self._deal is not None:
            self._out.send(seat, DealStarted(self.info, seat, self._deal, self._opening))
        ask = self._asks.get(seat)
        if ask is not None:
            self._out.send(seat, TurnDue(self, seat, ask.sequence))

    def turn(self, seat: int, sequence: int, now: float) -> Turn | None:
        """The turn as it is sent now, which starts its clock; None if it is over."""
        ask = self._asks.get(seat)
        if ask is None or ask.sequence != sequence or self._deal is None:
            return None
        since, self._told[seat] = self._told[seat], log_length(self._deal)
        ask.deadline = min(ask.deadline, now + self._limit)
        return Turn(self.info, seat, sequence, ask.stage, self._deal, since)

    def forfeit(self, seat: int) -> None:
        """Ends the session by ``seat``'s forfeit."""
        if self._deal is None or self.over:
            return
        self._asks.clear()
        self._deal.forfeit(seat)
        self._close_deal()

    def void(self) -> None:
        """Ends the session without a result."""
        if self.over:
            return
        self._asks.clear()
        self._end(SessionEnd.VOID, (), -1)

    @property
    def actions(self) -> int:
        """Actions of the session so far."""
        return self.record.actions + (len(self._deal.log) if self._deal is not None else 0)

    def sights(self) -> list[Sight]:
        """What a spectator who comes now must be shown first."""
        first: list[Sight] = [SessionStarted(self.info, 0, tuple(self.session.scores), True)]
        if self._deal is not None:
            first.append(DealStarted(self.info, -1, self._deal, self._opening))
            first += [Seen(self.info, self._deal, index) for index in range(self._shown_now())]
        return first

    # How it goes on

    def _shown_now(self) -> int:
        if not self.watched and self._deal is not None:
            self._shown = len(self._deal.log)
        return self._shown

    def _open_deal(self) -> None:
        self._deal = deal = self.session.next_deal()
        self._opening = deal.opening
        self._deal_faults = []
        self._shown = 0
        for seat in range(len(self.info.seats)):
            self._told[seat] = 0
            self._out.send(seat, DealStarted(self.info, seat, deal, self._opening))
        if self.watched:
            self._out.show(DealStarted(self.info, -1, deal, self._opening))

    def _go_on(self, now: float) -> None:
        """Acts for seats without a choice, asks those with one, closes what is over."""
        while not self.over:
            deal = self._deal
            assert deal is not None
            if deal.over:
                self._close_deal()
                if not self.over:
                    self._open_deal()
            elif not self._ask_or_act(deal, now):
                break
        if self.watched and not self.over:
            self._show_actions()

    def _ask_or_act(self, deal: Deal, now: float) -> bool:
        """Gives whether a seat without a choice was acted for, so that others may have to be asked now."""
        for seat in deal.asked():
            if seat in self._asks:
                continue
            if deal.forced(seat):
                deal.act(seat, deal.default(seat))
                return True
            self._sequences[seat] += 1
            sequence = self._sequences[seat]
            grace = UNSENT_GRACE if self._online[seat] else 0.0
            self._asks[seat] = Ask(sequence, deal.stage, now + self._limit + grace)
            self._out.expect(now + self._limit)
            self._out.send(seat, TurnDue(self, seat, sequence))
        return False

    def _fault(self, seat: int, ask: Ask, kind: FaultKind, reason: str, answered: int) -> None:
        deal = self._deal
        assert deal is not None
        self.faults[seat] += 1
        fault: dict[str, object] = {"action": len(deal.log), "seat": seat, "kind": kind.value}
        if ask.stage in (Stage.EXCHANGE, Stage.BOMBS):
            fault["turn"] = "exchange" if ask.stage is Stage.EXCHANGE else "bomb"
        self._deal_faults.append(fault)
        hand, to_beat, default = deal.hands[seat], deal.to_beat & self.info.rules.full, deal.default(seat)
        forfeit = self.faults[seat] >= self.info.fault_limit
        if forfeit:
            self._asks.clear()
            deal.forfeit(seat)
        else:
            deal.act(seat, default)
        self._out.send(
            seat,
            Fault(
                self.info,
                seat,
                ask.sequence,
                kind,
                reason,
                hand,
                to_beat,
                answered,
                default,
                self.faults[seat],
            ),
        )

    def _close_deal(self) -> None:
        deal = self._deal
        assert deal is not None
        if self.watched:
            self._show_actions()
        self.session.close_deal()
        self.record.records.append(
            json.dumps(deal_record(deal, faults=self._deal_faults), separators=(",", ":"))
        )
        self.record.actions += len(deal.log)
        scores = tuple(self.session.scores)
        for seat in range(len(self.info.seats)):
            self._out.send(seat, DealEnded(self.info, seat, deal, self._told[seat], scores))
        if self.watched:
            self._out.show(DealEnded(self.info, -1, deal, log_length(deal), scores))
        self._deal = None
        if self.session.over:
            forfeited_by = self.session.forfeited_by
            if forfeited_by is None:
                self._end(SessionEnd.PLAYED, scores, -1)
            else:
                self._end(SessionEnd.FORFEIT, scores, forfeited_by)

    def _show_actions(self) -> None:
        deal = self._deal
        assert deal is not None
        while self._shown < len(deal.log):
            self._out.show(Seen(self.info, deal, self._shown))
            self._shown += 1

    def _end(self, reason: SessionEnd, scores: tuple[int, ...], forfeited_by: int) -> None:
        self.over = True
        self.end = reason
        ended = SessionEnded(self.info, scores, reason, forfeited_by)
        for seat in range(len(self.info.seats)):
            self._out.send(seat, ended)
        if self.watched:
            self._out.show(ended)
        self._out.finished()
