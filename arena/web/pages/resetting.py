"""The page where somebody who forgot their password sets a new one, with an operator's link."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from arena.errors import SpecError
from arena.operations import accounts
from arena.people.resets import check_reset
from arena.web.pages.drawing import draw
from arena.web.pages.forms import AnyVisit, Forms, Visit
from arena.web.pages.routing import page_router

router = page_router()

HERE = "/reset-password"


def _told(visit: Visit) -> dict[str, object]:
    code = visit.sent["code"] or visit.request.query_params.get("code", "")
    try:
        name = check_reset(visit.web.storage, code, visit.context.now)
    except SpecError:
        return {"name": None}
    form = draw(
        *(visit, accounts.use_reset, HERE, "Set the password"),
        known={"code": code},
        labels={"password": "New password"},
        username=name,
    )
    return {"name": name, "form": form}


forms = Forms(router, HERE, "reset_password.html", _told)


@router.get(HERE)
def show_reset(visit: AnyVisit, code: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
    """Show the form for a new password, if the link can still be used."""
    return forms.show(visit)


forms.add(HERE, accounts.use_reset, "/sign-in")
