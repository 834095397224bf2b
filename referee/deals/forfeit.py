"""What a forfeit is, and what may happen to a session because of one: values, for all that know no deal."""

from typing import Literal, NamedTuple, TypeAlias

OnForfeit: TypeAlias = Literal["default_action", "stand_in", "end_session"]
"""What happens to a session when one of its bots forfeits it: its seat is played for by the default action or
by the stand-in, or the session ends."""


class Forfeit(NamedTuple):
    """A seat whose bot has forfeited the session, and that is played for from then on."""

    seat: int
    deal: int
    """The deal of the session in which it forfeited, from 1."""
    action: int
    """How many actions that deal had before."""
    why: Literal["absent", "faults"]
