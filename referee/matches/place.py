"""What a table keeps of a seat."""

from typing import TYPE_CHECKING

from referee.matches.events import Turn
from referee.matches.outbox import Outbox

if TYPE_CHECKING:
    from referee.matches.table import Table


class Place:
    """A seat at a table: what its bot was told and owes, and where its turns go."""

    __slots__ = ("bank", "faults", "late", "outbox", "seat", "sequence", "table", "told", "turn")

    def __init__(self, table: "Table", seat: int, bank: float) -> None:
        self.table = table
        self.seat = seat
        self.outbox: Outbox | None = None
        """Of the bot's stream; None while it is not connected."""
        self.turn: Turn | None = None
        """The decision that is owed."""
        self.sequence = 0
        """Of the last turn."""
        self.told = 0
        """How much of the deal's log the bot was told; see ``log_length``."""
        self.bank = bank
        """Seconds left."""
        self.faults = 0
        self.late: dict[int, float] = {}
        """When turns ran out, by sequence."""
