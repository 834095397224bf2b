"""A table: one session, its seats, clocks and faults. Sans-I/O: answers go in, messages and deadlines out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.deals.deal import NOBODY, Deal, Stage
from referee.deals.session import Session
from referee.errors import PlayError
from referee.matches.events import (
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
    log_length,
)
from referee.matches.outbox import Outbox
from referee.matches.place import Place
from referee.records.record import deal_json

UNSENT_GRACE = 2.0
"""Seconds by which a turn may wait for its stream beyond the decision limit: it bounds how long a stream that
does not take its messages can keep a table waiting."""


INFINITY = float("inf")
LATE_KEPT = 64
"""Turns that ran out, for each seat, of which it is remembered when, to say how late an answer came."""


class Malformed(str):
    """Why an answer could not be read; stands in for the answer's cards."""

    __slots__ = ()


STUCK = ("takes no messages", "answers no ping")
"""What a stalled bot does not do: before and after the turn was handed to its stream."""


@dataclass(frozen=True, slots=True)
class Outlets:
    """Where a table's messages go."""

    send: Callable[[int, Event], None]
    """Seat and event, for the bot in that seat; turns go to its outbox."""
    probe: Callable[[int], None]
    """Ask the bot in that seat for a sign of life."""
    blame: Callable[[int, float | None], FaultKind | None]
    """Why the bot in that seat did not answer a turn that it got at that time (None: its stream did not take
    it yet): time-out, stall or disconnect; None when it is the referee that did not hand the turn out."""
    expect: Callable[[float], None]
    """Call ``expire`` at that time; a time given before, which is later, is forgotten."""
    show: Callable[[Sight], None]
    """For spectators."""
    finished: Callable[[], None]
    """The session is over; its result stands in the table."""


class Table:
    """Runs one session. All times are seconds of one monotonic clock, passed in."""

    # fmt: off
    __slots__ = (
        "_acts_for_forced", "_deal", "_deal_faults", "_encoded", "_has_bank", "_increment", "_limit",
        "_limit_ms", "_most_credit", "_opening", "_out", "_send", "_shown", "end", "expected", "info", "over",
        "places", "records", "session", "watched",
    )
    # fmt: on

    def __init__(self, info: SessionInfo, seed: bytes, outlets: Outlets) -> None:
        self.info = info
        bank = info.limits.bank_ms / 1000
        self.places: tuple[Place, ...] = tuple([Place(self, seat, bank) for seat in range(len(info.seats))])
        self.over = False
        self.end: SessionEnd | None = None
        self.records: list[str] = []
        """Lean deal records, one JSON object a deal."""
        self.session = Session(info.rules, seed, info.deals)
        self.expected = INFINITY
        """When ``expire`` is called next; whoever calls it sets this back."""
        self.watched = False
        """Whether spectators are to be told."""
        self._out = outlets
        self._send = outlets.send
        self._deal: Deal | None = None
        self._opening: tuple[int, ...] = ()
        self._deal_faults: list[dict[str, object]] = []
        self._encoded: list[bytes] = []
        self._shown = 0
        self._limit_ms = info.limits.decision_ms
        self._limit = self._limit_ms / 1000
        self._most_credit = info.limits.credit_ms / 1000
        self._acts_for_forced = not info.limits.ask_forced
        self._has_bank = info.limits.bank_ms > 0
        self._increment = info.limits.increment_ms / 1000

    # What happens to a table

    def start(self, now: float, outboxes: Sequence[Outbox | None]) -> None:
        """Begins the session; the outboxes are those of the seats' bots, None where one is not connected."""
        for place, outbox in zip(self.places, outboxes, strict=True):
            place.outbox = outbox
            self._send(place.seat, SessionStarted(self.info, place.seat, tuple(self.session.scores), False))
        if self.watched:
            self._out.show(SessionStarted(self.info, 0, tuple(self.session.scores), False))
        self._open_deal()
        self._go_on(now)

    def answer(self, seat: int, sequence: int, cards: int | Malformed, now: float) -> bool:
        """A seat's answer to a turn: a mask of cards, 0 for a pass, or why it could not be read.

        Gives whether the turn was still open; an answer to another one is ignored with a notice.
        """
        place = self.places[seat]
        turn = place.turn
        if turn is None or turn.sequence != sequence or self._deal is None:
            self._ignore(place, sequence, now)
            return False
        if isinstance(cards, Malformed):
            self._fault(place, turn, FaultKind.MALFORMED, cards, 0, now)
        else:
            try:
                self._deal.act(seat, cards)
            except PlayError as error:
                self._fault(place, turn, FaultKind.ILLEGAL, str(error), cards, now)
            else:
                if self._has_bank:
                    self._charge(place, turn, now)
        place.turn = None
        self._go_on(now)
        return True

    def expire(self, now: float) -> None:
        """Acts for the seats whose time is up, and asks to be called again if others still owe an answer.

        A bot that has used half of its time is asked for a sign of life, which tells later whether it was
        late or stuck.
        """
        for place, turn in [(place, place.turn) for place in self.places]:
            if turn is None or place.turn is not turn:
                continue
            if now >= turn.deadline:
                kind = self._out.blame(place.seat, turn.handed_at)
                if kind is None:
                    self.void()
                    return
                self._fault(place, turn, kind, self._why(turn, kind), 0, now)
                place.turn = None
                self._go_on(now)
            elif not turn.probed and now >= turn.deadline - turn.time / 2:
                turn.probed = True
                self._out.probe(place.seat)
        open_turns = self._open_turns()
        if open_turns:
            self._expect(min(map(_next_look, open_turns)))

    def flood(self, seat: int, now: float) -> None:
        """The seat's bot is cut off for flooding: what it owes is done for it."""
        place = self.places[seat]
        turn = place.turn
        if turn is not None:
            self._fault(place, turn, FaultKind.FLOOD, "the stream was closed for flooding", 0, now)
            place.turn = None
            self._go_on(now)

    def delay(self, seconds: float) -> None:
        """The referee was away for so long: no clock ran."""
        for turn in self._open_turns():
            turn.deadline += seconds
            if turn.handed_at is not None:
                turn.handed_at += seconds

    def detach(self, seat: int, now: float) -> None:
        """The seat's bot lost its stream: the clock of what it owes starts now, if it was not running."""
        place = self.places[seat]
        place.outbox = None
        turn = place.turn
        if turn is not None and turn.handed_at is None:
            turn.start(now, 0.0)
            self._expect(turn.deadline)

    def attach(self, seat: int, outbox: Outbox) -> None:
        """The seat's bot is back: tells it all that it needs to go on."""
        place = self.places[seat]
        place.outbox, place.told = outbox, 0
        self._send(seat, SessionStarted(self.info, seat, tuple(self.session.scores), True))
        if self._deal is not None:
            self._send(seat, DealStarted(self.info, seat, self._deal, self._opening))
        if place.turn is not None:
            outbox.put(place.turn)

    def hand_out(self, turn: Turn, now: float, credit: float = 0.0) -> bool:
        """Fills in what the bot is told of a turn that is handed to its stream now, which starts its clock.

        ``credit`` is the round trip of the stream in seconds. Gives whether the turn is still open; if it is
        not, it must not be sent.
        """
        place = self.places[turn.seat]
        if place.turn is not turn:
            return False
        deal = turn.deal
        turn.since = place.told
        place.told = len(deal.log) if deal.exchange is None else log_length(deal)
        if turn.handed_at is None:
            turn.start(now, credit if credit < self._most_credit else self._most_credit)
            turn.time_ms = round(turn.time * 1000) if self._has_bank else self._limit_ms
            if turn.deadline - turn.time / 2 < self.expected:  # seldom: it was expected when it was asked
                self._expect(_next_look(turn))
        else:  # the bot was away, and its clock ran on
            turn.time_ms = round(max(0.0, turn.deadline - turn.credit - now) * 1000)
        if self._has_bank:
            turn.bank_ms = round(place.bank * 1000)
        return True

    def forfeit(self, seat: int) -> None:
        """Ends the session by ``seat``'s forfeit."""
        if self._deal is None or self.over:
            return
        self._forget_turns()
        self._deal.forfeit(seat)
        self._close_deal()

    def void(self) -> None:
        """Ends the session without a result."""
        if self.over:
            return
        self._forget_turns()
        self._end(SessionEnd.VOID, (), -1)

    @property
    def faults(self) -> tuple[int, ...]:
        """How many faults each seat has made."""
        return tuple([place.faults for place in self.places])

    @property
    def decisions(self) -> int:
        """Turns asked in the session so far."""
        return sum([place.sequence for place in self.places])

    def sights(self) -> list[Sight]:
        """What a spectator who comes now must be shown first."""
        first: list[Sight] = [SessionStarted(self.info, 0, tuple(self.session.scores), True)]
        if self._deal is not None:
            first.append(DealStarted(self.info, -1, self._deal, self._opening))
            first += [Seen(self.info, self._deal, index) for index in range(self._shown_now())]
        return first

    # How it goes on

    def _open_turns(self) -> list[Turn]:
        return [place.turn for place in self.places if place.turn is not None]

    def _forget_turns(self) -> None:
        for place in self.places:
            place.turn = None

    def _shown_now(self) -> int:
        if not self.watched and self._deal is not None:
            self._shown = len(self._deal.log)
        return self._shown

    def _open_deal(self) -> None:
        self._deal = deal = self.session.next_deal()
        self._opening = deal.opening
        self._deal_faults = []
        self._encoded = []
        self._shown = 0
        for place in self.places:
            place.told = 0
            self._send(place.seat, DealStarted(self.info, place.seat, deal, self._opening))
        if self.watched:
            self._out.show(DealStarted(self.info, -1, deal, self._opening))

    def _go_on(self, now: float) -> None:
        """Acts for seats without a choice, asks those with one, closes what is over."""
        while not self.over:
            deal = self._deal
            assert deal is not None
            if self._acts_for_forced:
                deal.act_for_forced()
            if deal.over:
                self._close_deal()
                if not self.over:
                    self._open_deal()
                continue
            if deal.turn == NOBODY:  # bombs out of turn: all that may are asked, and none is forced
                for seat in deal.asked():
                    if self.places[seat].turn is None:
                        self._ask(deal, self.places[seat], now)
            else:
                place = self.places[deal.turn]
                if place.turn is None:
                    self._ask(deal, place, now)
            break
        if self.watched and not self.over:
            self._show_actions()

    def _ask(self, deal: Deal, place: Place, now: float) -> None:
        place.sequence = sequence = place.sequence + 1
        time = min(self._limit, place.bank) if self._has_bank else self._limit
        deadline = now + time + UNSENT_GRACE
        place.turn = turn = Turn(self.info, place.seat, sequence, deal, time, deadline, self._encoded)
        outbox = place.outbox
        if outbox is None:
            turn.start(now, 0.0)
        else:
            outbox.put(turn)
        when = now + time / 2
        if when < self.expected:
            self._expect(when)

    def _expect(self, when: float) -> None:
        """Has ``expire`` called no later than then."""
        if when < self.expected:
            self.expected = when
            self._out.expect(when)

    def _charge(self, place: Place, turn: Turn, now: float) -> None:
        """Takes a decision's time from the seat's bank, and adds the increment."""
        used = max(0.0, turn.elapsed(now) - turn.credit)
        place.bank = max(0.0, place.bank - used) + self._increment

    def _ignore(self, place: Place, sequence: int, now: float) -> None:
        """Tells a bot why its answer has no effect."""
        ran_out = place.late.get(sequence)
        if ran_out is not None:
            code = NoticeCode.STALE_MOVE
            text = f"turn {sequence} is over: the answer came {(now - ran_out) * 1000:.0f} ms after its time"
        elif 0 < sequence <= place.sequence:
            code = NoticeCode.REPEATED_MOVE
            text = f"turn {sequence} was answered already"
        else:
            code = NoticeCode.UNKNOWN_TURN
            text = f"turn {sequence} was not asked; the last one was {place.sequence}"
        self._send(place.seat, Notice(code, text, self.info.handle, sequence))

    def _why(self, turn: Turn, kind: FaultKind) -> str:
        within = f"no answer within {turn.time * 1000:.0f} ms"
        if turn.credit >= 0.001:
            within += f" and {turn.credit * 1000:.0f} ms for the network"
        if turn.time < self._limit:
            within += " (all that was left in the bank)"
        if kind is FaultKind.DISCONNECT:
            return f"{within}: the bot was not connected"
        if kind is FaultKind.STALL:
            return f"{within}: the bot is connected, but {STUCK[turn.handed_at is not None]}"
        return within

    def _fault(
        self, place: Place, turn: Turn, kind: FaultKind, reason: str, answered: int, now: float
    ) -> None:
        deal, seat = self._deal, place.seat
        assert deal is not None
        place.faults += 1
        if self._has_bank:
            self._charge(place, turn, now)
        if now >= turn.deadline:
            late = place.late
            late[turn.sequence] = turn.deadline
            if len(late) > LATE_KEPT:
                del late[next(iter(late))]
        at = len(deal.log)
        fault: dict[str, object] = {"action": at, "seat": seat, "kind": kind.value}
        if turn.stage in (Stage.EXCHANGE, Stage.BOMBS):
            fault["turn"] = "exchange" if turn.stage is Stage.EXCHANGE else "bomb"
        self._deal_faults.append(fault)
        hand, to_beat, default = deal.hands[seat], deal.to_beat & self.info.rules.full, deal.default(seat)
        if place.faults >= self.info.limits.faults:
            self._forget_turns()
            deal.forfeit(seat)
        else:
            deal.act(seat, default)
        self._send(
            seat,
            Fault(
                self.info,
                seat,
                turn.sequence,
                kind,
                reason,
                deal.number,
                at,
                turn.stage,
                hand,
                to_beat,
                answered,
                default,
                place.faults,
                round(turn.elapsed(now) * 1000),
                int(turn.credit * 1000),
            ),
        )

    def _close_deal(self) -> None:
        deal = self._deal
        assert deal is not None
        if self.watched:
            self._show_actions()
        self.session.close_deal()
        self.records.append(deal_json(deal, faults=self._deal_faults))
        scores = tuple(self.session.scores)
        for place in self.places:
            self._send(place.seat, DealEnded(self.info, place.seat, deal, place.told, scores, self._encoded))
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
            self._send(seat, ended)
        if self.watched:
            self._out.show(ended)
        self._out.finished()


def _next_look(turn: Turn) -> float:
    return turn.deadline if turn.probed else turn.deadline - turn.time / 2
