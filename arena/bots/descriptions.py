"""A bot's description, and changing it."""

from dataclasses import dataclass
from datetime import datetime

from arena.actors import Actor
from arena.bots.fields import check_language, check_link
from arena.bots.versions import check_bot, find_bot
from arena.errors import SpecError
from arena.people.audit import record
from arena.store.storage import Storage


@dataclass(frozen=True, slots=True)
class Description:
    """The public description of a bot."""

    bot: str
    """``owner/bot``."""
    language: str | None
    """What it is written in; None if not stated."""
    link: str | None
    """Where there is more about it; None if not stated."""


def describe(
    storage: Storage,
    actor: Actor,
    bot: str,
    now: datetime,
    language: str | None = None,
    link: str | None = None,
) -> Description:
    """Change the description of ``owner/bot``: None leaves a field as it is, an empty text removes it.

    Raise SpecError for invalid values, UnknownError, NotAllowed.
    """
    check_bot(bot)
    if "@" in bot:
        raise SpecError("bot", f"{bot!r} is a version; only the bot is described: owner/bot")
    if language is None and link is None:
        raise SpecError("bot", "nothing to change: give a language or a link")
    actor.require_owner(bot.partition("/")[0], f"describe {bot}")
    if language:
        check_language(language)
    if link:
        check_link(link)
    with storage.write() as tx:
        row = find_bot(tx, bot)
        given = {"language": language, "link": link}
        changes = {field: value or None for field, value in given.items() if value is not None}
        for field, value in changes.items():
            setattr(row, field, value)
        tx.add(row)
        record(tx, actor, "bot.describe", bot, now, **changes)
        return Description(bot, row.language, row.link)
