"""The organiser's desk: create tournaments, see who is connected, run them."""

import tomllib
from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import Actor, Role
from arena.core.formats import FORMATS
from arena.core.specs import Name
from arena.errors import ArenaError, SpecError
from arena.operations import tournaments
from arena.operations.operation import Operation
from arena.play.rounds import preview as previews
from arena.play.rounds.waiting import obstacles
from arena.store.models import TournamentState
from arena.tournaments import admission, entry, overview
from arena.tournaments.answers import Changed
from arena.tournaments.roster import place_in_roster, roster
from arena.tournaments.warnings import list_doubts
from arena.web.asking import Organiser, Organising
from arena.web.context import Shared, Web
from arena.web.pages.asked import FromForm
from arena.web.pages.links import desk_url
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router
from referee.errors import RefereeError
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

STEERED: Mapping[Do, Operation[[str], Changed]] = {
    "lock": tournaments.lock_tournament,
    "pause": tournaments.pause_tournament,
    "resume": tournaments.resume_tournament,
    "stop": tournaments.stop_tournament,
    "confirm": tournaments.confirm_tournament,
    "cancel": tournaments.cancel_tournament,
}


class NewTournament(FromForm):
    """The form for a new tournament, which holds the text of a tournament file."""

    file: str = ""
    do: Literal["preview", "create"] = "preview"


class Steering(FromForm):
    """The form that steers a tournament."""

    do: Do
    beacon: str | None = None


class Entering(FromForm):
    """The form that enters, withdraws, approves or declines a bot."""

    bot: str = ""
    do: Literal["enter", "withdraw", "approve", "decline"]
    reason: str = ""


def _form(sent: NewTournament, preview: previews.Preview | None = None) -> dict[str, object]:
    return {"sent": sent, "preview": preview, "formats": list(FORMATS), "rulesets": preset_names()}


@router.get("/desk")
def show_desk(page: Page, actor: Organiser) -> HTMLResponse:
    """Show the form for a new tournament."""
    actor.require(Role.ORGANISER, RUN)
    return page("desk.html", **_form(NewTournament(file=EXAMPLE)))


@router.post("/desk")
def create(page: Page, context: Organising, sent: Annotated[NewTournament, Form()]) -> Response:
    """Show what a tournament would be like, or create it."""
    try:
        values = _read(sent.file)
        if sent.do == "preview":
            preview = tournaments.preview_tournament(context, values)
            return page("desk.html", **_form(sent, preview))
        made = tournaments.create_tournament(context, values)
    except (ArenaError, RefereeError) as error:
        return page.again("desk.html", error, **_form(sent))
    return RedirectResponse(desk_url(made.tournament), SEE_OTHER)


def _read(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))  # as forms send lines
    except (ValueError, RecursionError) as error:
        raise SpecError("file", f"is not TOML: {' '.join(str(error).split())}") from None


class RosterAsked(FromForm):
    """The query parameters that choose a part of the roster."""

    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
    around: Annotated[str | None, Query(max_length=200)] = None
    """Show the part around this bot instead."""


FIRST = RosterAsked()


def _told(web: Web, actor: Actor, name: str, asked: RosterAsked = FIRST) -> dict[str, object]:
    status, now = overview.status(web.storage, name), web.clock()
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
        "entries": admission.list_entries(web.storage, actor, name),
        "warnings": [] if status.ended else list_doubts(web.storage, name),
    }


@router.get("/tournaments/{tournament}/desk")
def show_tournament(
    page: Page, web: Shared, actor: Organiser, tournament: Name, asked: Annotated[RosterAsked, Query()]
) -> HTMLResponse:
    """Show the entrants, what the tournament waits for, and what can be done."""
    actor.require(Role.ORGANISER, RUN)
    return page("steer.html", **_told(web, actor, tournament, asked))


@router.post("/tournaments/{tournament}/desk")
def steer(
    page: Page, web: Shared, context: Organising, tournament: Name, sent: Annotated[Steering, Form()]
) -> Response:
    """Carry out an action on a tournament of one's own."""
    try:
        if sent.do == "start":
            done = tournaments.start_tournament(context, tournament, sent.beacon)
        else:
            done = STEERED[sent.do](context, tournament)
    except (ArenaError, RefereeError) as error:
        return page.again("steer.html", error, **_told(web, context.actor, tournament))
    if done.warnings:
        return page("steer.html", **{**_told(web, context.actor, tournament), "warnings": done.warnings})
    return RedirectResponse(desk_url(tournament), SEE_OTHER)


@router.post("/tournaments/{tournament}/desk/entries")
def decide(
    page: Page, web: Shared, actor: Organiser, tournament: Name, sent: Annotated[Entering, Form()]
) -> Response:
    """Enter or withdraw a bot, or answer one that asked to enter."""
    storage, now = web.storage, web.clock()
    try:
        if sent.do == "enter":
            entry.enter(storage, actor, tournament, sent.bot, now, web.ask)
        elif sent.do == "withdraw":
            entry.withdraw(storage, actor, tournament, sent.bot, now)
        elif sent.do == "approve":
            entry.approve(storage, actor, tournament, sent.bot, now, web.ask)
        else:
            admission.decline(storage, actor, tournament, sent.bot, sent.reason, now)
    except (ArenaError, RefereeError) as error:
        return page.again("steer.html", error, **_told(web, actor, tournament))
    return RedirectResponse(f"{desk_url(tournament)}#roster", SEE_OTHER)
