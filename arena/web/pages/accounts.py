"""The operator's pages of accounts and of the invitations to the arena."""

from collections.abc import Mapping
from types import SimpleNamespace

from fastapi.responses import HTMLResponse

from arena.actors import Role
from arena.operations import accounts
from arena.people.invitations import Invited
from arena.people.resets import MadeReset
from arena.web.pages.drawing import draw
from arena.web.pages.forms import Forms, Operating, Visit
from arena.web.pages.links import sign_up_url
from arena.web.pages.once import Secret
from arena.web.pages.operating import add_maker, kept
from arena.web.pages.routing import page_router

router = page_router()

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


def _told(visit: Visit) -> dict[str, object]:
    context = visit.context
    asked = visit.asked(accounts.list_accounts) if visit.request.method == "GET" else FIRST
    invitations = [
        (
            one,
            draw(
                *(visit, accounts.revoke_invitation, f"{INVITATIONS}/{{number}}/revoke", "Revoke"),
                known={"number": str(one.number)},
                sure="Its link cannot be used any more.",
            ),
        )
        for one in accounts.list_invitations(context).invitations
    ]
    return {
        **kept(visit),
        "asked": asked,
        "found": accounts.list_accounts(context, asked.name, LISTED, asked.cursor),
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


listing = Forms(router, HERE, "accounts.html", _told)


@router.get(HERE)
def show_accounts(visit: Operating) -> HTMLResponse:
    """Show accounts by name, and the invitations that can still be used."""
    return listing.show(visit)


def _invitation(visit: Visit, made: Invited) -> Secret:
    for_whom = f"an {made.role} who joins {made.owner}" if made.owner else f"an {made.role}"
    told = f"It creates one account, until {made.expires_at:%Y-%m-%d %H:%M} UTC. Send it to the person."
    link = sign_up_url(visit.page.origin, made.code)
    return {"title": f"Invitation {made.number}, for {for_whom}", "secret": link, "told": told}


listing.add(HERE, accounts.create_account, f"{HERE}")
add_maker(listing, INVITATIONS, accounts.invite, HERE, _invitation)
listing.add(f"{INVITATIONS}/{{number}}/revoke", accounts.revoke_invitation, f"{HERE}#invitations")


def _told_of_one(visit: Visit) -> dict[str, object]:
    name = visit.request.path_params["account"]
    own = name == visit.actor.account
    found = accounts.show_account(visit.context, name)
    return {
        **kept(visit),
        "one": found,
        "own": own,
        "role": draw(
            *(visit, accounts.change_account, f"{ONE}/role", "Change the role"),
            only=["role"],
            values={"role": found.role},
            sure="It is your own account: without the role of an operator, you cannot take it back."
            if own
            else "",
            choices={"role": ROLES},
        ),
        "disable": draw(
            *(visit, accounts.change_account, f"{ONE}/disable", "Disable the account"),
            known={"disabled": "true"},
            without=["role", "password"],
            sure="Its keys are refused and its browsers signed out at once. Its bots play on. "
            + ("It is your own: another operator has to enable it." if own else "It can be enabled again."),
        ),
        "enable": draw(
            *(visit, accounts.change_account, f"{ONE}/enable", "Enable the account"),
            known={"disabled": "false"},
            without=["role", "password"],
        ),
        "reset": draw(visit, accounts.offer_reset, f"{ONE}/reset", "Make a link"),
    }


one = Forms(router, ONE, "account.html", _told_of_one)


@router.get(ONE)
def show_account(visit: Operating) -> HTMLResponse:
    """Show an account, and what can be done about it."""
    return one.show(visit)


def _reset(_: Visit, made: MadeReset) -> Secret:
    told = f"It works once, until {made.expires_at:%Y-%m-%d %H:%M} UTC. Send it to the person."
    return {"title": f"Link with which {made.account} sets a new password", "secret": made.link, "told": told}


for action in ("role", "disable", "enable"):
    one.add(f"{ONE}/{action}", accounts.change_account, ONE)
add_maker(one, f"{ONE}/reset", accounts.offer_reset, ONE, _reset)
