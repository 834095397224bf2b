"""A recorded deal as one of its bots saw it: asked again, without clocks, and priced by playouts."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any, Protocol

from referee.bot.bots import Bot
from referee.bot.seat import Seat
from referee.bot.turn import Turn
from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.errors import PositionError, RecordError
from referee.local.programs import slug
from referee.local.sequential import Sums
from referee.local.session import LocalView, failure, turn_of
from referee.matches import events
from referee.matches.events import Encodings, SessionInfo, log_length
from referee.matches.match import Limits
from referee.records.reading import DealLine, Record, read_record
from referee.records.record import parse_action
from referee.records.replay import carry_out, start
from referee.sage.sage import Sage

UNLIMITED_MS = 3_600_000
"""The time limit that a bot is told; nobody enforces it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A turn that a bot was asked for, and what it did."""

    number: int
    """The number of the action in its deal, from 1."""
    event: events.Turn
    turn: Turn
    """The turn as the SDK shows it; valid until the next decision is taken."""
    cards: int
    """What was played, as a mask; 0 for a pass."""


class Replayed:
    """A recorded deal, and the seat of a bot in it. Raise RecordError for a wrong record."""

    def __init__(self, record: Mapping[str, Any], seat: int, decision_ms: int = UNLIMITED_MS) -> None:
        self.record: Record = read_record(record)
        if seat not in range(len(self.record.seats)):
            raise RecordError(None, f"seat {seat}: must be below {len(self.record.seats)}")
        self.seat = seat
        self._decision_ms = decision_ms
        self._asked_at = _asked_at(record)
        self.info = SessionInfo(
            handle=1,
            session_id=f"{self.record.tournament}/{self.record.round}/{self.record.table}/{self.record.session}",
            number=self.record.session,
            tournament=self.record.tournament,
            ruleset=json.dumps(record["ruleset"]),
            rules=self.record.rules,
            seats=tuple(self.record.seats),
            deals=self.record.deal,
            commitment="",
            limits=Limits(decision_ms=decision_ms, credit_ms=0),
        )
        self.view = LocalView(self.info, seat)

    def begin(self) -> Deal:
        """Return the deal before its first action."""
        return start(self.record, None)

    def decisions(self) -> Iterator[Decision]:
        """Yield the turns that the seat was asked for, and what it did."""
        deal, view = self.begin(), self.view
        view.deal_begins(deal)
        length = 0
        for index, text in enumerate(self.record.actions):
            action = _parse_at(deal, index, text)
            if action.seat == self.seat and self._was_asked(deal, index):
                state = deal if action.out_of_turn else _in_turn(deal)
                view.catch_up(state, length)
                since, length = length, log_length(state)
                turn = events.Turn(self.info, self.seat, index + 1, state, Encodings())
                turn.since, turn.time_ms = since, self._decision_ms
                yield Decision(index + 1, turn, turn_of(view, turn), action.cards)
            carry_out(deal, index, text)

    def _was_asked(self, deal: Deal, index: int) -> bool:
        """Return whether the seat was asked for the action of this index, rather than having no choice."""
        if self._asked_at is not None:
            return self._asked_at[index]
        state = _in_turn(deal)
        return state.turn != self.seat or len(state.choices(self.seat)) > 1


def _asked_at(record: Mapping[str, Any]) -> list[bool] | None:
    """Return, action by action, whether the seat was asked; None if the record does not say."""
    times = record.get("ms")
    return None if times is None else [time != "-" for time in times.split()]


def _parse_at(deal: Deal, index: int, text: str) -> Any:
    try:
        return parse_action(deal.rules, text)
    except ValueError as error:
        raise RecordError(index, str(error)) from error


def _in_turn(deal: Deal) -> Deal:
    """Return a deal as it stands at the next action in turn: a bomb window closes before that."""
    if deal.stage is not Stage.BOMBS:
        return deal
    state = deal.copy()
    for other in state.owing():
        state.act(other, 0)
    return state


@dataclass(frozen=True, slots=True)
class Answered:
    """What a bot answered to a turn of a recorded deal."""

    turn: int
    """The number of the action in its deal, from 1."""
    hand: str
    to_beat: str
    """Empty when leading."""
    counts: tuple[int, ...]
    """Cards left, seat 0 first."""
    legal: tuple[str, ...]
    """A pass is ``-``."""
    then: str
    """What was played then; ``-`` for a pass."""
    now: str
    """What it answers now; ``-`` for a pass, empty if its code failed."""
    failed: tuple[str, ...] = ()
    """Why it failed: the end of the traceback."""

    @property
    def differs(self) -> bool:
        """Whether it answers something else now."""
        return self.then != self.now


class Asking(Protocol):
    """Asks a bot what it plays: a mask of cards, 0 for a pass, or lines that say why there is no answer."""

    def __call__(self, decision: Decision) -> int | Sequence[str]: ...


def chosen(records: Sequence[DealLine], deal: int | None, where: str) -> DealLine:
    """Return the deal record of this number in its file, from 1. Raise RecordError."""
    if deal is None and len(records) > 1:
        raise RecordError(None, f"{where}: has {len(records)} deals; specify one with --deal")
    number = deal or 1
    if number > len(records):
        raise RecordError(None, f"{where}: has {len(records)} deals; deal {number} not found")
    return records[number - 1]


def own_seat(deal: DealLine, seat: int | None, name: str) -> int:
    """Return the seat of a bot: the one given, that of the file's line, or where a bot of its name sits."""
    if seat is not None or deal.seat is not None:
        return seat if seat is not None else deal.seat or 0
    seats: Sequence[str] = deal.record.get("seats", ())
    named = [at for at, bot in enumerate(seats) if bot.partition("/")[2].rpartition("@")[0] == slug(name)]
    if not named:
        listed = ", ".join(f"{at} {bot}" for at, bot in enumerate(seats))
        raise RecordError(None, f"no {slug(name)} sits there; specify a seat with --seat: {listed}")
    return named[0]


def here(bot: Bot, replayed: Replayed, at_home: Callable[[], Any]) -> Asking:
    """Return a function that asks a bot in this process."""
    seat: list[Seat] = []

    def ask(decision: Decision) -> int | Sequence[str]:
        try:
            with at_home():
                if not seat:
                    seat.append(Seat(bot, replayed.view))
                return seat[0].decide(decision.turn)
        except (Exception, SystemExit) as error:
            return failure(replayed.seat, error, "").lines

    return ask


def rewound(replayed: Replayed, ask: Asking, turn: int | None, remembers: bool) -> Iterator[Answered]:
    """Yield what a bot answers now at one turn, or at every turn of its seat.

    A bot that remembers is also asked for the turns before. Raise RecordError if the seat was not asked.
    """
    answers = []
    for decision in replayed.decisions():
        answers.append(decision.number)
        reported = turn in (None, decision.number)
        if not reported and not remembers:
            continue
        answer = ask(decision)
        if reported:
            yield _answered(replayed, decision, answer)
        if decision.number == turn:
            return
    if turn is not None:
        turns = ", ".join(map(str, answers)) or "at none"
        raise RecordError(None, f"seat {replayed.seat} was not asked at turn {turn}; it was asked at {turns}")


def _answered(replayed: Replayed, decision: Decision, answer: int | Sequence[str]) -> Answered:
    rules, turn = replayed.record.rules, decision.turn
    return Answered(
        turn=decision.number,
        hand=" ".join(turn.hand),
        to_beat=str(turn.to_beat or ""),
        counts=turn.counts,
        legal=(*map(str, turn.legal), *(["-"] if turn.can_pass else [])),
        then=rules.text(decision.cards) or "-",
        now=(rules.text(answer) or "-") if isinstance(answer, int) else "",
        failed=() if isinstance(answer, int) else tuple(answer),
    )


Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Priced:
    """A decision, and what it is believed to have cost."""

    turn: int
    """The number of the action in its deal, from 1."""
    hand: str
    to_beat: str
    """Empty when leading."""
    played: str
    """``-`` for a pass."""
    better: str
    """What looks best; equal to ``played`` if nothing looks better."""
    cost: float
    """How many more points ``better`` scores in playouts; may be below 0 by chance."""
    plus_minus: float
    """In 95 of 100 cases the mean of endless playouts is within this range."""
    worlds: int
    """In how many worlds each action was played out."""

    @property
    def is_clear(self) -> bool:
        """Whether the playouts leave no doubt that another action was better."""
        return self.better != self.played and self.cost > self.plus_minus


def priced(
    replayed: Replayed, seconds: float, clock: Clock, show: Callable[[int, int], None]
) -> list[Priced]:
    """Return all decisions in which there was a choice, the costliest first.

    They share ``seconds``. ``show`` is called with how many are done, and of how many.
    """
    number = sum(_has_choice(price) for price in replayed.decisions())
    sage = Sage(replayed.record.rules, Random(replayed.record.seed), clock)  # noqa: S311 no secret
    decisions: list[Priced] = []
    end = clock() + seconds
    for done, decision in enumerate(filter(_has_choice, replayed.decisions())):
        price = _priced(replayed, decision, sage, max(0.0, end - clock()) / (number - done))
        if price is not None:
            decisions.append(price)
        show(done + 1, number)
    return sorted(decisions, key=lambda price: (not price.is_clear, -price.cost))


def _has_choice(decision: Decision) -> bool:
    turn = decision.turn
    return len(turn.legal) + turn.can_pass > 1


def _priced(replayed: Replayed, decision: Decision, sage: Sage, seconds: float) -> Priced | None:
    """Return what a decision cost; None if its position cannot be searched."""
    turn, rules = decision.turn, replayed.record.rules
    legal = [*turn.legal_codes, *([0] if turn.can_pass else [])]
    action = next((code for code in legal if code & rules.full == decision.cards), None)
    if action is None:
        return None
    codes = [*dict.fromkeys([*sage.candidates(turn.hand_mask, legal), action])]
    try:
        values = sage.prices(turn.position(), replayed.seat, codes, seconds)
    except PositionError:  # of two packs, a copy was taken for the other one
        return None
    best, sums = compared(values, action)
    return Priced(
        turn=decision.number,
        hand=" ".join(turn.hand),
        to_beat=str(turn.to_beat or ""),
        played=rules.text(decision.cards) or "-",
        better=rules.text(best & rules.full) or "-",
        cost=sums.mean,
        plus_minus=1.96 * sqrt(sums.squares / max(1, sums.count - 1) / sums.count),
        worlds=len(values[action]),
    )


def compared(values: Mapping[int, Sequence[int]], action: int) -> tuple[int, Sums]:
    """Return the action that looks best in every second world, and how much better it is in the others."""
    best = max(values, key=lambda code: (sum(values[code][::2]), code == action))
    sums = Sums()
    for ours, then in zip(values[best][1::2], values[action][1::2], strict=True):
        sums = sums.add(ours - then)
    return best, sums
