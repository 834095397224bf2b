"""Actions in place of bots that forfeited a session which goes on without them."""

from collections.abc import Iterable

from referee.deals.action import OnForfeit, Stage
from referee.deals.deal import Deal


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
