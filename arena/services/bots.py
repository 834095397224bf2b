"""Owners, bots and their versions."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, update
from sqlalchemy import select as select_columns
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import defer
from sqlmodel import col, func, select

from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.models import Bot, BotVersion, Owner
from arena.specs import check_name
from arena.storage import Storage, Transaction, changed
from arena.tokens import hash_token, new_token

LANGUAGE = re.compile(r"[a-z0-9+#-]{1,20}")

WITHOUT_REPORT = defer(BotVersion.check_report)  # type: ignore[arg-type]  # SQLModel's types hide the column
"""Option of queries for versions: what the check found is long, and is read only where it is asked for."""

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
    language: str | None
    """What it is written in; None: not told."""
    check_passed_at: datetime | None
    """When it passed the latest check; None: it did not, or was never checked."""


def register_version(storage: Storage, bot: str, now: datetime, language: str | None = None) -> Registered:
    """Register the next version of ``owner/bot``, and owner and bot if they are new.

    Raises SpecError for what is no name and no language, TakenError if others keep registering versions at
    the same moment.
    """
    owner_name, _, bot_name = bot.partition("/")
    check_name("owner", owner_name)
    check_name("bot", bot_name)
    if language is not None and not LANGUAGE.fullmatch(language):
        raise SpecError("language", f"{language!r} is no language: 1 to 20 of a-z, 0-9, +, # and -")
    token = new_token()
    for _ in range(ATTEMPTS):
        with suppress(IntegrityError), storage.write() as tx:
            bot_id = _bot_id(tx, owner_name, bot_name, now)
            last = tx.exec(select(func.max(BotVersion.number)).where(BotVersion.bot_id == bot_id)).one()
            number = (last or 0) + 1
            version = BotVersion(
                bot_id=bot_id,
                number=number,
                name=f"{bot}@{number}",
                token_hash=hash_token(token),
                created_at=now,
                language=language,
            )
            tx.add(version)
            return Registered(version.name, token)
    raise TakenError(f"others are registering versions of {bot} at this moment; try again")


def _bot_id(tx: Transaction, owner_name: str, bot_name: str, now: datetime) -> int:
    """The bot's id; the bot and its owner are added if they are new."""
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
    return bot.id


def list_versions(storage: Storage, owner: str | None = None) -> list[VersionInfo]:
    """All versions, or an owner's, by owner, bot and number. UnknownError if there is no such owner."""
    versions = _infos().order_by(col(Owner.name), col(Bot.name), col(BotVersion.number))
    if owner is not None:
        versions = versions.where(col(Owner.name) == owner)
    with storage.read() as tx:
        found = [VersionInfo(*row) for row in tx.connection().execute(versions)]
    if owner is not None and not found:
        raise UnknownError(f"no owner {owner!r}")
    return found


def _infos() -> Select[Any]:
    """Selects the columns of ``VersionInfo``."""
    columns: tuple[Any, ...] = (
        BotVersion.name,
        Owner.name,
        BotVersion.created_at,
        BotVersion.revoked_at,
        BotVersion.language,
        BotVersion.check_passed_at,
    )
    of_owner = select_columns(*columns).select_from(BotVersion)
    return of_owner.join(Bot, col(Bot.id) == BotVersion.bot_id).join(Owner, col(Owner.id) == Bot.owner_id)


def revoke_version(storage: Storage, name: str, now: datetime) -> VersionInfo:
    """Make a version's token worthless; ``owner/bot`` alone is its newest version whose token is good.

    UnknownError, or StateError if it is so already.
    """
    with storage.write() as tx:
        versions = find_versions(tx, [name]) if "@" in name else find_all_versions(tx, name)
        version = max(versions, key=lambda one: (one.revoked_at is None, one.number))
        good = (col(BotVersion.id) == version.id, col(BotVersion.revoked_at).is_(None))
        if not changed(tx, update(BotVersion).where(*good).values(revoked_at=now)):
            raise StateError(f"the token of {version.name} is revoked already")
        return VersionInfo(*tx.connection().execute(_infos().where(col(BotVersion.id) == version.id)).one())


def find_versions(tx: Transaction, names: Sequence[str]) -> list[BotVersion]:
    """The versions of these names; ``owner/bot`` alone is its newest version whose token is good."""
    return [_find_version(tx, name) for name in names]


def _find_version(tx: Transaction, name: str) -> BotVersion:
    if "@" in name:
        found = tx.exec(select(BotVersion).options(WITHOUT_REPORT).where(BotVersion.name == name)).first()
        if found is None:
            raise UnknownError(f"no bot {name!r}; it has to be registered first")
        return found
    versions = find_all_versions(tx, name)
    good = [version for version in versions if version.revoked_at is None]
    if not good:
        whose = versions[0].name if len(versions) == 1 else f"each of the {len(versions)} versions of {name}"
        raise StateError(f"the token of {whose} is revoked; register another version: {name}")
    return good[-1]


def find_all_versions(tx: Transaction, name: str) -> list[BotVersion]:
    """All versions of ``owner/bot``, oldest first. SpecError for what is no such name, UnknownError."""
    owner, mark, bot = name.partition("/")
    if not mark:
        raise SpecError("bot", f"{name!r} is neither owner/bot nor owner/bot@number")
    found = tx.exec(
        select(BotVersion)
        .options(WITHOUT_REPORT)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
        .where(Owner.name == owner, Bot.name == bot)
        .order_by(col(BotVersion.number))
    ).all()
    if not found:
        raise UnknownError(f"no bot {name!r}; it has to be registered first")
    return list(found)
