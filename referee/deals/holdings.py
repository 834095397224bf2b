"""What the seats of a deal hold, and which plays their hands contain.

A hand's plays are an ascending list of codes. It is made when it is first needed, filtered after plays,
and made again after cards came in; every answer here is about the current hand.
"""

from bisect import bisect, bisect_left
from collections.abc import Sequence

from referee.deals.facts import RuleFacts
from referee.native import native
from referee.rules.plays import Rules

_SHORT = 3
"""The most cards of the plays that ``Rules.list_short`` lists."""


@native(allow_interpreted_subclasses=True)  # else __new__ would call __init__
class Holdings:
    """The hands of a deal and their plays."""

    __slots__ = ("_facts", "_listed", "_lists", "_rules", "_short_lists", "hands")

    def __init__(self, rules: Rules, facts: RuleFacts, hands: Sequence[int]) -> None:
        self._rules, self._facts = rules, facts
        self.hands = list(hands)
        """Masks by seat; only the methods change them."""
        self._lists: list[list[int] | None] = [None] * len(self.hands)
        # By seat: the hand as it was when its plays were listed or filtered.
        self._listed = self.hands[:]
        # By seat: the plays of up to three cards, if only these were needed since cards came in.
        self._short_lists: list[list[int] | None] = self._lists[:]

    def copy(self) -> "Holdings":
        """Return an independent copy."""
        other = Holdings.__new__(Holdings)
        other._rules, other._facts = self._rules, self._facts
        other.hands, other._lists, other._listed = self.hands[:], self._lists[:], self._listed[:]
        other._short_lists = self._short_lists[:]
        return other

    def play(self, seat: int, mask: int) -> int:
        """Take cards from ``seat``, which must hold them; return the mask of what is left."""
        hand = self.hands[seat]
        self.hands[seat] = left = hand ^ mask if self._facts.one_pack else self._rules.remove(hand, mask)
        return left

    def add(self, seat: int, mask: int) -> None:
        """Give cards to ``seat``."""
        hand = self.hands[seat]
        self.hands[seat] = hand | mask if self._facts.one_pack else self._rules.add(hand, mask)
        self._lists[seat] = self._short_lists[seat] = None

    def plays(self, seat: int) -> list[int]:
        """Return the codes of all plays in the hand, ascending; the list must not be changed."""
        plays, hand, listed = self._lists[seat], self.hands[seat], self._listed[seat]
        if plays is None:
            plays = self._rules.list_plays(hand)
            self._short_lists[seat] = None
        elif listed == hand:
            return plays
        else:
            gone = listed ^ hand
            plays = [play for play in plays if not play & gone]
        self._lists[seat], self._listed[seat] = plays, hand
        return plays

    def has_several(self, seat: int) -> bool:
        """Return whether the hand has more than one play."""
        hand = self.hands[seat]
        if self._facts.one_pack and hand.bit_count() > 1:  # each card is a play, so none need to be listed
            return True
        return len(self.plays(seat)) > 1

    def following(self, seat: int, to_beat: int, above: int, up_to: int) -> list[int]:
        """Return the codes of the plays that beat the play ``to_beat``, ascending, and finally 0 for a pass.

        Except for bombs, these are above ``above``, up to ``up_to``. The list is the caller's own.
        """
        plays = self._lists[seat]
        if plays is None:
            plays = self._listed_to_beat(seat, to_beat)
        facts = self._facts
        if facts.limited and facts.limited.over(to_beat):
            return [*self._rules.following(self.plays(seat), to_beat), 0]
        # The same as ``Rules.following``, without a call at every decision.
        low = bisect(plays, above)
        if low == len(plays):
            return [0]
        beating = plays[low : bisect(plays, up_to, low)]
        if facts.bombs and plays[-1] >= facts.first_bomb > above:
            beating += plays[bisect_left(plays, facts.first_bomb, low) :]
        gone = self._listed[seat] ^ self.hands[seat]
        if gone and beating:  # mostly few, so the whole list is not filtered for them
            held = []
            for play in beating:
                if not play & gone:
                    held.append(play)  # noqa: PERF401
            held.append(0)
            return held
        beating.append(0)
        return beating

    def bombs(self, seat: int, to_beat: int) -> list[int]:
        """Return the codes of the bombs that beat the play ``to_beat``, ascending."""
        plays = self._lists[seat]
        if plays is not None and plays[-1] < self._facts.first_bomb and not self._facts.limited:
            return []  # the usual case, in which the hand's list need not be filtered
        return self._rules.bombs_on(self.plays(seat), to_beat)

    def _listed_to_beat(self, seat: int, to_beat: int) -> list[int]:
        """Return plays of a hand that is not listed: all, or only the short ones if no others can beat."""
        if not self._facts.lists_short or (to_beat & self._facts.full).bit_count() > _SHORT:
            return self.plays(seat)
        plays = self._short_lists[seat]
        if plays is None:
            self._short_lists[seat] = plays = self._rules.list_short(self.hands[seat])
            self._listed[seat] = self.hands[seat]
        return plays
