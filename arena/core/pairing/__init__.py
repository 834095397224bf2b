"""Who sits with whom: what the formats share, as pure functions over plain values."""

from arena.core.pairing.report import Balance, Exchange, Spread, TableReason, balance, explain
from arena.core.pairing.search import check_tables, owner_of
from arena.core.pairing.values import RECENT, Batches, History, Pairing, Past, Recent

__all__ = [
    "RECENT",
    "Balance",
    "Batches",
    "Exchange",
    "History",
    "Pairing",
    "Past",
    "Recent",
    "Spread",
    "TableReason",
    "balance",
    "check_tables",
    "explain",
    "owner_of",
]
