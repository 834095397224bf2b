"""``arena tournament enter``, ``may-enter``, ``invite``, ``entries``, ``approve``, ``decline``: who plays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.cli.context import actor_at_terminal, answer, settings_of
from arena.cli.pairings import BotName, Name
from arena.matches.referees import asker
from arena.models import utc_now
from arena.tournaments import admission, entry
from arena.tournaments.admission import EntriesShown, InvitationShown, RequestShown
from arena.tournaments.roster import absence, roster
from referee.cli.output import AsJson, headline, moment, print_json, renamed, say, show, warn

if TYPE_CHECKING:
    from arena.client import Client
    from arena.storage import Storage

MAY = {"enter": "may enter", "ask": "may ask to enter", "no": "cannot enter"}


def enter(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Enter a bot into a tournament; after the start, only if its format allows that."""

    def here(storage: "Storage") -> int | None:
        actor, now, ask = actor_at_terminal(), utc_now(), asker(settings_of(ctx))
        first = entry.enter(storage, actor, name, bot, now, ask)
        if first is not None and first > 1:  # it is being played
            entered = roster(storage, name, now, ask)
            own = [line for line in entered if bot in (line.bot, line.bot.partition("@")[0])]
            warn(*absence(own, ask))
        return first

    first = answer(ctx, here, lambda arena: arena.send(api.entries.enter_bot(name, bot)).first_round)
    if as_json:
        print_json({"tournament": name, "bot": bot, "first_round": first})
    elif first is None:
        say(f"{bot} has asked to enter {name}; its organiser decides")
    else:
        say(f"{bot} plays in {name} from round {first} on")


def may_enter(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Say whether a bot may enter a tournament now, and everything that prevents it. Changes nothing.

    Exits with status 1 if the bot cannot enter.
    """
    actor, now = actor_at_terminal(), utc_now()
    found = answer(
        ctx,
        lambda storage: entry.may_enter(storage, actor, name, bot, now, asker(settings_of(ctx))),
        lambda arena: arena.send(api.entries.may_enter(name, bot)),
    )
    if as_json:
        print_json(renamed(found))
    else:
        from_round = f" from round {found.first_round} on" if found.first_round else ""
        say(f"{found.bot} {MAY[found.answer]} {found.tournament}{from_round}", *found.reasons)
    if found.answer == "no":
        raise typer.Exit(1)


def invite(
    ctx: typer.Context,
    name: Name,
    invited: Annotated[list[str], typer.Argument(metavar="OWNER|OWNER/BOT...", help="Owners, or bots.")],
    take_back: Annotated[
        bool, typer.Option("--take-back", help="Invite them no longer; those that have entered stay.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let owners, or single bots, enter a tournament that is not open to everybody."""
    actor, now = actor_at_terminal(), utc_now()

    def here(storage: "Storage") -> EntriesShown:
        if not take_back:
            return admission.invite(storage, actor, name, invited, now)
        for one in invited:
            admission.uninvite(storage, actor, name, one, now)
        return admission.list_entries(storage, actor, name)

    def there(arena: "Client") -> EntriesShown:
        if not take_back:
            return arena.send(api.entries.invite_bots(name, invited))
        for one in invited:
            uninvite = api.entries.uninvite_bot if "/" in one else api.entries.uninvite_owner
            arena.send(uninvite(name, one))
        return arena.send(api.entries.list_entries(name))

    found = answer(ctx, here, there)
    if as_json:
        print_json(renamed(found))
    else:
        names = ", ".join(one.invited for one in found.invitations)
        say(f"invited to {name}: {names or 'nobody'}")


def entries(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show who is invited to a tournament, which bots have asked to enter it, and what they were answered."""
    found = answer(
        ctx,
        lambda storage: admission.list_entries(storage, actor_at_terminal(), name),
        lambda arena: arena.send(api.entries.list_entries(name)),
    )
    if as_json:
        print_json(renamed(found))
        return
    limit = f"; at most {found.owner_limit} bots of an owner" if found.owner_limit else ""
    say(f"entries: {found.entries}{limit}")
    show_invitations(found.invitations)
    show_requests(found.requests, "no bot has asked to enter")


def show_invitations(invitations: Sequence[InvitationShown]) -> None:
    """Print the organiser's invitations, if any."""
    if invitations:
        headline("Invited")
        rows = [(one.invited, one.invited_by, moment(one.invited_at)) for one in invitations]
        show(["owner or bot", "by", "on"], rows, "")


def show_requests(requests: Sequence[RequestShown], none: str) -> None:
    """Print requests and their answers, or that there are none."""
    headline("Requests")
    rows = [
        (
            *(one.bot, one.state.value, one.asked_by, moment(one.asked_at)),
            *(one.answered_by or "", moment(one.answered_at), one.reason or ""),
        )
        for one in requests
    ]
    columns = ["bot version", "state", "asked by", "on", "answered by", "on", "reason"]
    show(columns, rows, none)


def approve(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Approve a bot that has asked to enter a tournament."""
    actor, now = actor_at_terminal(), utc_now()

    def there(arena: "Client") -> tuple[str, int | None]:
        found = arena.send(api.entries.approve_bot(name, bot))
        return found.bot, found.first_round

    version, first = answer(
        ctx, lambda storage: entry.approve(storage, actor, name, bot, now, asker(settings_of(ctx))), there
    )
    if as_json:
        print_json({"tournament": name, "bot": version, "first_round": first})
    else:
        say(f"{version} plays in {name} from round {first} on")


def decline(
    ctx: typer.Context,
    name: Name,
    bot: BotName,
    reason: Annotated[str, typer.Option(help="The reason, which its author can read.")],
    as_json: AsJson = False,
) -> None:
    """Decline a bot that has asked to enter a tournament."""
    found = answer(
        ctx,
        lambda storage: admission.decline(storage, actor_at_terminal(), name, bot, reason, utc_now()),
        lambda arena: arena.send(api.entries.decline_bot(name, bot, reason)),
    )
    if as_json:
        print_json({"tournament": name, **renamed(found)})
    else:
        say(f"{found.bot} is declined: {found.reason}")
