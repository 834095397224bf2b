"""The operator's pages of tokens, of ratings and their baselines, and of the data: backup and retention."""

from fastapi.responses import HTMLResponse

from arena.actors import KeyScope, Role
from arena.errors import UnknownError
from arena.operations import leaderboards, operator
from arena.people.tokens import MadeToken
from arena.web.pages.drawing import draw
from arena.web.pages.forms import Forms, Operating, Visit
from arena.web.pages.once import Secret
from arena.web.pages.operating import add_maker, kept
from arena.web.pages.routing import page_router

router = page_router()

TOKENS = "/operator/tokens"
TOKEN = f"{TOKENS}/{{name}}"
RATINGS = "/operator/ratings"

SCOPES = {
    "worker": "worker: run matches",
    "organiser": "organiser: read any bot’s log, and watch",
    "spectator": "spectator: watch",
}


def _told_of_tokens(visit: Visit) -> dict[str, object]:
    return {
        **kept(visit),
        "tokens": operator.list_tokens(visit.context).tokens,
        "create": draw(
            *(visit, operator.create_token, TOKENS, "Make the token"),
            choices={"scope": SCOPES},
            labels={"expires_in": "Days"},
        ),
        "now": visit.context.now,
    }


tokens = Forms(router, TOKENS, "tokens.html", _told_of_tokens)


@router.get(TOKENS)
def show_tokens(visit: Operating) -> HTMLResponse:
    """Show the tokens of workers, organisers and spectators."""
    return tokens.show(visit)


def _told_of_one(visit: Visit) -> dict[str, object]:
    name = visit.request.path_params["name"]
    listed = operator.list_tokens(visit.context).tokens
    found = next((one for one in listed if one.name == name), None)
    if found is None:
        raise UnknownError(f"no token {name!r}")
    return {
        **kept(visit),
        "one": found,
        "rotate": draw(
            *(visit, operator.rotate_token, f"{TOKEN}/rotate", "Replace the token"),
            labels={"expires_in": "Days"},
            sure="The present token is refused at once, wherever it is used. You get a new one.",
        ),
        "revoke": draw(
            *(visit, operator.revoke_token, f"{TOKEN}/revoke", "Revoke the token"),
            sure="It is refused at once, for good, and its name cannot be used again.",
        ),
        "now": visit.context.now,
    }


token = Forms(router, TOKEN, "token.html", _told_of_one)


@router.get(TOKEN)
def show_token(visit: Operating) -> HTMLResponse:
    """Show a token, without its secret part, and what can be done about it."""
    return token.show(visit)


def _token(_: Visit, made: MadeToken) -> Secret:
    told = "The arena stores only a hash of it."
    return {"title": f"Token {made.name}, for a {made.scope}", "secret": made.token, "told": told}


add_maker(tokens, TOKENS, operator.create_token, TOKENS, _token)
add_maker(token, f"{TOKEN}/rotate", operator.rotate_token, TOKEN, _token)
token.add(f"{TOKEN}/revoke", operator.revoke_token, TOKEN)


def _told_of_ratings(visit: Visit) -> dict[str, object]:
    visit.actor.require(Role.OPERATOR, "see this page")
    removed = f"{RATINGS}/baselines/remove"
    return {
        "baselines": [
            (one, draw(visit, leaderboards.remove_baselines, removed, "Remove", known={"bots": one}))
            for one in leaderboards.list_baselines(visit.context).baselines
        ],
        "add": draw(
            *(visit, leaderboards.add_baselines, f"{RATINGS}/baselines", "Make them baselines"),
        ),
        "latest": visit.web.checking.latest,
        "references": operator.references(visit.context),
        "compute": draw(
            *(visit, operator.compute_references, f"{RATINGS}/references", "Compute it again"),
            sure="What is stored of it and differs is replaced. Workers do it when no match waits for them.",
        ),
        "check": draw(visit, operator.check_ratings, f"{RATINGS}/check", "Check the ratings"),
        "mend": draw(
            *(visit, operator.mend_ratings, f"{RATINGS}/mend", "Check and correct them"),
            sure="Ratings, sums and tallies that do not follow from the deals are replaced by those that do. "
            "What was wrong is not kept: make a backup first.",
        ),
    }


ratings = Forms(router, RATINGS, "ratings.html", _told_of_ratings)


@router.get(RATINGS)
def show_ratings(visit: Operating) -> HTMLResponse:
    """Show the baselines, and the latest check of the ratings."""
    return ratings.show(visit)


def _start(visit: Visit, *, mends: bool) -> None:
    visit.actor.require(Role.OPERATOR, "check ratings")
    operation = operator.mend_ratings if mends else operator.check_ratings
    visit.web.checking.start(operation, visit.context, visit.web.clock, mends=mends)


ratings.add(f"{RATINGS}/baselines", leaderboards.add_baselines, f"{RATINGS}#baselines")
ratings.add(f"{RATINGS}/baselines/remove", leaderboards.remove_baselines, f"{RATINGS}#baselines")
ratings.add(f"{RATINGS}/references", operator.compute_references, f"{RATINGS}#references")
ratings.add_other(f"{RATINGS}/check", KeyScope.OPERATE, lambda visit: _start(visit, mends=False), RATINGS)
ratings.add_other(f"{RATINGS}/mend", KeyScope.OPERATE, lambda visit: _start(visit, mends=True), RATINGS)


@router.get("/operator/data")
def show_data(visit: Operating) -> HTMLResponse:
    """Show what is kept, and offer a backup."""
    return visit.page(
        "data.html",
        found=operator.retention(visit.context),
        embedded=visit.web.settings.embedded_database,
    )
