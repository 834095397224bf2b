"""Deals between bots in one process, without a referee: for measuring how well bots play.

The cards follow from a seed as in ``arena.practice``; every deal is played from every seat, so that the luck
of the cards cancels out. A bot sees the turns of the SDK.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, cast

from referee.bot import Play, Turn
from referee.bot.seen import Happened
from referee.bot.view import Action, SessionView
from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.dealing import landmarks
from referee.rules.plays import Rules
from referee.v1 import bots_pb2

Choose = Callable[[Turn], Play | None]

_KINDS = {
    Stage.PLAY: bots_pb2.TURN_KIND_PLAY,
    Stage.BEAT_OWN: bots_pb2.TURN_KIND_BEAT_OWN,
    Stage.BOMBS: bots_pb2.TURN_KIND_BOMB,
}


class _View:
    """What a seat sees of a deal, as far as ``Turn`` asks."""

    session_id, deal = "table", 1

    def __init__(self, deal: Deal, seat: int) -> None:
        self._deal, self.seat, self.rules = deal, seat, deal.rules
        self.dealer, self.clockwise = deal.dealer, deal.step == 1
        self.seats = tuple(map(str, range(len(deal.hands))))
        self.scores = (0,) * len(deal.hands)

    @property
    def hand(self) -> int:
        return self._deal.hands[self.seat]

    @property
    def counts(self) -> list[int]:
        return [self.rules.count(hand) for hand in self._deal.hands]

    @property
    def actions(self) -> list[Action]:
        return [
            Action(
                seat,
                "bomb" if late else "play" if mask else "pass",
                tuple(self.rules.text(mask).split()),
                drawn.bit_count(),
            )
            for seat, mask, drawn, late in self._deal.log
        ]

    def happened_in_play(self) -> list[Happened]:
        own = self.seat
        return [
            Happened(seat, mask, drawn.bit_count(), drawn if seat == own else 0, late)
            for seat, mask, drawn, late in self._deal.log
        ]

    def to_beat(self, message: Any) -> int:
        return self._deal.to_beat

    def plays(self) -> list[int]:
        return self.rules.list_plays(self.hand)

    def following(self, to_beat: int) -> list[int]:
        return self.rules.following(self.plays(), to_beat)

    def mask(self, masks: Sequence[int]) -> int:
        return masks[0]


def turn_of(deal: Deal, seat: int, decision_ms: int = 1_000) -> Turn:
    """Return the turn of a seat that owes a decision."""
    constraints = deal.constraints(seat)
    message = SimpleNamespace(
        kind=_KINDS[deal.stage],
        can_pass=deal.can_pass(seat),
        decision_ms=decision_ms,
        bank_ms=0,
        HasField=lambda name: False,
        must_include=constraints.include,
        next_has_one=constraints.guarded,
        top_card_banned=bool(constraints.banned) and constraints.banned == landmarks(deal.rules).top,
    )
    return Turn(cast(SessionView, _View(deal, seat)), message)


def play_deal(rules: Rules, seed: str, number: int, bots: Sequence[Choose]) -> Deal:
    """Play one deal; ``bots`` by seat. Raise PlayError where a bot's play is not legal."""
    step = -1 if rules.ruleset.direction == "anticlockwise" else 1
    deal = Deal(rules, sha256(f"{seed}/{number}".encode()).digest(), 1, 0, step)
    while not deal.over:
        for seat in deal.asked():
            if deal.forced(seat):
                mask = deal.default(seat)
            else:
                play = bots[seat](turn_of(deal, seat))
                mask = play.code & rules.full if play is not None else 0
            deal.act(seat, mask)
    return deal
