"""The organiser's pages of leagues: a form or a file, invitations, requests, members."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import KeyScope, Role
from arena.core.specs import PLAYED, RESULT, TournamentSpec, zone_of
from arena.errors import SpecError, TakenError, UnknownError
from arena.leagues.membership import active_members, find_league
from arena.leagues.spec import (
    DIVISION_FIELDS,
    LEAGUE,
    MOST_DIVISIONS,
    SET_BY_LEAGUE,
    LeagueSpec,
    make_league,
)
from arena.operations import leagues
from arena.operations.leagues import Changes
from arena.operations.operation import Operation, Parameter
from arena.tournaments import admission
from arena.tournaments.overview import organised
from arena.web.pages import files, making
from arena.web.pages.drawing import draw, draw_fields
from arena.web.pages.files import (
    as_texts,
    grouped,
    parameters_of,
    read_form,
    read_toml,
    write_toml,
)
from arena.web.pages.forms import Forms, Organising, Visit
from arena.web.pages.links import league_url
from arena.web.pages.page import SEE_OTHER
from arena.web.pages.routing import page_router
from referee.matches.match import LIMITS
from referee.reading.docstrings import FormField
from referee.reading.names import is_number

router = page_router()

NEW = "/desk/league"
DESK = "/leagues/{league}/desk"
CHANGE = f"{DESK}/change"

SEASONS = 5
"""How many seasons a preview announces."""

IN_TOURNAMENTS = "tournament."
"""What the names of fields for all tournaments begin with."""

QUALIFICATION = Parameter(
    "qualification",
    Annotated[int | None, FormField(DIVISION_FIELDS, "Promoted from a qualification")],
    None,
    "Bots promoted from a level below the divisions, for those without a place; empty: there is none.",
)

IN_DIVISION = "division."
"""What the names of fields of a division begin with; its number follows."""

ROW = ("name", "size", "promoted")
"""The fields of a division in the form."""

EXAMPLE_DIVISIONS: Sequence[Mapping[str, Any]] = ({"name": "first", "size": 8}, {"name": "second"})

EXAMPLE: Mapping[str, Any] = {
    "interval_hours": "168",
    "versions_per_owner": "1",
    **{f"{IN_TOURNAMENTS}{name}": str(value) for name, value in making.EXAMPLE.items()},
}

EXAMPLE_FILE = """\
name = "winter"
start = 2030-01-01T18:00:00     # the first season
zone = "UTC"                    # where it is this time then, as "Europe/Berlin"
interval_hours = 168            # from one start to the next
versions_per_owner = 1

[tournament]                    # the tournaments of all divisions
format = "swiss"
ruleset = "chinese"
rounds = 5

[[divisions]]                   # from the highest to the lowest
name = "first"
size = 8

[[divisions]]                   # which takes everybody else
name = "second"
promoted = 2
"""


@dataclass(frozen=True, slots=True)
class LeagueFields:
    """A league that is to be changed."""

    name: str
    fields: Mapping[str, Any]
    """As its file has them."""
    seasons: int
    """How many have started."""

    @property
    def tournament(self) -> Mapping[str, Any]:
        """The fields for all tournaments."""
        fields: Mapping[str, Any] = self.fields["tournament"]
        return fields

    @property
    def ruleset(self) -> Mapping[str, Any] | str | None:
        """The ruleset of all tournaments; None if divisions have their own."""
        return self.tournament.get("ruleset")


def _current(visit: Visit) -> LeagueFields | None:
    name = visit.request.path_params.get("league")
    if name is None:
        visit.actor.require(Role.ORGANISER, "make leagues")
        return None
    with visit.web.storage.read() as tx:
        league = organised(tx, visit.actor, find_league, name, "change league")
        return LeagueFields(name, league.spec, league.seasons)


def _of_league(current: LeagueFields | None) -> list[Parameter]:
    settled = ("name",) if current else ()
    own = parameters_of(LeagueSpec, without=("tournament", "divisions", "qualification", *settled))
    return [*own, QUALIFICATION]


def _of_tournaments(current: LeagueFields | None) -> list[Parameter]:
    fields = parameters_of(TournamentSpec, without=(*SET_BY_LEAGUE, "entries"), within=IN_TOURNAMENTS)
    return [*fields, files.file_parameter(IN_TOURNAMENTS)]


def _texts(current: LeagueFields, chosen: str) -> Mapping[str, Any]:
    """Return the fields of a league as its form has them; ``chosen`` is its ruleset."""
    fields = {
        name: value
        for name, value in current.fields.items()
        if name not in ("tournament", "divisions", "qualification")
    }
    lowest = current.fields.get("qualification")
    tournament = {**current.tournament, "ruleset": chosen}
    return {
        **as_texts(fields),
        "start": _local(current.fields),
        "qualification": "" if lowest is None else str(lowest["promoted"]),
        **as_texts(tournament, IN_TOURNAMENTS),
    }


def _local(fields: Mapping[str, Any]) -> str:
    """Return the start of a league in its zone, as browsers take it."""
    start = datetime.fromisoformat(fields["start"]).astimezone(zone_of(fields.get("zone", "UTC")))
    return start.replace(tzinfo=None).isoformat()


def _context(visit: Visit) -> dict[str, object]:
    current = _current(visit)
    action = f"{league_url(current.name)}/desk/change" if current else NEW
    offered = files.offered(visit.web.storage, current.ruleset if current else None)
    own, tournaments = _of_league(current), _of_tournaments(current)
    drawn = draw_fields(
        *(visit, [*own, *tournaments], action, ""),
        values=_texts(current, offered.chosen) if current else EXAMPLE,
        choices={f"{IN_TOURNAMENTS}ruleset": offered.choices},
    )
    league = grouped((LEAGUE, DIVISION_FIELDS), own, drawn.fields)
    played, *rest = grouped((PLAYED, LIMITS, RESULT), tournaments, drawn.fields)
    file = write_toml(current.fields) if current else EXAMPLE_FILE
    return {
        "current": current,
        "action": action,
        "rows": _rows(visit, current, action),
        "groups": [*league, replace(played, title="What is played in all divisions"), *rest],
        "file": visit.sent.at(action).get("file", file),
        "tab": "file" if visit.sent["tab"] == "file" else "form",
        "preview": None,
        "written": "",
    }


def _fields_sent(visit: Visit, current: LeagueFields | None) -> dict[str, Any]:
    """Return the league that was sent, in the form or in the file. Raise SpecError."""
    if visit.sent["tab"] == "file":
        return read_toml(visit.sent["file"])
    own = read_form(visit.sent, _of_league(current))
    before = current.fields if current else {}
    divisions = {division["name"]: division for division in before.get("divisions", ())}
    own["divisions"] = [*_divisions(_row_texts(visit, current, visit.sent.action), divisions)]
    if "qualification" in own:
        others = {
            name: value for name, value in (before.get("qualification") or {}).items() if name != "promoted"
        }
        own["qualification"] = {"promoted": own["qualification"], **others}
    return {**own, "tournament": _tournament(visit, current)}


@dataclass(frozen=True, slots=True)
class DivisionRow:
    """A division as the form has it."""

    number: int
    """From 1, the highest; part of the names of its fields."""
    name: str
    size: str
    promoted: str
    relegated: str
    """As many as are promoted to it from below; empty if nobody is."""


def _row_texts(visit: Visit, current: LeagueFields | None, action: str) -> list[Sequence[str]]:
    """Return name, places and promoted of each division as typed, or as it is."""
    sent = visit.sent.at(action)
    if any(name.startswith(IN_DIVISION) for name in sent.texts):
        rows = [
            tuple(sent[f"{IN_DIVISION}{number}.{field}"].strip() for field in ROW)
            for number in range(1, MOST_DIVISIONS + 1)
        ]
        return [row for row in rows if any(row)]
    divisions = current.fields["divisions"] if current else EXAMPLE_DIVISIONS
    return [tuple(str(division.get(field, "")) for field in ROW) for division in divisions]


def _rows(visit: Visit, current: LeagueFields | None, action: str) -> list[DivisionRow]:
    """Return the divisions in the form, and two empty rows for more."""
    texts = _row_texts(visit, current, action)
    lowest = current.fields.get("qualification") if current else None
    below = visit.sent["qualification"] or (str(lowest["promoted"]) if lowest else "")
    relegated = [*(promoted for _, _, promoted in texts[1:]), below]
    empty = ("", "", "")
    rows = [*zip(texts, relegated, strict=False), (empty, ""), (empty, "")][:MOST_DIVISIONS]
    return [
        DivisionRow(number, name, size, promoted, out)
        for number, ((name, size, promoted), out) in enumerate(rows, start=1)
    ]


def _divisions(
    rows: Sequence[Sequence[str]], before: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the divisions in these rows; those that were there keep their own tournament fields."""
    for name, *numbers in rows:
        division: dict[str, Any] = {"name": name}
        for field, number in zip(ROW[1:], numbers, strict=True):
            if number:
                division[field] = int(number) if is_number(number) else number
        own = before.get(name, {}).get("tournament")
        yield {**division, **({"tournament": own} if own else {})}


def _tournament(visit: Visit, current: LeagueFields | None) -> dict[str, Any]:
    """Return the fields for all tournaments: those that are no defaults, or were given before."""
    parameters = _of_tournaments(current)
    defaults = {parameter.name.removeprefix(IN_TOURNAMENTS): parameter.default for parameter in parameters}
    before = current.tournament if current else {}
    fields = read_form(visit.sent, parameters, IN_TOURNAMENTS)
    files.put_ruleset(visit.web.storage, fields, current.ruleset if current else None)
    unchanged = {name: before[name] for name in ("entries",) if name in before}
    return {
        **unchanged,
        **{name: value for name, value in fields.items() if name in before or value != defaults[name]},
    }


@dataclass(frozen=True, slots=True)
class Previewed:
    """What would change about a league, and its file."""

    changes: Changes
    file: str
    calendar: Sequence[tuple[int, datetime]]
    """The next seasons, with their numbers and starts in the league's zone."""


STEPS: Mapping[str, Operation[..., Changes]] = {
    "preview": leagues.preview_league,
    "apply": leagues.apply_league,
}


def _make(visit: Visit) -> Changes | Previewed:
    """Make or change a league, or return what that would change."""
    current = _current(visit)
    fields = _fields_sent(visit, current)
    name = current.name if current else fields.get("name")
    if not isinstance(name, str):
        raise SpecError("name", "is missing")
    if current is None:
        _require_new(visit, name)
    step, spec = visit.choose(STEPS), make_league({"name": name, **fields})
    made = visit.do(step, league=name, spec=spec)
    if made.applied:
        return made
    return Previewed(made, write_toml({"name": name, **fields}), _calendar(visit, spec, current))


def _calendar(visit: Visit, spec: LeagueSpec, current: LeagueFields | None) -> Sequence[tuple[int, datetime]]:
    before = current.seasons if current else 0
    left = SEASONS if spec.seasons is None else min(SEASONS, spec.seasons - before)
    return [*enumerate(spec.first_starts(visit.context.now, left), start=before + 1)]


def _require_new(visit: Visit, name: str) -> None:
    try:
        with visit.web.storage.read() as tx:
            find_league(tx, name)
    except UnknownError:
        return
    raise TakenError(f"league {name} already exists")


def _forms(path: str) -> Forms:
    """Return the form at a path, which makes or changes a league, or shows a preview."""
    forms = Forms(router, path, "leaguing.html", _context)

    def lead(visit: Visit, made: Changes | Previewed) -> Response:
        if isinstance(made, Previewed):
            return forms.show(visit, preview=made.changes, written=made.file, calendar=made.calendar)
        return RedirectResponse(f"{league_url(made.league)}/desk", SEE_OTHER)

    forms.add_other(path, KeyScope.TOURNAMENTS, _make, lead)
    return forms


new, change = _forms(NEW), _forms(CHANGE)


@router.get(NEW)
def show_new(visit: Organising) -> HTMLResponse:
    """Show the form for a new league."""
    return new.show(visit)


@router.get(CHANGE)
def show_change(visit: Organising) -> HTMLResponse:
    """Show the form that changes a league from its next season on."""
    return change.show(visit)


def _desk_context(visit: Visit) -> dict[str, object]:
    name = visit.request.path_params["league"]
    with visit.web.storage.read() as tx:
        league = organised(tx, visit.actor, find_league, name, "run league")
        members = [(member.name, member.joined_at) for member in active_members(tx, league)]
        next_at, problem = league.next_at, league.problem
    entered = admission.list_entries(visit.web.storage, visit.actor, find_league, name)
    at = f"{DESK}/members"
    return {
        "name": name,
        "entries": entered,
        "next_at": next_at,
        "problem": problem,
        "now": visit.context.now,
        "members": [
            (bot, joined_at, draw(visit, leagues.leave_league, f"{at}/remove", "Remove", fixed={"bot": bot}))
            for bot, joined_at in members
        ],
        "add": draw(visit, leagues.join_league, at, "Add"),
        "invite": draw(visit, leagues.invite_members, f"{DESK}/invitations", "Invite"),
        "uninvite": [
            draw(visit, leagues.uninvite_member, f"{DESK}/invitations/take-back", "Take back", fixed=hidden)
            for invitation in entered.invitations
            for hidden in [{"invited": invitation.invited}]
        ],
    }


desk = Forms(router, DESK, "league_desk.html", _desk_context)


@router.get(DESK)
def show_desk(visit: Organising) -> HTMLResponse:
    """Show the members of a league, who is invited, and who asks to join."""
    return desk.show(visit)


DECISIONS: Mapping[str, Operation[..., Any]] = {
    "approve": leagues.approve_member,
    "decline": leagues.decline_member,
}

desk.add(f"{DESK}/invitations", leagues.invite_members, f"{DESK}#invited")
desk.add(f"{DESK}/invitations/take-back", leagues.uninvite_member, f"{DESK}#invited")
desk.add(f"{DESK}/members", leagues.join_league, f"{DESK}#members")
desk.add(f"{DESK}/members/remove", leagues.leave_league, f"{DESK}#members")
desk.add_other(
    f"{DESK}/requests",
    KeyScope.TOURNAMENTS,
    lambda visit: visit.do(visit.choose(DECISIONS)),
    f"{DESK}#requests",
)
