"""The operator's pages: referees, the workers' work, faults, findings, and who changed what."""

from fastapi.responses import HTMLResponse

from arena.errors import UnknownError
from arena.operations import operator
from arena.queries import operator as queries
from arena.queries.faults import faults_by_bot
from arena.running import doctor
from arena.tournaments.referees import list_referees
from arena.web.pages.forms import Operating
from arena.web.pages.routing import page_router

router = page_router("/operator")

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
        found = visit.do(operator.list_changes, limit=CHANGES)
    except UnknownError:
        found = queries.ChangePage((), None)
    return visit.page("audit.html", found=found, asked=visit.asked(operator.list_changes))
