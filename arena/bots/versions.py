"""Owners, bots and their versions, with those of the house: there is always somebody to play against."""

import re
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Select, bindparam, update
from sqlalchemy import select as select_columns
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import defer
from sqlmodel import col, func, or_, select

from arena.actors import HOUSE, Actor, KeyScope, Role
from arena.core.specs import check_name
from arena.errors import SpecError, StateError, TakenError
from arena.people.audit import record
from arena.people.tokens import expiry, hash_token, new_token
from arena.store.models import Account, Bot, BotVersion, Owner
from arena.store.storage import Storage, Transaction, changed, hold_row
from arena.store.suggestions import unknown_bots
from referee.reading.names import NAME

LANGUAGE = re.compile(r"[a-z0-9+#-]{1,20}")

LONGEST_LINK = 200
"""The most characters in a link."""

LINK = re.compile(r"https?://[!-~]+")
"""A link in printable ASCII; ``check_link`` checks the rest."""


def check_language(language: str) -> str:
    """Return ``language`` if it can be one; raise SpecError otherwise."""
    if not LANGUAGE.fullmatch(language):
        raise SpecError("language", f"{language!r} is not a language: 1 to 20 of a-z, 0-9, +, # and -")
    return language


def check_link(link: str) -> str:
    """Return ``link`` if it is one to a web page; raise SpecError otherwise.

    It may not contain a user name, which could make it look as if it led to another host.
    """
    if len(link) > LONGEST_LINK:
        raise SpecError("link", f"must have at most {LONGEST_LINK} characters, not {len(link)}")
    if not LINK.fullmatch(link) or not _leads_to_a_host(link):
        raise SpecError("link", f"{link!r} is not a link: http:// or https:// and a host, in ASCII")
    return link


def _leads_to_a_host(link: str) -> bool:
    try:
        parts = urlsplit(link)
        return bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # malformed brackets or port
        return False


BOT = re.compile(rf"{NAME.pattern}/{NAME.pattern}(@[1-9][0-9]{{0,8}})?")
"""A bot, or one of its versions."""

WITHOUT_REPORT = defer(BotVersion.check_report)  # type: ignore[arg-type]  # SQLModel's types hide the column
"""Option of queries for versions: the report of the check is long, and read only when it is asked for."""

AT_ONCE = 400
"""The most names that one query looks up."""

MOST_VERSIONS = 100
"""The most bot versions with valid tokens that an account manages; operators register any number. Each may
connect, and has an allowance of its own at every referee."""

ATTEMPTS = 10
"""How often taking the next number is tried, since somebody else may be faster."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A new bot version."""

    bot: str
    """``owner/bot@number``."""
    token: str
    """Its token, which nobody can show again."""


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """A bot version."""

    bot: str
    """``owner/bot@number``."""
    owner: str
    """Its owner."""
    created_at: datetime
    """When it was registered."""
    revoked_at: datetime | None
    """When its token was revoked; None if it was not."""
    expires_at: datetime | None
    """When its token expires; None for never."""
    last_used_on: date | None
    """The day (UTC) on which its tokens were last used; None for never."""
    language: str | None
    """What it is written in; None if not stated."""
    check_passed_at: datetime | None
    """When its author reported that it passed the latest check; None if it did not, or was never checked."""


def register_version(
    storage: Storage,
    actor: Actor,
    bot: str,
    now: datetime,
    language: str | None = None,
    expires_in: int | None = None,
    link: str | None = None,
) -> Registered:
    """Register the next version of ``owner/bot``, and owner and bot if they are new.

    The language and the link describe the bot from now on; None leaves the previous ones. ``expires_in`` is
    the number of days for which its token is valid; None stands for until it is revoked. A key that must not
    read registers only new bots, since tokens open the logs of all versions. Raise SpecError for an invalid
    name, language, link or number of days, NotAllowed, TakenError if others keep registering versions at the
    same moment, StateError if the actor has too many.
    """
    owner_name, _, bot_name = bot.partition("/")
    check_name("owner", owner_name)
    check_name("bot", bot_name)
    actor.require_owner(owner_name, f"register {bot}")
    if language is not None:
        check_language(language)
    if link is not None:
        check_link(link)
    expires_at = expiry(now, expires_in)
    for _ in range(ATTEMPTS):
        with suppress(IntegrityError), storage.write() as tx:
            return add_version(tx, actor, bot, now, language, expires_at, link)
    raise TakenError(f"versions of {bot} are being registered by others right now; try again")


def add_bot(
    storage: Storage, actor: Actor, bot: str, now: datetime, language: str | None = None
) -> Registered:
    """Register the first version of a new bot. Raise SpecError, NotAllowed, TakenError if there is one."""
    with storage.read() as tx:
        if _versions_of(tx, [bot]):
            raise TakenError(f"bot {bot} already exists")
    return register_version(storage, actor, bot, now, language)


def add_version(
    tx: Transaction,
    actor: Actor,
    bot: str,
    now: datetime,
    language: str | None,
    expires_at: datetime | None,
    link: str | None = None,
) -> Registered:
    """Register the next version of a bot as part of a transaction; all arguments have been checked.

    Raise StateError if the actor has too many.
    """
    require_room(tx, actor, 1, now)
    token, row = new_token(), _bot(tx, bot, now)
    row.language, row.link = language or row.language, link or row.link
    last: int | None = tx.exec(_last_number(), params={"bot": row.id}).one()
    if last is not None:
        _require_reader(actor)
    number = (last or 0) + 1
    version = new_version(row.id, bot, number, token, now, language, expires_at)
    tx.add(version)
    tx.flush()
    record(tx, actor, "bot.register", version.name, now)
    return Registered(version.name, token)


def _require_reader(actor: Actor) -> None:
    """Raise NotAllowed for a key that must not read logs: a bot's tokens open its log and its deals."""
    actor.require_scopes((KeyScope.READ,), "get another token of a bot")


def require_room(tx: Transaction, actor: Actor, new: int, now: datetime) -> None:
    """Raise StateError if the actor would manage too many versions with valid tokens, with ``new`` more."""
    if actor.role is Role.OPERATOR:
        return
    hold_row(tx, Account, actor.account_id)
    valid = (
        select(func.count())
        .select_from(BotVersion)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
        .where(
            col(Owner.name).in_(actor.owners),
            col(BotVersion.revoked_at).is_(None),
            or_(col(BotVersion.expires_at).is_(None), col(BotVersion.expires_at) > now),
        )
    )
    count: int = tx.exec(valid).one()
    if count + new > MOST_VERSIONS:
        raise StateError(
            f"{actor.account} has {count} bot versions with valid tokens, and may have {MOST_VERSIONS}; "
            "revoke those that no longer play (arena bot revoke)"
        )


@cache
def _last_number() -> Any:
    return select(func.max(BotVersion.number)).where(BotVersion.bot_id == bindparam("bot"))


def new_version(
    bot_id: int,
    bot: str,
    number: int,
    token: str,
    now: datetime,
    language: str | None,
    expires_at: datetime | None,
) -> BotVersion:
    """Return the row for a version with this token."""
    return BotVersion(
        bot_id=bot_id,
        number=number,
        name=f"{bot}@{number}",
        token_hash=hash_token(token),
        expires_at=expires_at,
        created_at=now,
        language=language,
    )


def _bot(tx: Transaction, name: str, now: datetime) -> Bot:
    """Return the bot; it and its owner are added if they are new."""
    owner_name, _, bot_name = name.partition("/")
    owner: Owner | None = tx.exec(_owner_named(), params={"owner": owner_name}).first()
    if owner is None:
        owner = Owner(name=owner_name, created_at=now)
        tx.add(owner)
        tx.flush()
    bot: Bot | None = tx.exec(_bot_named(), params={"owner": owner.id, "bot": bot_name}).first()
    if bot is None:
        bot = Bot(owner_id=owner.id, name=bot_name, created_at=now)
        tx.add(bot)
        tx.flush()
    return bot


@cache
def _owner_named() -> Any:
    return select(Owner).where(Owner.name == bindparam("owner"))


@cache
def _bot_named() -> Any:
    return select(Bot).where(Bot.owner_id == bindparam("owner"), Bot.name == bindparam("bot"))


def find_bot(tx: Transaction, name: str) -> Bot:
    """Return ``owner/bot``. Raise UnknownError."""
    owner, _, bot = name.partition("/")
    of_owner = select(Bot).join(Owner, col(Owner.id) == Bot.owner_id)
    row = tx.exec(of_owner.where(Owner.name == owner, Bot.name == bot)).first()
    if row is None:
        raise unknown_bots(tx, [name])
    return row


def check_bot(name: str) -> None:
    """Raise SpecError if a name has neither the form ``owner/bot`` nor ``owner/bot@number``."""
    if not BOT.fullmatch(name):
        raise _no_bot(name)


def select_infos() -> Select[Any]:
    """Select the columns of ``VersionInfo``."""
    columns: tuple[Any, ...] = (
        BotVersion.name,
        Owner.name,
        BotVersion.created_at,
        BotVersion.revoked_at,
        BotVersion.expires_at,
        BotVersion.last_used_on,
        BotVersion.language,
        BotVersion.check_passed_at,
    )
    of_owner = select_columns(*columns).select_from(BotVersion)
    return of_owner.join(Bot, col(Bot.id) == BotVersion.bot_id).join(Owner, col(Owner.id) == Bot.owner_id)


def revoke_version(storage: Storage, actor: Actor, name: str, now: datetime) -> VersionInfo:
    """Revoke a version's token; ``owner/bot`` alone is its newest version whose token is valid.

    Raise UnknownError, or StateError if it is revoked already.
    """
    actor.require_owner(name.partition("/")[0], f"revoke {name}")
    with storage.write() as tx:
        version = _to_revoke(tx, name, now)
        good = (col(BotVersion.id) == version.id, col(BotVersion.revoked_at).is_(None))
        if not changed(tx, update(BotVersion).where(*good).values(revoked_at=now)):
            raise StateError(f"the token of {version.name} is revoked already")
        record(tx, actor, "bot.revoke", version.name, now)
        return VersionInfo(
            *tx.connection().execute(select_infos().where(col(BotVersion.id) == version.id)).one()
        )


def _revoked(name: str) -> StateError:
    return StateError(f"the token of {name} is revoked, for good; register another version")


def _to_revoke(tx: Transaction, name: str, now: datetime) -> BotVersion:
    versions = find_versions(tx, [name], None) if "@" in name else find_all_versions(tx, name)
    return max(
        versions,
        key=lambda version: (not token_problem(version, now), version.revoked_at is None, version.number),
    )


def rotate_version(
    storage: Storage, actor: Actor, name: str, now: datetime, expires_in: int | None = None
) -> Registered:
    """Give a version a new token in place of its old one, which is no longer valid.

    ``owner/bot`` alone is its newest version whose token is not revoked; ``expires_in`` is as in
    ``register_version``; a key that must not read may not. Raise NotAllowed, UnknownError, SpecError, or
    StateError if the token is revoked for good.
    """
    actor.require_owner(name.partition("/")[0], f"give {name} a new token")
    _require_reader(actor)
    token, expires_at = new_token(), expiry(now, expires_in)
    with storage.write() as tx:
        [version] = find_versions(tx, [name], None)
        require_room(tx, actor, 1 if token_problem(version, now) else 0, now)
        values = {
            "token_hash": hash_token(token),
            "token_number": BotVersion.token_number + 1,
            "expires_at": expires_at,
        }
        good = (col(BotVersion.id) == version.id, col(BotVersion.revoked_at).is_(None))
        if not changed(tx, update(BotVersion).where(*good).values(values)):
            raise _revoked(version.name)
        record(tx, actor, "bot.rotate", version.name, now)
        return Registered(version.name, token)


def token_problem(version: BotVersion | VersionInfo, now: datetime) -> str:
    """Return why a version's token is not valid, as "is revoked" or "has expired"; empty if it is."""
    if version.revoked_at is not None:
        return "is revoked"
    return "has expired" if version.expires_at is not None and version.expires_at <= now else ""


def find_versions(tx: Transaction, names: Sequence[str], now: datetime | None) -> list[BotVersion]:
    """Return the versions of these names; ``owner/bot`` alone is its newest version whose token is valid.

    If ``now`` is None, an expired token will do, too. Raise SpecError for a malformed name, UnknownError for
    an unknown one, StateError if no version of a bot has a valid token.
    """
    versions = _all_called(tx, names)
    _require_known(tx, names, {*versions}, to_play=now is not None)
    return [versions[name][0] if "@" in name else _newest(name, versions[name], now) for name in names]


def find_each(tx: Transaction, names: Sequence[str]) -> dict[str, list[BotVersion]]:
    """Return for each name all versions of ``owner/bot``, oldest first, or the one version that it is.

    Raise SpecError for a malformed name, UnknownError for an unknown one.
    """
    versions = _all_called(tx, names)
    _require_known(tx, names, {*versions})
    return {name: versions[name] for name in names}


def _all_called(tx: Transaction, names: Sequence[str]) -> dict[str, list[BotVersion]]:
    versions: dict[str, list[BotVersion]] = {}
    for at in range(0, len(names), AT_ONCE):
        some = names[at : at + AT_ONCE]
        versions |= {
            name: [version] for name, version in _versions_named(tx, [n for n in some if "@" in n]).items()
        }
        versions |= _versions_of(tx, [name for name in some if "@" not in name])
    return versions


def _require_known(
    tx: Transaction, names: Sequence[str], registered: Set[str], *, to_play: bool = False
) -> None:
    missing = [name for name in names if name not in registered]
    if missing and "/" not in missing[0]:
        raise _no_bot(missing[0])
    if missing:
        raise unknown_bots(tx, missing, to_play=to_play)


def _versions_named(tx: Transaction, names: Sequence[str]) -> dict[str, BotVersion]:
    versions = select(BotVersion).options(WITHOUT_REPORT).where(col(BotVersion.name).in_(names))
    return {version.name: version for version in tx.exec(versions)} if names else {}


def _newest(name: str, versions: Sequence[BotVersion], now: datetime | None) -> BotVersion:
    valid = [version for version in versions if version.revoked_at is None]
    if not valid:
        whose = versions[0].name if len(versions) == 1 else f"each of the {len(versions)} versions of {name}"
        raise StateError(f"the token of {whose} is revoked; register another version: {name}")
    good = [version for version in valid if now is None or not token_problem(version, now)]
    if not good:
        last = valid[-1].name
        raise StateError(f"the token of {last} has expired; give it a new one with: arena bot rotate {last}")
    return good[-1]


def known_bots(tx: Transaction, bots: Sequence[str]) -> list[str]:
    """Return the bots among these, given as ``owner/bot``, that have a version."""
    versions = versions_by_bot(tx, bots)
    return [bot for bot in bots if bot in versions]


def versions_by_bot(tx: Transaction, bots: Sequence[str]) -> dict[str, list[BotVersion]]:
    """Return all versions of each ``owner/bot`` that there is, oldest first."""
    parts = [_versions_of(tx, bots[at : at + AT_ONCE]) for at in range(0, len(bots), AT_ONCE)]
    return {bot: versions for part in parts for bot, versions in part.items()}


def bots_of(tx: Transaction, owners: Set[str]) -> list[str]:
    """Return the bots of these owners that have a version whose token is not revoked, by name."""
    columns: tuple[Any, ...] = (Owner.name, Bot.name)
    rows = select_columns(*columns).join(Bot, col(Bot.owner_id) == Owner.id).join(BotVersion)
    own = rows.where(col(Owner.name).in_(owners), col(BotVersion.revoked_at).is_(None))
    named = tx.connection().execute(own.distinct().order_by(*columns))
    return [f"{owner}/{bot}" for owner, bot in named]


def find_all_versions(tx: Transaction, name: str, *, to_play: bool = False) -> list[BotVersion]:
    """Return all versions of ``owner/bot``, oldest first. Raise SpecError for a malformed name, UnknownError.

    With ``to_play``, the error says that it has to be registered.
    """
    versions = _versions_of(tx, [name])
    _require_known(tx, [name], {*versions}, to_play=to_play)
    return versions[name]


def versions_for(storage: Storage, actor: Actor, bot: str) -> dict[int, str]:
    """Return the versions of a bot, or the one named, for whoever may read what only its owner may.

    Raise SpecError for a malformed name, UnknownError, NotAllowed.
    """
    check_bot(bot)
    actor.require_owner(bot.partition("/")[0], f"read what is kept of {bot}")
    with storage.read() as tx:
        versions = find_versions(tx, [bot], None) if "@" in bot else find_all_versions(tx, bot)
        return {version.id: version.name for version in versions}


def _versions_of(tx: Transaction, bots: Sequence[str]) -> dict[str, list[BotVersion]]:
    """Return all versions of each ``owner/bot`` that there is, oldest first."""
    split = [bot.partition("/") for bot in bots]
    owners, names = (dict.fromkeys(part[at] for part in split) for at in (0, 2))
    parameters = {"owners": [*owners], "bots": [*names]}
    versions: dict[str, list[BotVersion]] = {}
    for owner, bot, version in tx.exec(_with_names(), params=parameters) if bots else ():
        versions.setdefault(f"{owner}/{bot}", []).append(version)
    return versions


@cache
def _with_names() -> Any:
    """Select versions with owners and bots of these names; made once, because nearly all pages use it."""
    return (
        select(Owner.name, Bot.name, BotVersion)
        .join(Bot, col(Bot.owner_id) == Owner.id)
        .join(BotVersion, col(BotVersion.bot_id) == Bot.id)
        .options(WITHOUT_REPORT)
        # Indexes lead to owners and to their bots; a bot that was not asked for does no harm.
        .where(col(Owner.name).in_(bindparam("owners", expanding=True)))
        .where(col(Bot.name).in_(bindparam("bots", expanding=True)))
        .order_by(col(BotVersion.number))
    )


def _no_bot(name: str) -> SpecError:
    return SpecError("bot", f"{name!r} is neither owner/bot nor owner/bot@number")


HOUSE_BOTS = ("keeper", "greedy", "pairs-first", "lowest", "random", "sage-quick", "sage", "sage-deep")
"""Sample bots in the order in which they are run: the fast ones, best first, and then sage at three
strengths, which takes processor time while it plays."""


def register_house_bots(storage: Storage, actor: Actor, names: Sequence[str], now: datetime) -> None:
    """Register the house bots among these that were never run. Raise NotAllowed."""
    for name in names:
        bot = name.removesuffix("@1")
        if bot in (f"{HOUSE}/{sample}" for sample in HOUSE_BOTS) and not is_registered(storage, f"{bot}@1"):
            register_version(storage, actor, bot, now)


def is_registered(storage: Storage, version: str) -> bool:
    """Return whether there is such a version."""
    with storage.read() as tx:
        return tx.exec(select(BotVersion.id).where(BotVersion.name == version)).first() is not None
