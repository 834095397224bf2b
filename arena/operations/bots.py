"""Bots: registering them, their tokens and checks, their logs and deals, and their results."""

from contextlib import suppress
from typing import Annotated, Any, Literal

from annotated_types import Interval, Len

from arena.actors import KeyScope
from arena.bots import bulk, checks, descriptions, versions
from arena.bots.checks import CheckReport, SentReport
from arena.bots.journal import kinds_of
from arena.errors import BrokerError
from arena.operations.operation import Context, operation
from arena.operations.parameters import (
    BotName,
    BotOrVersion,
    Cursor,
    Limit,
    RulesetName,
    TableSize,
    VersionName,
)
from arena.queries import faults, histories, ownbots, profiles, versus
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.testmatches import start_test_match
from referee.matches.journal import DealQuery, LogQuery
from referee.matches.kinds import FaultKind

BOT = "/bots/{owner}/{bot}"
TOKEN = f"{BOT}/versions/{{number}}/token"
CHECK = f"{BOT}/versions/{{number}}/check"

MOST_TOGETHER = 1_000
"""Maximum number of bots that are registered together: nothing else can be stored meanwhile."""

Few = Annotated[int, Interval(ge=1, le=200), "Maximum number of matches and opponents."]
Language = Annotated[str | None, "What it is written in: 1 to 20 of a-z, 0-9, +, # and -."]
Link = Annotated[str | None, "A link to more about it, http or https."]
ExpiresIn = Annotated[int | None, "Days until the token expires; without this, it never does."]
OpenTo = Annotated[
    Annotated[list[str], Len(max_length=descriptions.MOST_OPEN)] | None,
    "Accounts of organisers who may enter it in rated tournaments, or `*` for all of them.",
]
Session = Annotated[
    str | None,
    Len(max_length=200),
    "Only this session, `tournament/round/table/session`, or the first parts of that.",
]
LogKind = Annotated[
    Literal["fault", "notice", "connection", "connected", "left", "lost", "refused", "disconnected"] | None,
    "Only such entries.",
]


@operation("GET", "/bots", tag="bots", lines="bots")
def list_bots(
    context: Context,
    owner: Annotated[str | None, "Only bots of this owner."] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> profiles.VersionPage:
    """List bot versions, the newest first."""
    return profiles.find_bots(context.storage, owner, limit, cursor)


@operation("POST", "/bots", KeyScope.BOTS, tag="bots", status=201, made="/bots/{bot}")
def register_bot(
    context: Context,
    bot: Annotated[str, "`owner/bot`; the owner has to be yours."],
    language: Language = None,
    link: Link = None,
    expires_in: ExpiresIn = None,
) -> versions.Registered:
    """Register a bot of yours, or its next version; the token is shown only once.

    A language or a link that is not given stays as it is.
    """
    return versions.register_version(
        context.storage, context.actor, bot, context.now, language, expires_in, link
    )


@operation("POST", "/bots/together", KeyScope.BOTS, tag="bots", status=201, made="/bots")
def register_bots(
    context: Context,
    bots: Annotated[list[bulk.NewBot], Len(1, MOST_TOGETHER), "None of which is registered yet."],
) -> bulk.RegisteredTogether:
    """Register bots of yours that are new, all of them or none; the tokens are shown only once."""
    return bulk.RegisteredTogether(bulk.register_all(context.storage, context.actor, bots, context.now))


@operation("GET", "/me/bots", KeyScope.READ, tag="bots")
def list_own_bots(context: Context) -> ownbots.OwnBots:
    """Return your bots at a glance, those with the newest versions, their requests and invitations to enter.

    Of each: whether it is connected, where it ranks, what it has to play, its latest check and fault.
    """
    storage, actor = context.storage, context.actor
    bots = ownbots.own_bots(storage, actor, context.now, context.ask)
    requests, invitations = ownbots.own_requests(storage, actor), ownbots.own_invitations(storage, actor)
    return ownbots.OwnBots(bots, requests, invitations)


@operation("GET", BOT, tag="bots")
def show_bot(context: Context, bot: BotOrVersion, limit: Few = 10) -> profiles.Profile:
    """Return a bot's standing, results by seat, faults, most frequent opponents and latest matches."""
    return profiles.profile(context.storage, bot, limit)


@operation("PATCH", BOT, KeyScope.BOTS, tag="bots")
def describe_bot(
    context: Context,
    bot: BotName,
    language: Annotated[str | None, "What it is written in; empty removes it."] = None,
    link: Annotated[str | None, "A link to more about it, http or https; empty removes it."] = None,
    open_to: OpenTo = None,
) -> descriptions.Description:
    """Change the description of a bot of yours, and who may enter it; what is null stays as it is.

    Its versions keep the descriptions that they were registered with.
    """
    return descriptions.describe(context.storage, context.actor, bot, context.now, language, link, open_to)


@operation(
    "POST", f"{BOT}/test-match", KeyScope.BOTS, tag="bots", status=201, made="/tournaments/{tournament}"
)
def start_test(
    context: Context,
    bot: BotName,
    ruleset: Annotated[str, "Name of a preset."] = "chinese",
    against: Annotated[
        list[Annotated[str, Len(max_length=100)]],
        Len(max_length=7),
        "House bots that must play, such as `sage`; others take the remaining seats.",
    ] = [],  # noqa: B006  # never changed
) -> TournamentStatus:
    """Let a bot of yours play an unrated match against house bots at once; it has to be connected."""
    status = start_test_match(context.storage, context.actor, bot, ruleset, context.now, context.ask, against)
    with suppress(BrokerError):  # the beat finds it, only later
        context.wake(status.id)
    return status


@operation("GET", f"{BOT}/history", tag="bots", lines="history")
def show_history(
    context: Context,
    bot: BotOrVersion,
    ruleset: RulesetName = None,
    table_size: TableSize = None,
    kind: Annotated[histories.HistoryKind | None, "Only changes of Elo, or of the strength."] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> histories.HistoryPage:
    """Return how a bot's Elo changed by matches and its strength by fits, the latest change first."""
    query = histories.HistoryQuery(bot, ruleset, table_size, kind)
    return histories.history(context.storage, query, limit, cursor)


@operation("GET", f"{BOT}/versus", tag="bots")
def show_versus(
    context: Context,
    bot: BotOrVersion,
    opponent: Annotated[str, "`owner/bot`, or one version as `owner/bot@number`."],
    limit: Few = 10,
) -> versus.Versus:
    """Return two bots head to head, seen from the first."""
    return versus.versus(context.storage, bot, opponent, limit)


@operation("PUT", TOKEN, KeyScope.BOTS, tag="bots")
def rotate_bot(context: Context, bot: VersionName, expires_in: ExpiresIn = None) -> versions.Registered:
    """Give a version of yours a new token, shown only once; the old one is refused at once."""
    return versions.rotate_version(context.storage, context.actor, bot, context.now, expires_in)


@operation("DELETE", TOKEN, KeyScope.BOTS, tag="bots")
def revoke_bot(context: Context, bot: VersionName) -> versions.VersionInfo:
    """Revoke the token of a version of yours, for good; a bot connected with it is disconnected."""
    return versions.revoke_version(context.storage, context.actor, bot, context.now)


@operation("GET", f"{BOT}/log", KeyScope.READ, tag="bots", lines="log")
def show_log(
    context: Context,
    bot: BotOrVersion,
    kind: LogKind = None,
    session: Session = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ownbots.LogPage:
    """Return the log of a bot of yours, the newest entry first: faults, notices, connections."""
    query = LogQuery(bot, kinds_of(kind) if kind else (), session, limit)
    return ownbots.log_for(context.storage, context.actor, query, cursor)


@operation("GET", f"{BOT}/deals", KeyScope.READ, tag="bots", lines="deals")
def show_own_deals(
    context: Context,
    bot: BotOrVersion,
    session: Session = None,
    lost: Annotated[bool, "Only deals in which another seat got more points."] = False,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> ownbots.OwnDeals:
    """Return the deals that a bot of yours has played, the newest first.

    Those of a duplicate tournament are there once their round is over.
    """
    query = DealQuery(bot, session, lost, limit)
    return ownbots.deals_for(context.storage, context.actor, query, cursor)


@operation("GET", CHECK, KeyScope.READ, tag="bots")
def show_check(context: Context, bot: VersionName) -> CheckReport:
    """Return the result of the latest check of a version of yours, as it was reported."""
    check: Any = checks.latest_check(context.storage, context.actor, bot)
    return CheckReport.model_validate(check)


@operation("PUT", CHECK, KeyScope.BOTS, tag="bots", body="report")
def store_check(
    context: Context,
    bot: VersionName,
    report: Annotated[SentReport, "What `arena bot check --json` printed, of all scenarios."],
) -> CheckReport:
    """Store what `arena bot check --json` printed when you ran it, in place of the previous check.

    Others read it as your report: the arena runs nothing of it.
    """
    stored = checks.submit_check(context.storage, context.actor, bot, report.report(), context.now)
    return CheckReport.model_validate(stored.to_object())


@operation("GET", "/faults", tag="bots", lines="bots")
def list_faults(
    context: Context,
    owner: Annotated[str | None, "Only bots of this owner."] = None,
    ruleset: RulesetName = None,
    table_size: TableSize = None,
    kind: Annotated[FaultKind | None, "Only faults of this kind."] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> faults.FaultsPage:
    """List bot versions with faults, those with the most first, in rated and unrated matches."""
    query = faults.FaultQuery(owner, ruleset, table_size, kind)
    return faults.faults_by_bot(context.storage, query, limit, cursor)
