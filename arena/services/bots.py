"""Owners, bots and their versions."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, func, select

from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.models import Bot, BotVersion, Owner
from arena.specs import check_name
from arena.storage import Storage, Transaction, changed
from arena.tokens import hash_token, new_token

ATTEMPTS = 10
"""How often a number is tried that somebody else may be faster to take."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A new bot version."""

    name: str
    """``owner/bot@number``."""
    token: str
    """Its token, which nobody can show again."""


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """A bot version as it is listed."""

    name: str
    """``owner/bot@number``."""
    owner: str
    """Whose it is."""
    created_at: datetime
    """When it was registered."""
    revoked_at: datetime | None
    """When its token was revoked; None: the token is good."""


def register_version(storage: Storage, bot: str, now: datetime) -> Registered:
    """Register the next version of ``owner/bot``, and owner and bot if they are new.

    Raises SpecError for what is no name, TakenError if others keep registering versions at the same moment.
    """
    owner_name, _, bot_name = bot.partition("/")
    check_name("owner", owner_name)
    check_name("bot", bot_name)
    token = new_token()
    for _ in range(ATTEMPTS):
        with suppress(IntegrityError), storage.write() as tx:
            return Registered(_add_version(tx, owner_name, bot_name, hash_token(token), now), token)
    raise TakenError(f"others are registering versions of {bot} at this moment; try again")


def _add_version(tx: Transaction, owner_name: str, bot_name: str, token_hash: str, now: datetime) -> str:
    owner = tx.exec(select(Owner).where(Owner.name == owner_name)).first()
    if owner is None:
        owner = Owner(name=owner_name, created_at=now)
        tx.add(owner)
        tx.flush()
    bot = tx.exec(select(Bot).where(Bot.owner_id == owner.id, Bot.name == bot_name)).first()
    if bot is None:
        bot = Bot(owner_id=owner.id, name=bot_name, created_at=now)
        tx.add(bot)
        tx.flush()
    last = tx.exec(select(func.max(BotVersion.number)).where(BotVersion.bot_id == bot.id)).one()
    number = (last or 0) + 1
    name = f"{owner_name}/{bot_name}@{number}"
    tx.add(BotVersion(bot_id=bot.id, number=number, name=name, token_hash=token_hash, created_at=now))
    return name


def list_versions(storage: Storage, owner: str | None = None) -> list[VersionInfo]:
    """All versions, or an owner's, by owner, bot and number. UnknownError if there is no such owner."""
    versions = (
        select(BotVersion.name, Owner.name, BotVersion.created_at, BotVersion.revoked_at)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
        .order_by(Owner.name, Bot.name, col(BotVersion.number))
    )
    if owner is not None:
        versions = versions.where(Owner.name == owner)
    with storage.read() as tx:
        found = [VersionInfo(*row) for row in tx.exec(versions)]
    if owner is not None and not found:
        raise UnknownError(f"no owner {owner!r}")
    return found


def revoke_version(storage: Storage, name: str, now: datetime) -> None:
    """Make a version's token worthless. UnknownError, or StateError if it is so already."""
    with storage.write() as tx:
        version = find_versions(tx, [name])[0]
        good = (col(BotVersion.id) == version.id, col(BotVersion.revoked_at).is_(None))
        if not changed(tx, update(BotVersion).where(*good).values(revoked_at=now)):
            raise StateError(f"the token of {version.name} is revoked already")


def find_versions(tx: Transaction, names: Sequence[str]) -> list[BotVersion]:
    """The versions of these names; ``owner/bot`` alone is its newest version whose token is good."""
    return [_find_version(tx, name) for name in names]


def _find_version(tx: Transaction, name: str) -> BotVersion:
    if "@" in name:
        found = tx.exec(select(BotVersion).where(BotVersion.name == name)).first()
    else:
        owner, mark, bot = name.partition("/")
        if not mark:
            raise SpecError("bot", f"{name!r} is neither owner/bot nor owner/bot@number")
        found = tx.exec(
            select(BotVersion)
            .join(Bot, col(Bot.id) == BotVersion.bot_id)
            .join(Owner, col(Owner.id) == Bot.owner_id)
            .where(Owner.name == owner, Bot.name == bot, col(BotVersion.revoked_at).is_(None))
            .order_by(col(BotVersion.number).desc())
        ).first()
    if found is None:
        raise UnknownError(f"no bot {name!r}; it has to be registered first")
    return found
