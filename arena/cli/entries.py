"""``arena tournament enter``, ``may-enter``, ``invite``, ``entries``, ``approve``, ``decline``: who plays."""

from collections.abc import Sequence
from typing import Annotated

import typer

from arena.cli.context import actor_at_terminal, settings_of, storage_of
from arena.cli.output import AsJson, headline, moment, print_json, renamed, say, show
from arena.cli.pairings import BotName, Name
from arena.matches.referees import asker
from arena.models import utc_now
from arena.tournaments import admission, entry
from arena.tournaments.admission import EntriesShown, RequestShown

MAY = {"enter": "may enter", "ask": "may ask to enter", "no": "cannot enter"}


def enter(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Enter a bot into a tournament; after the start, only if its format allows that."""
    with storage_of(ctx) as storage:
        actor, ask = actor_at_terminal(), asker(settings_of(ctx))
        first = entry.enter(storage, actor, name, bot, utc_now(), ask)
    if as_json:
        print_json({"tournament": name, "bot": bot, "first_round": first})
    elif first is None:
        say(f"{bot} has asked to enter {name}; its organiser decides")
    else:
        say(f"{bot} plays in {name} from round {first} on")


def may_enter(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Say whether a bot may enter a tournament now, and all that is against it; nothing is changed.

    It ends with 1 if the bot cannot enter.
    """
    with storage_of(ctx) as storage:
        ask = asker(settings_of(ctx))
        found = entry.may_enter(storage, actor_at_terminal(), name, bot, utc_now(), ask)
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
    with storage_of(ctx) as storage:
        actor, now = actor_at_terminal(), utc_now()
        if take_back:
            for one in invited:
                admission.uninvite(storage, actor, name, one, now)
            found = admission.list_entries(storage, actor, name)
        else:
            found = admission.invite(storage, actor, name, invited, now)
    if as_json:
        print_json(renamed(found))
    else:
        names = ", ".join(one.invited for one in found.invitations)
        say(f"invited to {name}: {names or 'nobody'}")


def entries(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show who is invited to a tournament, which bots have asked to enter it, and what they were answered."""
    with storage_of(ctx) as storage:
        found = admission.list_entries(storage, actor_at_terminal(), name)
    if as_json:
        print_json(renamed(found))
        return
    limit = f"; at most {found.owner_limit} bots of an owner" if found.owner_limit else ""
    say(f"entries: {found.entries}{limit}")
    _show_invitations(found)
    _show_requests(found.requests)


def _show_invitations(found: EntriesShown) -> None:
    if found.invitations:
        headline("Invited")
        rows = [(one.invited, one.invited_by, moment(one.invited_at)) for one in found.invitations]
        show(["owner or bot", "by", "on"], rows, "")


def _show_requests(requests: Sequence[RequestShown]) -> None:
    headline("Requests")
    rows = [
        (
            *(one.bot, one.state.value, one.asked_by, moment(one.asked_at)),
            *(one.answered_by or "", moment(one.answered_at), one.reason or ""),
        )
        for one in requests
    ]
    columns = ["bot version", "state", "asked by", "on", "answered by", "on", "reason"]
    show(columns, rows, "no bot has asked to enter")


def approve(ctx: typer.Context, name: Name, bot: BotName, as_json: AsJson = False) -> None:
    """Let a bot play that has asked to enter a tournament."""
    with storage_of(ctx) as storage:
        actor, ask = actor_at_terminal(), asker(settings_of(ctx))
        version, first = entry.approve(storage, actor, name, bot, utc_now(), ask)
    if as_json:
        print_json({"tournament": name, "bot": version, "first_round": first})
    else:
        say(f"{version} plays in {name} from round {first} on")


def decline(
    ctx: typer.Context,
    name: Name,
    bot: BotName,
    reason: Annotated[str, typer.Option(help="Why; its author reads it.")],
    as_json: AsJson = False,
) -> None:
    """Decline a bot that has asked to enter a tournament."""
    with storage_of(ctx) as storage:
        found = admission.decline(storage, actor_at_terminal(), name, bot, reason, utc_now())
    if as_json:
        print_json({"tournament": name, **renamed(found)})
    else:
        say(f"{found.bot} is declined: {found.reason}")
