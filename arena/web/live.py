"""Sessions in play as pages show them: a referee's updates for spectators as messages and as summaries."""

import json
from dataclasses import dataclass

from arena.queries.replays.live import Data, LiveDeal
from arena.queries.replays.steps import Words
from referee.protocol.numbers import CardNumbers, card_numbers
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2, spectators_pb2

ENDS = {
    bots_pb2.DEAL_END_OUT: "out",
    bots_pb2.DEAL_END_DRAGON: "dragon",
    bots_pb2.DEAL_END_LAST_TOP_CARD: "last_top_card",
    bots_pb2.DEAL_END_FORFEIT: "forfeit",
    bots_pb2.DEAL_END_INSTANT_WIN: "instant_win",
}

Message = tuple[str, Data]
"""The name of an event, and its values."""


class LiveSession:
    """A session that is being played."""

    def __init__(self, started: bots_pb2.SessionStarted) -> None:
        self.number = int(started.session_id.rpartition("/")[2])
        self.seats = list(started.seats)
        self.rules: Rules = rules_of(json.loads(started.ruleset))
        self.cards: CardNumbers = card_numbers(self.rules)
        self.scores = list(started.scores)
        self.deal, self.deals = 0, started.deals
        self.steps: LiveDeal | None = None

    def told(self) -> Message:
        """Return the state of the session, with the deal's steps so far."""
        values: Data = {"session": self.number, "deal": self.deal, "scores": self.scores}
        if self.steps is not None:
            values["data"] = self.steps.data()
        return "deal", values

    def begin(self, started: bots_pb2.DealStarted) -> Message:
        """Begin a deal."""
        step = 1 if started.direction == bots_pb2.DIRECTION_CLOCKWISE else -1
        self.deal = started.deal
        self.steps = LiveDeal(self.rules, self.seats, started.dealer, step, started.hand_sizes)
        return self.told()

    def act(self, action: spectators_pb2.WatchAction) -> Message | None:
        """Record an action."""
        if self.steps is None:
            return None
        if action.kind == bots_pb2.ACTION_KIND_PASS:
            step = self.steps.passes(action.seat, action.drawn)
        elif action.kind == bots_pb2.ACTION_KIND_EXCHANGE:
            step = self.steps.exchange(action.seat)
        else:
            bomb = action.kind == bots_pb2.ACTION_KIND_BOMB
            step = self.steps.play(action.seat, self.cards.mask(action.cards), bomb)
        return self._step(step)

    def close(self, ended: bots_pb2.DealEnded) -> Message | None:
        """End a deal."""
        if self.steps is None:
            return None
        self.scores = list(ended.scores)
        left = [self.cards.mask(hand.cards) for hand in ended.left]
        return self._step(self.steps.end(ENDS.get(ended.end, "out"), left, ended.out, ended.points))

    def _step(self, step: Data) -> Message:
        return "step", {"session": self.number, "deal": self.deal, "scores": self.scores, "step": step}

    def glance(self) -> "Glance":
        """Return a summary of the session."""
        held, words, asked = self.steps.now() if self.steps is not None else ((), (), None)
        at = (self.number, self.deal, self.deals)
        return Glance(*at, tuple(self.seats), held, tuple(self.scores), words, asked)


@dataclass(frozen=True, slots=True)
class Glance:
    """A summary of a session that is being played; values for bots are by seat."""

    session: int
    deal: int
    deals: int
    """Maximum number of deals in the session."""
    names: tuple[str, ...]
    held: tuple[int, ...]
    """Number of cards in each hand; empty before the start of a visible deal."""
    scores: tuple[int, ...]
    """Points in the session so far."""
    words: Words
    """What happened last."""
    asked: int | None
    """The seat whose turn it is; None if not known."""
