"""The organiser's desk: see who is connected, run tournaments, and answer those who ask."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import KeyScope
from arena.core.corrections import Correction
from arena.errors import SpecError
from arena.operations import entries, tournaments
from arena.operations.operation import Operation, Parameter
from arena.operations.tournaments import Changed
from arena.play.rounds.waiting import obstacles
from arena.queries.matches import MatchQuery, find_matches
from arena.queries.scoreboard import Scoreboard
from arena.store.storage import Storage
from arena.tournaments import admission, overview
from arena.tournaments.roster import place_in_roster, roster
from arena.tournaments.steering import Do, possible, require_own
from arena.tournaments.warnings import list_warnings
from arena.web.pages.drawing import Choices, draw, draw_fields
from arena.web.pages.figures import signed
from arena.web.pages.forms import Forms, FromForm, Organising, Visit
from arena.web.pages.page import SEE_OTHER
from arena.web.pages.routing import page_router
from referee.reading.docstrings import FormField
from referee.reading.names import is_number

router = page_router()

DESK = "/tournaments/{tournament}/desk"

ROSTER = 100
"""Number of entrants on a page."""

WORDS: Mapping[Do, tuple[str, str]] = {
    "lock": (
        "Close the entries",
        "Nobody can enter any more, unless the format lets bots come later. Entries cannot be opened again.",
    ),
    "start": ("Start it", ""),
    "pause": ("Pause it", ""),
    "resume": ("Continue", ""),
    "stop": (
        "Pair no more rounds",
        "It ends once the rounds that are paired are played. No further round can be added.",
    ),
    "confirm": (
        "Confirm the results",
        "They are final from then on: nobody can be disqualified, and no points corrected.",
    ),
    "cancel": (
        "Cancel it",
        "It ends at once, for good. Finished matches count and are rated; the others do not count.",
    ),
}
"""What each step is called, and what cannot be undone about it; empty if it needs no thought."""

STEERED: Mapping[str, Operation[..., Changed]] = {
    "start": tournaments.start_tournament,
    "lock": tournaments.lock_tournament,
    "pause": tournaments.pause_tournament,
    "resume": tournaments.resume_tournament,
    "stop": tournaments.stop_tournament,
    "confirm": tournaments.confirm_tournament,
    "cancel": tournaments.cancel_tournament,
}


DECISIONS: Mapping[str, Operation[..., Any]] = {
    "enter": entries.enter_bot,
    "withdraw": entries.withdraw_bot,
    "approve": entries.approve_bot,
    "decline": entries.decline_bot,
}
"""What can be done about a bot."""


class RosterAsked(FromForm):
    """The query parameters that choose a part of the roster."""

    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
    around: Annotated[str | None, Query(max_length=200)] = None
    """Show the part around this bot instead."""


FIRST = RosterAsked()


def _context(visit: Visit, query: RosterAsked = FIRST) -> dict[str, object]:
    web, name = visit.web, visit.request.path_params["tournament"]
    status, now = overview.status(web.storage, name), visit.context.now
    require_own(web.storage, visit.actor, name, f"steer {name}")
    place = None if query.around is None else place_in_roster(web.storage, name, query.around)
    offset = query.offset if place is None else place // ROSTER * ROSTER
    can = possible(web.storage, name, now, web.ask)
    warnings = [] if status.ended else list_warnings(web.storage, name)
    entered = admission.list_entries(web.storage, visit.actor, overview.find_tournament, name)
    return {
        "status": status,
        "waits": obstacles(web.storage, status, web.ask, now).lines,
        "roster": roster(web.storage, name, now, web.ask, ROSTER, offset),
        "most": ROSTER,
        "offset": offset,
        "around": query.around,
        "not_found": f"no {query.around} among the entrants" if query.around and place is None else None,
        "can": can,
        "words": WORDS,
        "entries": entered,
        "invite": draw(visit, entries.invite_bots, f"{DESK}/invitations", "Invite"),
        "uninvite": [
            draw(visit, entries.uninvite_bot, f"{DESK}/invitations/take-back", "Take back", fixed=hidden)
            for invitation in entered.invitations
            for hidden in [{"invited": invitation.invited}]
        ],
        "correctable": status.ended and status.commitment is not None and status.confirmed_at is None,
        "warnings": warnings if can.hindered is None else [*{can.hindered: 0, **dict.fromkeys(warnings)}],
    }


steering = Forms(router, DESK, "steer.html", _context)


@router.get(DESK)
def show_tournament(visit: Organising, query: Annotated[RosterAsked, Query()]) -> HTMLResponse:
    """Show the entrants, what the tournament waits for, and what can be done."""
    return visit.page("steer.html", **_context(visit, query))


steering.add_other(DESK, KeyScope.TOURNAMENTS, lambda visit: visit.do(visit.choose(STEERED)), DESK)
steering.add_other(
    f"{DESK}/entries",
    KeyScope.TOURNAMENTS,
    lambda visit: visit.do(visit.choose(DECISIONS)),
    f"{DESK}#roster",
)
steering.add(f"{DESK}/delete", tournaments.delete_tournament, "/tournaments")
steering.add(f"{DESK}/invitations", entries.invite_bots, f"{DESK}#invited")
steering.add(f"{DESK}/invitations/take-back", entries.uninvite_bot, f"{DESK}#invited")


@router.get(f"{DESK}/soft-play")
def show_soft_play(visit: Organising) -> HTMLResponse:
    """Show which bots give way to one other more often than to the rest."""
    page = visit.do(tournaments.list_soft_play, limit=ROSTER)
    return visit.page("softplay.html", found=page, asked=visit.query_of(tournaments.list_soft_play))


CORRECTIONS = f"{DESK}/corrections"

DECIDED: Mapping[str, Operation[..., Any]] = {
    "preview": tournaments.preview_correction,
    "correct": tournaments.correct_standings,
}

CORRECTION_WORDS: Mapping[str, str] = {
    "disqualified": "disqualify: rank it behind all others",
    "reinstated": "reinstate: undo its disqualification",
    "points": "points: add or subtract in a match",
}


MATCH = Parameter(
    "match",
    Annotated[str | None, FormField("", "Match")],
    None,
    "The one whose points change; for nothing else.",
)

MATCHES = 1_000
"""Number of a bot's matches to choose from, the newest."""


def _matches_of(storage: Storage, tournament: str, bot: str) -> Mapping[str, str]:
    """Return the matches of a bot in a tournament, ``round.table``, and what it has in each, in words."""
    query = MatchQuery(tournament=tournament, bot=bot)
    lines = reversed(find_matches(storage, query, MATCHES).matches)
    return {
        f"{line.round}.{line.table}": f"round {line.round}, table {line.table}: "
        f"{signed(line.points[line.bots.index(bot)])} points"
        for line in lines
    }


def _corrections_context(visit: Visit) -> dict[str, object]:
    storage, name = visit.web.storage, visit.request.path_params["tournament"]
    require_own(storage, visit.actor, name, f"correct {name}")
    status = overview.status(storage, name)
    board = visit.context.standings(status)
    bots = [line.bot for line in board.standings]
    chosen = visit.sent["bot"] if visit.sent["bot"] in bots else None
    choices: dict[str, Choices] = {"correction": CORRECTION_WORDS}
    parameters: list[Parameter] = []
    if chosen is not None:
        choices["match"] = _matches_of(storage, name, chosen)
        own = tournaments.correct_standings.parameters
        parameters = [own["correction"], MATCH, own["points"], own["reason"]]
    place = CORRECTIONS.format(tournament=quote(name))
    return {
        "bots": bots,
        "chosen": chosen,
        "status": status,
        "board": board,
        "before": {line.entrant: line for line in board.standings},
        "after": None,
        "form": draw_fields(visit, parameters, place, "", hidden={"bot": chosen or ""}, choices=choices),
    }


correcting = Forms(router, CORRECTIONS, "corrections.html", _corrections_context)


@router.get(CORRECTIONS)
def show_corrections(visit: Organising) -> HTMLResponse:
    """Show the standings of a tournament that has ended, its corrections, and the form for another."""
    return correcting.show(visit)


def _corrected(visit: Visit, made: Correction | Scoreboard) -> Response:
    if isinstance(made, Scoreboard):
        return correcting.show(visit, after=made)
    return RedirectResponse(visit.request.url.path, SEE_OTHER)


def _correct(visit: Visit) -> Correction | Scoreboard:
    match: dict[str, int | None] = {}
    if visit.sent["correction"] == "points" and "round" not in visit.sent.texts:
        round, _, table = visit.sent["match"].partition(".")
        if not (is_number(round) and is_number(table)):
            raise SpecError("match", "is missing: choose the one whose points change")
        match = {"round": int(round), "table": int(table)}
    made: Correction | Scoreboard = visit.do(visit.choose(DECIDED), **match)
    return made


correcting.add_other(CORRECTIONS, KeyScope.TOURNAMENTS, _correct, _corrected)
