"""Who meets whom: tournament formats as pure functions of the entrants and of what has been played."""

from arena.pairing.by_standing import swiss
from arena.pairing.roundrobin import round_robin
from arena.pairing.values import History, Pairing

__all__ = ["History", "Pairing", "round_robin", "swiss"]
