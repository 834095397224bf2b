"""The pages that lead a new author to a bot that plays, with lights that show the progress."""

from collections.abc import Sequence

from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from arena.actors import KeyScope, Role
from arena.bots.bulk import NewBot, read_bots
from arena.bots.versions import Registered, add_bot
from arena.errors import SpecError
from arena.operations import bots
from arena.operations.parameters import BOT
from arena.queries.sessions import played_match
from arena.tournaments.testmatches import house_names, steps_of
from arena.web.pages.forms import AnyVisit, Forms, Reading, Visit
from arena.web.pages.links import bot_url, start_url, with_query
from arena.web.pages.once import Secret, put_away, show_once
from arena.web.pages.operating import add_maker, secrets_context
from arena.web.pages.routing import page_router
from referee.ruleset import preset_names
from referee.samples import TOOLCHAINS

router = page_router()

ONE = "/bots/{owner}/{bot}"

START = f"{ONE}/start"
"""The page that shows how to start a bot."""

LANGUAGES = (*TOOLCHAINS, "other")
"""Languages with a starter program, and all others."""


def _choices(visit: Visit) -> dict[str, object]:
    actor = visit.page.actor
    owners = sorted(actor.owners, key=lambda owner: (owner != actor.account, owner))
    return {
        "owners": owners,
        "languages": LANGUAGES,
        "signed_in": actor.role is not Role.ANONYMOUS,
        "open": visit.web.settings.sign_up == "open",
    }


joining = Forms(router, "/join", "join.html", _choices)


@router.get("/join")
def show_join(visit: AnyVisit) -> HTMLResponse:
    """Show how to join; anyone signed in can register a bot."""
    return joining.show(visit)


def _create(visit: Visit) -> Registered:
    """Register a new bot."""
    name = f"{visit.sent['owner']}/{visit.sent['bot']}"
    language = visit.sent["language"]
    stated = None if language == LANGUAGES[-1] else language or None
    return add_bot(visit.web.storage, visit.actor, name, visit.context.now, stated)


def token_of(_: Visit, registered: Registered) -> Secret:
    """Return a new token as the pages of its bot show it."""
    return {
        "title": f"Token of {registered.bot}",
        "secret": registered.token,
        "told": "Keep it somewhere safe: it stays here until you put it away, or close the browser. Anyone "
        "who has it can play as this bot. The arena stores only a hash of it; a lost one can be replaced.",
    }


def _show_token(visit: Visit, registered: Registered) -> Response:
    """Lead to the page that shows how to start the bot, and its new token until that is put away."""
    name, _, _ = registered.bot.partition("@")
    page = with_query(start_url(name), {"language": visit.sent["language"]})
    return show_once(visit.request, page, bot_url(name), token_of(visit, registered))


joining.add_other("/join", KeyScope.BOTS, _create, _show_token)


TOGETHER = "/join/together"
EXAMPLE = """\
[[bots]]
bot = "OWNER/first"
language = "python"

[[bots]]
bot = "OWNER/second"
expires_in = 90
"""

together = Forms(
    router,
    TOGETHER,
    "jointogether.html",
    lambda visit: {**_choices(visit), "example": EXAMPLE.replace("OWNER", visit.actor.account)},
)


@router.get(TOGETHER)
def show_together(visit: Reading) -> HTMLResponse:
    """Show how to register several bots by a file."""
    return together.show(visit)


def _register_all(visit: Visit) -> Sequence[Registered]:
    """Register the bots of a file, all of them or none."""
    if "file" not in visit.sent.texts:
        raise SpecError("file", "is missing")
    return visit.do(bots.register_bots, bots=_few(read_bots(visit.sent["file"]))).bots


def _few(listed: list[NewBot]) -> list[NewBot]:
    if len(listed) > bots.MOST_TOGETHER:
        raise SpecError(
            "file", f"has {len(listed)} bots; at most {bots.MOST_TOGETHER} can be registered together"
        )
    return listed


def _send_tokens(_: Visit, registered: Sequence[Registered]) -> Response:
    """Send the tokens as a file: a page could not keep so many."""
    lines = "".join(f"{token.bot} {token.token}\n" for token in registered)
    headers = {
        "Content-Disposition": 'attachment; filename="tokens.txt"',
        "Cache-Control": "no-store",
        "Content-Encoding": "identity",
    }
    return PlainTextResponse(lines, headers=headers)


together.add_other(TOGETHER, KeyScope.BOTS, _register_all, _send_tokens)


def bot_in(visit: Visit) -> str:
    """Return the bot in the address of a page, as ``owner/bot``."""
    return BOT.join(visit.request.path_params)


def _context(visit: Visit) -> dict[str, object]:
    web, name = visit.web, bot_in(visit)
    chosen = visit.request.query_params.get("language")
    language = chosen if chosen in LANGUAGES else LANGUAGES[0]
    tools = TOOLCHAINS.get(language)
    steps = steps_of(web.storage, visit.actor, name, web.ask)
    is_played = steps.test is not None and steps.test.state == "finished"
    own = {"python": "python my_bot.py"}  # the page has this file in full
    command = own.get(language) or (tools.start_command if tools else "./my-bot")
    return {
        **secrets_context(visit),
        "name": name,
        "language": language,
        "tools": tools,
        "command": command,
        "languages": LANGUAGES,
        "steps": steps,
        "result": played_match(web.storage, steps.test.tournament, 1, 1)
        if steps.test and is_played
        else None,
        "referee": web.settings.referees[0],
        "encrypted": web.settings.tls_certificate is not None,
        "rulesets": preset_names(),
        "house": house_names(web.storage, visit.context.now),
    }


starting = Forms(router, START, "start.html", _context)


@router.get(START)
def show_start(visit: Reading) -> HTMLResponse:
    """Show how to start a bot of one's own, and its progress."""
    return starting.show(visit)


def _put_away(visit: Visit, _: None) -> Response:
    """Show the tokens of a bot no longer, on the page that showed them."""
    bot, back = bot_in(visit), visit.sent["page"]
    return put_away(back if back.startswith(f"{bot_url(bot)}/") else start_url(bot), bot_url(bot))


add_maker(
    *(starting, f"{ONE}/token", bots.rotate_bot, START, token_of),
    below=ONE,
    do=lambda visit: visit.do(bots.rotate_bot, bot=bot_in(visit)),
)
starting.add_other(f"{ONE}/token/put-away", KeyScope.BOTS, lambda _: None, _put_away)
starting.add(f"{ONE}/test-match", bots.start_test, START)
