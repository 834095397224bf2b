"""A session as a bot in this process sees it, updated from the deal rather than from messages."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from referee.bot.turn import KIND_AT, Turn
from referee.bot.view import SessionView, Step, step_of
from referee.deals.action import Entry
from referee.deals.deal import Deal
from referee.matches import events
from referee.matches.events import SessionInfo
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
