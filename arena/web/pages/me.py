"""The page of one's own account: bots, requests, keys, owners, invitations, password."""

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import SCOPES, KeyScope, Role
from arena.core.pairing import owner_of
from arena.operations import accounts, bots, entries, leagues
from arena.people import apikeys, invitations, owners
from arena.queries.ownbots import MOST
from arena.web.pages.forms import Forms, Reading, Visit
from arena.web.pages.once import Secret, put_away, require_room, secrets_of, show_once
from arena.web.pages.page import SEE_OTHER
from arena.web.pages.routing import page_router

router = page_router()

HERE = "/me"


def _context(visit: Visit) -> dict[str, object]:
    storage, actor = visit.web.storage, visit.actor
    own = visit.do(bots.list_own_bots)
    return {
        "bots": own.bots,
        "having_bots": {owner_of(version.bot) for version in own.bots},
        "most": MOST,
        "requests": own.requests,
        "invited": own.invitations,
        "owners": [owners.show_owner(storage, actor, owner) for owner in sorted(actor.owners)],
        "keys": apikeys.list_keys(storage, actor),
        "scopes": [scope for scope in KeyScope if scope in SCOPES[actor.role]],
        "roles": [role for role in Role if role is not Role.ANONYMOUS],
        "operates": actor.role is Role.OPERATOR,
        "invitations": invitations.list_invitations(storage, actor, visit.context.now),
        "secrets": secrets_of(visit.request),
    }


forms = Forms(router, HERE, "me.html", _context)


@router.get(HERE)
def show_me(visit: Reading) -> HTMLResponse:
    """Show one's own account."""
    return forms.show(visit)


def _create_key(visit: Visit) -> apikeys.MadeKey:
    require_room(visit.request)
    return visit.do(accounts.create_key)


def _show_key(visit: Visit, made: apikeys.MadeKey) -> Response:
    return _show(visit, {"key": made.key, "name": made.name})


def _invite(visit: Visit) -> invitations.Invited:
    require_room(visit.request)
    return visit.do(accounts.invite)


def _show_invitation(visit: Visit, made: invitations.Invited) -> Response:
    parameters = {"number": str(made.number), "role": made.role.value, "owner": made.owner or ""}
    return _show(visit, {"invitation": made.code, **parameters})


def _show(visit: Visit, secret: Secret) -> Response:
    """Lead to the page, which shows a new secret before those that it shows already."""
    return show_once(visit.request, HERE, HERE, secret, *secrets_of(visit.request))


forms.add_other(f"{HERE}/keys", KeyScope.ACCOUNT, _create_key, _show_key)
forms.add(f"{HERE}/keys/{{name}}/revoke", accounts.revoke_key, f"{HERE}#keys")
forms.add(f"{HERE}/password", accounts.change_password, "/sign-in")
forms.add(f"{HERE}/owners", accounts.create_owner, f"{HERE}#owners")
forms.add(f"{HERE}/owners/{{owner}}/members/{{account}}/remove", accounts.leave_owner, f"{HERE}#owners")
forms.add_other(f"{HERE}/invitations", KeyScope.ACCOUNT, _invite, _show_invitation)
forms.add(f"{HERE}/invitations/{{number}}/revoke", accounts.revoke_invitation, f"{HERE}#owners")
forms.add(f"{HERE}/invitations/use", accounts.join_owner, f"{HERE}#owners")
forms.add_other(f"{HERE}/secrets/put-away", KeyScope.ACCOUNT, lambda _: None, lambda *_: put_away(HERE, HERE))


def _withdraw(visit: Visit) -> object:
    """Take back what a bot has asked of a tournament or a league."""
    if visit.sent["league"]:
        return visit.do(leagues.leave_league)
    return visit.do(entries.withdraw_bot)


def _back(visit: Visit, _: object) -> Response:
    page = visit.sent["page"]
    return RedirectResponse(page if page.startswith("/bots/") else f"{HERE}#requests", SEE_OTHER)


forms.add_other(f"{HERE}/requests/withdraw", KeyScope.BOTS, _withdraw, _back)
