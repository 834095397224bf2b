"""Calls about bots: registering them, their tokens, and their results."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.bots.bulk import RegisteredTogether
from arena.bots.describing import Description
from arena.bots.versions import Registered, VersionInfo
from arena.client.call import Call, of_bot, of_version
from arena.queries.authors import LogPage, OwnDeals
from arena.queries.faults import FaultsPage
from arena.queries.histories import HistoryKind, HistoryPage
from arena.queries.profiles import Profile
from arena.queries.versions import VersionPage
from arena.queries.versus import Versus
from arena.tournaments.overview import TournamentStatus
from referee.matches.kinds import FaultKind

BOT = "/bots/{owner}/{bot}"
VERSION = f"{BOT}/versions/{{number}}"


def list_bots(owner: str | None = None, limit: int = 100, cursor: str | None = None) -> Call[VersionPage]:
    """List bot versions."""
    query = {"owner": owner, "limit": limit, "cursor": cursor}
    return Call("GET", "/bots", VersionPage, query=query, lines="bots")


def register_bot(
    bot: str, language: str | None = None, link: str | None = None, expires_in: int | None = None
) -> Call[Registered]:
    """Register a bot of yours, or its next version; the token is shown only once."""
    body = {"bot": bot, "language": language, "link": link, "expires_in": expires_in}
    return Call("POST", "/bots", Registered, body=body)


def register_bots(bots: Sequence[Mapping[str, object]]) -> Call[RegisteredTogether]:
    """Register new bots of yours, all of them or none, each described as for ``register_bot``."""
    return Call("POST", "/bots/together", RegisteredTogether, body={"bots": [*bots]})


def show_bot(bot: str, limit: int = 10) -> Call[Profile]:
    """Return the profile of a bot, or of one version of it."""
    return Call("GET", BOT, Profile, *_any_version(bot, limit=limit))


def describe_bot(bot: str, language: str | None = None, link: str | None = None) -> Call[Description]:
    """Change the description of a bot of yours; empty removes a value, None leaves it."""
    return Call("PATCH", BOT, Description, of_bot(bot), body={"language": language, "link": link})


def show_history(
    bot: str,
    ruleset: str | None = None,
    table_size: int | None = None,
    kind: HistoryKind | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[HistoryPage]:
    """List the changes of a bot's Elo and strength, the latest first."""
    asked = {"ruleset": ruleset, "table_size": table_size, "kind": kind, "limit": limit, "cursor": cursor}
    return Call("GET", f"{BOT}/history", HistoryPage, *_any_version(bot, **asked), lines="lines")


def show_versus(bot: str, opponent: str, limit: int = 10) -> Call[Versus]:
    """Return two bots head to head."""
    return Call("GET", f"{BOT}/versus", Versus, *_any_version(bot, opponent=opponent, limit=limit))


def start_test(bot: str, ruleset: str = "chinese", against: Sequence[str] = ()) -> Call[TournamentStatus]:
    """Let a bot of yours play house bots at once, including those that are named."""
    body = {"ruleset": ruleset, "against": [*against]}
    return Call("POST", f"{BOT}/test-match", TournamentStatus, of_bot(bot), body=body)


def show_log(
    bot: str,
    kind: str | None = None,
    session: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[LogPage]:
    """Return the log of a bot of yours, the newest entry first."""
    asked = {"kind": kind, "session": session, "limit": limit, "cursor": cursor}
    return Call("GET", f"{BOT}/log", LogPage, *_any_version(bot, **asked), lines="entries")


def show_own_deals(
    bot: str, session: str | None = None, lost: bool = False, limit: int = 20, cursor: str | None = None
) -> Call[OwnDeals]:
    """Return the deals that a bot of yours has played, the newest first."""
    asked = {"session": session, "lost": lost, "limit": limit, "cursor": cursor}
    return Call("GET", f"{BOT}/deals", OwnDeals, *_any_version(bot, **asked), lines="deals")


def rotate_bot(version: str, expires_in: int | None = None) -> Call[Registered]:
    """Give a version of yours a new token, which is shown only once."""
    return Call("PUT", f"{VERSION}/token", Registered, of_version(version), body={"expires_in": expires_in})


def revoke_bot(version: str) -> Call[VersionInfo]:
    """Revoke the token of a version of yours, for good."""
    return Call("DELETE", f"{VERSION}/token", VersionInfo, of_version(version))


def show_check(version: str) -> Call[dict[str, Any]]:
    """Return what the latest check of a version of yours found."""
    return Call("GET", f"{VERSION}/check", dict, of_version(version))


def store_check(version: str, report: Mapping[str, object]) -> Call[dict[str, Any]]:
    """Store what a check of a version of yours found."""
    return Call("PUT", f"{VERSION}/check", dict, of_version(version), body=report)


def list_faults(
    owner: str | None = None,
    ruleset: str | None = None,
    table_size: int | None = None,
    kind: FaultKind | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Call[FaultsPage]:
    """List bot versions with faults, those with the most faults first."""
    asked = {"owner": owner, "ruleset": ruleset, "table_size": table_size, "kind": kind}
    query = {**asked, "limit": limit, "cursor": cursor}
    return Call("GET", "/faults", FaultsPage, query=query, lines="lines")


def _any_version(bot: str, **asked: object) -> tuple[dict[str, object], dict[str, object]]:
    """Return the path parameters and the query for ``owner/bot``, or for one version of it."""
    name, _, version = bot.partition("@")
    return of_bot(name), {"version": version or None, **asked}
