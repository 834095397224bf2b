"""One session played by bots in this process: the referee's own table, without a network or alarms.

A bot is asked and answers, then the next one is asked. No bot is stopped for thinking too long: the time of
each decision is noted, so that it can be compared with a limit afterwards. Bots see the session through views
that are updated from the deal rather than from messages.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from referee.bot.bots import Bot
from referee.bot.ended import EndedDeal, EndedSession, ended_deal, ended_session
from referee.bot.failing import first_of, in_one_line, own_calls
from referee.bot.seat import Seat
from referee.bot.turn import KIND_AT, Turn
from referee.bot.view import SessionView, Step, step_of
from referee.deals.action import Entry
from referee.deals.deal import Deal
from referee.local.tally import Failure, Fault, Played
from referee.matches import events
from referee.matches.events import (
    DealEnded,
    DealStarted,
    Event,
    Malformed,
    SessionEnded,
    SessionInfo,
    log_length,
)
from referee.matches.kinds import FaultKind, SessionEnd
from referee.matches.outbox import TurnQueue
from referee.matches.seat import NoAlarms
from referee.matches.table import Table
from referee.memo import Memo
from referee.protocol.wire import exchange_steps
from referee.rules.plays import Rules

Given: TypeAlias = tuple[int, int, int]
"""A step of an exchange: giver, taker and the mask of the card."""


class LocalView(SessionView):
    """One session as a bot in this process sees it."""

    __slots__ = ()

    def __init__(self, info: SessionInfo, seat: int) -> None:
        scores = (0,) * len(info.seats)
        super().__init__(info.rules, info.session_id, info.tournament, info.seats, seat, info.deals, scores)
        self._step: Any = _steps(info.rules, seat).__getitem__

    def deal_begins(self, deal: Deal) -> None:
        """Take in the start of a deal."""
        hands = begun(deal)
        counts = [hand.bit_count() for hand in hands]
        leftover = deal.rules.joined(deal.undealt) if deal.rules.ruleset.leftover_shown else 0
        self.begin(
            deal.number,
            hands[self.seat],
            counts,
            dealer=deal.dealer,
            clockwise=deal.step > 0,
            shown=leftover,
        )

    def catch_up(self, deal: Deal, since: int) -> None:
        """Take in what happened in a deal after ``since`` steps; see ``log_length``."""
        if deal.exchange is None:
            log: Any = deal.log[since:] if since else deal.log
        else:
            log = [*_whole_log(deal)][since:]
        self.happened(log)


def begun(deal: Deal) -> tuple[int, ...]:
    """Return the hands with which a deal began, before an exchange, as masks by seat."""
    return tuple(deal.start if deal.exchange is None else deal.opening)


def turn_of(view: LocalView, turn: events.Turn) -> Turn:
    """Return a turn of the referee's table as its bot sees it."""
    deal, seat = turn.deal, turn.seat
    constraints, can_pass = deal.constraints(seat), deal.can_pass(seat)
    return Turn(view, KIND_AT[turn.stage], constraints, can_pass, turn.time_ms, turn.bank_ms or None)


def _whole_log(deal: Deal) -> Iterator[Entry | Given]:
    yield from exchange_steps(deal)
    yield from deal.log


@lru_cache(maxsize=256)
def _steps(rules: Rules, seat: int) -> Memo[Entry | Given, Step]:
    """Return a cache of the steps of deals as a seat may see them."""
    return Memo(
        lambda entry: (
            _exchange_step(rules, seat, entry) if len(entry) == 3 else _action_step(rules, seat, entry)
        )
    )


def _action_step(rules: Rules, seat: int, entry: Entry) -> Step:
    """Return an action as a seat sees it: what others drew is hidden from it."""
    actor, played, drawn, out_of_turn = entry
    kind = ("bomb" if out_of_turn else "play") if played else "pass"
    return step_of(rules, actor, kind, played, drawn.bit_count(), drawn_cards=drawn if actor == seat else 0)


def _exchange_step(rules: Rules, seat: int, gift: Given) -> Step:
    """Return a step of an exchange as a seat sees it: the card only if it gives or takes it."""
    giver, taker, card = gift
    return step_of(rules, giver, "exchange", card if seat in (giver, taker) else 0, 0, taker=taker)


TRACE_LINES = 12
"""How many of the last lines of a traceback are kept."""

CHOOSE = "choose"
"""Stands for all methods of a bot that decide."""

Entering: TypeAlias = Callable[[int, str, int, int, int], None]
"""Called before the code of a bot runs, with its seat, the method, the number of the deal (0: none yet), and,
for a decision, with the masks of the hand and of the play to beat."""


class Seated(NamedTuple):
    """A bot and the context in which its code runs."""

    bot: Bot
    at_home: Callable[[], AbstractContextManager[None]] = nullcontext
    """Return the context that its code needs around it."""


class LocalSession(NoAlarms):
    """Plays one session, and provides what the table needs from outside."""

    def __init__(
        self,
        info: SessionInfo,
        seed: bytes,
        bots: Sequence[Seated],
        entering: Entering = lambda *_code: None,
    ) -> None:
        """Prepare a session; ``entering`` is called before the code of a bot."""
        self._info = info
        self._entering = entering
        self._bots = bots
        self._views = [LocalView(info, seat) for seat in range(len(bots))]
        self._seats: list[Seat] = []
        self._table = Table(info, seed, self)
        self._faults: list[Fault] = []
        self._failures: list[Failure] = []
        self._spent: list[list[float]] = [[] for _ in bots]

    def play(self) -> Played:
        """Play the session to its end."""
        for seat, (seated, view) in enumerate(zip(self._bots, self._views, strict=True)):
            self._entering(seat, "__init__", 0, 0, 0)
            with seated.at_home():
                self._seats.append(Seat(seated.bot, view))
        table, queue = self._table, TurnQueue()
        table.start(perf_counter(), [queue] * len(self._bots))
        while not table.over:
            turn = queue.turns.popleft()
            if table.hand_out(turn, perf_counter()):
                cards, now = self._decide(turn)
                table.answer(turn.seat, turn.sequence, cards, now)
        if table.end is SessionEnd.VOID:
            raise RuntimeError("a local session cannot be void")
        return Played(table.result, self._spent, self._faults, self._failures)

    def _decide(self, event: events.Turn) -> tuple[int | Malformed, float]:
        """Return a bot's answer, and when it came."""
        index = event.seat
        view = self._views[index]
        view.catch_up(event.deal, event.since)
        turn, deal = turn_of(view, event), event.deal
        full = view.rules.full
        self._entering(index, CHOOSE, deal.number, deal.hands[index] & full, deal.to_beat & full)
        cards: int | Malformed
        begun = perf_counter()
        try:
            with self._bots[index].at_home():
                cards = self._seats[index].decide(turn)
        except (Exception, SystemExit) as error:
            now = perf_counter()
            self._fail(index, error, str(turn))
            cards = Malformed(in_one_line(error), FaultKind.EXCEPTION)
        else:
            now = perf_counter()
        self._spent[index].append(now - begun)
        return cards, now

    def _fail(self, seat: int, error: BaseException, where: str) -> None:
        self._failures.append(failure(seat, error, where))

    # What the table tells

    def send(self, seat: int, event: Event) -> None:
        """Take in an event for a seat."""
        match event:
            case DealStarted():
                self._views[seat].deal_begins(event.deal)
            case DealEnded():
                self._deal_ended(seat, event)
            case SessionEnded():
                end, faults, forfeits = event.reason.value, event.faults, event.forfeits
                ended = ended_session(self._views[seat], end, event.scores, faults, forfeits)
                self._tell(seat, "session_ended", lambda: ended)
            case events.Fault():
                text = _reason(self._views[seat], event)
                self._faults.append(Fault(seat, event.kind.value, text, event.reason))

    def _deal_ended(self, seat: int, event: DealEnded) -> None:
        view = self._views[seat]
        if event.since < log_length(event.deal):
            view.catch_up(event.deal, event.since)
        view.scores = event.scores
        deal, text = event.deal, view.rules.text
        self._tell(
            seat,
            "deal_ended",
            lambda: ended_deal(
                view,
                hands=map(text, deal.dealt),
                left=map(text, deal.left),
                out=deal.out,
                end=deal.end,
                points=deal.points,
            ),
        )

    def _tell(self, seat: int, hook: str, value: Callable[[], EndedDeal | EndedSession]) -> None:
        """Call a method of the bot, if it has one of this name."""
        method = getattr(self._bots[seat].bot, hook, None)
        if method is None:
            return
        self._entering(seat, hook, self._views[seat].deal, 0, 0)
        try:
            with self._bots[seat].at_home():
                self._seats[seat].tell(hook, value())
        except (Exception, SystemExit) as error:
            self._fail(seat, error, f"in {hook}, {self._info.session_id}")


def failure(seat: int, error: BaseException, where: str) -> Failure:
    """Describe an exception, without the calls of the SDK."""
    error = first_of(error)
    kind = type(error).__name__
    calls = traceback.extract_tb(own_calls(error))
    lines = [line for text in traceback.format_list(calls) for line in text.splitlines()]
    lines += "".join(traceback.format_exception_only(error)).splitlines()
    said = " ".join(str(error).split())
    return Failure(
        seat,
        f"{kind}: {said}; {where}" if said else f"{kind}; {where}",
        tuple(lines[-TRACE_LINES:]),
        " ".join([kind, *(f"{call.filename}:{call.lineno}" for call in calls)]),
    )


def _reason(view: LocalView, fault: events.Fault) -> str:
    """Describe a fault, with the position."""
    text = view.rules.text
    return (
        f"{view.session_id} deal {fault.deal}: {fault.kind.value}: {fault.reason}; "
        f"{cards_text(view.rules, fault.hand, fault.to_beat)}, "
        f"answered {text(fault.answered) or 'a pass'}, played {text(fault.default) or 'a pass'}"
    )


def cards_text(rules: Rules, hand: int, to_beat: int) -> str:
    """Describe the cards of a position, which are masks."""
    return f"holding {rules.text(hand)}" + (f", to beat {rules.text(to_beat)}" if to_beat else "")
