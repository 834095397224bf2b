"""A deal as everybody sees it, whose hands are not known: a fold over what its seats did.

Bots, learners and spectators follow deals with it; what a seat knows of its own hand is the view's
(``referee.bot.view``).
"""

from collections.abc import Iterable
from functools import reduce

from referee.deals.action import NOBODY
from referee.deals.dealing import next_seats
from referee.rules.plays import Rules


class PublicDeal:
    """What each seat has played, how many cards it has left, and how the trick stands."""

    # fmt: off
    __slots__ = (
        "_drawn", "_locks", "_next", "_next_leads", "_own", "_rules", "_stock", "_trick", "_trick_is_over",
        "begun", "counts", "gone", "last", "out", "passed", "played", "to_beat", "tricks", "turn", "winner",
    )
    # fmt: on

    def __init__(self, rules: Rules, step: int, counts: Iterable[int]) -> None:
        """Begin before the first action; ``counts`` has the number of cards of each seat then."""
        self._rules = rules
        self.counts = list(counts)
        """Cards left, by seat."""
        self.begun = self.counts[:]
        """Cards when play began, after an exchange, by seat."""
        players = len(self.counts)
        self._next = next_seats(step, players)
        self._locks, self._own = rules.ruleset.pass_locks, rules.ruleset.beat_own
        self._next_leads = rules.ruleset.after_out == "next_leads"
        self._stock = len(rules.pack) - sum(self.counts)
        self._drawn = 0
        self._trick = [0] * players
        self._trick_is_over = True
        self.played = [0] * players
        """By seat, the mask of the cards it has played, except those that have become the stock again."""
        self.gone = 0
        """The mask of the cards that all seats together have played."""
        self.out: list[int] = []
        """The seats without cards, in the order of going out."""
        self.tricks = 0
        """How many tricks have begun."""
        self.to_beat = 0
        """The mask of the trick's last play; 0 when leading."""
        self.last = NOBODY
        """Who made the last play of the trick; ``NOBODY`` between tricks."""
        self.passed = 0
        """The seats, as bits, that passed since the last play, or in the whole trick if a pass locks out."""
        self.turn = NOBODY
        """Who is next, unless somebody bombs out of turn or the deal is over; ``NOBODY`` at first."""
        self.winner = NOBODY
        """Who won the trick that the last action ended; ``NOBODY`` if it ended none."""

    def exchange(self, giver: int, taker: int) -> None:
        """Take in that a seat gave another one a card before play began."""
        for counts in (self.begun, self.counts):
            counts[giver] -= 1
            counts[taker] += 1

    def add(self, seat: int, mask: int, drawn: int) -> None:
        """Take in an action: the cards played, or a pass for 0, and how many cards it drew."""
        self.winner = NOBODY
        if self._trick_is_over:
            self._trick_is_over = False
            self._trick = [0] * len(self.played)
            self.tricks += 1
        if mask:
            self._play(seat, mask)
        else:
            self._pass(seat, drawn)

    def _play(self, seat: int, mask: int) -> None:
        if seat == self.last:  # it beats its own play, after all others have passed
            self.passed = (1 << len(self.played)) - 1 & ~(1 << seat)
        elif self.last == NOBODY or not self._locks:
            self.passed = 0
        add = self._rules.add
        self.played[seat] = add(self.played[seat], mask)
        self._trick[seat] = add(self._trick[seat], mask)
        self.gone = add(self.gone, mask)
        self.counts[seat] -= mask.bit_count()
        self.to_beat, self.last = mask, seat
        if self.counts[seat]:
            self._advance(seat)
            return
        self.out.append(seat)
        if self._next_leads:
            self._end_trick()
        else:
            self._advance(seat)

    def _pass(self, seat: int, drawn: int) -> None:
        if drawn:
            self._draw(seat, drawn)
        if seat == self.last:
            self._end_trick()
            return
        self.passed |= 1 << seat
        self._advance(seat)

    def _draw(self, seat: int, drawn: int) -> None:
        self.counts[seat] += drawn
        self._drawn += drawn
        if self._drawn > self._stock:  # so the cards of finished tricks are the stock now
            self._stock += sum([mask.bit_count() for mask in self.played])
            self.played = self._trick[:]
            self._stock -= sum([mask.bit_count() for mask in self.played])
            self.gone = reduce(self._rules.add, self.played, 0)

    def _advance(self, seat: int) -> None:
        """Go on to the next seat that may answer the last play, or end the trick if there is none."""
        last = self.last
        if last == NOBODY:  # the seat had nothing to lead
            self.turn = self._after(seat, seat)
            return
        self.turn = self._after(seat, last)
        if self.turn == last and not (self._own and self.counts[last]):
            self._end_trick()

    def _after(self, seat: int, stop: int) -> int:
        """Return the next seat that holds cards and has not passed; ``stop`` if that comes first."""
        seat = self._next[seat]
        while seat != stop and (not self.counts[seat] or self.passed >> seat & 1):
            seat = self._next[seat]
        return seat

    def _end_trick(self) -> None:
        winner = self.winner = self.last
        self.passed, self.to_beat, self.last, self._trick_is_over = 0, 0, NOBODY, True
        self.turn = winner if self.counts[winner] else self._after(winner, winner)
