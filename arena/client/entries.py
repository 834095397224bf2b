"""Calls about who plays in tournaments: entering and withdrawing, requests, invitations, answers."""

from collections.abc import Sequence
from types import NoneType

from arena.client.call import Call, of_bot
from arena.tournaments.admission import EntriesShown, RequestShown
from arena.tournaments.answers import Entered, Withdrawn
from arena.tournaments.entry import Prospect

TOURNAMENT = "/tournaments/{tournament}"
REQUEST = f"{TOURNAMENT}/requests/{{owner}}/{{bot}}"


def may_enter(tournament: str, bot: str) -> Call[Prospect]:
    """Return whether a bot of yours may enter now, or ask to, and everything that prevents it."""
    return Call("GET", f"{TOURNAMENT}/entry", Prospect, {"tournament": tournament}, {"bot": bot})


def enter_bot(tournament: str, bot: str) -> Call[Entered]:
    """Enter a bot of yours, or any bot into a tournament of yours."""
    return Call("POST", f"{TOURNAMENT}/entrants", Entered, {"tournament": tournament}, body={"bot": bot})


def withdraw_bot(tournament: str, bot: str) -> Call[Withdrawn]:
    """Withdraw a bot, or one version of it, after the rounds already paired."""
    named = {"tournament": tournament, **of_bot(bot)}
    return Call("DELETE", f"{TOURNAMENT}/entrants/{{owner}}/{{bot}}", Withdrawn, named)


def list_entries(tournament: str) -> Call[EntriesShown]:
    """Return who is invited and who has asked."""
    return Call("GET", f"{TOURNAMENT}/entries", EntriesShown, {"tournament": tournament})


def invite_bots(tournament: str, invited: Sequence[str]) -> Call[EntriesShown]:
    """Invite owners, or single bots, to a tournament of yours."""
    body = {"invited": list(invited)}
    return Call("POST", f"{TOURNAMENT}/invitations", EntriesShown, {"tournament": tournament}, body=body)


def uninvite_owner(tournament: str, owner: str) -> Call[None]:
    """Take back the invitation of an owner to a tournament of yours."""
    named = {"tournament": tournament, "owner": owner}
    return Call("DELETE", f"{TOURNAMENT}/invitations/{{owner}}", NoneType, named)


def uninvite_bot(tournament: str, bot: str) -> Call[None]:
    """Take back the invitation of a bot to a tournament of yours."""
    return Call("DELETE", f"{TOURNAMENT}/invitations/{{owner}}/{{bot}}", NoneType, _of(tournament, bot))


def approve_bot(tournament: str, bot: str) -> Call[Entered]:
    """Approve a bot that has asked to enter a tournament of yours."""
    return Call("POST", f"{REQUEST}/approve", Entered, _of(tournament, bot))


def decline_bot(tournament: str, bot: str, reason: str) -> Call[RequestShown]:
    """Decline a bot that has asked to enter a tournament of yours."""
    return Call("POST", f"{REQUEST}/decline", RequestShown, _of(tournament, bot), body={"reason": reason})


def _of(tournament: str, bot: str) -> dict[str, object]:
    return {"tournament": tournament, **of_bot(bot)}
