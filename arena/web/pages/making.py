"""The pages on which tournaments are made and changed: a form or a file, and a preview of either."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import KeyScope, Role
from arena.core.specs import GROUPS, START, TournamentChanges, TournamentSpec, make_changes, make_spec
from arena.jsonvalues import to_json
from arena.operations import tournaments
from arena.operations.operation import Operation, Parameter
from arena.operations.tournaments import Changed
from arena.play.rounds.preview import Preview
from arena.tournaments import changing
from arena.tournaments.steering import require_own
from arena.web.pages import files
from arena.web.pages.drawing import draw_fields, form_field
from arena.web.pages.files import (
    as_texts,
    grouped,
    parameters_of,
    read_form,
    read_toml,
    write_toml,
)
from arena.web.pages.forms import Forms, Organising, Visit
from arena.web.pages.links import desk_url
from arena.web.pages.page import SEE_OTHER
from arena.web.pages.routing import page_router
from referee.reading.docstrings import FormField
from referee.ruleset import load_ruleset, preset_names

router = page_router()

NEW = "/desk"
CHANGE = "/tournaments/{tournament}/desk/change"

EXAMPLE: Mapping[str, Any] = {
    "format": "swiss",
    "ruleset": "chinese",
    "rounds": 5,
    "sessions": 8,
    "deals": 6,
}
"""What is in the form of a new tournament at first."""

ZONE = Parameter(
    files.ZONE,
    Annotated[str, FormField(START, "Time zone of the start")],
    "UTC",
    "As `Europe/Berlin`; yours, unless you change it.",
)
"""The zone in which the form has the start."""

DEFAULTS: Mapping[str, Any] = to_json(
    {
        name: field.get_default(call_default_factory=True)
        for name, field in TournamentSpec.model_fields.items()
        if not field.is_required()
    }
)
"""The values of fields that are not sent."""

EXAMPLE_FILE = """\
name = "cup"
format = "swiss"
ruleset = "chinese"
rounds = 5
sessions = 8                    # of each match: the seats are changed from one to the next
deals = 6                       # of each session
entrants = []                   # bots, as "ann/greedy"; others can enter until it is locked or starts
"""


def _current(visit: Visit) -> TournamentSpec | None:
    """Return the tournament that is to be changed, with its ruleset by name if it is a preset."""
    name = visit.request.path_params.get("tournament")
    if name is None:
        return None
    require_own(visit.web.storage, visit.actor, name, f"change {name}")
    spec = changing.spec_of(visit.web.storage, name)
    hash = load_ruleset(spec.ruleset).hash
    preset = next((preset for preset in preset_names() if load_ruleset(preset).hash == hash), None)
    return spec.model_copy(update={"ruleset": preset or spec.ruleset})


def _file_of(spec: TournamentSpec | TournamentChanges) -> str:
    """Return the file of a tournament: its fields that differ from their defaults."""
    forms = {parameter.name: form_field(parameter) for parameter in parameters_of(TournamentSpec)}
    order = sorted(forms, key=lambda name: (GROUPS.index(forms[name].group), forms[name].rare))
    values = to_json(dict(spec))
    return write_toml({name: values[name] for name in order if values[name] != DEFAULTS.get(name)})


def _parameters(current: TournamentSpec | None) -> list[Parameter]:
    settled = tuple(changing.SETTLED) if current else ()
    return [*parameters_of(TournamentSpec, without=settled), ZONE, files.file_parameter()]


def _context(visit: Visit) -> dict[str, object]:
    current = _current(visit)
    action = CHANGE.format(tournament=quote(current.name)) if current else NEW
    offered = files.offered(visit.web.storage, current.ruleset if current else None)
    initial = {**dict(current), "ruleset": offered.chosen} if current else EXAMPLE
    parameters = _parameters(current)
    choices = {"ruleset": offered.choices}
    drawn = draw_fields(visit, parameters, action, "", values=as_texts(initial), choices=choices)
    return {
        "current": current,
        "action": action,
        "groups": grouped(GROUPS, parameters, drawn.fields),
        "file": visit.sent.at(action).get("file", _file_of(current) if current else EXAMPLE_FILE),
        "tab": "file" if visit.sent["tab"] == "file" else "form",
        "preview": None,
        "written": "",
    }


def _fields_sent(visit: Visit, current: TournamentSpec | None) -> dict[str, Any]:
    """Return the fields that were sent, in the form or in the file. Raise SpecError."""
    if visit.sent["tab"] == "file":
        fields = read_toml(visit.sent["file"])
    else:
        fields = read_form(visit.sent, _parameters(current))
        fields.pop(files.ZONE, None)
        files.put_ruleset(visit.web.storage, fields, current.ruleset if current else None)
    if current is None:
        return fields
    defaults = {name: value for name, value in DEFAULTS.items() if name not in changing.SETTLED}
    return {**defaults, "ruleset": current.ruleset, **fields}


@dataclass(frozen=True, slots=True)
class Previewed:
    """A tournament as it would be, and its file."""

    preview: Preview
    file: str
    start_at: datetime | None


NEW_STEPS: Mapping[str, Operation[..., Any]] = {
    "preview": tournaments.preview_tournament,
    "create": tournaments.create_tournament,
}
CHANGE_STEPS: Mapping[str, Operation[..., Any]] = {
    "preview": tournaments.preview_change,
    "change": tournaments.change_tournament,
}


def _make(visit: Visit) -> Changed | Previewed:
    """Make or change a tournament, or return what it would be like."""
    current = _current(visit)
    fields = _fields_sent(visit, current)
    made: Changed | Preview
    spec: TournamentSpec | TournamentChanges
    if current is None:
        spec = make_spec(fields)
        made = visit.do(visit.choose(NEW_STEPS), spec=spec)
    else:
        spec = make_changes({"name": current.name, **fields})
        made = visit.do(visit.choose(CHANGE_STEPS), changes=spec)
    return Previewed(made, _file_of(spec), spec.start_at) if isinstance(made, Preview) else made


def _forms(path: str) -> Forms:
    """Return the form at a path, which makes or changes a tournament, or shows a preview."""
    forms = Forms(router, path, "making.html", _context)

    def lead(visit: Visit, made: Changed | Previewed) -> Response:
        if isinstance(made, Previewed):
            return forms.show(visit, preview=made.preview, written=made.file, start_at=made.start_at)
        return RedirectResponse(desk_url(made.tournament), SEE_OTHER)

    forms.add_other(path, KeyScope.TOURNAMENTS, _make, lead)
    return forms


new, change = _forms(NEW), _forms(CHANGE)


@router.get(NEW)
def show_new(visit: Organising) -> HTMLResponse:
    """Show the form for a new tournament."""
    visit.actor.require(Role.ORGANISER, "run tournaments")
    return new.show(visit)


@router.get(CHANGE)
def show_change(visit: Organising) -> HTMLResponse:
    """Show the form that changes a tournament before it is locked or started."""
    return change.show(visit)
