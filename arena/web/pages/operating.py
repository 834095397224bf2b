"""The operator's pages: referees, the workers' work, faults, findings, and who changed what.

New tokens, invitations and other secrets are shown on all of the operator's pages that make some, until they
are put away.
"""

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote

from fastapi.responses import HTMLResponse, Response

from arena.errors import UnknownError
from arena.operations import operator
from arena.operations.operation import Operation
from arena.queries import operator as queries
from arena.queries.faults import faults_by_bot
from arena.running import doctor
from arena.tournaments.referees import list_referees
from arena.web.pages.forms import Forms, Operating, Visit
from arena.web.pages.once import Secret, put_away, require_room, secrets_of, show_once
from arena.web.pages.routing import page_router

PLACE = "/operator"

router = page_router(PLACE)

T = TypeVar("T")

WORK = 50
FAULTS = 10
LATEST = 10
"""How many of the latest changes are on the first page."""
CHANGES = 100


@router.get("")
def show_arena(visit: Operating) -> HTMLResponse:
    """Show how the arena runs: its referees, what waits for workers, faults, the latest changes."""
    return visit.page(
        "operator.html",
        found=list_referees(visit.web.storage, visit.actor, visit.web.ask),
        work=queries.work(visit.web.storage, visit.actor, WORK),
        faults=faults_by_bot(visit.web.storage, limit=FAULTS).bots,
        latest=queries.changes(visit.web.storage, visit.actor, queries.ChangeQuery(), LATEST).entries,
    )


@router.get("/findings")
def show_findings(visit: Operating) -> HTMLResponse:
    """Check the arena as `arena doctor` does; if something does not answer, this takes ten seconds."""
    return visit.page(
        "findings.html", findings=doctor.findings(visit.web.settings, visit.actor, visit.web.clock)
    )


@router.get("/audit")
def show_changes(visit: Operating) -> HTMLResponse:
    """Show who changed what."""
    try:
        changes = visit.do(operator.list_changes, limit=CHANGES)
    except UnknownError:
        changes = queries.ChangePage((), None)
    return visit.page("audit.html", found=changes, asked=visit.query_of(operator.list_changes))


def secrets_context(visit: Visit) -> dict[str, object]:
    """Return the secrets that were made and not put away, for a page that makes some."""
    return {"secrets": secrets_of(visit.request)}


def add_maker(
    forms: Forms,
    path: str,
    operation: Operation[..., T],
    page: str,
    word: Callable[[Visit, T], Secret],
    below: str = PLACE,
    do: Callable[[Visit], T] | None = None,
) -> None:
    """Add the form that does an operation whose answer has a secret, which ``page`` shows from then on.

    ``word`` makes the secret of an answer; it replaces an earlier one with the same title.
    All pages ``below`` a path can show it. With ``do``, that does the operation.
    """

    def make(visit: Visit) -> T:
        require_room(visit.request)
        return visit.do(operation) if do is None else do(visit)

    def lead(visit: Visit, made: T) -> Response:
        path = {name: quote(value, safe="@") for name, value in visit.request.path_params.items()}
        new = word(visit, made)
        others = [secret for secret in secrets_of(visit.request) if secret["title"] != new["title"]]
        return show_once(visit.request, page.format_map(path), below.format_map(path), new, *others)

    forms.add_other(path, operation.scopes, make, lead)


@router.post("/secrets/put-away")
def put_secrets_away(visit: Operating) -> Response:
    """Show secrets no longer."""
    back = visit.sent["page"]
    return put_away(back if back.startswith(f"{PLACE}/") else PLACE, PLACE)
