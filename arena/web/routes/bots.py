"""Bots: registering them, their tokens, and their results."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from arena.bots import bulk, describing, versions
from arena.queries import faults as fault_queries
from arena.queries import histories, profiles
from arena.queries import versions as version_queries
from arena.queries import versus as versus_queries
from arena.web.asking import Author
from arena.web.context import Shared
from arena.web.naming import BotName, BotOrVersion, VersionName
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape
from referee.matches.kinds import FaultKind

router = api_router("bots")

Registered = shape(versions.Registered)
RegisteredTogether = shape(bulk.RegisteredTogether)
VersionInfo = shape(versions.VersionInfo)
VersionPage = shape(version_queries.VersionPage)
Profile = shape(profiles.Profile)
HistoryPage = shape(histories.HistoryPage)
Versus = shape(versus_queries.Versus)
FaultsPage = shape(fault_queries.FaultsPage)
Description = shape(describing.Description)

Ruleset = Annotated[str | None, Query(description="Name, `name@version`, or the beginning of its hash.")]
Size = Annotated[int | None, Query(ge=2, le=8)]
MOST_TOGETHER = 1_000
"""Maximum number of bots that are registered together: nothing else can be stored meanwhile."""

Few = Annotated[int, Query(ge=1, le=200, description="Maximum number of matches and opponents.")]


class NewVersion(Sent):
    """The next version of a bot to register."""

    bot: str
    """`owner/bot`; the owner has to be yours."""
    language: str | None = None
    """What it is written in; null: as before."""
    link: str | None = None
    """A link to more about it, http or https; null: as before."""
    expires_in: int | None = None
    """Days until the token expires; null: it does not."""


class NewBots(Sent):
    """Bots to register together."""

    bots: Annotated[list[bulk.NewBot], Field(min_length=1, max_length=MOST_TOGETHER)]
    """None of which is registered yet."""


class NewToken(Sent):
    """A token to make."""

    expires_in: int | None = None
    """Days until it expires; null: it does not."""


class NewDescription(Sent):
    """A bot's new description; at least one of these."""

    language: str | None = None
    """What it is written in; empty removes it, null leaves it."""
    link: str | None = None
    """Where there is more about it; empty removes it, null leaves it."""


@router.get("/bots", response_model=VersionPage)
def list_bots(
    web: Shared, owner: str | None = None, limit: Limit = 100, cursor: Cursor = None
) -> version_queries.VersionPage:
    """List bot versions, the newest first."""
    return version_queries.find_bots(web.storage, owner, limit, cursor)


@router.post("/bots", status_code=201, response_model=Registered)
def register_bot(web: Shared, actor: Author, sent: NewVersion) -> versions.Registered:
    """Register a bot of yours, or its next version; the token is shown only once."""
    return versions.register_version(
        web.storage, actor, sent.bot, web.clock(), sent.language, sent.expires_in, sent.link
    )


@router.post("/bots/together", status_code=201, response_model=RegisteredTogether)
def register_bots(web: Shared, actor: Author, sent: NewBots) -> bulk.RegisteredTogether:
    """Register bots of yours that are new, all of them or none; the tokens are shown only once."""
    return bulk.RegisteredTogether(bulk.register_all(web.storage, actor, sent.bots, web.clock()))


@router.get("/bots/{owner}/{bot}", response_model=Profile)
def show_bot(web: Shared, name: BotOrVersion, limit: Few = 10) -> profiles.Profile:
    """Return a bot's standing, results by seat, faults, most frequent opponents and latest matches."""
    return profiles.profile(web.storage, name, limit)


@router.patch("/bots/{owner}/{bot}", response_model=Description)
def describe_bot(web: Shared, actor: Author, name: BotName, sent: NewDescription) -> describing.Description:
    """Change the description of a bot of yours; its versions keep the ones that they were registered with."""
    return describing.describe(web.storage, actor, name, web.clock(), sent.language, sent.link)


@router.get("/bots/{owner}/{bot}/history", response_model=HistoryPage)
def show_history(
    web: Shared,
    name: BotOrVersion,
    ruleset: Ruleset = None,
    table_size: Size = None,
    kind: histories.HistoryKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> histories.HistoryPage:
    """Return how a bot's Elo changed by matches and its strength by fits, the latest change first."""
    asked = histories.Asked(name, ruleset, table_size, kind)
    return histories.history(web.storage, asked, limit, cursor)


@router.get("/bots/{owner}/{bot}/versus", response_model=Versus)
def show_versus(
    web: Shared,
    name: BotOrVersion,
    opponent: Annotated[str, Query(description="`owner/bot`, or one version as `owner/bot@number`.")],
    limit: Few = 10,
) -> versus_queries.Versus:
    """Return two bots head to head, seen from the first."""
    return versus_queries.versus(web.storage, name, opponent, limit)


@router.put("/bots/{owner}/{bot}/versions/{number}/token", response_model=Registered)
def rotate_bot(web: Shared, actor: Author, name: VersionName, sent: NewToken) -> versions.Registered:
    """Give a version of yours a new token, shown only once; the old one is refused at once."""
    return versions.rotate_version(web.storage, actor, name, web.clock(), sent.expires_in)


@router.delete("/bots/{owner}/{bot}/versions/{number}/token", response_model=VersionInfo)
def revoke_bot(web: Shared, actor: Author, name: VersionName) -> versions.VersionInfo:
    """Revoke the token of a version of yours, for good; a bot connected with it is disconnected."""
    return versions.revoke_version(web.storage, actor, name, web.clock())


@router.get("/faults", response_model=FaultsPage)
def list_faults(
    web: Shared,
    owner: str | None = None,
    ruleset: Ruleset = None,
    table_size: Size = None,
    kind: FaultKind | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> fault_queries.FaultsPage:
    """List bot versions with faults, those with the most first, in rated and unrated matches."""
    asked = fault_queries.Asked(owner, ruleset, table_size, kind)
    return fault_queries.faults_by_bot(web.storage, asked, limit, cursor)
