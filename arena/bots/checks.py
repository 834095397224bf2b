"""Checks of bots by the protocol's scenarios: reports as authors send them, stored with the bot version.

The arena runs none of it: what a report says is its author's word, and is shown as that.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.actors import Actor
from arena.bots.versions import find_versions, versions_for
from arena.errors import SpecError, StateError, UnknownError
from arena.people.audit import record
from arena.store.models import BotVersion
from arena.store.storage import Storage, Transaction
from referee.check import Capabilities, Figures, Report, Result, Said
from referee.reading.docstrings import tell_fields

LONGEST = 2_000
MOST_LINES = 50

Outcome = Literal["passed", "warned", "failed", "not_run"]
Text = Annotated[str, Field(max_length=LONGEST)]
Code = Annotated[str, Field(max_length=40)]


class Sent(BaseModel):
    """What is sent: no other keys than these."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=tell_fields)


class SentResult(Sent):
    """The result of a scenario, as it is sent."""

    code: Code
    """Of the scenario (docs/check.md)."""
    title: Annotated[str, Field(max_length=200)]
    outcome: Outcome
    reason: Text = ""
    """Empty if there is nothing to say."""
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 0.0
    output: Annotated[tuple[Text, ...], Field(max_length=MOST_LINES)] = ()
    """The last lines that the bot printed."""


class CheckedResult(BaseModel):
    """The result of a scenario."""

    code: str
    """Of the scenario (docs/check.md)."""
    title: str
    outcome: Outcome
    reason: str
    """Empty if there is nothing to say."""
    seconds: float
    output: list[str]
    """The last lines that the bot printed."""


class CheckCounts(BaseModel):
    """How many scenarios have each outcome."""

    passed: int
    warned: int
    failed: int
    not_run: int

    @property
    def run(self) -> int:
        """How many were run."""
        return self.passed + self.warned + self.failed


Bound = Annotated[int, Field(ge=0, le=2**32 - 1)]
Milliseconds = Annotated[float, Field(ge=0, le=86_400_000, allow_inf_nan=False)]
Names = Annotated[tuple[Code, ...], Field(max_length=100)]


class SentCapabilities(Sent):
    """What a bot can play, as its hello says; what is empty or null sets no bound."""

    turn_kinds: Names = ()
    """The kinds of turns that it knows, by their names in the protocol; others as `number 9`."""
    max_seats: Bound | None = None
    max_packs: Bound | None = None
    max_card: Code | None = None
    """The highest card that it knows, such as `CARD_2S`; others as `number 99`."""


class SentFigures(Sent):
    """How much was asked of a bot, and how fast it answered."""

    turns: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """How many turns it answered."""
    median_ms: Milliseconds | None = None
    """Half of the answers took at most this long, in milliseconds; null without answers."""
    slowest_ms: Milliseconds | None = None
    """The longest time that an answer took; null without answers."""
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 0.0
    """How long the check took."""


class CheckReport(BaseModel):
    """The result of a check, as the bot's author reports it."""

    bot: str
    """As it was given, or the version whose check is stored."""
    sdk: str
    """What the bot says it is made with."""
    protocol_version: int
    max_sessions: int | None
    """How many sessions the bot plays at once; null if it leaves that to the referee."""
    wants: list[str]
    """What it asks for beyond what every bot is told: `legal_plays`, `hands`."""
    capabilities: Capabilities
    passed: bool
    counts: CheckCounts
    stopped: str
    """Why the check ended early; empty if it did not."""
    left_out: list[str]
    """Codes of the scenarios that were not run then."""
    results: list[CheckedResult]
    figures: Figures


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What everybody may know of the latest check of a version, as its author reports it."""

    checked_at: datetime
    """When its result was stored."""
    passed: bool
    """Whether nothing failed, as its author reports; the arena did not run the check."""
    counts: CheckCounts
    max_sessions: int | None
    """How many sessions the bot plays at once; None if it leaves that to the referee."""
    wants: tuple[str, ...]
    """What it asks for beyond what every bot is told: `legal_plays`, `hands`."""
    capabilities: Capabilities
    figures: Figures


class SentReport(Sent):
    """What `arena bot check --report` wrote, or `--json` printed, of all scenarios."""

    output: Literal["bigtwo-cli/1"] | None = None
    bot: Annotated[str, Field(max_length=100)]
    """The bot, or the version."""
    sdk: Text
    protocol_version: Annotated[int, Field(ge=0, le=2**31 - 1)]
    max_sessions: Bound | None = None
    """How many sessions the bot plays at once; null if it leaves that to the referee."""
    wants: Names = ()
    """What it asks for beyond what every bot is told."""
    capabilities: SentCapabilities = SentCapabilities()
    passed: bool | None = None
    """Follows from the results."""
    counts: dict[Outcome, int] | None = None
    """Follows from the results."""
    stopped: Text = ""
    left_out: Annotated[tuple[Code, ...], Field(max_length=1_000)] = ()
    results: Annotated[list[SentResult], Field(max_length=1_000)]
    figures: SentFigures = SentFigures()

    def report(self) -> Report:
        """Return the report."""
        results = tuple(
            Result(*(getattr(result, name) for name in SentResult.model_fields)) for result in self.results
        )
        return Report(
            *(self.bot, self.sdk, self.protocol_version, results, self.stopped, self.left_out),
            said=Said(self.max_sessions, self.wants, Capabilities(**self.capabilities.model_dump())),
            figures=Figures(**self.figures.model_dump()),
        )


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
        version.checked_at = now
        version.check_passed_at = now if passed else None
        record(tx, actor, "bot.check", version.name, now, passed=passed)


def submit_check(storage: Storage, actor: Actor, name: str, report: Report, now: datetime) -> Report:
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


def _require_whole(report: Report) -> None:
    """Raise SpecError unless a report lists each scenario exactly once."""
    from referee.check import SCENARIOS  # which every other command can do without, and would load

    codes = Counter([*(result.code for result in report.results), *report.left_out])
    wrong = codes - Counter(scenario.code for scenario in SCENARIOS)
    if wrong:
        raise SpecError("results", f"{min(wrong)} is not in this arena's check, or is listed twice")
    if missing := [scenario.code for scenario in SCENARIOS if scenario.code not in codes]:
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


def summaries(tx: Transaction, version_ids: Sequence[int]) -> dict[int, CheckSummary]:
    """Return what everybody may know of the latest checks, by version; those never checked are left out."""
    rows = tx.connection().execute(_summaries(), {"versions": version_ids})
    return {
        version_id: CheckSummary(
            *(at, passed_at is not None, CheckCounts(**counts), max_sessions, tuple(wants)),
            Capabilities(**{**capabilities, "turn_kinds": tuple(capabilities["turn_kinds"])}),
            Figures(**figures),
        )
        for version_id, at, passed_at, counts, max_sessions, wants, capabilities, figures in rows
    }


@cache
def _summaries() -> Select[Any]:
    """Select these parts of reports alone: the results are long, and only their owner's."""
    report: Any = col(BotVersion.check_report)
    parts = [report[name] for name in ("counts", "max_sessions", "wants", "capabilities", "figures")]
    checked: tuple[Any, ...] = (BotVersion.id, BotVersion.checked_at, BotVersion.check_passed_at)
    these: Any = bindparam("versions", expanding=True)
    return select_columns(*checked, *parts).where(
        col(BotVersion.id).in_(these), col(BotVersion.checked_at).is_not(None)
    )


def require_checks(versions: Sequence[BotVersion]) -> None:
    """Raise SpecError if one of them has not passed its latest check, as its author reports."""
    missing = [version.name for version in versions if version.check_passed_at is None]
    if missing:
        more = len(missing) - 1
        who = f"{missing[0]} and {more} other{'s' if more > 1 else ''} have" if more else f"{missing[0]} has"
        raise SpecError("entrants", f"{who} not passed the check: arena bot check {missing[0]}")
