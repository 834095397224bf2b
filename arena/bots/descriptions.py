"""A bot's description, who may enter it, and changing both."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.actors import Actor
from arena.bots.versions import check_bot, check_language, check_link, find_bot
from arena.errors import SpecError
from arena.people.audit import record
from arena.store.models import Account
from arena.store.storage import Storage, Transaction
from arena.store.suggestions import unknown

EVERYBODY = "*"
"""Stands for all organisers."""

MOST_OPEN = 20
"""The most accounts to which a bot is open."""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a bot, which is public but for ``open_to``."""

    bot: str
    """``owner/bot``."""
    language: str | None
    """What it is written in; None if not stated."""
    link: str | None
    """Where there is more about it; None if not stated."""
    open_to: Sequence[str]
    """The accounts of organisers who may enter it in rated tournaments, or ``*`` for all of them."""


def describe(
    storage: Storage,
    actor: Actor,
    bot: str,
    now: datetime,
    language: str | None = None,
    link: str | None = None,
    open_to: Sequence[str] | None = None,
) -> Description:
    """Change the description of ``owner/bot``, and who may enter it.

    None leaves a field as it is, an empty one removes what it was. Raise SpecError for invalid values,
    UnknownError, NotAllowed.
    """
    check_bot(bot)
    if "@" in bot:
        raise SpecError("bot", f"{bot!r} is a version; only the bot is described: owner/bot")
    if language is None and link is None and open_to is None:
        raise SpecError("bot", "nothing to change: give a language, a link, or open_to")
    actor.require_owner(bot.partition("/")[0], f"describe {bot}")
    if language:
        check_language(language)
    if link:
        check_link(link)
    with storage.write() as tx:
        row = find_bot(tx, bot)
        names = None if open_to is None else _organisers(tx, open_to)
        fields = {"language": language, "link": link, "open_to": names}
        changes = {field: value or None for field, value in fields.items() if value is not None}
        for field, value in changes.items():
            setattr(row, field, value)
        tx.add(row)
        record(tx, actor, "bot.describe", bot, now, **changes)
        return Description(bot, row.language, row.link, row.open_to or [])


def _organisers(tx: Transaction, names: Sequence[str]) -> list[str]:
    """Return names of accounts, each once, or ``*`` alone. Raise SpecError, UnknownError."""
    names = [name for name in dict.fromkeys(names) if name]
    if EVERYBODY in names:
        return [EVERYBODY]
    if len(names) > MOST_OPEN:
        raise SpecError("open_to", f"must be at most {MOST_OPEN} accounts, or {EVERYBODY} for all organisers")
    accounts = set(tx.exec(select(Account.name).where(col(Account.name).in_(names))))
    for name in names:
        if name not in accounts:
            raise unknown(tx, "account", name, col(Account.name))
    return names


def open_to_of(storage: Storage, bot: str) -> Sequence[str]:
    """Return who may enter ``owner/bot`` in rated tournaments. Raise UnknownError."""
    with storage.read() as tx:
        return find_bot(tx, bot).open_to or []
