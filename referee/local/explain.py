"""What each decision of a recorded deal cost, estimated by playouts.

Each decision is judged by what its seat saw: sage's candidates and what was played are played out in the
same sampled worlds. One half of the worlds says which action looks best, the other half by how much it is
better: taking both from the same worlds would make every decision look like a mistake.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random

from referee.errors import PositionError
from referee.local.replayed import Decision, Replayed
from referee.local.sums import Sums
from referee.sage.sage import Sage

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Priced:
    """A decision, and what it is believed to have cost."""

    turn: int
    """The number of the action in its deal, from 1."""
    hand: str
    to_beat: str
    """Empty when leading."""
    played: str
    """``-`` for a pass."""
    better: str
    """What looks best; equal to ``played`` if nothing looks better."""
    cost: float
    """How many more points ``better`` scores in playouts; may be below 0 by chance."""
    plus_minus: float
    """In 95 of 100 cases the mean of endless playouts is within this range."""
    worlds: int
    """In how many worlds each action was played out."""

    @property
    def is_clear(self) -> bool:
        """Whether the playouts leave no doubt that another action was better."""
        return self.better != self.played and self.cost > self.plus_minus


def priced(
    replayed: Replayed, seconds: float, clock: Clock, show: Callable[[int, int], None]
) -> list[Priced]:
    """Return all decisions in which there was a choice, the costliest first.

    They share ``seconds``. ``show`` is called with how many are done, and of how many.
    """
    number = sum(_has_choice(price) for price in replayed.decisions())
    sage = Sage(replayed.record.rules, Random(replayed.record.seed), clock)  # noqa: S311 no secret
    decisions: list[Priced] = []
    end = clock() + seconds
    for done, decision in enumerate(filter(_has_choice, replayed.decisions())):
        price = _priced(replayed, decision, sage, max(0.0, end - clock()) / (number - done))
        if price is not None:
            decisions.append(price)
        show(done + 1, number)
    return sorted(decisions, key=lambda price: (not price.is_clear, -price.cost))


def _has_choice(decision: Decision) -> bool:
    turn = decision.turn
    return len(turn.legal) + turn.can_pass > 1


def _priced(replayed: Replayed, decision: Decision, sage: Sage, seconds: float) -> Priced | None:
    """Return what a decision cost; None if its position cannot be searched."""
    turn, rules = decision.turn, replayed.record.rules
    legal = [*turn.legal_codes, *([0] if turn.can_pass else [])]
    action = next((code for code in legal if code & rules.full == decision.cards), None)
    if action is None:
        return None
    codes = [*dict.fromkeys([*sage.candidates(turn.hand_mask, legal), action])]
    try:
        values = sage.prices(turn.position(), replayed.seat, codes, seconds)
    except PositionError:  # of two packs, a copy was taken for the other one
        return None
    best, sums = compared(values, action)
    return Priced(
        turn=decision.number,
        hand=" ".join(turn.hand),
        to_beat=str(turn.to_beat or ""),
        played=rules.text(decision.cards) or "-",
        better=rules.text(best & rules.full) or "-",
        cost=sums.mean,
        plus_minus=1.96 * sqrt(sums.squares / max(1, sums.count - 1) / sums.count),
        worlds=len(values[action]),
    )


def compared(values: Mapping[int, Sequence[int]], action: int) -> tuple[int, Sums]:
    """Return the action that looks best in every second world, and how much better it is in the others."""
    best = max(values, key=lambda code: (sum(values[code][::2]), code == action))
    sums = Sums()
    for ours, then in zip(values[best][1::2], values[action][1::2], strict=True):
        sums = sums.add(ours - then)
    return best, sums
