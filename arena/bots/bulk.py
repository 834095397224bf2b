"""Many bots registered at once, from a file: all of them or none."""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor
from arena.bots.versions import (
    AT_ONCE,
    LANGUAGE,
    Registered,
    check_link,
    known_bots,
    new_version,
    require_room,
)
from arena.core.specs import check_name
from arena.errors import SpecError, TakenError
from arena.people.audit import record
from arena.people.tokens import LONGEST_DAYS, expiry, new_token
from arena.store.models import Bot, Owner
from arena.store.storage import Storage, Transaction
from referee.errors import Problem, TomlError
from referee.reading.docstrings import tell_fields
from referee.reading.toml import problems_in, problems_in_text, read_toml
from referee.reading.validation import Wording, first_of, problems, short

MOST_BOTS = 10_000
"""The most bots in a file."""

NAMED = 10
"""The most bots that are named if they cannot be registered."""

OPTIONAL_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}

WORDING = Wording("a list of bots", table="a table")


def _bot(value: object) -> str:
    """Return ``owner/bot``; raise ValueError if it is malformed."""
    if not isinstance(value, str) or value.count("/") != 1:
        raise ValueError(f"{short(value)} is not of the form owner/bot")
    for name in value.split("/"):
        try:
            check_name("name", name)
        except SpecError as error:
            raise ValueError(error.reason) from None
    return value


def _link(value: object) -> str | None:
    """Return a link, or None for none; raise ValueError if it is not a valid link."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{short(value)} is not a link")
    try:
        return check_link(value)
    except SpecError as error:
        raise ValueError(error.reason) from None


class NewBot(BaseModel):
    """A bot to be registered."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", defer_build=True, json_schema_extra=tell_fields
    )

    bot: Annotated[str, PlainValidator(_bot), WithJsonSchema({"type": "string"})]
    """``owner/bot``."""
    language: str | None = Field(default=None, pattern=f"^(?:{LANGUAGE.pattern})$")
    """What it is written in."""
    link: Annotated[str | None, PlainValidator(_link), WithJsonSchema(OPTIONAL_TEXT)] = None
    """Where there is more about it."""
    expires_in: int | None = Field(default=None, ge=1, le=LONGEST_DAYS)
    """Days for which its token is valid; by default until it is revoked."""


class BotList(BaseModel):
    """The bots of a file."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", defer_build=True, json_schema_extra=tell_fields
    )

    bots: Annotated[list[NewBot], Field(min_length=1, max_length=MOST_BOTS)]
    """The bots."""


@dataclass(frozen=True, slots=True)
class RegisteredTogether:
    """Bots that were registered together."""

    bots: list[Registered]
    """In the order in which they were listed."""


@cache
def _schema() -> dict[str, Any]:
    return BotList.model_json_schema()


def load_bots(path: Path) -> list[NewBot]:
    """Return the bots in a TOML file: its ``[[bots]]``, each as a ``NewBot``.

    Raise SpecError, which names the file and everything that is wrong.
    """
    try:
        fields = read_toml(path)
    except TomlError as error:
        raise SpecError(str(path), error.reason) from None
    return _bots(fields, lambda wrong: problems_in(path, wrong))


def read_bots(text: str) -> list[NewBot]:
    """Return the bots in the text of such a file. Raise SpecError, which names everything that is wrong."""
    try:
        fields = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError("file", f"is not TOML: {' '.join(str(error).split())}") from None
    return _bots(fields, lambda wrong: problems_in_text("file", text, wrong))


def _bots(
    fields: Mapping[str, object], placed: Callable[[Sequence[Problem]], Sequence[Problem]]
) -> list[NewBot]:
    """Return the bots; ``placed`` adds to problems where they are. Raise SpecError."""
    try:
        bots = BotList.model_validate(fields).bots
    except ValidationError as error:
        raise SpecError.of(placed(problems(error, _schema(), WORDING))) from None
    if twice := _listed_twice(bots):
        raise SpecError.of(placed(twice))
    return bots


def _listed_twice(bots: Sequence[NewBot]) -> list[Problem]:
    times = Counter(bot.bot for bot in bots)
    twice = [(bot, many) for bot, many in times.items() if many > 1]
    return first_of(twice, lambda item: [Problem("bots", f"{item[0]} is listed {item[1]} times")])


def _registered_already(registered: Sequence[str], listed: int) -> list[Problem]:
    """Return problems for the bots in a list that are registered already: the first ones, and what to do."""
    repeated = [Problem("bots", f"{bot} is registered already") for bot in registered[:NAMED]]
    count = f"all {listed}" if len(registered) == listed else f"{len(registered)} of {listed}"
    advice = (
        "a list is for new bots; a bot's next version is registered by itself, and a token that is lost is "
        "replaced with `arena bot rotate`"
    )
    return [*repeated, Problem("bots", f"{count} are registered already: {advice}")]


def register_all(
    storage: Storage,
    actor: Actor,
    bots: Sequence[NewBot],
    now: datetime,
    keep: Callable[[Sequence[Registered]], None] = lambda _: None,
) -> list[Registered]:
    """Register all these bots, which must all be new, or none of them.

    ``keep`` is given them with their tokens before they are stored; if it raises, nothing is stored. Raise
    SpecError, which names all that are listed twice or registered already, and NotAllowed.
    """
    if twice := _listed_twice(bots):
        raise SpecError.of(twice)
    for bot in bots:
        actor.require_owner(bot.bot.partition("/")[0], f"register {bot.bot}")
    try:
        with storage.write() as tx:
            if repeated := known_bots(tx, [bot.bot for bot in bots]):
                raise SpecError.of(_registered_already(repeated, len(bots)))
            require_room(tx, actor, len(bots), now)
            registered = _add_all(tx, actor, bots, now)
            keep(registered)
            return registered
    except IntegrityError:
        raise TakenError("bots of the file are being registered by others right now; try again") from None


def _add_all(tx: Transaction, actor: Actor, bots: Sequence[NewBot], now: datetime) -> list[Registered]:
    """Add the first version of each bot, all rows of a kind at once: thousands take seconds."""
    owners = _owners(tx, [bot.bot.partition("/")[0] for bot in bots], now)
    rows = [
        Bot(owner_id=owners[owner], name=name, created_at=now, language=bot.language, link=bot.link)
        for bot in bots
        for owner, _, name in [bot.bot.partition("/")]
    ]
    tx.add_all(rows)
    tx.flush()
    tokens = [new_token() for _ in bots]
    versions = [
        new_version(row.id, bot.bot, 1, token, now, bot.language, expiry(now, bot.expires_in))
        for row, bot, token in zip(rows, bots, tokens, strict=True)
    ]
    tx.add_all(versions)
    for version in versions:
        record(tx, actor, "bot.register", version.name, now)
    tx.flush()
    return [Registered(version.name, token) for version, token in zip(versions, tokens, strict=True)]


def _owners(tx: Transaction, names: Sequence[str], now: datetime) -> dict[str, int]:
    """Return the ids of owners by name; those that are new are added."""
    different = [*dict.fromkeys(names)]
    parts = [different[at : at + AT_ONCE] for at in range(0, len(different), AT_ONCE)]
    parts_found = [
        tx.exec(select(Owner.name, Owner.id).where(col(Owner.name).in_(part))).all() for part in parts
    ]
    ids = {name: owner_id for rows in parts_found for name, owner_id in rows}
    added = [Owner(name=name, created_at=now) for name in different if name not in ids]
    tx.add_all(added)
    tx.flush()
    return ids | {owner.name: owner.id for owner in added}
