"""Names of fields in JSON that differ from those in Python (docs/json.md)."""

from collections.abc import Mapping
from functools import cache

TOURNAMENT: Mapping[str, str | None] = {"name": "tournament", "id": None}
"""The row's id is left out, as it is internal."""

RENAMED: Mapping[str, Mapping[str, str | None]] = {
    "arena.bots.versions.Registered": {"name": "bot"},
    "arena.bots.versions.VersionInfo": {"name": "bot"},
    "arena.leagues.overview.DivisionShown": {"name": "division"},
    "arena.leagues.overview.LeagueInfo": {"name": "league"},
    "arena.leagues.overview.Outside": {"name": "bot"},
    "arena.leagues.overview.PlaceLine": {"name": "bot"},
    "arena.leagues.overview.SeasonShown": {"number": "season"},
    "arena.play.matches.overview.PlayedMatch": {"names": "bots"},
    "arena.play.matches.overview.PlayedSession": {"number": "session", "names": "bots"},
    "arena.queries.authors.LogPage": {"entries": "log"},
    "arena.queries.faults.FaultsLine": {"name": "bot"},
    "arena.queries.faults.FaultsPage": {"lines": "bots"},
    "arena.queries.highlights.DealLine": {"names": "bots"},
    "arena.queries.highlights.DealPage": {"lines": "deals"},
    "arena.queries.histories.HistoryLine": {"name": "bot"},
    "arena.queries.histories.HistoryPage": {"lines": "history"},
    "arena.queries.board.Leaderboard": {"lines": "leaderboard"},
    "arena.queries.board.LeaderboardLine": {"name": "bot", "last_played": "last_played_at"},
    "arena.queries.matches.MatchLine": {"names": "bots"},
    "arena.queries.matches.MatchPage": {"lines": "matches"},
    "arena.queries.meetings.OpponentLine": {"name": "bot"},
    "arena.queries.tables.TableLine": {"names": "bots"},
    "arena.queries.together.AtTable": {"names": "bots"},
    "arena.queries.profiles.VersionLine": {"name": "bot"},
    "arena.queries.versus.VersionsLine": {"name": "bot", "other": "opponent"},
    "arena.queries.scoreboard.Placed": {"name": "bot", "entrant": None},
    "arena.tournaments.overview.TournamentStatus": TOURNAMENT,
}
"""For each dataclass, and those derived from it, the JSON names of its fields; None for those left out."""


@cache
def names_of(kind: type) -> Mapping[str, str | None]:
    """Return the fields of a dataclass that have other names in JSON; None for those left out."""
    found: dict[str, str | None] = {}
    for base in reversed(kind.__mro__):
        found |= RENAMED.get(f"{base.__module__}.{base.__qualname__}", {})
    return found
