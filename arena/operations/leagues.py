"""Leagues: their settings, their standings, and who joins and leaves."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from annotated_types import Interval

from arena.actors import KeyScope
from arena.core.specs import Name
from arena.errors import SpecError
from arena.leagues import applying, membership, overview
from arena.leagues.applying import Change
from arena.leagues.membership import Admitted, find_league
from arena.leagues.overview import LeagueInfo, LeagueShown, SeasonShown
from arena.leagues.spec import LeagueSpec, make_league
from arena.operations.entries import Invited, OneInvited, Reason
from arena.operations.operation import Context, operation
from arena.operations.parameters import MOST, Entrant, read_by
from arena.tournaments import admission
from arena.tournaments.admission import EntriesShown, RequestShown


@dataclass(frozen=True, slots=True)
class Leagues:
    """All leagues by name."""

    leagues: list[LeagueInfo]


@dataclass(frozen=True, slots=True)
class History:
    """The seasons of a league."""

    league: str
    seasons: list[SeasonShown]
    """The latest first."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What applying a league changes."""

    league: str
    applied: bool
    """Whether the changes were made."""
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Joined:
    """A bot that has joined a league, from its next season on, or has asked to, or is invited."""

    league: str
    bot: str
    """As it was given."""
    state: Admitted
    """``joined``, ``asked`` if the organiser decides, or ``invited`` if the author does."""
    next_at: datetime | None
    """When the next season is due; None if there is none left."""


@dataclass(frozen=True, slots=True)
class Left:
    """A bot that has left a league."""

    league: str
    bot: str
    """As it was given."""


LEAGUE = "/leagues/{league}"
REQUEST = f"{LEAGUE}/requests/{{owner}}/{{bot}}"

Spec = Annotated[LeagueSpec, read_by(make_league), "The league as its file has it."]


@operation("GET", "/leagues", tag="leagues")
def list_leagues(context: Context) -> Leagues:
    """List all leagues."""
    return Leagues(overview.list_leagues(context.storage))


@operation("GET", LEAGUE, tag="leagues")
def show_league(
    context: Context,
    league: Name,
    season: Annotated[int | None, Interval(ge=1, le=MOST), "An earlier one."] = None,
) -> LeagueShown:
    """Return a league as it stands in its latest season, or in an earlier one."""
    return overview.show(context.storage, league, context.now, season)


@operation("GET", f"{LEAGUE}/history", tag="leagues")
def league_history(context: Context, league: Name) -> History:
    """Return all seasons of a league."""
    return History(league, overview.history(context.storage, league, context.now))


@operation("PUT", LEAGUE, KeyScope.TOURNAMENTS, tag="leagues", body="spec")
def apply_league(context: Context, league: Name, spec: Spec) -> Changes:
    """Create a league, which is then yours, or change one from its next season on."""
    made = applying.apply(context.storage, context.actor, _of_address(league, spec), context.now)
    return Changes(league, True, made)


@operation("POST", f"{LEAGUE}/preview", KeyScope.TOURNAMENTS, tag="leagues", body="spec")
def preview_league(context: Context, league: Name, spec: Spec) -> Changes:
    """Return what sending this with PUT would change, without changing anything."""
    return Changes(league, False, applying.compare(context.storage, context.actor, _of_address(league, spec)))


def _of_address(league: str, spec: LeagueSpec) -> LeagueSpec:
    """Return the league that is sent to an address. Raise SpecError if it is another."""
    if spec.name != league:
        raise SpecError("name", f"is not that of the address, {league}")
    return spec


@operation(
    *("POST", f"{LEAGUE}/members", KeyScope.BOTS, KeyScope.TOURNAMENTS),
    tag="leagues",
    status=201,
    made=f"{LEAGUE}/entries",
)
def join_league(
    context: Context,
    league: Name,
    bot: Annotated[str, "`owner/bot`, for its newest version in each season, or `owner/bot@version`."],
) -> Joined:
    """Let a bot of yours, or any in a league of yours, play from the next season on.

    If the organiser decides, this asks for approval. If you are the organiser, and its author has not agreed
    to rated play, this invites it.
    """
    state = membership.join(context.storage, context.actor, league, bot, context.now)
    return _joined(context, league, bot, state)


@operation(
    *("DELETE", f"{LEAGUE}/members/{{owner}}/{{bot}}", KeyScope.BOTS, KeyScope.TOURNAMENTS), tag="leagues"
)
def leave_league(context: Context, league: Name, bot: Entrant) -> Left:
    """Take a bot of yours out of a league, or any out of a league of yours, from the next season on.

    It plays a running season to the end.
    """
    return Left(league, membership.leave(context.storage, context.actor, league, bot, context.now))


@operation("GET", f"{LEAGUE}/entries", KeyScope.READ, tag="leagues")
def league_entries(context: Context, league: Name) -> EntriesShown:
    """Return who is invited and who has asked: everybody for a league of yours, else only your bots."""
    return admission.list_entries(context.storage, context.actor, find_league, league)


@operation(
    *("POST", f"{LEAGUE}/invitations", KeyScope.TOURNAMENTS),
    tag="leagues",
    status=201,
    made=f"{LEAGUE}/entries",
)
def invite_members(context: Context, league: Name, invited: Invited) -> EntriesShown:
    """Invite owners, or single bots, to a league of yours, which their authors are shown."""
    return admission.invite(context.storage, context.actor, find_league, league, invited, context.now)


@operation("DELETE", f"{LEAGUE}/invitations", KeyScope.TOURNAMENTS, tag="leagues", status=204)
def uninvite_member(context: Context, league: Name, invited: OneInvited) -> None:
    """Take back the invitation of an owner or a bot to a league of yours; bots that have joined stay."""
    admission.uninvite(context.storage, context.actor, find_league, league, invited, context.now)


@operation("POST", f"{REQUEST}/approve", KeyScope.TOURNAMENTS, tag="leagues")
def approve_member(context: Context, league: Name, bot: Entrant) -> Joined:
    """Approve a bot that has asked to join a league of yours, or that you declined before."""
    joined = membership.approve(context.storage, context.actor, league, bot, context.now)
    return _joined(context, league, joined, "joined")


def _joined(context: Context, league: str, bot: str, state: Admitted) -> Joined:
    with context.storage.read() as tx:
        return Joined(league, bot, state, find_league(tx, league).next_at)


@operation("POST", f"{REQUEST}/decline", KeyScope.TOURNAMENTS, tag="leagues")
def decline_member(context: Context, league: Name, bot: Entrant, reason: Reason) -> RequestShown:
    """Decline a bot that has asked to join a league of yours, with a reason."""
    return admission.decline(context.storage, context.actor, find_league, league, bot, reason, context.now)
