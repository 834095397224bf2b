"""The pages on which tournaments are made and changed: a form or a file, and a preview of either."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import KeyScope, Role
from arena.core.specs import TournamentSpec, make_spec
from arena.operations import tournaments
from arena.operations.operation import Operation, Parameter
from arena.operations.tournaments import Changed
from arena.play.rounds.preview import Preview
from arena.tournaments import changing
from arena.tournaments.steering import require_own
from arena.web.pages import rulesets
from arena.web.pages.drawing import draw_fields
from arena.web.pages.files import (
    Group,
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
from referee.ruleset import load_ruleset, preset_names

router = page_router()

NEW = "/desk"
CHANGE = "/tournaments/{tournament}/desk/change"

GROUPS = (
    Group(
        "What is played",
        ("name", "format", "ruleset", "rounds", "sessions", "deals"),
        ("ruleset_file", "duplicate", "options"),
    ),
    Group(
        "Who may enter",
        ("entrants", "entries"),
        ("owner_limit", "allow_same_owner", "require_check"),
    ),
    Group(
        "Limits",
        ("decision_ms", "bank_ms", "increment_ms"),
        (
            *("credit_ms", "match_seconds", "join_seconds", "faults"),
            *("on_forfeit", "ask_forced", "min_sessions"),
        ),
    ),
    Group("The start", ("start_at", "description"), ("beacon", "beacon_form")),
    Group("The result", ("rated", "confirm")),
)

LABELS: Mapping[str, str] = {
    rulesets.FILE: rulesets.LABEL,
    "decision_ms": "Time for a decision, in ms",
    "bank_ms": "Bank of a seat, in ms",
    "increment_ms": "Increment of the bank, in ms",
    "credit_ms": "Credit for the network, in ms",
    "match_seconds": "Time for a match, in seconds",
    "join_seconds": "Wait for absent bots, in seconds",
    "faults": "Faults until a session is forfeited",
    "on_forfeit": "After a forfeit",
    "ask_forced": "Ask without a choice, too",
    "min_sessions": "Sessions at once",
    "entries": "Entries",
    "owner_limit": "Most bots of an owner",
    "allow_same_owner": "Bots of one owner may meet",
    "require_check": "Require the check",
    "confirm": "Provisional until confirmed",
    "start_at": "Starts by itself",
    "description": "Description",
    "options": "Options of the format",
    "sessions": "Sessions in a match",
    "deals": "Deals in a session",
    "duplicate": "Duplicate: the same deals at all tables",
}

WORDS: Mapping[str, Mapping[str, str]] = {
    "format": {
        "swiss": "swiss: those with like scores meet, round by round",
        "round-robin": "round-robin: everybody meets everybody",
        "gauntlet": "gauntlet: the first of the list against all others",
        "knockout": "knockout: the best of each table go on",
        "continuous": "continuous: tables as bots become free, until it is stopped",
    },
    "entries": {
        "open": "open: every author",
        "invited": "invited: those whom you invite",
        "approved": "approved: others may ask, and you decide",
    },
    "on_forfeit": {
        "default_action": "default_action: it goes on, with default actions",
        "stand_in": "stand_in: it goes on, with the weakest legal plays",
        "end_session": "end_session: it ends",
    },
}
"""What can be chosen, in words."""

EXAMPLE: Mapping[str, Any] = {
    "format": "swiss",
    "ruleset": "chinese",
    "rounds": 5,
    "sessions": 8,
    "deals": 6,
}
"""What is in the form of a new tournament at first."""

EXAMPLE_FILE = """\
name = "cup"
format = "swiss"
ruleset = "chinese"
rounds = 5
sessions = 8                    # of each match: the seats are changed from one to the next
deals = 6                       # of each session
entrants = []                   # bots, as "ann/greedy"; others can enter until it is locked or starts
"""


@dataclass(frozen=True, slots=True)
class Known:
    """A tournament that is to be changed."""

    name: str
    fields: Mapping[str, Any]
    """All its fields but the entrants; its ruleset by name if it is a preset."""

    @property
    def file(self) -> Mapping[str, Any]:
        """The fields that differ from their defaults."""
        return written(make_spec({**self.fields, "entrants": ()}))


def _known(visit: Visit) -> Known:
    name = visit.request.path_params["tournament"]
    require_own(visit.web.storage, visit.actor, name, f"change {name}")
    fields = changing.fields_of(visit.web.storage, name)
    hash = load_ruleset(fields["ruleset"]).hash
    preset = next((one for one in preset_names() if load_ruleset(one).hash == hash), None)
    return Known(name, {**fields, "ruleset": preset or fields["ruleset"]})


def written(spec: TournamentSpec) -> Mapping[str, Any]:
    """Return the fields of a tournament that its file needs."""
    fields: Mapping[str, Any] = spec.model_dump(mode="json", exclude_defaults=True)
    order = [name for group in GROUPS for name in (*group.first, *group.more)]
    return {name: fields[name] for name in order if name in fields}


def _parameters(known: Known | None) -> list[Parameter]:
    settled = tuple(changing.SETTLED) if known else ()
    return [*parameters_of(TournamentSpec, without=settled), rulesets.file_parameter()]


def _told(visit: Visit) -> dict[str, object]:
    known = _known(visit) if visit.request.path_params else None
    action = CHANGE.format(tournament=quote(known.name)) if known else NEW
    offered = rulesets.offered(visit.web.storage, known.fields["ruleset"] if known else None)
    initial = {**known.fields, "ruleset": offered.chosen} if known else EXAMPLE
    drawn = draw_fields(
        *(visit, _parameters(known), action, ""),
        values=as_texts(initial),
        choices={**WORDS, "ruleset": offered.choices},
        labels=LABELS,
    )
    return {
        "known": known,
        "action": action,
        "groups": grouped(GROUPS, drawn.fields),
        "file": visit.sent.at(action).get("file", write_toml(known.file) if known else EXAMPLE_FILE),
        "tab": "file" if visit.sent["tab"] == "file" else "form",
        "preview": None,
        "written": "",
    }


def _asked(visit: Visit, known: Known | None) -> dict[str, Any]:
    """Return the fields that were sent, in the form or in the file. Raise SpecError."""
    if visit.sent["tab"] == "file":
        given = read_toml(visit.sent["file"])
    else:
        given = read_form(visit.sent, _parameters(known))
        rulesets.put_ruleset(visit.web.storage, given, known.fields["ruleset"] if known else None)
    if known is None:
        return given
    kept = {"name": known.name, "ruleset": known.fields["ruleset"]}
    entrants = {name: given.pop(name) for name in ("entrants",) if name in given}
    spec = make_spec({**kept, **given})
    return {**spec.model_dump(mode="json", exclude={"entrants"}), **entrants}


@dataclass(frozen=True, slots=True)
class Previewed:
    """A tournament as it would be, and its file."""

    preview: Preview
    file: str


def _make(visit: Visit) -> Changed | Previewed:
    """Make or change a tournament, or return what it would be like."""
    known = _known(visit) if visit.request.path_params else None
    fields = _asked(visit, known)
    steps: Mapping[str, Operation[..., Any]] = {
        "preview": tournaments.preview_tournament,
        "create": tournaments.create_tournament,
    }
    if known is not None:
        steps = {"preview": tournaments.preview_change, "change": tournaments.change_tournament}
    made: Changed | Preview = visit.do(visit.choose(steps), fields=fields)
    if isinstance(made, Preview):
        return Previewed(made, write_toml(written(make_spec(fields))))
    return made


def _forms(path: str) -> Forms:
    """Return the form at a path, which makes or changes a tournament, or shows a preview."""
    forms = Forms(router, path, "making.html", _told)

    def lead(visit: Visit, made: Changed | Previewed) -> Response:
        if isinstance(made, Previewed):
            return forms.show(visit, preview=made.preview, written=made.file)
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
