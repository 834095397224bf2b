"""A deal in play as spectators see it, step by step: hands are not known until it is over."""

from collections.abc import Sequence
from dataclasses import replace

from arena.queries.replays import words
from arena.queries.replays.steps import Cards, Kind, Step, Words, in_order
from arena.queries.replays.table import step_data
from referee.deals.action import NOBODY
from referee.deals.public import PublicDeal
from referee.rules.plays import Rules

Data = dict[str, object]

UNKNOWN = "?"
"""Stands for a card that is not known."""


class LiveDeal:
    """The steps of a deal so far."""

    def __init__(
        self, rules: Rules, seats: Sequence[str], dealer: int, step: int, sizes: Sequence[int]
    ) -> None:
        """Begin a deal; ``step`` is 1 clockwise, -1 anticlockwise, ``sizes`` each seat's number of cards."""
        self._rules, self._seats, self._step = rules, tuple(seats), step
        self.names = words.short_names(seats)
        self._dealer = dealer
        self._deal = PublicDeal(rules, step, sizes)
        self._out: Sequence[int] = self._deal.out
        self._data: list[Data] = []
        self._last: Step | None = None
        sentence = words.dealt_words(self.names, dealer, sizes)
        self._note(Step(0, Kind.DEALT, dealer, self._hands(), words=sentence))

    def data(self) -> Data:
        """Return the data that the page's script draws: all steps so far."""
        return {
            "seats": list(self._seats),
            "short": list(self.names),
            "clockwise": self._step == 1,
            "dealer": self._dealer,
            "slowest": 0,
            "hidden": True,
            "steps": list(self._data),
        }

    def now(self) -> tuple[tuple[int, ...], Words, int | None]:
        """Return how many cards each seat holds, what happened last, and whose turn it is."""
        assert self._last is not None, "the deal was not dealt"
        seat = self._last.asked[0] if self._last.asked else None
        return tuple(self._deal.counts), self._last.words, seat

    def exchange(self, seat: int) -> Data:
        """Record that a seat gave a card to another, unseen by all others. Return the step."""
        returned = self._last is not None and self._last.kind is Kind.GIVE
        kind = Kind.RETURN if returned else Kind.GIVE
        what = "returns a card" if returned else "gives the highest card"
        sentence = (f"{self.names[seat]} {what} in the exchange.",)
        return self._note(Step(0, kind, seat, self._hands(), words=sentence))

    def play(self, seat: int, mask: int, out_of_turn: bool = False) -> Data:
        """Record a play. Return the step."""
        deal, cards = self._deal, in_order(self._rules, mask)
        beaten = in_order(self._rules, deal.to_beat)
        before = (self._called(deal.to_beat, beaten), beaten) if beaten else None
        deal.add(seat, mask, 0)
        kind = Kind.BOMB if out_of_turn else Kind.PLAY
        called = self._called(mask, cards)
        step = Step(0, kind, seat, self._hands(), cards, combination=called, trick=deal.tricks)
        place = deal.out.index(seat) + 1 if seat in deal.out else 0
        return self._act(replace(step, words=words.play_words(self.names[seat], step, before, place)))

    def passes(self, seat: int, drawn: int = 0) -> Data:
        """Record a pass and how many cards it drew. Return the step."""
        deal = self._deal
        leading = not deal.to_beat
        deal.add(seat, 0, drawn)
        step = Step(0, Kind.PASS, seat, self._hands(), drawn=(UNKNOWN,) * drawn, trick=deal.tricks)
        locks = self._rules.ruleset.pass_locks
        sentence, hidden = words.pass_words(self.names[seat], step, locks, leading)
        return self._act(replace(step, drawn=(), words=hidden or sentence))

    def end(self, end: str, left: Sequence[int], out: Sequence[int], points: Sequence[int]) -> Data:
        """Record the end, at which everybody sees the hands. Return the step."""
        hands = tuple([in_order(self._rules, mask) for mask in left])
        self._out = list(out)
        sentence = words.end_words(self.names, end, hands, points)
        return self._note(
            Step(0, Kind.END, None, hands, trick=self._deal.tricks, points=tuple(points), words=sentence)
        )

    def _act(self, step: Step) -> Data:
        """Record an action, and whose turn is next."""
        deal, sentence, won = self._deal, step.words, None
        if deal.winner != NOBODY and not self._is_over():
            won = deal.winner
            sentence += (f" {self.names[won]} wins the trick.",)
        to_act = (deal.turn,) if deal.counts[deal.turn] else ()
        return self._note(replace(step, words=sentence, won_by=won, asked=to_act))

    def _is_over(self) -> bool:
        """Return whether enough seats have gone out to end the deal."""
        first = self._rules.ruleset.deal_ends == "first_out"
        return bool(self._out) and (first or len(self._out) == len(self._seats) - 1)

    def _called(self, mask: int, cards: Cards) -> str:
        code = self._rules.code(mask)
        return words.combination(self._rules.kind(code), cards) if code else ""

    def _hands(self) -> tuple[Cards, ...]:
        return tuple([(UNKNOWN,) * count for count in self._deal.counts])

    def _note(self, step: Step) -> Data:
        step = replace(step, number=len(self._data), out=tuple(self._out))
        self._data.append(step_data(step, self._last))
        self._last = step
        return self._data[-1]
