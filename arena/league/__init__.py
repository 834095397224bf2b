"""Leagues as pure functions: what one is to be, when its seasons start, who plays in which division."""

from arena.league.changes import Change, changes
from arena.league.divisions import Level, next_divisions, owners_apart, regroup
from arena.league.schedule import next_start
from arena.league.spec import QUALIFICATION, Division, LeagueSpec, load_league, make_league

__all__ = [
    "QUALIFICATION",
    "Change",
    "Division",
    "LeagueSpec",
    "Level",
    "changes",
    "load_league",
    "make_league",
    "next_divisions",
    "next_start",
    "owners_apart",
    "regroup",
]
