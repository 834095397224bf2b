"""The pages of a bot for its authors: versions and their tokens, its description, its log and its deals."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi.responses import HTMLResponse, Response

from arena.actors import KeyScope
from arena.bots.checks import CheckReport
from arena.bots.descriptions import open_to_of
from arena.errors import SpecError, UnknownError
from arena.jsonvalues import to_json
from arena.operations import bots
from arena.operations.checking import schema_of
from arena.operations.parameters import VERSION
from arena.queries.ownbots import (
    LogLine,
    OwnDeal,
    OwnDeals,
    own_bots,
    own_invitations,
    own_requests,
    versions_of,
)
from arena.queries.profiles import profile
from arena.web.pages.bots import FaultShown, abilities, match_of, position, speed
from arena.web.pages.drawing import draw
from arena.web.pages.forms import Forms, Reading, Visit
from arena.web.pages.joining import ONE, bot_in, token_of
from arena.web.pages.links import deal_url, match_url
from arena.web.pages.operating import add_maker, secrets_context
from arena.web.pages.routing import page_router

router = page_router()

MANAGE = f"{ONE}/manage"
VERSION_PAGE = f"{ONE}/versions/{{number}}"

ENTRIES = 50
"""Entries of the log on a page."""

DEALS = 25
"""Deals on a page, and in a file of them."""

PLACE = ("tournament", "round", "table", "session", "deal")

DAYS = {"expires_in": "Days"}


def _context(visit: Visit) -> dict[str, object]:
    storage, actor, name, now = visit.web.storage, visit.actor, bot_in(visit), visit.context.now
    versions = versions_of(storage, actor, name)
    bot = profile(storage, name, 1)
    [glance] = own_bots(storage, actor, now, visit.web.ask, name)
    return {
        **secrets_context(visit),
        "name": name,
        "overview": glance,
        "versions": versions,
        "requests": own_requests(storage, actor, name),
        "invited": own_invitations(storage, actor, name),
        "register": draw(
            *(visit, bots.register_bot, f"{ONE}/versions", "Register the next version"),
            only=("language", "expires_in"),
            values={"language": bot.language or ""},
            labels=DAYS,
        ),
        "describe": draw(
            *(visit, bots.describe_bot, f"{ONE}/describe", "Change"),
            only=("language", "link"),
            values={"language": bot.language or "", "link": bot.link or ""},
        ),
        "open": draw(
            *(visit, bots.describe_bot, f"{ONE}/open", "Open"),
            only=["open_to"],
            values={"open_to": open_to_of(storage, name)},
            labels={"open_to": "Organisers"},
        ),
        "now": now,
    }


managing = Forms(router, MANAGE, "manage.html", _context)


@router.get(MANAGE)
def show_bot(visit: Reading) -> HTMLResponse:
    """Show a bot to its authors: whether it is connected, its versions, what waits for an answer."""
    return managing.show(visit)


add_maker(
    *(managing, f"{ONE}/versions", bots.register_bot, MANAGE, token_of),
    below=ONE,
    do=lambda visit: visit.do(bots.register_bot, bot=bot_in(visit)),
)
managing.add_other(
    f"{ONE}/describe",
    KeyScope.BOTS,
    # What was emptied is to be removed, while an operation leaves what it is not given.
    lambda visit: visit.do(bots.describe_bot, language=visit.sent["language"], link=visit.sent["link"]),
    f"{MANAGE}#about",
)
managing.add_other(
    f"{ONE}/open",
    KeyScope.BOTS,
    lambda visit: visit.do(bots.describe_bot, open_to=visit.sent["open_to"].split()),
    f"{MANAGE}#open",
)


def _version_context(visit: Visit) -> dict[str, object]:
    storage, actor, name = visit.web.storage, visit.actor, VERSION.join(visit.request.path_params)
    version = next((line for line in versions_of(storage, actor, bot_in(visit)) if line.bot == name), None)
    if version is None:
        raise UnknownError(f"no bot version {name!r}")
    return {
        **secrets_context(visit),
        "shown_version": version,
        "name": bot_in(visit),
        "check": _check(visit),
        "abilities": abilities,
        "speed": speed,
        "store": draw(
            *(visit, bots.store_check, f"{VERSION_PAGE}/check", "Store the result"),
            labels={"report": "Result"},
        ),
        "rotate": draw(
            *(visit, bots.rotate_bot, f"{VERSION_PAGE}/rotate", "Replace the token"),
            labels=DAYS,
            sure="The present token is refused at once, also where the bot is running now, and cannot be "
            "brought back: start the bot with the new one.",
        ),
        "revoke": draw(
            *(visit, bots.revoke_bot, f"{VERSION_PAGE}/revoke", "Retire this version"),
            sure="Its token is revoked for good: it is disconnected at once, and plays no more, also in the "
            "tournaments that it has entered. Its results and its rating stay. To play again, the bot needs "
            "another version.",
        ),
        "now": visit.context.now,
    }


def _check(visit: Visit) -> CheckReport | None:
    try:
        return visit.do(bots.show_check)
    except UnknownError:
        return None


def _store_check(visit: Visit) -> CheckReport:
    """Store the result of a check. Raise SpecError, which says which file is meant if it is another one."""
    try:
        sent = json.loads(visit.sent["report"])
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict) or "results" not in sent:
        meant = "hand in the file that the command on this page writes, check.json"
        raise SpecError("report", f"is not the result of a check: {meant}")
    return visit.do(bots.store_check)


one_version = Forms(router, VERSION_PAGE, "version.html", _version_context)


@router.get(VERSION_PAGE)
def show_version(visit: Reading) -> HTMLResponse:
    """Show a version to its authors: its token, and the result of its latest check."""
    return one_version.show(visit)


add_maker(one_version, f"{VERSION_PAGE}/rotate", bots.rotate_bot, VERSION_PAGE, token_of, below=ONE)
one_version.add(f"{VERSION_PAGE}/revoke", bots.revoke_bot, VERSION_PAGE)
one_version.add_other(f"{VERSION_PAGE}/check", KeyScope.BOTS, _store_check, f"{VERSION_PAGE}#check")


@router.get(f"{ONE}/log")
def show_log(visit: Reading) -> HTMLResponse:
    """Show what referees noted about a bot, the newest first."""
    log, query = visit.do(bots.show_log, limit=ENTRIES), visit.query_of(bots.show_log)
    return visit.page(
        "log.html",
        name=bot_in(visit),
        asked=query,
        kinds=schema_of(bots.show_log.parameters["kind"].kind)["enum"],
        versions=versions_of(visit.web.storage, visit.actor, bot_in(visit)),
        lines=[_fault_shown(line) for line in log.log],
        next=log.next,
    )


def _fault_shown(line: LogLine) -> FaultShown:
    return FaultShown(line, [*position(line.details)], match_of(line.session_id))


@dataclass(frozen=True, slots=True)
class DealShown:
    """A deal of one's own."""

    deal: OwnDeal
    number: int
    """Its number in the session."""
    url: str
    """The address of its replay."""
    record: str
    """The address of its record in the API, after the prefix."""


@router.get(f"{ONE}/deals")
def show_deals(visit: Reading) -> HTMLResponse:
    """Show the deals that a bot has played, the newest first, or just those that it lost."""
    page, query = _deals(visit), visit.query_of(bots.show_own_deals)
    return visit.page(
        "owndeals.html",
        name=bot_in(visit),
        asked=query,
        versions=versions_of(visit.web.storage, visit.actor, bot_in(visit)),
        deals=[_deal(deal) for deal in page.deals],
        next=page.next,
    )


def _deals(visit: Visit) -> OwnDeals:
    return visit.do(bots.show_own_deals, limit=DEALS)


def _deal(deal: OwnDeal) -> DealShown:
    record: Any = deal.record
    tournament, round, table, session, number = (record[name] for name in PLACE)
    replay = deal_url(tournament, round, table, session, number)
    url = f"{match_url(tournament, round, table)}/sessions/{session}/deals/{number}"
    return DealShown(deal, number, replay, url)


@router.get(f"{ONE}/deals.jsonl")
def download_deals(visit: Reading) -> Response:
    """Send the deals that the page of these shows, as the command line writes them."""
    lines = "".join(_lines(_deals(visit)))
    name = bot_in(visit).replace("/", ".")
    headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
    return Response(lines, media_type="application/x-ndjson", headers=headers)


def _lines(page: OwnDeals) -> Iterator[str]:
    for deal in page.deals:
        yield f"{json.dumps(to_json(deal), separators=(',', ':'))}\n"
