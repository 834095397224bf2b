"""What is played in a practice: every deal once from each seat, so that the luck of the cards cancels out."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

from referee.matches.match import Limits, MatchBot, MatchSpec, SessionResult, SessionSpec
from referee.ruleset import Ruleset

ME = "me/my-bot@1"
"""The name under which the bot plays."""
MOST_DEALS = 1_000
JOIN_MS = 5_000
"""How long a bot that was connected may be away when the match begins."""


@dataclass(frozen=True, slots=True)
class Opposition:
    """What bots play against sample bots: the rules, the others at the table, the cards."""

    ruleset: Ruleset
    opponents: tuple[str, ...]
    """Names of sample bots, one for each other seat."""
    seed: str
    """The deals follow from it."""
    decision_ms: int

    @property
    def players(self) -> int:
        """How many bots are at the table."""
        return self.ruleset.players

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the opponents in matches."""
        return tuple(f"opponent-{place}/{name}@1" for place, name in enumerate(self.opponents, start=1))

    def match_of(
        self, tournament: str, bots: Sequence[MatchBot], deals: range, *, round: int = 1, table: int = 1
    ) -> MatchSpec:
        """Return a match between these bots, the one that plays against the others first."""
        return MatchSpec(
            match_id=f"{tournament}/{round}/{table}",
            tournament=tournament,
            round=round,
            table=table,
            ruleset=self.ruleset.to_object(),
            bots=tuple(bots),
            sessions=from_every_seat(self.seed, deals, self.players),
            deals=1,
            commitment="",
            limits=Limits(decision_ms=self.decision_ms, join_ms=JOIN_MS),
        )


@dataclass(frozen=True, slots=True)
class Plan(Opposition):
    """What is played in a practice."""

    deals: int
    """Different deals; each is played from every seat."""

    @property
    def names(self) -> tuple[str, ...]:
        """The bots' names: the own one first, then the opponents'."""
        return (ME, *self.others)

    @property
    def sessions(self) -> int:
        """How many sessions there are, of one deal each."""
        return self.deals * self.players

    def match(self) -> MatchSpec:
        """Return the match to be run."""
        bots = [MatchBot(number, name) for number, name in enumerate(self.names, start=1)]
        return self.match_of("practice", bots, range(self.deals))


def from_every_seat(seed: str, deals: Iterable[int], players: int) -> tuple[SessionSpec, ...]:
    """Return sessions in which these deals of a seed are played, each from every seat, one after another.

    The numbers of a deal's sessions are ``deal * players + 1`` and the following ones.
    """
    return tuple(
        SessionSpec(
            deal * players + turned + 1,
            seating(turned, players),
            sha256(f"{seed}/{deal}".encode()).digest(),
        )
        for deal in deals
        for turned in range(players)
    )


def seating(turned: int, players: int) -> tuple[int, ...]:
    """Return for each seat the place of its bot in the match's list; ``turned`` by so many seats."""
    return tuple((seat + turned) % players for seat in range(players))


@dataclass(frozen=True, slots=True)
class Played:
    """One deal from one seat."""

    seating: tuple[int, ...]
    """For each seat the place of its bot in the plan's names."""
    record: dict[str, Any]
    """Its lean record."""

    @property
    def own_seat(self) -> int:
        """The bot's seat."""
        return self.seating.index(0)

    @property
    def points(self) -> tuple[int, ...]:
        """The points, in the order of the plan's names."""
        by_seat = self.record["points"]
        return tuple(by_seat[self.seating.index(place)] for place in range(len(self.seating)))


def played_deals(plan: Plan, results: Sequence[SessionResult]) -> list[list[Played]]:
    """Return what was played, the same deal from all its seats together; a forfeit without a card is none."""
    ordered = sorted(results, key=lambda result: result.number)
    return [
        [
            Played(seating((result.number - 1) % plan.players, plan.players), json.loads(result.records[0]))
            for result in alike
            if result.records
        ]
        for _, alike in groupby(ordered, key=lambda result: (result.number - 1) // plan.players)
    ]
