"""The page of one's own account: bots, keys, owners, invitations, password."""

from fastapi.responses import HTMLResponse, Response

from arena.actors import KeyScope, Role
from arena.operations import accounts
from arena.people import apikeys, invitations
from arena.queries.profiles import find_bots
from arena.web.pages.forms import Forms, Reading, Visit
from arena.web.pages.routing import page_router

router = page_router()

HERE = "/me"
LISTED = 50
"""How many of the latest bot versions of each owner are listed."""


def _told(visit: Visit) -> dict[str, object]:
    storage, actor = visit.web.storage, visit.actor
    return {
        "bots": [(owner, find_bots(storage, owner, LISTED).bots) for owner in sorted(actor.owners)],
        "keys": apikeys.list_keys(storage, actor),
        "scopes": KeyScope,
        "roles": [role for role in Role if role is not Role.ANONYMOUS],
        "operates": actor.role is Role.OPERATOR,
        "invitations": invitations.list_invitations(storage, actor, visit.context.now),
        "key": None,
        "invited": None,
    }


forms = Forms(router, "me.html", _told)


@router.get(HERE)
def show_me(visit: Reading) -> HTMLResponse:
    """Show one's own account."""
    return forms.show(visit)


def _show_key(visit: Visit, key: apikeys.MadeKey) -> Response:
    """Show a new key, once only."""
    return forms.show(visit, key=key)


def _show_invitation(visit: Visit, invited: invitations.Invited) -> Response:
    """Show the link of a new invitation, once only."""
    return forms.show(visit, invited=invited)


forms.add(f"{HERE}/keys", accounts.create_key, _show_key)
forms.add(f"{HERE}/keys/{{name}}/revoke", accounts.revoke_key, f"{HERE}#keys")
forms.add(f"{HERE}/password", accounts.change_password, "/sign-in")
forms.add(f"{HERE}/owners", accounts.create_owner, f"{HERE}#owners")
forms.add(f"{HERE}/invitations", accounts.invite, _show_invitation)
forms.add(f"{HERE}/invitations/{{number}}/revoke", accounts.revoke_invitation, f"{HERE}#owners")
forms.add(f"{HERE}/invitations/use", accounts.join_owner, f"{HERE}#owners")
