"""The operator's pages of accounts, invitations, tokens, ratings with their baselines, and data."""

from collections.abc import Mapping
from types import SimpleNamespace

from fastapi.responses import HTMLResponse

from arena.actors import KeyScope, Role
from arena.errors import UnknownError
from arena.operations import accounts, leaderboards, operator
from arena.people.accounts import MadeReset
from arena.people.invitations import Invited
from arena.people.tokens import MadeToken
from arena.web.pages.drawing import draw
from arena.web.pages.forms import Forms, Operating, Visit
from arena.web.pages.links import sign_up_url
from arena.web.pages.once import Secret
from arena.web.pages.operating import add_maker, secrets_context
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


def _tokens_context(visit: Visit) -> dict[str, object]:
    return {
        **secrets_context(visit),
        "tokens": operator.list_tokens(visit.context).tokens,
        "create": draw(
            *(visit, operator.create_token, TOKENS, "Make the token"),
            choices={"scope": SCOPES},
            labels={"expires_in": "Days"},
        ),
        "now": visit.context.now,
    }


tokens = Forms(router, TOKENS, "tokens.html", _tokens_context)


@router.get(TOKENS)
def show_tokens(visit: Operating) -> HTMLResponse:
    """Show the tokens of workers, organisers and spectators."""
    return tokens.show(visit)


def _about_token(visit: Visit) -> dict[str, object]:
    name = visit.request.path_params["name"]
    listed = operator.list_tokens(visit.context).tokens
    token = next((line for line in listed if line.name == name), None)
    if token is None:
        raise UnknownError(f"no token {name!r}")
    return {
        **secrets_context(visit),
        "token": token,
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


token = Forms(router, TOKEN, "token.html", _about_token)


@router.get(TOKEN)
def show_token(visit: Operating) -> HTMLResponse:
    """Show a token, without its secret part, and what can be done about it."""
    return token.show(visit)


def _token(_: Visit, made: MadeToken) -> Secret:
    note = "The arena stores only a hash of it."
    return {"title": f"Token {made.name}, for a {made.scope}", "secret": made.token, "told": note}


add_maker(tokens, TOKENS, operator.create_token, TOKENS, _token)
add_maker(token, f"{TOKEN}/rotate", operator.rotate_token, TOKEN, _token)
token.add(f"{TOKEN}/revoke", operator.revoke_token, TOKEN)


def _ratings_context(visit: Visit) -> dict[str, object]:
    visit.actor.require(Role.OPERATOR, "see this page")
    removed = f"{RATINGS}/baselines/remove"
    return {
        "baselines": [
            (
                baseline,
                draw(
                    visit,
                    leaderboards.remove_baselines,
                    removed,
                    "Remove",
                    fixed={"bots": baseline},
                ),
            )
            for baseline in leaderboards.list_baselines(visit.context).baselines
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


ratings = Forms(router, RATINGS, "ratings.html", _ratings_context)


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


LISTED = 50

HERE = "/operator/accounts"
ONE = f"{HERE}/{{account}}"
INVITATIONS = "/operator/invitations"

ROLES: Mapping[str, str] = {
    Role.AUTHOR: "author: has bots of its own",
    Role.ORGANISER: "organiser: also runs tournaments and leagues",
    Role.OPERATOR: "operator: may do everything",
}


FIRST = SimpleNamespace(name="", cursor=None)
"""What the list shows beside a form that comes back."""


def _accounts_context(visit: Visit) -> dict[str, object]:
    context = visit.context
    query = visit.query_of(accounts.list_accounts) if visit.request.method == "GET" else FIRST
    invitations = [
        (
            invitation,
            draw(
                *(visit, accounts.revoke_invitation, f"{INVITATIONS}/{{number}}/revoke", "Revoke"),
                fixed={"number": str(invitation.number)},
                sure="Its link cannot be used any more.",
            ),
        )
        for invitation in accounts.list_invitations(context).invitations
    ]
    return {
        **secrets_context(visit),
        "asked": query,
        "found": accounts.list_accounts(context, query.name, LISTED, query.cursor),
        "create": draw(
            *(visit, accounts.create_account, HERE, "Create the account"),
            choices={"role": ROLES},
            labels={"account": "Name"},
        ),
        "invite": draw(
            *(visit, accounts.invite, INVITATIONS, "Make an invitation"),
            choices={"role": ROLES},
            labels={"owner": "Owner of bots"},
        ),
        "invitations": invitations,
    }


listing = Forms(router, HERE, "accounts.html", _accounts_context)


@router.get(HERE)
def show_accounts(visit: Operating) -> HTMLResponse:
    """Show accounts by name, and the invitations that can still be used."""
    return listing.show(visit)


def _invitation(visit: Visit, made: Invited) -> Secret:
    for_whom = f"an {made.role} who joins {made.owner}" if made.owner else f"an {made.role}"
    note = f"It creates one account, until {made.expires_at:%Y-%m-%d %H:%M} UTC. Send it to the person."
    link = sign_up_url(visit.page.origin, made.code)
    return {"title": f"Invitation {made.number}, for {for_whom}", "secret": link, "told": note}


listing.add(HERE, accounts.create_account, f"{HERE}")
add_maker(listing, INVITATIONS, accounts.invite, HERE, _invitation)
listing.add(f"{INVITATIONS}/{{number}}/revoke", accounts.revoke_invitation, f"{HERE}#invitations")


def _about_account(visit: Visit) -> dict[str, object]:
    name = visit.request.path_params["account"]
    own = name == visit.actor.account
    account = accounts.show_account(visit.context, name)
    return {
        **secrets_context(visit),
        "account": account,
        "own": own,
        "role": draw(
            *(visit, accounts.change_account, f"{ONE}/role", "Change the role"),
            only=["role"],
            values={"role": account.role},
            sure="It is your own account: without the role of an operator, you cannot take it back."
            if own
            else "",
            choices={"role": ROLES},
        ),
        "disable": draw(
            *(visit, accounts.change_account, f"{ONE}/disable", "Disable the account"),
            fixed={"disabled": "true"},
            without=["role", "password"],
            sure="Its keys are refused and its browsers signed out at once. Its bots play on. "
            + ("It is your own: another operator has to enable it." if own else "It can be enabled again."),
        ),
        "enable": draw(
            *(visit, accounts.change_account, f"{ONE}/enable", "Enable the account"),
            fixed={"disabled": "false"},
            without=["role", "password"],
        ),
        "reset": draw(visit, accounts.offer_reset, f"{ONE}/reset", "Make a link"),
    }


account_page = Forms(router, ONE, "account.html", _about_account)


@router.get(ONE)
def show_account(visit: Operating) -> HTMLResponse:
    """Show an account, and what can be done about it."""
    return account_page.show(visit)


def _reset(_: Visit, made: MadeReset) -> Secret:
    note = f"It works once, until {made.expires_at:%Y-%m-%d %H:%M} UTC. Send it to the person."
    return {"title": f"Link with which {made.account} sets a new password", "secret": made.link, "told": note}


for action in ("role", "disable", "enable"):
    account_page.add(f"{ONE}/{action}", accounts.change_account, ONE)
add_maker(account_page, f"{ONE}/reset", accounts.offer_reset, ONE, _reset)
