"""What a seat sees when it is asked, from a deal that is played here or from a turn that a bot received."""

from collections.abc import Sequence
from typing import NamedTuple

from referee.bot.turn import KIND_AT, Turn, public_of
from referee.deals.deal import Deal
from referee.deals.public import PublicDeal
from referee.rules.plays import Rules

KINDS = tuple(KIND_AT.values())
"""What a seat may be asked, in the words of ``Turn.kind``."""


class Sight(NamedTuple):
    """What a seat sees, with the seats and masks of the rules; an observation is made of nothing else."""

    seat: int
    """Who looks."""
    step: int
    """1 clockwise, -1 anticlockwise."""
    dealer: int
    kind: str
    """One of ``KINDS``; ``play`` also for a seat that is not asked."""
    hand: int
    """Mask."""
    counts: Sequence[int]
    """Cards left, by seat."""
    played: Sequence[int]
    """By seat, the mask of what it has played."""
    unseen: int
    """Mask of the cards that the seat neither holds nor saw played."""
    passed: int
    """As ``PublicDeal.passed``."""
    last: int
    """As ``PublicDeal.last``."""
    to_beat: int
    """Code of the play to beat, 0 when leading."""
    plays: Sequence[int]
    """Codes of the legal plays, ascending; none for a seat that is not asked."""
    can_pass: bool
    """Whether passing is legal; True for a seat that is not asked, so that it has one legal action."""
    scores: Sequence[int]
    """The session's score before the deal, by seat."""


def of_turn(turn: Turn) -> Sight:
    """Return what a bot sees in a turn."""
    rules = turn.rules
    public = public_of(turn)
    return Sight(
        seat=turn.seat,
        step=1 if turn.clockwise else -1,
        dealer=turn.dealer,
        kind=turn.kind,
        hand=turn.hand_mask,
        counts=turn.counts,
        played=tuple(public.played),
        unseen=unseen(rules, turn.hand_mask, public.gone),
        passed=public.passed,
        last=public.last,
        to_beat=turn.to_beat.code if turn.to_beat else 0,
        plays=turn.legal_codes,
        can_pass=turn.can_pass,
        scores=turn.scores,
    )


class Onlooker:
    """Follows one deal and reports what its seats see."""

    __slots__ = ("_deal", "_length", "_public", "_scores")

    def __init__(self, deal: Deal, scores: Sequence[int]) -> None:
        """Follow ``deal``, which may have begun already; ``scores`` are the session's before it."""
        self._deal, self._scores = deal, scores
        self._public: PublicDeal | None = None
        self._length = 0

    def sight(self, seat: int, choices: Sequence[int] | None = None) -> Sight:
        """Return what ``seat`` sees now.

        ``choices`` are those of ``Deal.choices``, None for a seat that is not asked.
        """
        deal, public = self._deal, self._followed()
        hand = deal.hands[seat]
        kind = "play" if choices is None else KIND_AT[deal.stage]
        plays = choices or [0]
        can_pass = not plays[-1]
        return Sight(
            seat,
            deal.step,
            deal.dealer,
            kind,
            hand,
            public.counts[:],
            tuple(public.played),
            unseen(deal.rules, hand, public.gone),
            public.passed,
            public.last,
            deal.to_beat,
            plays[:-1] if can_pass else plays,
            can_pass,
            self._scores,
        )

    def _followed(self) -> PublicDeal:
        log, public = self._deal.log, self._public
        if public is None or not self._length:  # an exchange may have changed the counts
            public = self._public = PublicDeal(self._deal.rules, self._deal.step, _begun(self._deal))
        for seat, mask, drawn, _ in log[self._length :]:
            public.add(seat, mask, drawn.bit_count())
        self._length = len(log)
        return public


def _begun(deal: Deal) -> list[int]:
    """Return how many cards the seats had before the first action."""
    counts = [hand.bit_count() for hand in deal.hands]
    for seat, mask, drawn, _ in deal.log:
        counts[seat] += mask.bit_count() - drawn.bit_count()
    return counts


def unseen(rules: Rules, hand: int, gone: int) -> int:
    """Return the mask of the cards that are neither in a hand nor gone."""
    if rules.decks == 1:
        return rules.full & ~(hand | gone)
    return rules.remove(rules.full, rules.add(hand, gone))
