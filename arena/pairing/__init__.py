"""Who meets whom: tournament formats as pure functions of the entrants and of what has been played."""

from arena.pairing.by_standing import swiss
from arena.pairing.continuous import Waiting, continuous
from arena.pairing.explain import Exchange, TableReason, explain
from arena.pairing.gauntlet import gauntlet
from arena.pairing.knockout import KnockoutRound, knockout, still_in
from arena.pairing.options import FORMATS, MOST_ENTRANTS, check_options, option, planned_rounds
from arena.pairing.report import Balance, Spread, balance
from arena.pairing.roundrobin import round_robin, round_robin_on
from arena.pairing.same_owner import APART, check_entry, check_owners, owner_of
from arena.pairing.values import History, Pairing

__all__ = [
    "APART",
    "FORMATS",
    "MOST_ENTRANTS",
    "Balance",
    "Exchange",
    "History",
    "KnockoutRound",
    "Pairing",
    "Spread",
    "TableReason",
    "Waiting",
    "balance",
    "check_entry",
    "check_options",
    "check_owners",
    "continuous",
    "explain",
    "gauntlet",
    "knockout",
    "option",
    "owner_of",
    "planned_rounds",
    "round_robin",
    "round_robin_on",
    "still_in",
    "swiss",
]
