"""Checks of bots by the protocol's scenarios: what they found stands with the bot version."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from arena.actors import Actor
from arena.audit import record
from arena.bots.versions import find_versions
from arena.errors import SpecError, StateError
from arena.models import BotVersion
from arena.storage import Storage


def checked_version(storage: Storage, bot: str) -> str:
    """Return the name of the version that a check of ``bot`` is for.

    Raise SpecError, UnknownError, StateError.
    """
    with storage.read() as tx:
        version = find_versions(tx, [bot], None)[0]
    if version.revoked_at is not None:
        raise StateError(f"the token of {version.name} is revoked: it will not play any more")
    return version.name


def store_check(
    storage: Storage, actor: Actor, name: str, report: Mapping[str, object], passed: bool, now: datetime
) -> None:
    """Store what the latest check of a version found in place of the previous one; raise UnknownError."""
    actor.require_owner(name.partition("/")[0], f"store a check of {name}")
    with storage.write() as tx:
        version = find_versions(tx, [name], None)[0]
        version.check_report = dict(report)
        version.check_passed_at = now if passed else None
        record(tx, actor, "bot.check", version.name, now, passed=passed)


def require_checks(versions: Sequence[BotVersion]) -> None:
    """Raise SpecError if one of them has not passed its latest check."""
    missing = [version.name for version in versions if version.check_passed_at is None]
    if missing:
        others = f" (and {len(missing) - 1} others)" if len(missing) > 1 else ""
        raise SpecError(
            "entrants", f"{missing[0]}{others} has not passed the check: arena bot check {missing[0]}"
        )
