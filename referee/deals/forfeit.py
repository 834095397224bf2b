"""What a forfeit is, and what becomes of its session: values for modules that must not import deals."""

from typing import Literal, NamedTuple, TypeAlias

OnForfeit: TypeAlias = Literal["default_action", "stand_in", "end_session"]
"""What happens to a session when one of its bots forfeits it: default actions or the stand-in play for its
seat, or the session ends."""


class Forfeit(NamedTuple):
    """A seat whose bot has forfeited the session, and that is played for from then on."""

    seat: int
    deal: int
    """The deal of the session in which it forfeited, from 1."""
    action: int
    """How many actions that deal had had by then."""
    why: Literal["absent", "faults"]
