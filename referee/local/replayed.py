"""A recorded deal as one of its bots saw it: decision by decision."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from referee.bot.turn import Turn
from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.errors import RecordError
from referee.local.view import LocalView, turn_of
from referee.matches import events
from referee.matches.events import Encodings, SessionInfo, log_length
from referee.matches.match import Limits
from referee.records.reading import Record, read_record
from referee.records.record import parse_action
from referee.records.replay import carry_out, start

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
            raise RecordError(None, f"seat {seat}: there are {len(self.record.seats)} seats")
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
        known = 0
        for index, text in enumerate(self.record.actions):
            action = _read(deal, index, text)
            if action.seat == self.seat and self._was_asked(deal, index):
                state = deal if action.out_of_turn else _in_turn(deal)
                view.catch_up(state, known)
                since, known = known, log_length(state)
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


def _read(deal: Deal, index: int, text: str) -> Any:
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
