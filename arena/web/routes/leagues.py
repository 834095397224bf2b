"""Leagues: their settings, their standings, and who joins and leaves."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

from fastapi import Body, Path, Query

from arena.errors import SpecError
from arena.leagues import admission, applying, membership, overview
from arena.leagues.answers import Changes, History, Joined, Leagues, LeagueWhole, Left
from arena.leagues.spec import LeagueSpec, make_league
from arena.specs import Name
from arena.tournaments.admission import RequestShown
from arena.web.asking import Author, Organiser, Reader
from arena.web.context import Shared
from arena.web.routes.entries import Declining, Inviting
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape

router = api_router("leagues")


LeagueList = shape(Leagues)
LeagueShape = shape(LeagueWhole)
HistoryShape = shape(History)
ChangesShape = shape(Changes)
JoinedShape = shape(Joined)
LeftShape = shape(Left)
LeagueEntriesShape = shape(admission.LeagueEntries)
LeagueRequestShape = shape(RequestShown)

Bot = Annotated[str, Path(description="The bot, or `bot@version`: what asked to join.")]


class Member(Sent):
    """A bot that joins."""

    bot: str
    """``owner/bot``, for its newest version in each season, or ``owner/bot@version``."""


Given = Annotated[dict[str, Any], Body(description="The league as its file has it; `name` may be left out.")]


def _asked(league: str, sent: Mapping[str, Any]) -> LeagueSpec:
    """Return the league that is sent to an address. Raise SpecError."""
    if sent.get("name", league) != league:
        raise SpecError("name", f"is not that of the address, {league}")
    return make_league({**sent, "name": league})


@router.get("/leagues", response_model=LeagueList)
def list_leagues(web: Shared) -> Leagues:
    """List all leagues."""
    return Leagues(overview.list_leagues(web.storage))


@router.get("/leagues/{league}", response_model=LeagueShape)
def show_league(
    web: Shared,
    league: Name,
    season: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="An earlier one.")] = None,
) -> LeagueWhole:
    """Return a league as it stands in its latest season, or in an earlier one."""
    found = overview.show(web.storage, league, web.clock(), season)
    info = {field.name: getattr(found.league, field.name) for field in fields(overview.LeagueInfo)}
    return LeagueWhole(**info, seasons=[found.season] if found.season else [], outside=found.outside)


@router.get("/leagues/{league}/history", response_model=HistoryShape)
def league_history(web: Shared, league: Name) -> History:
    """Return all seasons of a league."""
    return History(league, overview.history(web.storage, league, web.clock()))


@router.put("/leagues/{league}", response_model=ChangesShape)
def apply_league(web: Shared, actor: Organiser, league: Name, sent: Given) -> Changes:
    """Create a league, which is then yours, or change one from its next season on."""
    made = applying.apply(web.storage, actor, _asked(league, sent), web.clock())
    return Changes(league, True, made)


@router.post("/leagues/{league}/preview", response_model=ChangesShape)
def preview_league(web: Shared, actor: Organiser, league: Name, sent: Given) -> Changes:
    """Return what sending this with PUT would change, without changing anything."""
    return Changes(league, False, applying.compare(web.storage, actor, _asked(league, sent)))


@router.post("/leagues/{league}/members", status_code=201, response_model=JoinedShape)
def join_league(web: Shared, actor: Author, league: Name, sent: Member) -> Joined:
    """Let a bot of yours play from the next season on; if the organiser decides, this asks for approval."""
    state = membership.join(web.storage, actor, league, sent.bot, web.clock())
    shown = overview.show(web.storage, league, web.clock())
    return Joined(league, sent.bot, state, shown.league.next_at)


@router.delete("/leagues/{league}/members/{owner}/{bot}", response_model=LeftShape)
def leave_league(web: Shared, actor: Author, league: Name, owner: str, bot: str) -> Left:
    """Take a bot of yours out of a league from the next season on; it plays a running season to the end."""
    membership.leave(web.storage, actor, league, f"{owner}/{bot}", web.clock())
    return Left(league, f"{owner}/{bot}")


@router.get("/leagues/{league}/entries", response_model=LeagueEntriesShape)
def league_entries(web: Shared, actor: Reader, league: Name) -> admission.LeagueEntries:
    """Return who is invited and who has asked: everybody for a league of yours, else only your bots."""
    return admission.list_entries(web.storage, actor, league)


@router.post("/leagues/{league}/invitations", status_code=201, response_model=LeagueEntriesShape)
def invite_members(web: Shared, actor: Organiser, league: Name, sent: Inviting) -> admission.LeagueEntries:
    """Invite owners, or single bots, to a league of yours that is not open to everybody."""
    return admission.invite(web.storage, actor, league, sent.invited, web.clock())


@router.delete("/leagues/{league}/invitations/{owner}", status_code=204)
def uninvite_member_owner(web: Shared, actor: Organiser, league: Name, owner: str) -> None:
    """Take back the invitation of an owner to a league of yours; bots that have joined stay."""
    admission.uninvite(web.storage, actor, league, owner, web.clock())


@router.delete("/leagues/{league}/invitations/{owner}/{bot}", status_code=204)
def uninvite_member(web: Shared, actor: Organiser, league: Name, owner: str, bot: str) -> None:
    """Take back the invitation of a bot to a league of yours; if it has joined, it stays."""
    admission.uninvite(web.storage, actor, league, f"{owner}/{bot}", web.clock())


@router.post("/leagues/{league}/requests/{owner}/{bot}/approve", response_model=JoinedShape)
def approve_member(web: Shared, actor: Organiser, league: Name, owner: str, bot: Bot) -> Joined:
    """Approve a bot that has asked to join a league of yours, or that you declined before."""
    membership.approve(web.storage, actor, league, f"{owner}/{bot}", web.clock())
    shown = overview.show(web.storage, league, web.clock())
    return Joined(league, f"{owner}/{bot}", "joined", shown.league.next_at)


@router.post("/leagues/{league}/requests/{owner}/{bot}/decline", response_model=LeagueRequestShape)
def decline_member(
    web: Shared, actor: Organiser, league: Name, owner: str, bot: Bot, sent: Declining
) -> RequestShown:
    """Decline a bot that has asked to join a league of yours, with a reason."""
    return admission.decline(web.storage, actor, league, f"{owner}/{bot}", sent.reason, web.clock())
