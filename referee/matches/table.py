"""A table: one session, its seats, clocks and faults. No I/O: answers go in, messages and deadlines out."""

from collections.abc import Mapping, Sequence
from typing import Literal

from referee.deals.action import Forfeit
from referee.deals.deal import NOBODY, Deal, Stage
from referee.deals.session import Session
from referee.errors import PlayError
from referee.matches.clock import TimeControl
from referee.matches.events import (
    DealEnded,
    DealStarted,
    Encodings,
    Fault,
    Malformed,
    Notice,
    SeatForfeited,
    Seen,
    SessionEnded,
    SessionInfo,
    SessionStarted,
    Sight,
    Turn,
    log_length,
)
from referee.matches.kinds import FaultKind, SessionEnd
from referee.matches.match import Finished, SessionResult, Signed
from referee.matches.outbox import Outbox
from referee.matches.seat import Forfeits, Seat, TableEvents
from referee.records.record import MEASURABLE, Times, deal_json, deal_text, measured_json
from referee.records.results import NO_DEALS, Result, add_deal, deal_as_shown, measured_digest

INFINITY = float("inf")
_PLAY = Stage.PLAY
HELD_LOOK_SECONDS = 0.02
"""How often a turn that ran out is looked at while it is in doubt who is to blame."""


class Table:
    """Runs one session. All times are seconds of one monotonic clock, passed in."""

    # fmt: off
    __slots__ = (
        "_deal", "_deal_faults", "_encodings", "_has_bank", "_limit_ms", "_most_credit", "_next_step",
        "_opening", "_records_sent", "_send", "_times", "_why", "bank_ms", "deals_digest", "end",
        "events", "expected", "forfeits", "info", "over", "records", "seats", "session", "signed",
        "watched",
    )
    # fmt: on

    def __init__(self, info: SessionInfo, seed: bytes, events: TableEvents) -> None:
        self.info = info
        control = TimeControl.of(info.limits)
        self.seats = tuple([Seat(self, index, control) for index in range(len(info.seats))])
        self.over = False
        self.end: SessionEnd | None = None
        self.records: list[str] = []
        """Lean records of the deals of this attempt, one JSON object a deal."""
        self.deals_digest = NO_DEALS
        """Digest of all finished deals, including those of earlier attempts."""
        self.signed: Signed | None = None
        """The session's signed result; None before its end, and if it is void."""
        self._records_sent = 0
        """How many of the records the worker has been sent while the session is open."""
        self.forfeits = Forfeits(info.limits, len(info.seats))
        self.bank_ms: tuple[int, ...] = ()
        """What was left in the seats' banks after the last deal; empty without banks."""
        self.session = Session(info.rules, seed, info.deals, info.attempt)
        self.expected = INFINITY
        """When ``expire`` is called next; the caller resets it."""
        self.watched = False
        """Whether there are spectators to tell."""
        self.events = events
        self._send = events.send
        self._deal: Deal | None = None
        self._opening: tuple[int, ...] = ()
        self._deal_faults: list[dict[str, object]] = []
        self._times = Times()
        self._why: Mapping[str, Sequence[int]] = {}
        self._encodings = Encodings()
        self._next_step = 0
        self._has_bank = control.bank > 0
        self._limit_ms = info.limits.decision_ms
        self._most_credit = control.credit

    # What happens to a table

    def go_on(self, finished: Finished) -> None:
        """Let the session, which has not begun, continue after deals of earlier attempts."""
        self.session.go_on(finished.last, finished.scores)
        self.bank_ms, self.deals_digest = finished.bank_ms, finished.deals_digest
        for seat, faults in zip(self.seats, finished.faults, strict=True):
            seat.faults = faults
        self.forfeits.add(*finished.forfeits)
        if self._has_bank:
            for seat, left in zip(self.seats, finished.bank_ms, strict=False):
                seat.clock.bank = left / 1000

    def start(self, now: float, outboxes: Sequence[Outbox | None], absent: Sequence[int] = ()) -> None:
        """Begin the session; ``outboxes`` has those of the seats' bots, None for one that is not connected.

        The bots of the ``absent`` seats forfeit it, and it goes on without them.
        """
        for seat, outbox in zip(self.seats, outboxes, strict=True):
            seat.outbox = outbox
            self._send(seat.index, self._started(seat.index, resumed=False))
        if self.watched:
            self.events.show(self._started(-1, resumed=False))
        for forfeit in self.forfeits.all:
            self._tell(SeatForfeited(self.info, forfeit))
        self._open_deal()
        for index in absent:
            if index not in self.forfeits.seats:
                self._leave(index, "absent")
        self._go_on(now)

    def answer(self, index: int, sequence: int, cards: int | Malformed, now: float) -> bool:
        """Take a seat's answer to a turn: a mask of cards, 0 for a pass, or why the answer could not be read.

        Return whether the turn was still open; an answer to another one is ignored with a notice.
        """
        seat = self.seats[index]
        turn = seat.turn
        if turn is None or turn.sequence != sequence:
            code, text = seat.ignored(sequence, now)
            self._send(index, Notice(code, text, self.info.handle, sequence))
            return False
        if isinstance(cards, Malformed):
            self._fault(seat, turn, cards.kind, cards.reason, now)
        else:
            deal = turn.deal
            at, stage = len(deal.log), deal.stage
            try:
                deal.act(index, cards)
            except PlayError as error:
                self._fault(seat, turn, FaultKind.ILLEGAL, str(error), now, cards)
            else:
                times, spent = self._times, seat.clock.settle(now)
                if stage is not _PLAY:
                    times.note(at, index, stage, spent, seat.clock.credit)
                else:  # the same, without a call
                    times.ms[at] = spent * 1000
                    if turn.credit_ms:
                        times.credits_ms[at] = turn.credit_ms
        seat.turn = None
        self._go_on(now)
        return True

    def expire(self, now: float) -> None:
        """Act for the seats whose time is up, and set the next alarm if others still owe an answer.

        A bot that has used half of its time is asked for a sign of life, which shows later whether it was
        late or stuck. While the arena's own network may be what is silent, nobody is blamed.
        """
        for seat, turn in [(seat, seat.turn) for seat in self.seats]:
            if turn is None or seat.turn is not turn:
                continue
            clock = seat.clock
            if now >= clock.deadline:
                if self.events.in_doubt(seat.index, clock.deadline, now):
                    seat.hold(turn)
                    continue
                kind = self.events.blame(seat.index, clock.handed_at, now)
                if kind is None:
                    self.void()
                    return
                ran_out_at = clock.deadline if seat.release() else now
                self._fault(seat, turn, kind, seat.why(kind), ran_out_at)
                seat.turn = None
                self._go_on(now)
            elif now >= clock.look:
                clock.looked()
                self.events.probe(seat.index)
        looks = [seat.clock.look for seat in self.seats if seat.turn is not None]
        if looks:
            soonest = min(looks)
            self._expect(soonest if soonest > now else now + HELD_LOOK_SECONDS)

    def flood(self, index: int, now: float) -> None:
        """Act for a seat whose bot is cut off for flooding, if it owes a decision."""
        seat = self.seats[index]
        turn = seat.turn
        if turn is not None:
            seat.release()
            self._fault(seat, turn, FaultKind.FLOOD, "the stream was closed for flooding", now)
            seat.turn = None
            self._go_on(now)

    def delay(self, seconds: float) -> None:
        """Set all clocks back because the referee was away for ``seconds``."""
        for seat in self.seats:
            if seat.turn is not None:
                seat.clock.delay(seconds)
                seat.release()

    def detach(self, index: int, now: float) -> None:
        """Note that a seat's bot lost its stream: the clock of an open turn starts now, if not before."""
        seat = self.seats[index]
        seat.outbox = None
        if seat.turn is not None and seat.clock.handed_at is None:
            seat.clock.start(now)
            self._expect(seat.clock.deadline)

    def attach(self, index: int, outbox: Outbox) -> None:
        """Tell a seat's bot, which is back, all that it needs to go on."""
        seat = self.seats[index]
        seat.outbox, seat.log_sent = outbox, 0
        self._send(index, self._started(index, resumed=True))
        for forfeit in self.forfeits.all:
            self._send(index, SeatForfeited(self.info, forfeit))
        if self._deal is not None:
            self._send(index, DealStarted(self.info, index, self._deal, self._opening, self._encodings))
        if seat.turn is not None:
            seat.release()
            outbox.put(seat.turn)

    def hand_out(self, turn: Turn, now: float, credit: float = 0.0) -> bool:
        """Fill in what the bot is told of a turn that is handed to its stream now, and start its clock.

        ``credit`` is the round trip of the stream in seconds. Return whether the turn is still open; if not,
        it must not be sent.
        """
        seat = self.seats[turn.seat]
        if seat.turn is not turn:
            return False
        deal, clock = turn.deal, seat.clock
        turn.since = seat.log_sent
        seat.log_sent = len(deal.log) if deal.exchange is None else log_length(deal)
        if clock.handed_at is None:
            if credit > self._most_credit:
                credit = self._most_credit
            clock.handed_at, clock.credit = now, credit  # as ``start``, without a call
            if now + clock.time / 2 < self.expected:  # seldom: it was expected when it was asked
                self._expect(clock.look)
            turn.time_ms = self._limit_ms if not self._has_bank else round(clock.time * 1000)
        else:  # the bot was away, and its clock ran on
            credit = clock.credit
            turn.time_ms = round(clock.left(now) * 1000)
        if credit >= MEASURABLE:
            turn.credit_ms = int(credit * 1000)
        if self._has_bank:
            turn.bank_ms = round(clock.bank * 1000)
        return True

    def forfeit(self, seat: int, why: Mapping[str, Sequence[int]]) -> None:
        """End the session by ``seat``'s forfeit; ``why`` has the fields that say why in the record."""
        if self._deal is None or self.over:
            return
        self._why = why
        self._forget_turns()
        self._deal.forfeit(seat)
        self._close_deal()

    def void(self) -> None:
        """End the session without a result."""
        if self.over:
            return
        self._forget_turns()
        self._end(SessionEnd.VOID, (), -1)

    def take_records(self) -> tuple[str, ...]:
        """Return the records since the last call."""
        sent, self._records_sent = self._records_sent, len(self.records)
        return tuple(self.records[sent:])

    @property
    def faults(self) -> tuple[int, ...]:
        """How many faults each seat has made."""
        return tuple([seat.faults for seat in self.seats])

    @property
    def forfeited(self) -> tuple[int, ...]:
        """The seats whose bots have forfeited the session, by number."""
        seats = self.forfeits.seats
        if self.session.forfeited_by is not None:
            seats |= {self.session.forfeited_by, *self._why.get("absent", ())}
        return tuple(sorted(seats))

    @property
    def result(self) -> SessionResult:
        """The result of the session, which is over and not void."""
        return SessionResult(
            number=self.info.number,
            points=tuple(self.session.scores),
            forfeit=self.session.forfeited_by,
            records=tuple(self.records),
            faults=self.faults,
            signed=self.signed,
            forfeits=self.forfeited,
        )

    @property
    def decisions(self) -> int:
        """How many turns were asked in the session so far."""
        return sum([seat.sequence for seat in self.seats])

    def sights(self) -> list[Sight]:
        """Return what a spectator who joins now must be shown first."""
        first: list[Sight] = [self._started(-1, resumed=True)]
        first += [SeatForfeited(self.info, forfeit) for forfeit in self.forfeits.all]
        if self._deal is not None:
            first.append(DealStarted(self.info, -1, self._deal, self._opening, self._encodings))
            first += [Seen(self.info, self._deal, index) for index in range(self._mark_shown())]
        return first

    # How it goes on

    def _started(self, seat: int, *, resumed: bool) -> SessionStarted:
        scores = tuple(self.session.scores)
        return SessionStarted(self.info, seat, scores, resumed, self.deals_digest)

    def _forget_turns(self) -> None:
        for seat in self.seats:
            seat.turn = None

    def _mark_shown(self) -> int:
        if not self.watched and self._deal is not None:
            self._next_step = len(self._deal.log)
        return self._next_step

    def _open_deal(self) -> None:
        self._deal = deal = self.session.next_deal()
        self._opening = deal.opening
        self._deal_faults = []
        self._times = Times()
        self._encodings = encodings = Encodings()
        self._next_step = 0
        for seat in self.seats:
            seat.log_sent = 0
            self._send(seat.index, DealStarted(self.info, seat.index, deal, self._opening, encodings))
        if self.watched:
            self.events.show(DealStarted(self.info, -1, deal, self._opening, encodings))

    def _go_on(self, now: float) -> None:
        """Act for seats without a choice, ask those with one, and close what is over."""
        while not self.over:
            deal = self._deal
            assert deal is not None
            act = self.forfeits.act
            if act is not None:
                act(deal)
            in_turn = deal.turn
            if in_turn != NOBODY:
                seat = self.seats[in_turn]
                if seat.turn is None:
                    self._ask(deal, seat, now)
                break
            if not deal.over:  # bombs out of turn: all that may bomb are asked, and none is forced
                for index in deal.owing():
                    if self.seats[index].turn is None:
                        self._ask(deal, self.seats[index], now)
                break
            self._close_deal()
            if not self.over:
                self._open_deal()
        if self.watched and not self.over:
            self._show_actions()

    def _ask(self, deal: Deal, seat: Seat, now: float) -> None:
        seat.sequence = sequence = seat.sequence + 1
        clock = seat.clock
        if self._has_bank:
            clock.ask(now)
        else:  # the same, without a call
            clock.asked_at, clock.handed_at, clock.credit = now, None, 0.0
        seat.turn = turn = Turn(self.info, seat.index, sequence, deal, self._encodings)
        outbox = seat.outbox
        if outbox is None:
            clock.start(now)
        else:
            outbox.put(turn)
        if now + clock.time / 2 < self.expected:  # it must be looked at then, if it is handed out at once
            self._expect(now + clock.time / 2)

    def _expect(self, when: float) -> None:
        """Make sure that ``expire`` is called no later than ``when``."""
        if when < self.expected:
            self.expected = when
            self.events.expect(when)

    def _fault(
        self, seat: Seat, turn: Turn, kind: FaultKind, reason: str, now: float, answered: int = 0
    ) -> None:
        """Note a fault, tell the bot, and take the default action; the fault may forfeit the session."""
        deal, clock = self._deal, seat.clock
        assert deal is not None
        seat.faults += 1
        spent = clock.settle(now)
        self._times.note(len(deal.log), seat.index, turn.stage, spent, clock.credit)
        if now >= clock.deadline:
            seat.note_late(turn.sequence, clock.deadline)
        fault = Fault(
            info=self.info,
            seat=seat.index,
            sequence=turn.sequence,
            kind=kind,
            reason=reason,
            deal=deal.number,
            action=len(deal.log),
            stage=turn.stage,
            hand=deal.hands[seat.index],
            to_beat=deal.to_beat & self.info.rules.full,
            answered=answered,
            default=deal.default(seat.index),
            faults=seat.faults,
            elapsed_ms=round(spent * 1000),
            credit_ms=int(clock.credit * 1000),
        )
        self._deal_faults.append(fault.recorded())
        forfeits = seat.faults >= self.info.limits.faults
        goes_on = not forfeits or self.forfeits.goes_on_without((seat.index,))
        self._send(seat.index, fault)
        if forfeits and goes_on:
            self._leave(seat.index, "faults")
        if goes_on:
            deal.act(seat.index, fault.default)
        else:
            self._forget_turns()
            deal.forfeit(seat.index)

    def _leave(self, seat: int, why: Literal["absent", "faults"]) -> None:
        """Note that a bot forfeits the session, which goes on without it."""
        deal = self._deal
        assert deal is not None
        forfeit = Forfeit(seat, deal.number, len(deal.log), why)
        self.forfeits.add(forfeit)
        self._tell(SeatForfeited(self.info, forfeit))

    def _tell(self, event: SeatForfeited) -> None:
        """Tell all bots and spectators."""
        for seat in self.seats:
            self._send(seat.index, event)
        if self.watched:
            self.events.show(event)

    def _close_deal(self) -> None:
        deal = self._deal
        assert deal is not None
        if self.watched:
            self._show_actions()
        self.session.close_deal()
        text = deal_text(deal)
        measured = measured_json(
            len(deal.log),
            faults=self._deal_faults,
            times=self._times,
            why=self._why,
            played_for=self.forfeits.recorded(),
        )
        digest = measured_digest(measured)
        self.records.append(deal_json(deal, measured=measured, attempt=self.info.attempt, text=text))
        self.deals_digest = add_deal(self.deals_digest, deal_as_shown(deal, text, digest))
        if self._has_bank:
            self.bank_ms = tuple([int(seat.clock.bank * 1000) for seat in self.seats])
        info, scores, encodings = self.info, tuple(self.session.scores), self._encodings
        for seat in self.seats:
            ended = DealEnded(info, seat.index, deal, seat.log_sent, scores, encodings, digest)
            self._send(seat.index, ended)
        if self.watched:
            self.events.show(DealEnded(info, -1, deal, log_length(deal), scores, encodings, digest))
        self._deal = None
        if self.session.over:
            forfeited_by = self.session.forfeited_by
            if forfeited_by is None:
                self._end(SessionEnd.PLAYED, scores, -1)
            else:
                self._end(SessionEnd.FORFEIT, scores, forfeited_by)

    def _result(self) -> Result:
        """Return the result of the session, which is over."""
        info, session = self.info, self.session
        return Result(
            commitment=info.commitment,
            session=info.session_id,
            attempt=info.attempt,
            seats=info.seats,
            points=session.scores,
            faults=self.faults,
            forfeits=self.forfeited,
            deals=self.deals_digest,
        )

    def _show_actions(self) -> None:
        deal = self._deal
        assert deal is not None
        while self._next_step < len(deal.log):
            self.events.show(Seen(self.info, deal, self._next_step))
            self._next_step += 1

    def _end(self, reason: SessionEnd, scores: tuple[int, ...], forfeited_by: int) -> None:
        self.over = True
        self.end = reason
        ended = SessionEnded(self.info, scores, reason, forfeited_by)
        if reason is not SessionEnd.VOID:
            self.signed = signed = self.events.sign(self._result().digest)
            ended = ended._replace(faults=self.faults, forfeits=self.forfeited, signed=signed)
        for seat in range(len(self.info.seats)):
            self._send(seat, ended)
        if self.watched:
            self.events.show(ended)
        self.events.finished()
