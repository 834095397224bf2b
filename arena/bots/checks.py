"""Checks of bots by the protocol's scenarios; the result is stored with the bot version."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from arena.actors import Actor
from arena.bots.versions import find_versions, versions_for
from arena.errors import SpecError, StateError, UnknownError
from arena.people.audit import record
from arena.store.models import BotVersion
from arena.store.storage import Storage

if TYPE_CHECKING:
    from referee.check import Report


def checked_version(storage: Storage, bot: str) -> str:
    """Return the name of the version to which a check of ``bot`` applies.

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
    """Store the latest report of a check of a version in place of the previous one; raise UnknownError."""
    actor.require_owner(name.partition("/")[0], f"store a check of {name}")
    with storage.write() as tx:
        version = find_versions(tx, [name], None)[0]
        version.check_report = dict(report)
        version.check_passed_at = now if passed else None
        record(tx, actor, "bot.check", version.name, now, passed=passed)


def submit_check(storage: Storage, actor: Actor, name: str, report: "Report", now: datetime) -> "Report":
    """Store the report of the author's own check of a version, and return it under the version's name.

    Raise NotAllowed, UnknownError, StateError; SpecError if it is of another bot, or not of the whole check.
    """
    actor.require_owner(name.partition("/")[0], f"store a check of {name}")
    _require_whole(report)
    if report.bot not in (name, name.partition("@")[0]):
        raise SpecError("bot", f"the report is of {report.bot}, not of {name}")
    report = replace(report, bot=checked_version(storage, name))
    store_check(storage, actor, name, report.to_object(), report.passed, now)
    return report


def _require_whole(report: "Report") -> None:
    """Raise SpecError unless a report lists each scenario exactly once."""
    from referee.check import SCENARIOS  # which every other command can do without, and would load

    told = Counter([*(result.code for result in report.results), *report.left_out])
    wrong = told - Counter(scenario.code for scenario in SCENARIOS)
    if wrong:
        raise SpecError("results", f"{min(wrong)} is not in this arena's check, or is listed twice")
    if missing := [scenario.code for scenario in SCENARIOS if scenario.code not in told]:
        raise SpecError("results", f"{missing[0]} is missing; only a whole check is stored")


def latest_check(storage: Storage, actor: Actor, name: str) -> Mapping[str, object]:
    """Return the report of the latest check of a version, for its owner or an operator.

    It includes what the bot printed. Raise SpecError, NotAllowed, and UnknownError if there was none.
    """
    [version_id] = versions_for(storage, actor, name)
    with storage.read() as tx:
        report = tx.get_one(BotVersion, version_id).check_report
    if report is None:
        raise UnknownError(f"{name} has not been checked: arena bot check {name}")
    return report


def require_checks(versions: Sequence[BotVersion]) -> None:
    """Raise SpecError if one of them has not passed its latest check."""
    missing = [version.name for version in versions if version.check_passed_at is None]
    if missing:
        more = len(missing) - 1
        who = f"{missing[0]} and {more} other{'s' if more > 1 else ''} have" if more else f"{missing[0]} has"
        raise SpecError("entrants", f"{who} not passed the check: arena bot check {missing[0]}")
