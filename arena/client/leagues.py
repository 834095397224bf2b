"""Calls about leagues."""

from collections.abc import Mapping

from arena.client.call import Call, of_bot
from arena.leagues.answers import Changes, History, Joined, Leagues, LeagueWhole, Left

LEAGUE = "/leagues/{league}"


def list_leagues() -> Call[Leagues]:
    """List all leagues."""
    return Call("GET", "/leagues", Leagues)


def show_league(league: str, season: int | None = None) -> Call[LeagueWhole]:
    """Return a league as it stands in its latest season, or in an earlier one."""
    return Call("GET", LEAGUE, LeagueWhole, {"league": league}, {"season": season})


def league_history(league: str) -> Call[History]:
    """Return all seasons of a league."""
    return Call("GET", f"{LEAGUE}/history", History, {"league": league})


def apply_league(league: str, fields: Mapping[str, object]) -> Call[Changes]:
    """Make a league what is sent, from its next season on; one that is new is yours."""
    return Call("PUT", LEAGUE, Changes, {"league": league}, body=fields)


def preview_league(league: str, fields: Mapping[str, object]) -> Call[Changes]:
    """Return what applying that would change; nothing is changed."""
    return Call("POST", f"{LEAGUE}/preview", Changes, {"league": league}, body=fields)


def join_league(league: str, bot: str) -> Call[Joined]:
    """Let a bot of yours play from the next season on."""
    return Call("POST", f"{LEAGUE}/members", Joined, {"league": league}, body={"bot": bot})


def leave_league(league: str, bot: str) -> Call[Left]:
    """Let a bot of yours play no more from the next season on."""
    return Call("DELETE", f"{LEAGUE}/members/{{owner}}/{{bot}}", Left, {"league": league, **of_bot(bot)})
