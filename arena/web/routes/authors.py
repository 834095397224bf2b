"""What only a bot's owners may see: its log, its deals, and the results of its checks."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from arena.bots.checks import latest_check, submit_check
from arena.bots.journal import kinds_of
from arena.queries import authors
from arena.web.asking import Author, Reader
from arena.web.context import Shared
from arena.web.naming import BotOrVersion, VersionName
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape
from referee.check import Report, Result
from referee.matches.journal import DealQuery, LogQuery

router = api_router("bots")

LogPage = shape(authors.LogPage)
OwnDeals = shape(authors.OwnDeals)

LONGEST = 2_000
MOST_LINES = 50

Session = Annotated[
    str | None,
    Query(
        max_length=200,
        description="Only this session, `tournament/round/table/session`, or the first parts of that.",
    ),
]
Kind = Annotated[
    Literal["fault", "notice", "connection", "connected", "left", "lost", "refused", "disconnected"] | None,
    Query(description="Only such entries."),
]
Outcome = Literal["passed", "warned", "failed", "not_run"]
Text = Annotated[str, Field(max_length=LONGEST)]
Code = Annotated[str, Field(max_length=40)]


class CheckResult(Sent):
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


class CheckReport(BaseModel):
    """The result of a check."""

    bot: str
    """The version."""
    sdk: str
    """The SDK that the bot reports."""
    protocol_version: int
    passed: bool
    counts: CheckCounts
    stopped: str
    """Why the check ended early; empty if it did not."""
    left_out: list[str]
    """Codes of the scenarios that were not run then."""
    results: list[CheckedResult]


class NewCheck(Sent):
    """What `arena bot check --json` printed, of all scenarios."""

    output: Literal["bigtwo-cli/1"] | None = None
    bot: Annotated[str, Field(max_length=100)]
    """The bot, or the version."""
    sdk: Text
    protocol_version: Annotated[int, Field(ge=0, le=2**31 - 1)]
    passed: bool | None = None
    """Follows from the results."""
    counts: dict[Outcome, int] | None = None
    """Follows from the results."""
    stopped: Text = ""
    left_out: Annotated[tuple[Code, ...], Field(max_length=1_000)] = ()
    results: Annotated[list[CheckResult], Field(max_length=1_000)]


@router.get("/bots/{owner}/{bot}/log", response_model=LogPage)
def show_log(
    web: Shared,
    actor: Reader,
    name: BotOrVersion,
    kind: Kind = None,
    session: Session = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> authors.LogPage:
    """Return the log of a bot of yours, the newest entry first: faults, notices, connections."""
    query = LogQuery(name, kinds_of(kind) if kind else (), session, limit)
    return authors.log_for(web.storage, actor, query, cursor)


@router.get("/bots/{owner}/{bot}/deals", response_model=OwnDeals)
def show_own_deals(
    web: Shared,
    actor: Reader,
    name: BotOrVersion,
    session: Session = None,
    lost: Annotated[bool, Query(description="Only deals in which another seat got more points.")] = False,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> authors.OwnDeals:
    """Return the deals that a bot of yours has played, the newest first.

    Those of a duplicate tournament are there once their round is over.
    """
    return authors.deals_for(web.storage, actor, DealQuery(name, session, lost, limit), cursor)


@router.get("/bots/{owner}/{bot}/versions/{number}/check", response_model=CheckReport)
def show_check(web: Shared, actor: Reader, name: VersionName) -> Any:
    """Return the result of the latest check of a version of yours."""
    return latest_check(web.storage, actor, name)


@router.put("/bots/{owner}/{bot}/versions/{number}/check", response_model=CheckReport)
def store_check(web: Shared, actor: Author, name: VersionName, sent: NewCheck) -> Any:
    """Store what `arena bot check --json` printed when you ran it, in place of the previous check."""
    results = tuple(
        Result(one.code, one.title, one.outcome, one.reason, one.seconds, one.output) for one in sent.results
    )
    report = Report(sent.bot, sent.sdk, sent.protocol_version, results, sent.stopped, sent.left_out)
    return submit_check(web.storage, actor, name, report, web.clock()).to_object()
