"""Giving a bot a recorded position again, without clocks, and comparing its answer with the old one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from referee.bot.bots import Bot
from referee.bot.seat import Seat
from referee.errors import RecordError
from referee.local.programs import slug
from referee.local.replayed import Decision, Replayed
from referee.local.session import failure
from referee.records.files import DealLine


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
        raise RecordError(None, f"{where}: has {len(records)} deals: say which with --deal")
    number = deal or 1
    if number > len(records):
        raise RecordError(None, f"{where}: has {len(records)} deals, and no deal {number}")
    return records[number - 1]


def own_seat(deal: DealLine, seat: int | None, name: str) -> int:
    """Return the seat of a bot: the one given, that of the file's line, or where a bot of its name sits."""
    if seat is not None or deal.seat is not None:
        return seat if seat is not None else deal.seat or 0
    seats: Sequence[str] = deal.record.get("seats", ())
    named = [at for at, bot in enumerate(seats) if bot.partition("/")[2].rpartition("@")[0] == slug(name)]
    if not named:
        listed = ", ".join(f"{at} {bot}" for at, bot in enumerate(seats))
        raise RecordError(None, f"no {slug(name)} sits there: say which seat with --seat: {listed}")
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
        wanted = turn in (None, decision.number)
        if not wanted and not remembers:
            continue
        answer = ask(decision)
        if wanted:
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
