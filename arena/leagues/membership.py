"""Members of leagues: looking them up, joining and leaving."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import update
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.versions import bots_of, find_all_versions, token_problem
from arena.core.pairing import owner_of
from arena.errors import NotAllowed, StateError, TakenError
from arena.leagues.spec import make_league
from arena.people.audit import record
from arena.store.models import Bot, EntryState, League, LeagueMember
from arena.store.storage import Storage, Transaction, changed, hold_row
from arena.store.suggestions import unknown, unknown_bots
from arena.tournaments.admission import (
    admits,
    approve_request,
    ask_to_enter,
    find_request,
    find_waiting,
    invite_in,
    not_agreed,
    require_request,
)
from arena.tournaments.overview import organised
from arena.tournaments.steering import NO_ENTRIES, OwnEntries, OwnEntry

Admitted = Literal["joined", "asked", "invited"]
"""The result of letting a bot join: it has joined, or its organiser has been asked, or, as the organiser let
it join, its author has been invited."""


def find_league(tx: Transaction, name: str) -> League:
    """Return the league of this name. Raise UnknownError if there is none."""
    league = tx.exec(select(League).where(League.name == name)).first()
    if league is None:
        raise unknown(tx, "league", name, col(League.name))
    return league


def active_members(tx: Transaction, league: League) -> Sequence[LeagueMember]:
    """Return who is in the league, in the order of joining."""
    members = select(LeagueMember).where(
        LeagueMember.league_id == league.id, col(LeagueMember.left_at).is_(None)
    )
    return tx.exec(members.order_by(col(LeagueMember.joined_at), col(LeagueMember.id))).all()


def join(storage: Storage, actor: Actor, name: str, bot: str, now: datetime) -> Admitted:
    """Let ``owner/bot``, with its newest version, or one version of it play from the next season on.

    If the organiser decides, it is asked; if the organiser asks, and the author has not agreed to rated play,
    the author is invited. Raise UnknownError, NotAllowed if the bot needs an invitation,
    TakenError if it is in the league or has asked, StateError if it was declined, or if its owner already has
    as many in it as can play.
    """
    with storage.write() as tx:
        league = _lock_league(tx, name)
        actor.require_bot_or_contest(owner_of(bot), league.organiser_id, f"let {bot} join")
        member = _member(tx, league, bot, now)
        if make_league(league.spec).rated and not _agreed(tx, actor, league, bot):
            invite_in(tx, actor, league, [bot.partition("@")[0]], now)
            return "invited"
        if not admits(tx, actor, league, bot):
            ask_to_enter(tx, actor, league, bot, now)
            return "asked"
        _join(tx, actor, league, member, now)
        return "joined"


def _agreed(tx: Transaction, actor: Actor, league: League, bot: str) -> bool:
    """Return whether a bot may be rated: its author asks, asked before, or has opened it to the actor."""
    if not not_agreed(tx, actor, [bot]):
        return True
    request = find_request(tx, league, bot)
    return request is not None and request.state != EntryState.APPROVED  # then it has left since


def approve(storage: Storage, actor: Actor, name: str, bot: str, now: datetime) -> str:
    """Let a bot that has asked, or was declined before, join; return it as it joins: itself or its version.

    Raise NotAllowed, UnknownError, StateError if it has not asked, and what ``join`` raises.
    """
    with storage.write() as tx:
        league = organised(tx, actor, _lock_league, name, "approve bots in")
        request = require_request(tx, league, bot, [EntryState.ASKED, EntryState.DECLINED])
        _join(tx, actor, league, _member(tx, league, request.bot, now), now)
        return request.bot


def _lock_league(tx: Transaction, name: str) -> League:
    """Return a league whose members and settings nobody else changes meanwhile. Raise UnknownError."""
    league = find_league(tx, name)
    hold_row(tx, League, league.id)
    tx.refresh(league)
    return league


def _member(tx: Transaction, league: League, bot: str, now: datetime) -> LeagueMember:
    """Return the member that a bot would be, or was before. Raise an error if it cannot join."""
    owner_id = _owner_of(tx, bot, now)
    members = active_members(tx, league)
    if any(member.name == bot for member in members):
        raise TakenError(f"{bot} is in league {league.name} already")
    own = [member.name for member in members if member.owner_id == owner_id]
    limit = league.owner_limit
    if limit is not None and len(own) >= limit:
        raise StateError(f"league {league.name} allows {limit} per owner; in it already: {', '.join(own)}")
    again = (LeagueMember.league_id == league.id, LeagueMember.name == bot)
    before = tx.exec(select(LeagueMember).where(*again)).first()
    return before or LeagueMember(league_id=league.id, name=bot, owner_id=owner_id, joined_at=now)


def _join(tx: Transaction, actor: Actor, league: League, member: LeagueMember, now: datetime) -> None:
    """Let a bot play that may; this approves its request, if it has made one."""
    approve_request(tx, actor, league, member.name, now)
    member.joined_at, member.left_at = now, None
    tx.add(member)
    record(tx, actor, "league.join", league.name, now, bot=member.name)


def _owner_of(tx: Transaction, bot: str, now: datetime) -> int:
    """Return the owner of a bot or a version. Raise SpecError, UnknownError, StateError if it cannot play."""
    name, mark, _ = bot.partition("@")
    versions = find_all_versions(tx, name, to_play=True)
    candidates = [version for version in versions if not mark or version.name == bot]
    if not candidates:
        raise unknown_bots(tx, [bot], to_play=True)
    problems = [token_problem(version, now) for version in candidates]
    if all(problems):
        raise StateError(f"{bot}: its token {problems[-1]}")
    return tx.exec(select(Bot.owner_id).where(Bot.id == candidates[0].bot_id)).one()


def leave(storage: Storage, actor: Actor, name: str, bot: str, now: datetime) -> str:
    """Take a bot out of a league from the next season on, or take back its request; return which it was.

    Raise NotAllowed unless the bot or the league is the actor's, UnknownError, StateError.
    """
    if actor.role is not Role.ORGANISER:
        actor.require_owner(owner_of(bot), f"let {bot} leave")
    with storage.write() as tx:
        league = _lock_league(tx, name)
        actor.require_bot_or_contest(owner_of(bot), league.organiser_id, f"let {bot} leave")
        in_it = (col(LeagueMember.league_id) == league.id, col(LeagueMember.name) == bot)
        stays = col(LeagueMember.left_at).is_(None)
        if not changed(tx, update(LeagueMember).where(*in_it, stays).values(left_at=now)):
            request = find_waiting(tx, league, bot, [EntryState.ASKED])
            if request is None:
                raise StateError(f"{bot} is not in league {name}")
            bot = request.bot
            tx.delete(request)
        record(tx, actor, "league.leave", name, now, bot=bot)
        return bot


def own_members(
    storage: Storage, actor: Actor, name: str, now: datetime, limit: int, offset: int = 0
) -> OwnEntries:
    """Return the bots of the actor's owners, with ``limit`` of those that are not in the league.

    Raise UnknownError.
    """
    if not actor.owners:
        return NO_ENTRIES
    with storage.read() as tx:
        league = find_league(tx, name)
        inside = [
            member.name for member in active_members(tx, league) if owner_of(member.name) in actor.owners
        ]
        others = [bot for bot in bots_of(tx, actor.owners) if bot not in inside]
        others_shown = [_own_member(tx, actor, league, bot, now) for bot in others[offset : offset + limit]]
        return OwnEntries([*(OwnEntry(bot, "in", leaves=True) for bot in inside), *others_shown], len(others))


def _own_member(tx: Transaction, actor: Actor, league: League, bot: str, now: datetime) -> OwnEntry:
    if find_waiting(tx, league, bot, [EntryState.ASKED]) is not None:
        return OwnEntry(bot, "asked", leaves=True)
    try:
        _member(tx, league, bot, now)
        return OwnEntry(bot, "enter" if admits(tx, actor, league, bot) else "ask")
    except (NotAllowed, StateError, TakenError) as error:
        return OwnEntry(bot, "no", [str(error)])
