"""The pages that lead a new author to a bot that plays, with lights that show the progress."""

from fastapi.responses import HTMLResponse, Response

from arena.actors import KeyScope, Role
from arena.bots.versions import Registered, add_bot
from arena.operations import bots
from arena.operations.parameters import BOT
from arena.tournaments.testmatches import house_names, steps_of
from arena.web.pages.forms import AnyVisit, Forms, Reading, Visit
from arena.web.pages.links import bot_url, start_url, with_query
from arena.web.pages.once import put_away, secrets_of, show_once
from arena.web.pages.routing import page_router
from referee.ruleset import preset_names

router = page_router()

START = "/bots/{owner}/{bot}/start"
"""The page that shows how to start a bot."""

LANGUAGES = ("python", "go", "typescript", "other")
"""Languages with a starter program, and all others."""


def _choices(visit: Visit) -> dict[str, object]:
    actor = visit.page.actor
    owners = sorted(actor.owners, key=lambda owner: (owner != actor.account, owner))
    return {"owners": owners, "languages": LANGUAGES, "signed_in": actor.role is not Role.ANONYMOUS}


joining = Forms(router, "/join", "join.html", _choices)


@router.get("/join")
def show_join(visit: AnyVisit) -> HTMLResponse:
    """Show how to join; anyone signed in can register a bot."""
    return joining.show(visit)


def _create(visit: Visit) -> Registered:
    """Register a new bot."""
    name = f"{visit.sent['owner']}/{visit.sent['bot']}"
    language = visit.sent["language"]
    given = None if language == LANGUAGES[-1] else language or None
    return add_bot(visit.web.storage, visit.actor, name, visit.context.now, given)


def _show_token(visit: Visit, registered: Registered) -> Response:
    """Lead to the page that shows how to start the bot, and its new token until that is put away."""
    name, _, _ = registered.bot.partition("@")
    page = with_query(start_url(name), {"language": visit.sent["language"]})
    return show_once(visit.request, page, bot_url(name), {"token": registered.token})


joining.add_other("/join", KeyScope.BOTS, _create, _show_token)


def _bot(visit: Visit) -> str:
    return BOT.join(visit.request.path_params)


def _told(visit: Visit) -> dict[str, object]:
    web, name = visit.web, _bot(visit)
    language = visit.request.query_params.get("language")
    return {
        "name": name,
        "language": language if language in LANGUAGES else LANGUAGES[0],
        "languages": LANGUAGES,
        "steps": steps_of(web.storage, visit.actor, name, web.ask),
        "secrets": secrets_of(visit.request),
        "referee": web.settings.referees[0],
        "encrypted": web.settings.tls_certificate is not None,
        "rulesets": preset_names(),
        "house": house_names(web.storage, visit.context.now),
    }


starting = Forms(router, START, "start.html", _told)


@router.get(START)
def show_start(visit: Reading) -> HTMLResponse:
    """Show how to start a bot of one's own, and its progress."""
    return starting.show(visit)


def _rotate(visit: Visit) -> Registered:
    """Give a bot's newest version a new token; the old one becomes invalid."""
    return visit.do(bots.rotate_bot, bot=_bot(visit))


starting.add_other("/bots/{owner}/{bot}/token", KeyScope.BOTS, _rotate, _show_token)
starting.add_other(
    "/bots/{owner}/{bot}/token/put-away",
    KeyScope.BOTS,
    lambda _: None,
    lambda visit, _: put_away(start_url(_bot(visit)), bot_url(_bot(visit))),
)
starting.add("/bots/{owner}/{bot}/test-match", bots.start_test, START)
