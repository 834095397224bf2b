"""Whose bots may enter a tournament: invitations, authors' requests, and how many bots an owner may have."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.versions import find_all_versions
from arena.core.pairing import owner_of
from arena.errors import NotAllowed, SpecError, StateError, TakenError
from arena.people.audit import record
from arena.store.models import (
    BotVersion,
    EntryRequest,
    EntryState,
    Owner,
    Tournament,
    TournamentInvitation,
)
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown
from arena.tournaments.overview import find_tournament
from arena.webhooks.outbox import emit

LONGEST_REASON = 300
"""The most characters in an organiser's reason."""

MOST_INVITED = 100
"""The most names that are invited at once."""


@dataclass(frozen=True, slots=True)
class RequestShown:
    """A bot that asked to enter, and the answer."""

    bot: str
    """``owner/bot@version``."""
    state: EntryState
    asked_by: str
    """Account of whoever asked."""
    asked_at: datetime
    answered_by: str | None
    """Account of whoever answered, empty at the arena's own terminal; None if nobody has."""
    answered_at: datetime | None
    """When it was answered; None if it was not."""
    reason: str | None
    """Why it was declined; None if it was not."""


@dataclass(frozen=True, slots=True)
class InvitationShown:
    """An owner or a bot that the organiser lets enter."""

    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Account of whoever invited, empty at the arena's own terminal."""
    invited_at: datetime


@dataclass(frozen=True, slots=True)
class EntriesShown:
    """Who may enter a tournament, as far as the reader may know."""

    tournament: str
    entries: str
    """``open``, ``invited`` or ``approved``."""
    owner_limit: int | None
    """The most bots of one owner; None for as many as the format allows."""
    invitations: Sequence[InvitationShown]
    """By name."""
    requests: Sequence[RequestShown]
    """In the order in which they were made."""


def check_owner_limit(bots: Sequence[str], limit: int | None) -> None:
    """Raise SpecError if an owner has more than ``limit`` of these bots."""
    counts = Counter(map(owner_of, bots))
    for owner, count in counts.items():
        if limit is not None and count > limit:
            raise SpecError("entrants", f"{owner} would have {count} bots, and owner_limit is {limit}")


def check_reason(given: str) -> str:
    """Return an organiser's reason without surrounding blanks. Raise SpecError if it is not a valid one."""
    reason = given.strip()
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise SpecError("reason", f"must be one line of 1 to {LONGEST_REASON} printable characters")
    return reason


def admits(tx: Transaction, actor: Actor, tournament: Tournament, version: BotVersion) -> bool:
    """Return whether the actor may enter a version at once; if not, it may ask the organiser.

    Raise NotAllowed if it needs an invitation, TakenError if it has asked, StateError if it was declined.
    """
    open_to_all = tournament.entries == "open" or actor.organises(tournament.organiser_id)
    if open_to_all or _is_invited(tx, tournament, version):
        return True
    bot, name = version.name.partition("@")[0], tournament.name
    if tournament.entries == "invited":
        raise NotAllowed(f"tournament {name} is by invitation, and neither {owner_of(bot)} nor {bot} has one")
    request = find_request(tx, tournament, version.id)
    if request is None:
        return False
    if request.state == EntryState.DECLINED:
        raise StateError(f"{version.name} was declined in tournament {name}: {request.reason}")
    if request.state == EntryState.ASKED:
        raise TakenError(f"{version.name} has asked to enter tournament {name} and has no answer yet")
    return True


def _is_invited(tx: Transaction, tournament: Tournament, version: BotVersion) -> bool:
    names = {owner_of(version.name), version.name.partition("@")[0]}
    found = select(TournamentInvitation.id).where(
        TournamentInvitation.tournament_id == tournament.id, col(TournamentInvitation.invited).in_(names)
    )
    return tx.exec(found).first() is not None


def find_request(tx: Transaction, tournament: Tournament, version_id: int) -> EntryRequest | None:
    """Return the request of a version to enter; None if it did not ask."""
    mine = (EntryRequest.tournament_id == tournament.id, EntryRequest.version_id == version_id)
    return tx.exec(select(EntryRequest).where(*mine)).first()


def ask_to_enter(
    tx: Transaction, actor: Actor, tournament: Tournament, version: BotVersion, now: datetime
) -> None:
    """Note that a version asks to enter, in the transaction that has locked the tournament."""
    tx.add(
        EntryRequest(
            tournament_id=tournament.id,
            version_id=version.id,
            state=EntryState.ASKED,
            asked_by=actor.account,
            asked_at=now,
        )
    )
    record(tx, actor, "tournament.ask", tournament.name, now, bot=version.name)
    emit(tx, tournament.id, "entry.asked", now, bot=version.name, asked_by=actor.account)


def answer(
    tx: Transaction, actor: Actor, request: EntryRequest, now: datetime, reason: str | None = None
) -> None:
    """Approve a request, or decline it if there is a reason, as part of a transaction."""
    request.state = EntryState.DECLINED if reason else EntryState.APPROVED
    request.answered_by, request.answered_at, request.reason = actor.account, now, reason
    tx.add(request)


def find_asking(
    tx: Transaction, tournament: Tournament, bot: str, states: Sequence[EntryState]
) -> tuple[EntryRequest, str]:
    """Return the request of ``owner/bot`` or of a version in one of these states, and the version's name.

    Raise SpecError or UnknownError for a wrong bot, StateError if there is no such request, or more than one.
    """
    versions = find_all_versions(tx, bot.partition("@")[0])
    names = {version.id: version.name for version in versions if "@" not in bot or version.name == bot}
    of_it = (EntryRequest.tournament_id == tournament.id, col(EntryRequest.version_id).in_(names))
    asking = select(EntryRequest).where(*of_it, col(EntryRequest.state).in_(states))
    found = tx.exec(asking.order_by(col(EntryRequest.id))).all()
    if not found:
        raise StateError(f"no request of {bot} to enter tournament {tournament.name} waits for an answer")
    if len(found) > 1:
        which = ", ".join(names[one.version_id] for one in found)
        raise StateError(f"{len(found)} versions of {bot} have asked; name one: {which}")
    return found[0], names[found[0].version_id]


def decline(storage: Storage, actor: Actor, name: str, bot: str, reason: str, now: datetime) -> RequestShown:
    """Decline a bot's request to enter. Raise NotAllowed, SpecError, UnknownError, StateError."""
    actor.require(Role.ORGANISER, f"decline bots in {name}")
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        actor.require_organiser(tournament.organiser_id, f"decline bots in {name}")
        why = check_reason(reason)
        request, version = find_asking(tx, tournament, bot, [EntryState.ASKED])
        answer(tx, actor, request, now, why)
        record(tx, actor, "tournament.decline", name, now, bot=version, reason=why)
        return shown(request, version)


def invite(storage: Storage, actor: Actor, name: str, invited: Sequence[str], now: datetime) -> EntriesShown:
    """Let owners, or bots, enter a tournament; earlier invitations remain.

    Raise NotAllowed, SpecError, UnknownError, StateError.
    """
    actor.require(Role.ORGANISER, f"invite to {name}")
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        actor.require_organiser(tournament.organiser_id, f"invite to {name}")
        if tournament.entries == "open":
            raise StateError(f"tournament {name} is open: every author may enter bots")
        if not 1 <= len(invited) <= MOST_INVITED:
            raise SpecError("invited", f"must be 1 to {MOST_INVITED} owners or bots")
        known = {one.invited for one in _invitations(tx, tournament)}
        for one in dict.fromkeys(invited):
            require_known(tx, one)
            if one not in known:
                row = TournamentInvitation(
                    tournament_id=tournament.id, invited=one, invited_by=actor.account, invited_at=now
                )
                tx.add(row)
                record(tx, actor, "tournament.invite", name, now, invited=one)
        tx.flush()
        return _shown_to(tx, actor, tournament)


def require_known(tx: Transaction, invited: str) -> None:
    """Raise SpecError, UnknownError unless this is an owner, or ``owner/bot``."""
    if "@" in invited:
        raise SpecError("invited", f"{invited} is a version; invite the bot, or its owner")
    if "/" in invited:
        find_all_versions(tx, invited)
    elif tx.exec(select(Owner.id).where(Owner.name == invited)).first() is None:
        raise unknown(tx, "owner", invited, col(Owner.name))


def uninvite(storage: Storage, actor: Actor, name: str, invited: str, now: datetime) -> None:
    """Withdraw an invitation; bots that have entered stay. Raise NotAllowed, UnknownError, StateError."""
    actor.require(Role.ORGANISER, f"invite to {name}")
    with storage.write() as tx:
        tournament = find_tournament(tx, name)
        actor.require_organiser(tournament.organiser_id, f"invite to {name}")
        its = (
            col(TournamentInvitation.tournament_id) == tournament.id,
            col(TournamentInvitation.invited) == invited,
        )
        if not changed(tx, delete(TournamentInvitation).where(*its)):
            raise StateError(f"{invited} is not invited to tournament {name}")
        record(tx, actor, "tournament.uninvite", name, now, invited=invited)


def list_entries(storage: Storage, actor: Actor, name: str) -> EntriesShown:
    """Return who is invited and who has asked: all of it for the organiser, for authors that of their bots.

    Raise NotAllowed, UnknownError.
    """
    actor.require(Role.AUTHOR, f"see who asked to enter {name}")
    with storage.read() as tx:
        return _shown_to(tx, actor, find_tournament(tx, name))


def _shown_to(tx: Transaction, actor: Actor, tournament: Tournament) -> EntriesShown:
    rows = select(EntryRequest, BotVersion.name).join(
        BotVersion, col(BotVersion.id) == EntryRequest.version_id
    )
    of_it = rows.where(EntryRequest.tournament_id == tournament.id).order_by(col(EntryRequest.id))
    everything = actor.organises(tournament.organiser_id)
    return EntriesShown(
        tournament.name,
        tournament.entries,
        tournament.owner_limit,
        [
            InvitationShown(one.invited, one.invited_by, one.invited_at)
            for one in _invitations(tx, tournament)
            if everything or owner_of(one.invited) in actor.owners
        ],
        [
            shown(request, bot)
            for request, bot in tx.exec(of_it)
            if everything or owner_of(bot) in actor.owners
        ],
    )


def _invitations(tx: Transaction, tournament: Tournament) -> Sequence[TournamentInvitation]:
    of_it = select(TournamentInvitation).where(TournamentInvitation.tournament_id == tournament.id)
    return tx.exec(of_it.order_by(TournamentInvitation.invited)).all()


def shown(request: EntryRequest, bot: str) -> RequestShown:
    """Return a request in the form in which it is shown."""
    return RequestShown(
        bot,
        request.state,
        request.asked_by,
        request.asked_at,
        request.answered_by,
        request.answered_at,
        request.reason,
    )
