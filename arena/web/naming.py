"""Bots and bot versions in paths: ``/bots/{owner}/{bot}``."""

from typing import Annotated

from fastapi import Depends, Path, Query

from arena.bots.versions import check_bot
from arena.operations.parameters import LARGEST_VERSION


async def _bot(owner: str, bot: str) -> str:
    """Return ``owner/bot``. Raise SpecError if it cannot be a bot's name."""
    name = f"{owner}/{bot}"
    check_bot(name)
    return name.partition("@")[0]


BotName = Annotated[str, Depends(_bot)]
"""``owner/bot``."""


async def _bot_or_version(
    name: BotName,
    version: Annotated[
        int | None,
        Query(ge=1, le=LARGEST_VERSION, description="Only this version; without it, all together."),
    ] = None,
) -> str:
    return name if version is None else f"{name}@{version}"


BotOrVersion = Annotated[str, Depends(_bot_or_version)]
"""``owner/bot``, or one version of it if the query names one."""


async def _version(name: BotName, number: Annotated[int, Path(ge=1, le=LARGEST_VERSION)]) -> str:
    return f"{name}@{number}"


VersionName = Annotated[str, Depends(_version)]
"""``owner/bot@number``."""


async def _entrant(owner: str, bot: Annotated[str, Path(description="The bot, or `bot@version`.")]) -> str:
    return f"{owner}/{bot}"


EntrantName = Annotated[str, Depends(_entrant)]
"""``owner/bot``, or ``owner/bot@number``."""
