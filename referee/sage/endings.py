"""The last cards of a deal with all hands known: played out exactly, each seat for its own points.

Each seat takes the action that is worth most to it (max^n); of equal ones, the play with the most cards, and
a pass last. Results are remembered by position, because many lines of play lead to the same one.
"""

from collections.abc import Sequence

from referee.deals.dealing import next_seats
from referee.deals.scoring import Finish, score
from referee.memo import Memo
from referee.native import native
from referee.rules.plays import Rules
from referee.sage.playouts import Start

_MOST_POINTS = {"penalty": 0, "last_loses": 0, "wins": 1}
"""The most points that a seat can get, by the way to settle: once it has them, it need not look further."""

MOST_KNOWN = 1 << 12
"""How many positions are remembered from one ending to the next."""

_Points = tuple[int, ...]


class TooLong(Exception):
    """The ending has more positions than may be looked at."""


@native(allow_interpreted_subclasses=True)
class Endings:
    """Plays endings out exactly, under rules for which ``Quick`` plays on (``is_quick``)."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._full, self._one_pack = rules.full, rules.decks == 1
        self._first_out, self._locks = rules.ruleset.deal_ends == "first_out", rules.ruleset.pass_locks
        self._next_leads = rules.ruleset.after_out == "next_leads"
        self._most = _MOST_POINTS.get(rules.ruleset.settle)
        self._plays: Memo[int, list[int]] = Memo(rules.list_plays, MOST_KNOWN)
        self._values: dict[tuple[object, ...], _Points] = {}
        self._apart: tuple[int, int, int | None] = (0, 1, None)
        """What the points depend on besides the cards; it is the same for everything remembered."""
        self._order: tuple[int, ...] = ()
        self._left = 0
        self.looked_at = 0
        """How many positions the last ending took."""

    def points(self, start: Start, hands: Sequence[int], nodes: int) -> _Points:
        """Return the points if every seat plays best. Raise TooLong for more than ``nodes`` positions."""
        apart = (start.dealer, start.step, start.leader)
        if apart != self._apart or len(self._values) > MOST_KNOWN:
            self._values.clear()
        self._apart, self._left = apart, nodes
        self._order = next_seats(start.step, len(hands))
        self.looked_at = 0
        if start.is_end(self._first_out, hands):
            return score(self._rules, Finish(*apart, (), tuple(hands), start.out, final=start.final))
        points = self._value(
            tuple(hands), start.seat, start.to_beat, start.last, start.locked, start.out, start.final
        )
        self.looked_at = nodes - self._left
        return points

    def _value(
        self,
        hands: tuple[int, ...],
        seat: int,
        to_beat: int,
        last: int,
        locked: int,
        out: tuple[int, ...],
        final: int,
    ) -> _Points:
        """Return the points from a turn on."""
        codes = self._codes(hands, seat, to_beat, locked)
        while not codes:  # only a pass
            seat, to_beat, locked = self._passed(hands, seat, to_beat, last, locked)
            codes = self._codes(hands, seat, to_beat, locked)
        key = (hands, seat, to_beat, last, locked, out, final)
        points = self._values.get(key)
        if points is not None:
            return points
        self._left -= 1
        if self._left < 0:
            raise TooLong
        best: _Points = ()
        if len(codes) > 1:
            full = self._full
            codes = sorted(codes, key=lambda code: -(code & full).bit_count())
        for code in codes:
            value = self._after(hands, seat, code, locked, out, final)
            if not best or value[seat] > best[seat]:
                best = value
                if best[seat] == self._most:
                    break
        if to_beat and best[seat] != self._most:
            following, beaten, more = self._passed(hands, seat, to_beat, last, locked)
            value = self._value(hands, following, beaten, last, more, out, final)
            if value[seat] > best[seat]:
                best = value
        self._values[key] = best
        return best

    def _codes(self, hands: tuple[int, ...], seat: int, to_beat: int, locked: int) -> list[int]:
        plays = self._plays[hands[seat]]
        if not to_beat:
            return plays
        return [] if locked >> seat & 1 else self._rules.following(plays, to_beat)

    def _after(
        self, hands: tuple[int, ...], seat: int, code: int, locked: int, out: tuple[int, ...], final: int
    ) -> _Points:
        """Return the points after a play."""
        mask = code & self._full
        left = hands[seat] ^ mask if self._one_pack else self._rules.remove(hands[seat], mask)
        hands = (*hands[:seat], left, *hands[seat + 1 :])
        if not left:
            final, out = final or code, (*out, seat)
            if self._first_out or sum(map(bool, hands)) == 1:
                return score(self._rules, Finish(*self._apart, (), hands, out, final=final))
        following, to_beat, locked = self._next(hands, seat, code, seat, locked)
        if not left and self._next_leads:
            to_beat = locked = 0
        return self._value(hands, following, to_beat, seat, locked, out, final)

    def _passed(
        self, hands: tuple[int, ...], seat: int, to_beat: int, last: int, locked: int
    ) -> tuple[int, int, int]:
        """Return whose turn it is after a pass, what is then to be beaten, and who is locked out."""
        if self._locks:
            locked |= 1 << seat
        return self._next(hands, seat, to_beat, last, locked)

    def _next(
        self, hands: tuple[int, ...], seat: int, to_beat: int, last: int, locked: int
    ) -> tuple[int, int, int]:
        order = self._order
        seat = order[seat]
        while not hands[seat] and seat != last:
            seat = order[seat]
        if seat != last:
            return seat, to_beat, locked
        while not hands[seat]:
            seat = order[seat]
        return seat, 0, 0
