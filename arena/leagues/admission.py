"""Who may join a league if its organiser decides: invitations, requests of authors, and the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import delete
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.pairing import owner_of
from arena.errors import NotAllowed, SpecError, StateError, TakenError
from arena.leagues.spec import Entries, make_league
from arena.people.audit import record
from arena.store.models import EntryState, League, LeagueInvitation, LeagueRequest
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown
from arena.tournaments.admission import (
    MOST_INVITED,
    InvitationShown,
    RequestShown,
    check_reason,
    require_known,
)


@dataclass(frozen=True, slots=True)
class LeagueEntries:
    """Who may join a league, as far as the reader may know."""

    league: str
    entries: Entries
    """Who may join: ``open``, ``invited`` or ``approved``."""
    invitations: Sequence[InvitationShown]
    """By name."""
    requests: Sequence[RequestShown]
    """In the order in which they were made; ``bot`` is what is to join: ``owner/bot``, or a version of it."""


Admitted = Literal["joined", "asked"]
"""The result of letting a bot join: it has joined, or the organiser has been asked."""


def find_league(tx: Transaction, name: str) -> League:
    """Return the league of this name, or UnknownError."""
    found = tx.exec(select(League).where(League.name == name)).first()
    if found is None:
        raise unknown(tx, "league", name, col(League.name))
    return found


def organised(tx: Transaction, actor: Actor, name: str, what: str) -> League:
    """Return a league that the actor organises. Raise NotAllowed, UnknownError."""
    actor.require(Role.ORGANISER, f"{what} {name}")
    league = find_league(tx, name)
    actor.require_organiser(league.organiser_id, f"{what} {name}")
    return league


def entries_of(league: League) -> Entries:
    """Return who may join a league."""
    return make_league(league.spec).entries


def admits(tx: Transaction, actor: Actor, league: League, bot: str) -> bool:
    """Return whether the actor may let a bot join at once; if not, it may ask the organiser.

    Raise NotAllowed if it needs an invitation, TakenError if it has asked, StateError if it was declined.
    """
    entries = entries_of(league)
    if entries == "open" or actor.organises(league.organiser_id) or _is_invited(tx, league, bot):
        return True
    if entries == "invited":
        name = bot.partition("@")[0]
        raise NotAllowed(
            f"league {league.name} is by invitation, and neither {owner_of(bot)} nor {name} has one"
        )
    request = find_request(tx, league, bot)
    if request is None:
        return False
    if request.state == EntryState.DECLINED:
        raise StateError(f"{bot} was declined in league {league.name}: {request.reason}")
    if request.state == EntryState.ASKED:
        raise TakenError(f"{bot} has asked to join league {league.name} and has no answer yet")
    return True


def _is_invited(tx: Transaction, league: League, bot: str) -> bool:
    names = {owner_of(bot), bot.partition("@")[0]}
    its = (LeagueInvitation.league_id == league.id, col(LeagueInvitation.invited).in_(names))
    return tx.exec(select(LeagueInvitation.id).where(*its)).first() is not None


def find_request(tx: Transaction, league: League, bot: str) -> LeagueRequest | None:
    """Return a bot's request; None if there is none."""
    its = (LeagueRequest.league_id == league.id, LeagueRequest.bot == bot)
    return tx.exec(select(LeagueRequest).where(*its)).first()


def ask_to_join(tx: Transaction, actor: Actor, league: League, bot: str, now: datetime) -> None:
    """Note that a bot asks to join."""
    tx.add(
        LeagueRequest(
            league_id=league.id, bot=bot, state=EntryState.ASKED, asked_by=actor.account, asked_at=now
        )
    )
    record(tx, actor, "league.ask", league.name, now, bot=bot)


def take_back(tx: Transaction, league: League, bot: str) -> bool:
    """Take back a bot's request; return whether there was one without an answer."""
    request = find_request(tx, league, bot)
    if request is None or request.state != EntryState.ASKED:
        return False
    tx.delete(request)
    return True


def answered(
    tx: Transaction, actor: Actor, request: LeagueRequest, now: datetime, reason: str | None = None
) -> None:
    """Approve a request, or decline it with a reason."""
    request.state = EntryState.DECLINED if reason else EntryState.APPROVED
    request.answered_by, request.answered_at, request.reason = actor.account, now, reason
    tx.add(request)


def waiting(tx: Transaction, league: League, bot: str, states: Sequence[EntryState]) -> LeagueRequest:
    """Return a bot's request. Raise StateError if there is none in these states."""
    request = find_request(tx, league, bot)
    if request is None or request.state not in states:
        raise StateError(f"no request of {bot} to join league {league.name} waits for an answer")
    return request


def decline(storage: Storage, actor: Actor, name: str, bot: str, reason: str, now: datetime) -> RequestShown:
    """Decline a bot's request. Raise NotAllowed, SpecError, UnknownError, StateError."""
    with storage.write() as tx:
        league = organised(tx, actor, name, "decline bots in league")
        why = check_reason(reason)
        request = waiting(tx, league, bot, [EntryState.ASKED])
        answered(tx, actor, request, now, why)
        record(tx, actor, "league.decline", name, now, bot=bot, reason=why)
        return _shown(request)


def invite(storage: Storage, actor: Actor, name: str, invited: Sequence[str], now: datetime) -> LeagueEntries:
    """Invite owners or bots to a league; those already invited stay invited.

    Raise NotAllowed, SpecError, UnknownError, StateError.
    """
    with storage.write() as tx:
        league = organised(tx, actor, name, "invite to league")
        if entries_of(league) == "open":
            raise StateError(f"league {name} is open: every author may let bots join")
        if not 1 <= len(invited) <= MOST_INVITED:
            raise SpecError("invited", f"must be 1 to {MOST_INVITED} owners or bots")
        known = {one.invited for one in _invitations(tx, league)}
        for one in dict.fromkeys(invited):
            require_known(tx, one)
            if one not in known:
                tx.add(
                    LeagueInvitation(
                        league_id=league.id, invited=one, invited_by=actor.account, invited_at=now
                    )
                )
                record(tx, actor, "league.invite", name, now, invited=one)
        tx.flush()
        return _shown_to(tx, actor, league)


def uninvite(storage: Storage, actor: Actor, name: str, invited: str, now: datetime) -> None:
    """Take back an invitation; whoever has joined stays. Raise NotAllowed, UnknownError, StateError."""
    with storage.write() as tx:
        league = organised(tx, actor, name, "invite to league")
        its = (col(LeagueInvitation.league_id) == league.id, col(LeagueInvitation.invited) == invited)
        if not changed(tx, delete(LeagueInvitation).where(*its)):
            raise StateError(f"{invited} is not invited to league {name}")
        record(tx, actor, "league.uninvite", name, now, invited=invited)


def list_entries(storage: Storage, actor: Actor, name: str) -> LeagueEntries:
    """Return who is invited and who has asked: everything for the organiser, for authors only their own bots.

    Raise NotAllowed, UnknownError.
    """
    actor.require(Role.AUTHOR, f"see who asked to join league {name}")
    with storage.read() as tx:
        return _shown_to(tx, actor, find_league(tx, name))


def _shown_to(tx: Transaction, actor: Actor, league: League) -> LeagueEntries:
    everything = actor.organises(league.organiser_id)
    asked = select(LeagueRequest).where(LeagueRequest.league_id == league.id)
    return LeagueEntries(
        league.name,
        entries_of(league),
        [
            InvitationShown(one.invited, one.invited_by, one.invited_at)
            for one in _invitations(tx, league)
            if everything or owner_of(one.invited) in actor.owners
        ],
        [
            _shown(request)
            for request in tx.exec(asked.order_by(col(LeagueRequest.id)))
            if everything or owner_of(request.bot) in actor.owners
        ],
    )


def _invitations(tx: Transaction, league: League) -> Sequence[LeagueInvitation]:
    of_it = select(LeagueInvitation).where(LeagueInvitation.league_id == league.id)
    return tx.exec(of_it.order_by(LeagueInvitation.invited)).all()


def _shown(one: LeagueRequest) -> RequestShown:
    return RequestShown(
        one.bot, one.state, one.asked_by, one.asked_at, one.answered_by, one.answered_at, one.reason
    )
