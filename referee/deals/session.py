"""A session: deals in a row in one seating, what one leaves to the next, and a running score; no I/O.

Seats whose bots forfeited a session that goes on are played for (``Substitutes``).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from referee.deals.action import OnForfeit, Stage
from referee.deals.deal import Deal
from referee.deals.dealing import ANTICLOCKWISE, CLOCKWISE, seats_after
from referee.deals.showdown import loser
from referee.deals.shuffle import deal_seed
from referee.native import native
from referee.rules.plays import Rules
from referee.ruleset import Ruleset


class Legacy(NamedTuple):
    """What a finished deal leaves to the next."""

    number: int
    """The finished deal's number, from 1."""
    dealer: int
    winner: int | None
    """First out; None if the deal had no winner."""
    loser: int | None
    """Who had most cards left, or ended the deal without a winner; None after a deal with a winner unless the
    rules ask for it (``asks_for_loser``)."""


class Setup(NamedTuple):
    """How a deal begins."""

    dealer: int
    step: int
    """1 clockwise, -1 anticlockwise."""
    leader: int | None
    """None if the lowest card decides."""
    exchange: tuple[int, int] | None
    """Loser and winner of the last deal, if they exchange cards."""


def setup(ruleset: Ruleset, number: int, last: Legacy | None) -> Setup:
    """Return how deal ``number`` begins after ``last``, which is None for the first deal."""
    step = direction(ruleset, number)
    if last is None:
        return Setup(0, step, None, None)
    exchange = None
    if ruleset.exchange != "none" and last.winner is not None:
        exchange = (_loser(last), last.winner)
    return Setup(_dealer(ruleset, last), step, _leader(ruleset, number, last), exchange)


def direction(ruleset: Ruleset, number: int) -> int:
    """Return the step from a seat to the next in deal ``number``: 1 clockwise, -1 anticlockwise."""
    if ruleset.direction == "alternating":
        return CLOCKWISE if number % 2 else ANTICLOCKWISE
    return CLOCKWISE if ruleset.direction == "clockwise" else ANTICLOCKWISE


def lowest_leads(ruleset: Ruleset, number: int) -> bool:
    """Return whether the holder of the lowest card leads deal ``number``, whatever the deal before left."""
    every = ruleset.lowest_lead_every
    return ruleset.lead == "lowest" or number == 1 or (every > 0 and (number - 1) % every == 0)


def asks_for_loser(ruleset: Ruleset) -> bool:
    """Return whether it matters to the next deal who lost the last one, if that had a winner."""
    return "loser" in (ruleset.dealer, ruleset.lead) or ruleset.exchange != "none"


def legacy(deal: Deal) -> Legacy:
    """Return what a deal that is over leaves to the next."""
    if deal.culprit is not None:
        return Legacy(deal.number, deal.dealer, None, deal.culprit)
    winner = deal.out[0]
    if not asks_for_loser(deal.rules.ruleset):
        return Legacy(deal.number, deal.dealer, winner, None)
    order = seats_after(deal.dealer, deal.step, len(deal.hands))
    others = [seat for seat in order if seat != winner]
    return Legacy(deal.number, deal.dealer, winner, loser(deal.rules, deal.left, others))


def _dealer(ruleset: Ruleset, last: Legacy) -> int:
    if ruleset.dealer == "rotate":
        step = ANTICLOCKWISE if ruleset.direction == "anticlockwise" else CLOCKWISE
        return (last.dealer + step) % ruleset.players
    if last.winner is None:
        return last.dealer
    return last.winner if ruleset.dealer == "winner" else _loser(last)


def _leader(ruleset: Ruleset, number: int, last: Legacy) -> int | None:
    if lowest_leads(ruleset, number):
        return None
    return last.winner if ruleset.lead == "winner" else _loser(last)


def _loser(last: Legacy) -> int:
    assert last.loser is not None
    return last.loser


class DealResult(NamedTuple):
    """The result of a finished deal."""

    points: tuple[int, ...]
    """By seat, higher is better."""
    legacy: Legacy
    """Winner and loser, for the next deal."""


@native(allow_interpreted_subclasses=True)
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
            raise ValueError("no deal is over yet")
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


def substitute(deal: Deal, seat: int, by: OnForfeit) -> int:
    """Return the mask of the action for ``seat``, which owes a decision; 0 for a pass.

    The stand-in makes the weakest legal play (by group, then strength, then cards), and passes if there is
    none. In bomb windows and exchanges it takes the default action: no bomb, and the lowest card returned.
    """
    if by == "stand_in" and deal.stage in (Stage.PLAY, Stage.BEAT_OWN):
        legal = deal.legal(seat)
        return legal[0] & deal.rules.full if legal else 0
    return deal.default(seat)


class Substitutes:
    """Acts for the seats of a session that no longer have a bot, and for those that are forced."""

    __slots__ = ("_by", "_forced", "_seats")

    def __init__(self, seats: Iterable[int], by: OnForfeit, *, forced: bool) -> None:
        """Act for ``seats``; if ``forced``, also take the forced actions of the others."""
        self._seats = frozenset(seats)
        self._by: OnForfeit = by
        self._forced = forced

    def __call__(self, deal: Deal) -> None:
        """Act until a seat with a bot has a choice or the deal is over."""
        while True:
            if self._forced:
                deal.act_for_forced()
            seats = [seat for seat in deal.owing() if seat in self._seats]
            if not seats:
                return
            for seat in seats:
                deal.act(seat, substitute(deal, seat, self._by))
