"""Whose bots may enter a tournament or join a league: invitations, requests of authors, and the answers.

How many bots an owner may have in a tournament is checked here, too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, delete
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.actors import HOUSE, Actor, KeyScope, Role
from arena.bots.descriptions import EVERYBODY
from arena.bots.versions import AT_ONCE, find_all_versions
from arena.core.pairing import owner_of
from arena.core.specs import Entries
from arena.errors import NotAllowed, SpecError, StateError, TakenError
from arena.people.audit import record
from arena.store.models import Bot, EntryInvitation, EntryRequest, EntryState, League, Owner, Tournament
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown
from arena.tournaments.overview import C, Find, find_tournament, organised
from arena.webhooks.hooks import emit

LONGEST_REASON = 300
"""The most characters in an organiser's reason."""

MOST_INVITED = 100
"""The most names that are invited at once."""

Contest: TypeAlias = Tournament | League
"""What bots enter."""


@dataclass(frozen=True, slots=True)
class RequestShown:
    """A request to enter, and the answer."""

    bot: str
    """``owner/bot@version``; in a league also ``owner/bot``, whose newest version is to play."""
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
    """An invitation to enter: an owner or a bot that the organiser lets in."""

    invited: str
    """``owner``, for all bots of an owner, or ``owner/bot``."""
    invited_by: str
    """Account of whoever invited, empty at the arena's own terminal."""
    invited_at: datetime


@dataclass(frozen=True, slots=True)
class EntriesShown:
    """Who may enter a tournament or join a league, as far as the reader may know."""

    name: str
    """The tournament, or the league."""
    entries: Entries
    """``open``, ``invited`` or ``approved``."""
    owner_limit: int | None
    """The most bots of one owner; None for any number, or as many as the tournament's format allows."""
    invitations: Sequence[InvitationShown]
    """By name."""
    requests: Sequence[RequestShown]
    """In the order in which they were made."""


def kind_of(contest: Contest) -> str:
    """Return ``tournament`` or ``league``: the word in messages, columns and the names of changes."""
    return "tournament" if isinstance(contest, Tournament) else "league"


def _enter(contest: Contest) -> str:
    """Return what bots do, in messages."""
    return "enter" if isinstance(contest, Tournament) else "join"


def check_owner_limit(bots: Sequence[str], limit: int | None) -> None:
    """Raise SpecError if an owner has more than ``limit`` of these bots."""
    counts = Counter(map(owner_of, bots))
    for owner, count in counts.items():
        if limit is not None and count > limit:
            raise SpecError("entrants", f"{owner} would have {count} bots, and owner_limit is {limit}")


def check_reason(text: str) -> str:
    """Return an organiser's reason without surrounding blanks. Raise SpecError if it is not a valid one."""
    reason = text.strip()
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise SpecError("reason", f"must be one line of 1 to {LONGEST_REASON} printable characters")
    return reason


def admits(tx: Transaction, actor: Actor, contest: Contest, bot: str) -> bool:
    """Return whether the actor may enter a bot at once; if not, it may ask the organiser.

    Raise NotAllowed if the bot needs an invitation, TakenError if it has asked, StateError if it was
    declined.
    """
    open_to_all = contest.entries == "open" or actor.organises(contest.organiser_id)
    if open_to_all or _is_invited(tx, contest, bot):
        return True
    whose, name = f"{kind_of(contest)} {contest.name}", bot.partition("@")[0]
    if contest.entries == "invited":
        raise NotAllowed(f"{whose} is by invitation, and neither {owner_of(bot)} nor {name} has one")
    request = find_request(tx, contest, bot)
    if request is None:
        return False
    if request.state == EntryState.DECLINED:
        raise StateError(f"{bot} was declined in {whose}: {request.reason}")
    if request.state == EntryState.ASKED:
        raise TakenError(f"{bot} has asked to {_enter(contest)} {whose} and has no answer yet")
    return True


def not_agreed(tx: Transaction, actor: Actor, bots: Sequence[str]) -> list[str]:
    """Return which of these bots, or versions, the actor may not enter in rated tournaments on its own.

    Those are other people's, unless their authors have opened them to it; house bots are the arena's.
    """
    own = frozenset[str]()
    if KeyScope.BOTS in actor.scopes:
        if actor.role is Role.OPERATOR:
            return []
        own = actor.owners
    foreign = [bot for bot in bots if owner_of(bot) not in own and owner_of(bot) != HOUSE]
    opened = _opened_to(tx, actor, list({owner_of(bot): None for bot in foreign}))
    return [bot for bot in foreign if bot.partition("@")[0] not in opened]


def _opened_to(tx: Transaction, actor: Actor, owners: Sequence[str]) -> set[str]:
    """Return the bots of these owners that the actor may enter."""
    columns: tuple[Any, ...] = (Owner.name, Bot.name, Bot.open_to)
    bots = (
        select_columns(*columns).join(Bot, col(Bot.owner_id) == Owner.id).where(col(Bot.open_to).is_not(None))
    )
    return {
        f"{owner}/{bot}"
        for at in range(0, len(owners), AT_ONCE)
        for owner, bot, open_to in tx.execute(bots.where(col(Owner.name).in_(owners[at : at + AT_ONCE])))
        if not {actor.account, EVERYBODY}.isdisjoint(open_to)
    }


def _is_invited(tx: Transaction, contest: Contest, bot: str) -> bool:
    names = {owner_of(bot), bot.partition("@")[0]}
    its = (_of(contest, EntryInvitation), col(EntryInvitation.invited).in_(names))
    return tx.exec(select(EntryInvitation.id).where(*its)).first() is not None


def _of(contest: Contest, table: type[EntryRequest | EntryInvitation]) -> ColumnElement[bool]:
    """Return the condition that a row belongs to a tournament or a league."""
    column: Any = table.tournament_id if isinstance(contest, Tournament) else table.league_id
    return col(column) == contest.id


def find_request(tx: Transaction, contest: Contest, bot: str) -> EntryRequest | None:
    """Return the request of exactly this bot or version to enter; None if it did not ask."""
    its = (_of(contest, EntryRequest), EntryRequest.bot == bot)
    return tx.exec(select(EntryRequest).where(*its)).first()


def ask_to_enter(tx: Transaction, actor: Actor, contest: Contest, bot: str, now: datetime) -> None:
    """Note that a bot asks to enter, in the transaction that has locked the tournament or the league."""
    request = EntryRequest(
        bot_id=_bot_id(tx, bot), bot=bot, state=EntryState.ASKED, asked_by=actor.account, asked_at=now
    )
    setattr(request, f"{kind_of(contest)}_id", contest.id)
    tx.add(request)
    record(tx, actor, f"{kind_of(contest)}.ask", contest.name, now, bot=bot)
    if isinstance(contest, Tournament):
        emit(tx, contest.id, "entry.asked", now, bot=bot, asked_by=actor.account)


def _bot_id(tx: Transaction, bot: str) -> int:
    """Return the number of a bot, or of that of a version. Raise SpecError, UnknownError."""
    return find_all_versions(tx, bot.partition("@")[0])[0].bot_id


def forget_requests(tx: Transaction, contest: Contest) -> None:
    """Delete the requests that nobody has approved; authors ask again for what becomes rated."""
    waits = col(EntryRequest.state) != EntryState.APPROVED
    changed(tx, delete(EntryRequest).where(_of(contest, EntryRequest), waits))


def require_request(
    tx: Transaction, contest: Contest, bot: str, states: Sequence[EntryState]
) -> EntryRequest:
    """Return the request that ``find_waiting`` finds.

    Raise SpecError or UnknownError for a wrong bot, StateError if there is none, or more than one.
    """
    request = find_waiting(tx, contest, bot, states)
    if request is None:
        what = f"{_enter(contest)} {kind_of(contest)} {contest.name}"
        raise StateError(f"no request of {bot} to {what} waits for an answer")
    return request


def find_waiting(
    tx: Transaction, contest: Contest, bot: str, states: Sequence[EntryState]
) -> EntryRequest | None:
    """Return the request of a bot in one of these states, or that of the only version of it that has asked.

    Raise SpecError or UnknownError for a wrong bot, StateError if several versions of it have asked.
    """
    its = (
        _of(contest, EntryRequest),
        EntryRequest.bot_id == _bot_id(tx, bot),
        col(EntryRequest.state).in_(states),
    )
    rows = tx.exec(select(EntryRequest).where(*its).order_by(col(EntryRequest.id))).all()
    exactly = [request for request in rows if request.bot == bot]
    requests = exactly if exactly or "@" in bot else rows
    if len(requests) > 1:
        which = ", ".join(request.bot for request in requests)
        raise StateError(f"{len(requests)} versions of {bot} have asked; name one: {which}")
    return requests[0] if requests else None


def approve_request(tx: Transaction, actor: Actor, contest: Contest, bot: str, now: datetime) -> None:
    """Approve the request of a bot that enters, if it has made one."""
    request = find_request(tx, contest, bot)
    if request is not None and request.state != EntryState.APPROVED:
        _answer(tx, actor, request, EntryState.APPROVED, None, now)
        record(tx, actor, f"{kind_of(contest)}.approve", contest.name, now, bot=bot)


def decline(
    storage: Storage, actor: Actor, find: Find[C], name: str, bot: str, reason: str, now: datetime
) -> RequestShown:
    """Decline a bot's request to enter. Raise NotAllowed, SpecError, UnknownError, StateError."""
    with storage.write() as tx:
        contest = organised(tx, actor, find, name, "decline bots in")
        why = check_reason(reason)
        request = require_request(tx, contest, bot, [EntryState.ASKED])
        _answer(tx, actor, request, EntryState.DECLINED, why, now)
        record(tx, actor, f"{kind_of(contest)}.decline", name, now, bot=request.bot, reason=why)
        return request_shown(request)


def _answer(
    tx: Transaction, actor: Actor, request: EntryRequest, state: EntryState, reason: str | None, now: datetime
) -> None:
    request.state, request.reason = state, reason
    request.answered_by, request.answered_at = actor.account, now
    tx.add(request)


def invite(
    storage: Storage, actor: Actor, find: Find[C], name: str, invited: Sequence[str], now: datetime
) -> EntriesShown:
    """Let owners, or bots, enter; earlier invitations remain.

    Raise NotAllowed, SpecError, UnknownError, StateError.
    """
    with storage.write() as tx:
        contest = organised(tx, actor, find, name, "invite to")
        if not 1 <= len(invited) <= MOST_INVITED:
            raise SpecError("invited", f"must be 1 to {MOST_INVITED} owners or bots")
        for bot in invited:
            _require_known(tx, bot)
        invite_in(tx, actor, contest, invited, now)
        return _shown_to(tx, actor, contest)


def invite_in(tx: Transaction, actor: Actor, contest: Contest, invited: Sequence[str], now: datetime) -> None:
    """Add the invitations of these owners or bots that are not there yet."""
    kind = kind_of(contest)
    before = {row.invited for row in _invitations(tx, contest)}
    for name in dict.fromkeys(invited):
        if name not in before:
            row = EntryInvitation(invited=name, invited_by=actor.account, invited_at=now)
            setattr(row, f"{kind}_id", contest.id)
            tx.add(row)
            record(tx, actor, f"{kind}.invite", contest.name, now, invited=name)
    tx.flush()


def _require_known(tx: Transaction, invited: str) -> None:
    """Raise SpecError, UnknownError unless this is an owner, or ``owner/bot``."""
    if "@" in invited:
        raise SpecError("invited", f"{invited} is a version; invite the bot, or its owner")
    if "/" in invited:
        find_all_versions(tx, invited)
    elif tx.exec(select(Owner.id).where(Owner.name == invited)).first() is None:
        raise unknown(tx, "owner", invited, col(Owner.name))


def uninvite(storage: Storage, actor: Actor, find: Find[C], name: str, invited: str, now: datetime) -> None:
    """Withdraw an invitation; bots that have entered stay. Raise NotAllowed, UnknownError, StateError."""
    with storage.write() as tx:
        contest = organised(tx, actor, find, name, "invite to")
        its = (_of(contest, EntryInvitation), col(EntryInvitation.invited) == invited)
        if not changed(tx, delete(EntryInvitation).where(*its)):
            raise StateError(f"{invited} is not invited to {kind_of(contest)} {name}")
        record(tx, actor, f"{kind_of(contest)}.uninvite", name, now, invited=invited)


def list_entries(storage: Storage, actor: Actor, find: Find[C], name: str) -> EntriesShown:
    """Return who is invited and who has asked: all of it for the organiser, for authors that of their bots.

    Raise NotAllowed, UnknownError.
    """
    actor.require(Role.AUTHOR, f"see who asked to be in {name}")
    with storage.read() as tx:
        return _shown_to(tx, actor, find(tx, name))


def _shown_to(tx: Transaction, actor: Actor, contest: Contest) -> EntriesShown:
    everything = actor.organises(contest.organiser_id)
    requests = select(EntryRequest).where(_of(contest, EntryRequest)).order_by(col(EntryRequest.id))
    return EntriesShown(
        contest.name,
        contest.entries,
        contest.owner_limit,
        [
            invitation_shown(invitation)
            for invitation in _invitations(tx, contest)
            if everything or owner_of(invitation.invited) in actor.owners
        ],
        [
            request_shown(request)
            for request in tx.exec(requests)
            if everything or owner_of(request.bot) in actor.owners
        ],
    )


def invited_to(storage: Storage, tournament: str) -> list[str]:
    """Return the owners and bots that are invited to a tournament, by name. Raise UnknownError."""
    with storage.read() as tx:
        return [row.invited for row in _invitations(tx, find_tournament(tx, tournament))]


def _invitations(tx: Transaction, contest: Contest) -> Sequence[EntryInvitation]:
    of_it = select(EntryInvitation).where(_of(contest, EntryInvitation))
    return tx.exec(of_it.order_by(EntryInvitation.invited)).all()


def invitation_shown(row: EntryInvitation) -> InvitationShown:
    """Return an invitation in the form in which it is shown."""
    return InvitationShown(row.invited, row.invited_by, row.invited_at)


def request_shown(request: EntryRequest) -> RequestShown:
    """Return a request in the form in which it is shown."""
    return RequestShown(
        request.bot,
        request.state,
        request.asked_by,
        request.asked_at,
        request.answered_by,
        request.answered_at,
        request.reason,
    )
