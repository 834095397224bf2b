"""The pages that lead a new author to a bot that plays, with lights that show the progress."""

from contextlib import suppress
from typing import Annotated

from fastapi import Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import Role
from arena.bots.versions import add_bot, rotate_version
from arena.core.specs import Name
from arena.errors import ArenaError, BrokerError
from arena.tournaments import entry
from arena.tournaments.steps import Steps, steps_of
from arena.tournaments.testmatches import house_names, start_test_match
from arena.web.asking import Author, Reader
from arena.web.context import Shared, Web
from arena.web.naming import BotName
from arena.web.pages.asked import FromForm
from arena.web.pages.links import start_url, tournament_url
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router
from referee.errors import RefereeError
from referee.ruleset import preset_names

router = page_router()

LANGUAGES = ("python", "go", "typescript", "other")
"""Languages with a starter program, and all others."""


class NewBot(FromForm):
    """The form that registers a bot."""

    owner: str = ""
    bot: str = ""
    language: str = LANGUAGES[0]


class Wanted(FromForm):
    """The form that starts a test match."""

    ruleset: str = "chinese"
    against: str = ""
    """A house bot that has to play; empty for any."""


class Entering(FromForm):
    """The form that enters a bot."""

    bot: str = ""


@router.get("/join")
def show_join(page: Page) -> HTMLResponse:
    """Show how to join; anyone signed in can register a bot."""
    owners = sorted(page.actor.owners, key=lambda owner: owner != page.actor.account)
    return page("join.html", sent=NewBot(owner=owners[0] if owners else ""), **_choices(page))


def _choices(page: Page) -> dict[str, object]:
    signed_in = page.actor.role is not Role.ANONYMOUS
    return {"owners": sorted(page.actor.owners), "languages": LANGUAGES, "signed_in": signed_in}


@router.post("/join")
def create_bot(page: Page, web: Shared, actor: Author, sent: Annotated[NewBot, Form()]) -> Response:
    """Register a new bot, and show its token, once only."""
    name = f"{sent.owner}/{sent.bot}"
    language = None if sent.language == LANGUAGES[-1] else sent.language
    try:
        registered = add_bot(web.storage, actor, name, web.clock(), language)
    except ArenaError as error:
        return page.again("join.html", error, sent=sent, **_choices(page))
    steps = steps_of(web.storage, actor, name, web.ask)
    return page("start.html", **_told(web, name, sent.language, steps, registered.token))


@router.get("/bots/{owner}/{bot}/start")
def show_start(
    page: Page,
    web: Shared,
    actor: Reader,
    name: BotName,
    language: Annotated[str | None, Query(max_length=40)] = None,
) -> HTMLResponse:
    """Show how to start a bot of one's own, and its progress."""
    steps = steps_of(web.storage, actor, name, web.ask)
    return page("start.html", **_told(web, name, language, steps))


def _told(
    web: Web, name: str, language: str | None, steps: Steps, token: str | None = None
) -> dict[str, object]:
    return {
        "name": name,
        "language": language if language in LANGUAGES else LANGUAGES[0],
        "languages": LANGUAGES,
        "steps": steps,
        "token": token,
        "referee": web.settings.referees[0],
        "encrypted": web.settings.tls_certificate is not None,
        "rulesets": preset_names(),
        "house": house_names(web.storage, web.clock()),
    }


@router.post("/bots/{owner}/{bot}/token")
def rotate(page: Page, web: Shared, actor: Author, name: BotName) -> Response:
    """Give a bot a new token, shown once only; the old one becomes invalid."""
    registered = rotate_version(web.storage, actor, name, web.clock())
    steps = steps_of(web.storage, actor, name, web.ask)
    return page("start.html", **_told(web, name, None, steps, registered.token))


@router.post("/bots/{owner}/{bot}/test-match")
def start_test(
    page: Page, web: Shared, actor: Author, name: BotName, sent: Annotated[Wanted, Form()]
) -> Response:
    """Let a bot play house bots at once."""
    try:
        against = [sent.against] if sent.against else []
        status = start_test_match(web.storage, actor, name, sent.ruleset, web.clock(), web.ask, against)
    except (ArenaError, RefereeError) as error:
        steps = steps_of(web.storage, actor, name, web.ask)
        return page.again("start.html", error, **_told(web, name, None, steps))
    with suppress(BrokerError):  # the beat finds it, only later
        web.wake(status.id)
    return RedirectResponse(start_url(name), SEE_OTHER)


@router.post("/tournaments/{tournament}/enter")
def enter(web: Shared, actor: Author, tournament: Name, sent: Annotated[Entering, Form()]) -> Response:
    """Enter a bot of one's own, or ask the organiser to let it in."""
    entry.enter(web.storage, actor, tournament, sent.bot, web.clock(), web.ask)
    return RedirectResponse(tournament_url(tournament), SEE_OTHER)
