"""Calls about leagues."""

from collections.abc import Mapping, Sequence
from types import NoneType

from arena.client.call import Call, of_bot
from arena.leagues.admission import LeagueEntries
from arena.leagues.answers import Changes, History, Joined, Leagues, LeagueWhole, Left
from arena.tournaments.admission import RequestShown

LEAGUE = "/leagues/{league}"
REQUEST = f"{LEAGUE}/requests/{{owner}}/{{bot}}"


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
    """Create a league, which is then yours, or change one from its next season on."""
    return Call("PUT", LEAGUE, Changes, {"league": league}, body=fields)


def preview_league(league: str, fields: Mapping[str, object]) -> Call[Changes]:
    """Return what ``apply_league`` would change, without changing anything."""
    return Call("POST", f"{LEAGUE}/preview", Changes, {"league": league}, body=fields)


def join_league(league: str, bot: str) -> Call[Joined]:
    """Let a bot of yours play from the next season on, or ask to."""
    return Call("POST", f"{LEAGUE}/members", Joined, {"league": league}, body={"bot": bot})


def leave_league(league: str, bot: str) -> Call[Left]:
    """Take a bot of yours out of a league from the next season on."""
    return Call("DELETE", f"{LEAGUE}/members/{{owner}}/{{bot}}", Left, {"league": league, **of_bot(bot)})


def league_entries(league: str) -> Call[LeagueEntries]:
    """Return who is invited to a league, and who has asked to join it."""
    return Call("GET", f"{LEAGUE}/entries", LeagueEntries, {"league": league})


def invite_members(league: str, invited: Sequence[str]) -> Call[LeagueEntries]:
    """Invite owners, or single bots, to a league of yours."""
    body = {"invited": list(invited)}
    return Call("POST", f"{LEAGUE}/invitations", LeagueEntries, {"league": league}, body=body)


def uninvite_member_owner(league: str, owner: str) -> Call[None]:
    """Take back the invitation of an owner to a league of yours."""
    named = {"league": league, "owner": owner}
    return Call("DELETE", f"{LEAGUE}/invitations/{{owner}}", NoneType, named)


def uninvite_member(league: str, bot: str) -> Call[None]:
    """Take back the invitation of a bot to a league of yours."""
    return Call("DELETE", f"{LEAGUE}/invitations/{{owner}}/{{bot}}", NoneType, _of(league, bot))


def approve_member(league: str, bot: str) -> Call[Joined]:
    """Approve a bot that has asked to join a league of yours."""
    return Call("POST", f"{REQUEST}/approve", Joined, _of(league, bot))


def decline_member(league: str, bot: str, reason: str) -> Call[RequestShown]:
    """Decline a bot that has asked to join a league of yours."""
    return Call("POST", f"{REQUEST}/decline", RequestShown, _of(league, bot), body={"reason": reason})


def _of(league: str, bot: str) -> dict[str, object]:
    return {"league": league, **of_bot(bot)}
