"""Reading a deal's log: what nobody beat."""

from collections.abc import Sequence
from typing import NamedTuple

from referee.deals.action import Entry
from referee.rules.plays import Rules


class Unbeaten(NamedTuple):
    """A play that nobody beat."""

    seat: int
    code: int
    final: bool
    """Whether it ended the deal."""


def unbeaten(rules: Rules, log: Sequence[Entry], trick_ends: Sequence[int]) -> tuple[Unbeaten, ...]:
    """Return the last play of every trick.

    ``trick_ends`` has the number of actions up to each finished trick's end; the trick after them ended the
    deal.
    """
    found = []
    for end in (*trick_ends, len(log)):
        last = end - 1
        while not log[last][1]:
            last -= 1
        seat, cards, _, _ = log[last]
        found.append(Unbeaten(seat, rules.code(cards), end == len(log)))
    return tuple(found)
