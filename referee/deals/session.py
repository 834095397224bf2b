"""A session: deals in a row in one seating, with a running score; no I/O."""

from collections.abc import Sequence
from typing import NamedTuple

from referee.deals.deal import Deal
from referee.deals.shuffle import deal_seed
from referee.deals.succession import Legacy, legacy, setup
from referee.rules.plays import Rules


class DealResult(NamedTuple):
    """The result of a finished deal."""

    points: tuple[int, ...]
    """By seat, higher is better."""
    legacy: Legacy
    """Winner and loser, for the next deal."""


class Session:
    """Deals the cards of a session one deal after the other, and keeps the score.

    ``deal`` is the one being played, None between deals.
    """

    def __init__(self, rules: Rules, seed: bytes, deals: int | None = None, attempt: int = 1) -> None:
        """Begin a session with its seed of 32 bytes; ``deals``, if given, overrides the rules' number.

        ``attempt`` counts the attempts at the session from 1: each deals other cards.
        """
        self.rules = rules
        self.deal: Deal | None = None
        self.scores = [0] * rules.ruleset.players
        self.deals_played = 0
        self.forfeited_by: int | None = None
        self.over = False
        self.attempt = attempt
        self._seed = seed
        self._deals = deals if deals is not None else rules.ruleset.session.deals
        self._last: Legacy | None = None

    def go_on(self, last: Legacy, scores: Sequence[int]) -> None:
        """Continue after deals of earlier attempts, given the last one's legacy and the scores after it."""
        self.deals_played = last.number
        self.scores = list(scores)
        self._last = last
        self.over = self._is_over()

    def next_deal(self) -> Deal:
        """Deal the next deal's cards and return it. The session must not be over, nor a deal be open."""
        if self.over or self.deal is not None:
            raise ValueError("the session is over" if self.over else "the last deal is not closed")
        number = self.deals_played + 1
        dealer, step, leader, exchange = setup(self.rules.ruleset, number, self._last)
        seed = deal_seed(self._seed, number, self.attempt)
        self.deal = Deal(self.rules, seed, number, dealer, step, leader=leader, exchange=exchange)
        return self.deal

    def close_deal(self) -> DealResult:
        """Add up the points of the deal, which must be over."""
        deal = self.deal
        if deal is None or not deal.over:
            raise ValueError("there is no deal that is over")
        self.deal = None
        self.deals_played += 1
        self._last = legacy(deal)
        self.scores = [score + points for score, points in zip(self.scores, deal.points, strict=True)]
        if deal.end == "forfeit":
            self.forfeited_by = deal.culprit
        self.over = self._is_over()
        return DealResult(deal.points, self._last)

    def _is_over(self) -> bool:
        end = self.rules.ruleset.session
        if self.forfeited_by is not None or self.deals_played == self._deals:
            return True
        if end.chips is not None and min(self.scores) <= -end.chips:
            return True
        if end.target is None:
            return False
        return max(self.scores) >= end.target if end.target > 0 else min(self.scores) <= end.target
