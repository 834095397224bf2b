"""Who plays in tournaments: entering and withdrawing, requests, invitations, and organisers' answers."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from arena.specs import Name
from arena.tournaments import admission, entry
from arena.tournaments.admission import LONGEST_REASON, MOST_INVITED
from arena.tournaments.answers import Entered, Withdrawn
from arena.web.asking import Author, Organiser, Reader
from arena.web.context import Shared
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape

router = api_router("entries", prefix="/tournaments/{tournament}")


EnteredShape = shape(Entered)
WithdrawnShape = shape(Withdrawn)
ProspectShape = shape(entry.Prospect)
EntriesShape = shape(admission.EntriesShown)
RequestShape = shape(admission.RequestShown)

Bot = Annotated[str, Path(description="The bot, or `bot@version`.")]


class Entering(Sent):
    """A bot that enters."""

    bot: str
    """``owner/bot@version``, or ``owner/bot`` for its newest version."""


class Inviting(Sent):
    """Who is invited."""

    invited: Annotated[list[str], Field(min_length=1, max_length=MOST_INVITED)]
    """Owners, or bots as ``owner/bot``."""


class Declining(Sent):
    """Why a bot may not play."""

    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    """One line, which its author reads."""


@router.get("/entry", response_model=ProspectShape)
def may_enter(
    web: Shared,
    actor: Reader,
    tournament: Name,
    bot: Annotated[str, Query(description="`owner/bot@version`, or `owner/bot` for its newest version.")],
) -> entry.Prospect:
    """Return whether a bot of yours may enter now, or ask to, and everything that prevents it."""
    return entry.may_enter(web.storage, actor, tournament, bot, web.clock(), web.ask)


@router.post("/entrants", status_code=201, response_model=EnteredShape)
def enter_bot(web: Shared, actor: Author, tournament: Name, sent: Entering) -> Entered:
    """Enter a bot of yours, or any into a tournament of yours; after the start if its format allows that.

    If entering needs the organiser's approval, this asks for it, and `first_round` is null.
    """
    first = entry.enter(web.storage, actor, tournament, sent.bot, web.clock(), web.ask)
    return Entered(tournament, sent.bot, first)


@router.delete("/entrants/{owner}/{bot}", response_model=WithdrawnShape)
def withdraw_bot(web: Shared, actor: Author, tournament: Name, owner: str, bot: Bot) -> Withdrawn:
    """Withdraw a bot of yours, or any from a tournament of yours, after the rounds already paired.

    One that has only asked to enter does so no longer.
    """
    last = entry.withdraw(web.storage, actor, tournament, f"{owner}/{bot}", web.clock())
    return Withdrawn(tournament, f"{owner}/{bot}", last)


@router.get("/entries", response_model=EntriesShape)
def list_entries(web: Shared, actor: Reader, tournament: Name) -> admission.EntriesShown:
    """Return who is invited and who has asked: everybody for a tournament of yours, else only your bots."""
    return admission.list_entries(web.storage, actor, tournament)


@router.post("/invitations", status_code=201, response_model=EntriesShape)
def invite_bots(web: Shared, actor: Organiser, tournament: Name, sent: Inviting) -> admission.EntriesShown:
    """Invite owners, or single bots, to a tournament of yours that is not open to everybody."""
    return admission.invite(web.storage, actor, tournament, sent.invited, web.clock())


@router.delete("/invitations/{owner}", status_code=204)
def uninvite_owner(web: Shared, actor: Organiser, tournament: Name, owner: str) -> None:
    """Take back the invitation of an owner to a tournament of yours; bots that have entered stay."""
    admission.uninvite(web.storage, actor, tournament, owner, web.clock())


@router.delete("/invitations/{owner}/{bot}", status_code=204)
def uninvite_bot(web: Shared, actor: Organiser, tournament: Name, owner: str, bot: str) -> None:
    """Take back the invitation of a bot to a tournament of yours; if it has entered, it stays."""
    admission.uninvite(web.storage, actor, tournament, f"{owner}/{bot}", web.clock())


@router.post("/requests/{owner}/{bot}/approve", response_model=EnteredShape)
def approve_bot(web: Shared, actor: Organiser, tournament: Name, owner: str, bot: Bot) -> Entered:
    """Approve a bot that has asked to enter a tournament of yours, or that you declined before."""
    return Entered(
        tournament,
        *entry.approve(web.storage, actor, tournament, f"{owner}/{bot}", web.clock(), web.ask),
    )


@router.post("/requests/{owner}/{bot}/decline", response_model=RequestShape)
def decline_bot(
    web: Shared, actor: Organiser, tournament: Name, owner: str, bot: Bot, sent: Declining
) -> admission.RequestShown:
    """Decline a bot that has asked to enter a tournament of yours, with a reason."""
    return admission.decline(web.storage, actor, tournament, f"{owner}/{bot}", sent.reason, web.clock())
