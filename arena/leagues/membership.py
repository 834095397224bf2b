"""Bots join leagues and leave them."""

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor
from arena.audit import record
from arena.bots.versions import find_all_versions, token_problem
from arena.errors import StateError, TakenError
from arena.leagues.seasons import active_members
from arena.leagues.spec import make_league
from arena.models import Bot, League, LeagueMember
from arena.pairing import owner_of
from arena.storage import Storage, Transaction, changed
from arena.unknown import unknown, unknown_bots


def join(storage: Storage, actor: Actor, league: str, bot: str, now: datetime) -> None:
    """Let ``owner/bot`` play from the next season on, by its newest version, or a version of it.

    Raise UnknownError, TakenError if it is in the league, StateError if its owner has as many in it as can
    play.
    """
    actor.require_owner(owner_of(bot), f"let {bot} join")
    try:
        with storage.write() as tx:
            found = find_league(tx, league)
            owner_id = _owner_of(tx, bot, now)
            limit = make_league(found.spec).versions_per_owner
            members = active_members(tx, found)
            if any(member.name == bot for member in members):
                raise TakenError(f"{bot} is in league {league} already")
            own = [member.name for member in members if member.owner_id == owner_id]
            if limit is not None and len(own) >= limit:
                raise StateError(f"league {league} takes {limit} of an owner; {', '.join(own)} is in it")
            again = (LeagueMember.league_id == found.id, LeagueMember.name == bot)
            member = tx.exec(select(LeagueMember).where(*again)).first()
            if member is None:
                member = LeagueMember(league_id=found.id, name=bot, owner_id=owner_id, joined_at=now)
                tx.add(member)
            member.joined_at, member.left_at = now, None
            record(tx, actor, "league.join", league, now, bot=bot)
    except IntegrityError:
        raise TakenError(f"{bot} is in league {league} already") from None


def _owner_of(tx: Transaction, bot: str, now: datetime) -> int:
    """Return the owner of a bot or a version. Raise SpecError, UnknownError, StateError if it cannot play."""
    name, mark, _ = bot.partition("@")
    versions = find_all_versions(tx, name)
    meant = [one for one in versions if not mark or one.name == bot]
    if not meant:
        raise unknown_bots(tx, [bot])
    wrong = [token_problem(one, now) for one in meant]
    if all(wrong):
        raise StateError(f"{bot}: its token {wrong[-1]}")
    return tx.exec(select(Bot.owner_id).where(Bot.id == meant[0].bot_id)).one()


def leave(storage: Storage, actor: Actor, league: str, bot: str, now: datetime) -> None:
    """Let a bot play no more from the next season on. Raise UnknownError, StateError."""
    actor.require_owner(owner_of(bot), f"let {bot} leave")
    with storage.write() as tx:
        found = find_league(tx, league)
        in_it = (col(LeagueMember.league_id) == found.id, col(LeagueMember.name) == bot)
        stays = col(LeagueMember.left_at).is_(None)
        if not changed(tx, update(LeagueMember).where(*in_it, stays).values(left_at=now)):
            raise StateError(f"{bot} is not in league {league}")
        record(tx, actor, "league.leave", league, now, bot=bot)


def find_league(tx: Transaction, name: str) -> League:
    """Return the league of this name, or UnknownError."""
    found = tx.exec(select(League).where(League.name == name)).first()
    if found is None:
        raise unknown(tx, "league", name, col(League.name))
    return found
