"""Reading a deal's actions: what nobody beat."""

from collections.abc import Sequence
from typing import NamedTuple

from referee.deals.action import Action
from referee.rules.plays import Rules


class Unbeaten(NamedTuple):
    """A play that nobody beat."""

    seat: int
    code: int
    final: bool
    """Whether it ended the deal."""


def unbeaten(rules: Rules, actions: Sequence[Action], trick_ends: Sequence[int]) -> tuple[Unbeaten, ...]:
    """Return the last play of every trick.

    ``trick_ends`` counts the actions until each finished trick's end; the trick after them ended the deal.
    """
    found = []
    for end in (*trick_ends, len(actions)):
        last = next(action for action in reversed(actions[:end]) if action.cards)
        found.append(Unbeaten(last.seat, rules.code(last.cards), end == len(actions)))
    return tuple(found)
