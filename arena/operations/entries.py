"""Who plays in tournaments: entering and withdrawing, requests, invitations, and organisers' answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Len

from arena.actors import KeyScope
from arena.core.specs import Name
from arena.operations.operation import Context, operation
from arena.operations.parameters import Entrant
from arena.tournaments import admission, entry
from arena.tournaments.admission import LONGEST_REASON, MOST_INVITED
from arena.tournaments.overview import find_tournament
from arena.tournaments.roster import absence, roster

TOURNAMENT = "/tournaments/{tournament}"
REQUEST = f"{TOURNAMENT}/requests/{{owner}}/{{bot}}"

Bot = Annotated[str, "`owner/bot@version`, or `owner/bot` for its newest version."]
Invited = Annotated[list[str], Len(1, MOST_INVITED), "Owners, or bots as `owner/bot`."]
OneInvited = Annotated[str, Len(1, 100), "The owner, or the bot as `owner/bot`."]
Reason = Annotated[str, Len(1, LONGEST_REASON), "One line, which its author reads."]


@dataclass(frozen=True, slots=True)
class Entered:
    """A bot that has entered, has asked to, or is invited to."""

    tournament: str
    bot: str
    """As it was given; its version if it was approved."""
    state: Literal["entered", "asked", "invited"]
    """``asked``: its organiser decides. ``invited``: its author does, since the tournament is rated and the
    bot is not open to its organiser."""
    first_round: int | None
    """From which round on it plays; None if it has not entered."""
    warnings: Sequence[str] = ()
    """What keeps it from playing, if the tournament is running."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A bot that has withdrawn."""

    tournament: str
    bot: str
    """As it was given."""
    last_round: int
    """The last round that it plays; 0: none."""


@operation("GET", f"{TOURNAMENT}/entry", KeyScope.READ, tag="entries")
def may_enter(context: Context, tournament: Name, bot: Bot) -> entry.Prospect:
    """Return whether a bot of yours may enter now, or ask to, and everything that prevents it."""
    return entry.may_enter(context.storage, context.actor, tournament, bot, context.now, context.ask)


@operation(
    *("POST", f"{TOURNAMENT}/entrants", KeyScope.BOTS, KeyScope.TOURNAMENTS),
    tag="entries",
    status=201,
    made=f"{TOURNAMENT}/entries",
)
def enter_bot(context: Context, tournament: Name, bot: Bot) -> Entered:
    """Enter a bot of yours, or any into a tournament of yours; after the start if its format allows that.

    If entering needs the organiser's approval, this asks for it. Somebody else's bot that is not open to you
    is invited to a rated tournament, and plays once its author enters it.
    """
    storage, now, ask = context.storage, context.now, context.ask
    first = entry.enter(storage, context.actor, tournament, bot, now, ask)
    if not isinstance(first, int):
        return Entered(tournament, bot, first, None)
    if first == 1:
        return Entered(tournament, bot, "entered", first)
    lines = [
        line
        for line in roster(storage, tournament, now, ask)
        if bot in (line.bot, line.bot.partition("@")[0])
    ]
    return Entered(tournament, bot, "entered", first, absence(lines, ask))


@operation(
    *("DELETE", f"{TOURNAMENT}/entrants/{{owner}}/{{bot}}", KeyScope.BOTS, KeyScope.TOURNAMENTS),
    tag="entries",
)
def withdraw_bot(context: Context, tournament: Name, bot: Entrant) -> Withdrawn:
    """Withdraw a bot of yours, or any from a tournament of yours, after the rounds already paired.

    One that has only asked to enter does so no longer.
    """
    last = entry.withdraw(context.storage, context.actor, tournament, bot, context.now)
    return Withdrawn(tournament, bot, last)


@operation("GET", f"{TOURNAMENT}/entries", KeyScope.READ, tag="entries")
def list_entries(context: Context, tournament: Name) -> admission.EntriesShown:
    """Return who is invited and who has asked: everybody for a tournament of yours, else only your bots."""
    return admission.list_entries(context.storage, context.actor, find_tournament, tournament)


@operation(
    *("POST", f"{TOURNAMENT}/invitations", KeyScope.TOURNAMENTS),
    tag="entries",
    status=201,
    made=f"{TOURNAMENT}/entries",
)
def invite_bots(context: Context, tournament: Name, invited: Invited) -> admission.EntriesShown:
    """Invite owners, or single bots, to a tournament of yours, which their authors are shown."""
    return admission.invite(context.storage, context.actor, find_tournament, tournament, invited, context.now)


@operation("DELETE", f"{TOURNAMENT}/invitations", KeyScope.TOURNAMENTS, tag="entries", status=204)
def uninvite_bot(context: Context, tournament: Name, invited: OneInvited) -> None:
    """Take back the invitation of an owner or a bot to a tournament of yours; bots that have entered stay."""
    admission.uninvite(context.storage, context.actor, find_tournament, tournament, invited, context.now)


@operation("POST", f"{REQUEST}/approve", KeyScope.TOURNAMENTS, tag="entries")
def approve_bot(context: Context, tournament: Name, bot: Entrant) -> Entered:
    """Approve a bot that has asked to enter a tournament of yours, or that you declined before."""
    approved, first = entry.approve(context.storage, context.actor, tournament, bot, context.now, context.ask)
    return Entered(tournament, approved, "entered", first)


@operation("POST", f"{REQUEST}/decline", KeyScope.TOURNAMENTS, tag="entries")
def decline_bot(context: Context, tournament: Name, bot: Entrant, reason: Reason) -> admission.RequestShown:
    """Decline a bot that has asked to enter a tournament of yours, with a reason."""
    return admission.decline(
        context.storage, context.actor, find_tournament, tournament, bot, reason, context.now
    )
