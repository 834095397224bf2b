"""Who sits with whom: what the formats share, as pure functions over plain values."""

from arena.core.pairing.reasons import Exchange, TableReason, explain
from arena.core.pairing.recent import RECENT, Batches, Recent
from arena.core.pairing.report import Balance, Spread, balance
from arena.core.pairing.same_owner import check_entry, owner_of
from arena.core.pairing.values import History, Pairing

__all__ = [
    "RECENT",
    "Balance",
    "Batches",
    "Exchange",
    "History",
    "Pairing",
    "Recent",
    "Spread",
    "TableReason",
    "balance",
    "check_entry",
    "explain",
    "owner_of",
]
