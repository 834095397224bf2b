"""A deal in play as spectators see it, step by step: hands are not known until it is over."""

from collections.abc import Sequence
from dataclasses import replace

from arena.queries.replays import words
from arena.queries.replays.faces import Cards, in_order
from arena.queries.replays.steps import Kind, Step, Words
from arena.queries.replays.table import step_data
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
        self._counts = list(sizes)
        self._out: list[int] = []
        self._trick = 0
        self._passed: set[int] = set()
        self._top: int | None = None
        self._beaten: tuple[str, Cards] | None = None
        """The combination to beat: its name and its cards."""
        self._fresh = True
        """Whether the next action begins a trick."""
        self._data: list[Data] = []
        self._last: Step | None = None
        told = words.dealt_words(self.names, dealer, sizes)
        self._note(Step(0, Kind.DEALT, dealer, self._hands(), words=told))

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
        asked = self._last.asked[0] if self._last.asked else None
        return tuple(self._counts), self._last.words, asked

    def exchange(self, seat: int) -> Data:
        """Record that a seat gave a card to another, unseen by all others. Return the step."""
        returned = self._last is not None and self._last.kind is Kind.GIVE
        kind = Kind.RETURN if returned else Kind.GIVE
        what = "returns a card" if returned else "gives the highest card"
        told = (f"{self.names[seat]} {what} in the exchange.",)
        return self._note(Step(0, kind, seat, self._hands(), words=told))

    def play(self, seat: int, mask: int, out_of_turn: bool = False) -> Data:
        """Record a play. Return the step."""
        self._begin()
        cards = in_order(self._rules, mask)
        before, self._beaten = self._beaten, (self._called(mask, cards), cards)
        self._counts[seat] = max(self._counts[seat] - len(cards), 0)
        self._passed = self._passed - {seat} if self._rules.ruleset.pass_locks else set()
        self._top = seat
        if not self._counts[seat]:
            self._out.append(seat)
        kind = Kind.BOMB if out_of_turn else Kind.PLAY
        called = self._called(mask, cards)
        step = Step(0, kind, seat, self._hands(), cards, combination=called, trick=self._trick)
        place = self._out.index(seat) + 1 if seat in self._out else 0
        return self._act(replace(step, words=words.play_words(self.names[seat], step, before, place)))

    def passes(self, seat: int, drawn: int = 0) -> Data:
        """Record a pass and how many cards it drew. Return the step."""
        self._begin()
        leading = self._beaten is None
        self._counts[seat] += drawn
        self._passed.add(seat)
        step = Step(0, Kind.PASS, seat, self._hands(), drawn=(UNKNOWN,) * drawn, trick=self._trick)
        locks = self._rules.ruleset.pass_locks
        told, hidden = words.pass_words(self.names[seat], step, locks, leading)
        return self._act(replace(step, drawn=(), words=hidden or told))

    def end(self, end: str, left: Sequence[int], out: Sequence[int], points: Sequence[int]) -> Data:
        """Record the end, at which everybody sees the hands. Return the step."""
        hands = tuple([in_order(self._rules, mask) for mask in left])
        self._out = list(out)
        told = words.end_words(self.names, end, hands, points)
        return self._note(Step(0, Kind.END, None, hands, trick=self._trick, points=tuple(points), words=told))

    def _begin(self) -> None:
        """Begin a trick if the last one is over."""
        if self._fresh:
            self._trick += 1
            self._passed, self._top, self._beaten = set(), None, None
            self._fresh = False

    def _act(self, step: Step) -> Data:
        """Record an action, and whose turn is next."""
        waiting = set(range(len(self._seats))) - self._passed - set(self._out)
        last_word = self._rules.ruleset.beat_own and self._top is not None and self._top not in self._out
        others = waiting if last_word else waiting - {self._top}
        self._fresh = self._top is not None and not others
        told, won = step.words, None
        if self._fresh and self._top is not None and not self._is_over():
            won = self._top
            told += (f" {self.names[won]} wins the trick.",)
        return self._note(replace(step, words=told, won_by=won, asked=self._next(step.seat or 0, others)))

    def _is_over(self) -> bool:
        """Return whether enough seats have gone out to end the deal."""
        first = self._rules.ruleset.deal_ends == "first_out"
        return bool(self._out) and (first or len(self._out) == len(self._seats) - 1)

    def _next(self, seat: int, others: set[int]) -> tuple[int, ...]:
        """Return the seats to act: the next of the others, or the one that leads the next trick."""
        size = len(self._seats)
        asked = others or {self._top} - {None}
        first = seat if others else (self._top or 0) - self._step
        order = [(first + self._step * turn) % size for turn in range(1, size + 1)]
        holding = [one for one in order if self._counts[one] and (one in asked or not others)]
        return tuple(holding[:1])

    def _called(self, mask: int, cards: Cards) -> str:
        code = self._rules.code(mask)
        return words.combination(self._rules.kind(code), cards) if code else ""

    def _hands(self) -> tuple[Cards, ...]:
        return tuple([(UNKNOWN,) * count for count in self._counts])

    def _note(self, step: Step) -> Data:
        step = replace(step, number=len(self._data), out=tuple(self._out))
        self._data.append(step_data(step, self._last))
        self._last = step
        return self._data[-1]
