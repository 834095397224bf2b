"""The organiser's desk: create tournaments, see who is connected, run them."""

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import KeyScope, Role
from arena.core.formats import FORMATS
from arena.errors import SpecError
from arena.operations import entries, tournaments
from arena.operations.operation import Operation
from arena.operations.tournaments import Changed
from arena.play.rounds.preview import Preview
from arena.play.rounds.waiting import obstacles
from arena.store.models import TournamentState
from arena.tournaments import admission, overview
from arena.tournaments.roster import place_in_roster, roster
from arena.tournaments.warnings import list_warnings
from arena.web.pages.asked import FromForm
from arena.web.pages.forms import Forms, Organising, Visit
from arena.web.pages.links import desk_url
from arena.web.pages.page import SEE_OTHER, Typed
from arena.web.pages.routing import page_router
from referee.ruleset import preset_names

router = page_router()

EXAMPLE = """\
name = "cup"
format = "swiss"
ruleset = "chinese"
rounds = 5
sessions = 8                    # of each match: the seats are changed from one to the next
deals = 6                       # of each session
entrants = []                   # bots, as "ann/greedy"; others can enter until it is locked or starts
"""

RUN = "run tournaments"

ROSTER = 100
"""Number of entrants on a page."""

Do = Literal["lock", "start", "pause", "resume", "stop", "confirm", "cancel"]

POSSIBLE: Mapping[TournamentState, tuple[Do, ...]] = {
    TournamentState.CREATED: ("lock", "start", "cancel"),
    TournamentState.RUNNING: ("pause", "stop", "cancel"),
    TournamentState.PAUSED: ("resume", "stop", "cancel"),
    TournamentState.FAILED: ("start", "cancel"),
}
"""What can be done about a tournament, by its state."""

WORDS: Mapping[Do, str] = {
    "lock": "close the entries",
    "start": "start it",
    "pause": "pause it",
    "resume": "continue",
    "stop": "pair no more rounds",
    "confirm": "confirm the results",
    "cancel": "cancel it, for good",
}

STEERED: Mapping[str, Operation[..., Changed]] = {
    "start": tournaments.start_tournament,
    "lock": tournaments.lock_tournament,
    "pause": tournaments.pause_tournament,
    "resume": tournaments.resume_tournament,
    "stop": tournaments.stop_tournament,
    "confirm": tournaments.confirm_tournament,
    "cancel": tournaments.cancel_tournament,
}


CREATED: Mapping[str, Operation[..., Any]] = {
    "preview": tournaments.preview_tournament,
    "create": tournaments.create_tournament,
}

DECISIONS: Mapping[str, Operation[..., Any]] = {
    "enter": entries.enter_bot,
    "withdraw": entries.withdraw_bot,
    "approve": entries.approve_bot,
    "decline": entries.decline_bot,
}
"""What can be done about a bot."""

creating = Forms(
    router,
    "desk.html",
    lambda _: {"preview": None, "formats": list(FORMATS), "rulesets": preset_names()},
)


@router.get("/desk")
def show_desk(visit: Organising) -> HTMLResponse:
    """Show the form for a new tournament."""
    visit.actor.require(Role.ORGANISER, RUN)
    return creating.show(visit, sent=Typed({"file": [EXAMPLE]}))


def _create(visit: Visit) -> Changed | Preview:
    """Create a tournament, or return what it would be like."""
    made: Changed | Preview = visit.do(visit.choose(CREATED), fields=_read(visit.sent["file"]))
    return made


def _created(visit: Visit, made: Changed | Preview) -> Response:
    if isinstance(made, Preview):
        return creating.show(visit, preview=made)
    return RedirectResponse(desk_url(made.tournament), SEE_OTHER)


creating.add_other("/desk", KeyScope.TOURNAMENTS, _create, _created)


def _read(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError("file", f"is not TOML: {' '.join(str(error).split())}") from None


class RosterAsked(FromForm):
    """The query parameters that choose a part of the roster."""

    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
    around: Annotated[str | None, Query(max_length=200)] = None
    """Show the part around this bot instead."""


FIRST = RosterAsked()


def _told(visit: Visit, asked: RosterAsked = FIRST) -> dict[str, object]:
    web, name = visit.web, visit.request.path_params["tournament"]
    status, now = overview.status(web.storage, name), visit.context.now
    possible = POSSIBLE.get(TournamentState(status.state), ("confirm",) if status.provisional else ())
    place = None if asked.around is None else place_in_roster(web.storage, name, asked.around)
    offset = asked.offset if place is None else place // ROSTER * ROSTER
    return {
        "one": status,
        "waits": obstacles(web.storage, status, web.ask, now).lines,
        "roster": roster(web.storage, name, now, web.ask, ROSTER, offset),
        "most": ROSTER,
        "offset": offset,
        "around": asked.around,
        "not_found": f"no {asked.around} among the entrants" if asked.around and place is None else None,
        "possible": [(do, WORDS[do]) for do in possible],
        "entries": admission.list_entries(web.storage, visit.actor, overview.find_tournament, name),
        "warnings": [] if status.ended else list_warnings(web.storage, name),
    }


steering = Forms(router, "steer.html", _told)


@router.get("/tournaments/{tournament}/desk")
def show_tournament(visit: Organising, asked: Annotated[RosterAsked, Query()]) -> HTMLResponse:
    """Show the entrants, what the tournament waits for, and what can be done."""
    visit.actor.require(Role.ORGANISER, RUN)
    return visit.page("steer.html", **_told(visit, asked))


def _steered(visit: Visit, changed: Changed) -> Response:
    if changed.warnings:
        return steering.show(visit, warnings=changed.warnings)
    return RedirectResponse(desk_url(changed.tournament), SEE_OTHER)


steering.add_other(
    "/tournaments/{tournament}/desk",
    KeyScope.TOURNAMENTS,
    lambda visit: visit.do(visit.choose(STEERED)),
    _steered,
)
steering.add_other(
    "/tournaments/{tournament}/desk/entries",
    KeyScope.TOURNAMENTS,
    lambda visit: visit.do(visit.choose(DECISIONS)),
    "/tournaments/{tournament}/desk#roster",
)
