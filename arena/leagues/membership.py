"""Joining leagues and leaving them."""

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor
from arena.bots.versions import find_all_versions, token_problem
from arena.core.pairing import owner_of
from arena.errors import StateError, TakenError
from arena.leagues.admission import (
    Admitted,
    admits,
    answered,
    ask_to_join,
    find_league,
    find_request,
    organised,
    take_back,
    waiting,
)
from arena.leagues.seasons import active_members
from arena.leagues.spec import make_league
from arena.people.audit import record
from arena.store.models import Bot, EntryState, League, LeagueMember
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown_bots


def join(storage: Storage, actor: Actor, league: str, bot: str, now: datetime) -> Admitted:
    """Let ``owner/bot``, with its newest version, or one version of it play from the next season on.

    If the organiser decides, it is asked. Raise UnknownError, NotAllowed if the bot needs an invitation,
    TakenError if it is in the league or has asked, StateError if it was declined, or if its owner already has
    as many in it as can play.
    """
    actor.require_owner(owner_of(bot), f"let {bot} join")
    try:
        with storage.write() as tx:
            found = find_league(tx, league)
            member = _member(tx, found, bot, now)
            if not admits(tx, actor, found, bot):
                ask_to_join(tx, actor, found, bot, now)
                return "asked"
            _join(tx, actor, found, member, now)
            return "joined"
    except IntegrityError:
        raise TakenError(f"{bot} is in league {league} already") from None


def approve(storage: Storage, actor: Actor, league: str, bot: str, now: datetime) -> None:
    """Let a bot that has asked, or was declined before, join.

    Raise NotAllowed, UnknownError, StateError if it has not asked, and what ``join`` raises.
    """
    with storage.write() as tx:
        found = organised(tx, actor, league, "approve bots in league")
        waiting(tx, found, bot, [EntryState.ASKED, EntryState.DECLINED])
        _join(tx, actor, found, _member(tx, found, bot, now), now)


def _member(tx: Transaction, league: League, bot: str, now: datetime) -> LeagueMember:
    """Return the member that a bot would be, or was before. Raise an error if it cannot join."""
    owner_id = _owner_of(tx, bot, now)
    limit = make_league(league.spec).versions_per_owner
    members = active_members(tx, league)
    if any(member.name == bot for member in members):
        raise TakenError(f"{bot} is in league {league.name} already")
    own = [member.name for member in members if member.owner_id == owner_id]
    if limit is not None and len(own) >= limit:
        raise StateError(f"league {league.name} takes {limit} of an owner; {', '.join(own)} is in it")
    again = (LeagueMember.league_id == league.id, LeagueMember.name == bot)
    before = tx.exec(select(LeagueMember).where(*again)).first()
    return before or LeagueMember(league_id=league.id, name=bot, owner_id=owner_id, joined_at=now)


def _join(tx: Transaction, actor: Actor, league: League, member: LeagueMember, now: datetime) -> None:
    """Let a bot play that may; this approves its request, if it has made one."""
    request = find_request(tx, league, member.name)
    if request is not None and request.state != EntryState.APPROVED:
        answered(tx, actor, request, now)
        record(tx, actor, "league.approve", league.name, now, bot=member.name)
    member.joined_at, member.left_at = now, None
    tx.add(member)
    record(tx, actor, "league.join", league.name, now, bot=member.name)


def _owner_of(tx: Transaction, bot: str, now: datetime) -> int:
    """Return the owner of a bot or a version. Raise SpecError, UnknownError, StateError if it cannot play."""
    name, mark, _ = bot.partition("@")
    versions = find_all_versions(tx, name, wanted=True)
    meant = [one for one in versions if not mark or one.name == bot]
    if not meant:
        raise unknown_bots(tx, [bot], wanted=True)
    wrong = [token_problem(one, now) for one in meant]
    if all(wrong):
        raise StateError(f"{bot}: its token {wrong[-1]}")
    return tx.exec(select(Bot.owner_id).where(Bot.id == meant[0].bot_id)).one()


def leave(storage: Storage, actor: Actor, league: str, bot: str, now: datetime) -> None:
    """Take a bot out of a league from the next season on, or take back its request to join.

    Raise UnknownError, StateError.
    """
    actor.require_owner(owner_of(bot), f"let {bot} leave")
    with storage.write() as tx:
        found = find_league(tx, league)
        in_it = (col(LeagueMember.league_id) == found.id, col(LeagueMember.name) == bot)
        stays = col(LeagueMember.left_at).is_(None)
        left = changed(tx, update(LeagueMember).where(*in_it, stays).values(left_at=now))
        if not left and not take_back(tx, found, bot):
            raise StateError(f"{bot} is not in league {league}")
        record(tx, actor, "league.leave", league, now, bot=bot)
