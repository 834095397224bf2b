"""The values of a leaderboard, without the database, which clients of an arena on the network do not have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.core.luck import LuckLine
from arena.results.strength.scale import about
from arena.tabular import Column


@dataclass(frozen=True, slots=True)
class Baselines:
    """All baselines."""

    baselines: list[str]
    """Names of bot versions, sorted."""


@dataclass(frozen=True, slots=True)
class Before:
    """The standing of a bot version in its pool at an earlier time."""

    rating: float | None
    """Elo; None if it was not rated yet."""
    figure: float | None
    """Its strength on a scale like that of Elo; None if it had none yet."""
    rank: int | None
    """Its rank in the whole fit of that time; None if it was in none yet."""


@dataclass(frozen=True, slots=True)
class StrengthLine:
    """The strength of a bot version, by the latest fit of its pool (docs/ratings.md)."""

    points: float
    """Points per deal above the mean of the group."""
    plus_minus: float
    """Half the width of the 95 % interval around that."""
    figure: float
    """Strength against the anchor, which has 1500, on a scale like that of Elo."""
    figure_low: float
    """The lower end of its 95 % interval."""
    figure_high: float
    """The upper end."""
    anchor: Literal["baselines", "mean"]
    """The anchor: the mean of the group's baselines; without them, of its bots that are not provisional."""
    ahead: float | None
    """How often it finishes a deal ahead of another bot of the group, from 0 to 1; None if unknown."""
    ahead_low: float | None
    """The lower end of the 95 % interval of that."""
    ahead_high: float | None
    """The upper end."""
    rank: int
    """Place in the group."""
    best: int
    """The best place that it may have."""
    worst: int
    """The worst place."""
    tier: int
    """Bots of one tier have not been told apart."""
    parts_after: int | None
    """Deals more of both until it and the next one of the group are told apart, if the difference stays; None
    for the last."""
    group: int
    """From 1; bots of different groups never met, not even indirectly, and are not comparable."""
    deals: int
    """How many deals it is based on."""


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A bot version's place in a pool."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    """Bots at a table."""
    place: int
    """In the whole pool, from 1: first the bots with a strength, by strength, then the others by rating."""
    bot: str
    """``owner/bot@version``."""
    owner: str
    language: str | None
    """What it is written in; None if not stated."""
    strength: StrengthLine | None
    """By the latest fit; None before the first one, and without deals that were played out."""
    provisional: bool
    """Whether it has no strength yet, or one from fewer than 400 deals."""
    rating: float
    """Elo."""
    matches: int
    """Rated matches."""
    deals: int
    """Deals in these."""
    luck: LuckLine | None
    """What its cards were worth, and what it made of them; None as long as that is not known."""
    last_played_at: datetime | None
    """When its last rated match finished; None if unknown."""
    before: Before | None
    """Its standing at the time that was asked for; None if none was."""


def _of_strength(value: Callable[[StrengthLine], Any]) -> Callable[[LeaderboardLine], Any]:
    return lambda line: None if line.strength is None else value(line.strength)


def _since(
    now: Callable[[LeaderboardLine], float | None], before: Callable[[Before], float | None]
) -> Callable[[LeaderboardLine], tuple[float, float | None] | None]:
    """Return what reads a value and the one before; None without the earlier standing or without a value."""

    def value(line: LeaderboardLine) -> tuple[float, float | None] | None:
        current = now(line)
        return None if line.before is None or current is None else (current, before(line.before))

    return value


PROVISIONAL = "?"
"""Marks strengths that come from few deals."""

COLUMNS: Sequence[Column[LeaderboardLine]] = (
    Column("", lambda line: line.place, page=None),
    Column(
        "ranks",
        _of_strength(
            lambda strength: (
                f"{strength.best}-{strength.worst}" if strength.best < strength.worst else str(strength.best)
            )
        ),
        about="the places that it may have, of all bots at once in 95 of 100 cases",
    ),
    Column("bot version", lambda line: line.bot, "bot"),
    Column(
        "tier",
        _of_strength(lambda strength: f"{strength.group}:{strength.tier}".removeprefix("1:")),
        about="a bot that is beyond doubt worse than the best of a tier begins the next, so rank ranges of "
        "bots in two tiers may overlap",
        page=None,
    ),
    Column(
        "strength",
        _of_strength(lambda strength: strength.figure),
        about="estimated from points a deal; 100 more wins about 64 of 100 matches of 40 deals",
        mark=lambda line: PROVISIONAL if line.provisional else "",
    ),
    Column(
        "95 %",
        _of_strength(lambda strength: f"{strength.figure_low:.0f}-{strength.figure_high:.0f}"),
        about="the interval of the strength",
        page=None,
    ),
    Column(
        "points a deal",
        _of_strength(lambda strength: (strength.points, strength.plus_minus)),
        "mean",
        "more than the mean bot makes, ± in 95 of 100 cases",
        terminal=False,
        page="p2",
    ),
    Column(
        "apart after",
        _of_strength(lambda strength: None if strength.parts_after is None else about(strength.parts_after)),
        about="about how many more deals it and the next one need to be told apart, if both play them and "
        "their difference stays",
        page="p3",
    ),
    Column(
        "ahead",
        _of_strength(lambda strength: strength.ahead),
        "share",
        "the share of deals in which it finishes ahead of another bot",
        page="p3",
    ),
    Column(
        "Elo", lambda line: line.rating, about="updated match by match, so it follows luck too", page="p1"
    ),
    Column("matches", lambda line: line.matches, page=None),
    Column(
        "deals",
        lambda line: line.deals,
        about="all rated ones; strengths come from those that all bots of the table played without a "
        "forfeit, and from those that the bot itself forfeited",
        page="p3",
    ),
    Column("played last", lambda line: line.last_played_at, "date", terminal=False, page="p3"),
)

CHANGES: Sequence[Column[LeaderboardLine]] = (
    Column(
        "strength since",
        _since(_of_strength(lambda strength: strength.figure), lambda before: before.figure),
        "change",
    ),
    Column(
        "rank since",
        _since(
            _of_strength(lambda strength: -strength.rank),
            lambda before: None if before.rank is None else -before.rank,
        ),
        "change",
        page="p1",
    ),
    Column("Elo since", _since(lambda line: line.rating, lambda before: before.rating), "change", page="p1"),
)
"""What a leaderboard has besides if it is asked for changes since a time; upwards is positive."""


@dataclass(frozen=True, slots=True)
class CutPool:
    """A pool with more places than a page shows."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    """Bots at a table."""
    next: str
    """Cursor of its next page."""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A page of a leaderboard, or the beginnings of several."""

    leaderboard: tuple[LeaderboardLine, ...]
    """One pool after another, each from its best bot on."""
    next: str | None
    """Cursor of the next page; None if there is none, or if there are several pools."""
    cut: tuple[CutPool, ...] = ()
    """The pools with more places, each with the cursor that continues it."""
