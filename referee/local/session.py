"""One session played by bots in this process: the referee's own table, without a network or alarms.

A bot is asked and answers, then the next one is asked. No bot is stopped for thinking too long: the time of
each decision is noted, so that it can be compared with a limit afterwards.
"""

import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import NamedTuple, TypeAlias

from referee.bot.bots import Bot
from referee.bot.ended import EndedDeal, EndedSession, ended_deal, ended_session
from referee.bot.failing import first_of, in_one_line, own_calls
from referee.bot.seat import Seat
from referee.local.tally import Failure, Fault, Played
from referee.local.view import LocalView, turn_of
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
from referee.rules.plays import Rules

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
