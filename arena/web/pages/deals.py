"""The pages of a deal: step by step, each step with an address; and at all tables of a duplicate round."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from arena.actors import Actor
from arena.bots.estimates import Costly, Estimate, Place, estimates_of
from arena.core.pairing import owner_of
from arena.errors import SpecError, UnknownError
from arena.operations import results
from arena.queries.deals import AtTable, DealInSession, SameDeal, deal_in_session, same_deal
from arena.queries.luck import deal_luck
from arena.queries.replays.make import make_replay
from arena.queries.replays.moments import around, moments, steps_of_actions
from arena.queries.replays.steps import Replay, Step, Words
from arena.queries.replays.table import (
    after_trick,
    plays_in,
    replay_data,
    slowest,
    table_at,
    tricks_of,
    words_for,
)
from arena.queries.scoreboard import criteria_of
from arena.tournaments import overview
from arena.web.context import Shared, Web
from arena.web.pages.figures import signed
from arena.web.pages.forms import Forms, Visit
from arena.web.pages.links import deal_url, match_url, together_url, with_query
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.rendering import fill, statics
from arena.web.pages.routing import page_router
from referee.reading.names import is_number

STYLES = ("look.css", "offline.css", "cards.css", "replay.css")
SCRIPTS = ("table.js", "replay.js")
"""The JavaScript modules, each after those that it imports."""

_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_REMARK = re.compile(r"^(//.*|/\*.*\*/)\n", re.MULTILINE)
"""A comment line."""
_NOTHING = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return _within(STYLES)


def _within(names: tuple[str, ...]) -> str:
    """Return the concatenated files, without indentation and comments."""
    text = "".join([statics().contents[name].decode() for name in names])
    return _REMARK.sub("", _INDENT.sub("", text))


@cache
def _script() -> str:
    """Return the modules as one, which requires that they share no top-level name."""
    return _EXPORT.sub("", _IMPORT.sub("", _within(SCRIPTS)))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def offline_file(values: Mapping[str, Any]) -> str:
    """Return the file of a deal from the values of its page's template.

    Its policy lets a browser load and run nothing but its own contents.
    """
    style, script = _style(), _script()
    policy = f"{_NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    ours: dict[str, Any] = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 (files of this package)
    return fill("offline.html", "", policy=policy, **ours, **values)


router = page_router()

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

DEAL = "/matches/{tournament}/{round}/{table}/{session:int}/{deal:int}"

Spoilers = Literal["on", "off"]

KEPT = 128
"""How many replays are cached, since whoever looks at one step looks at others."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a deal that is shown; its links lead to the same with one thing changed."""

    step: int = 0
    viewer: int | None = None
    """The seat whose view it is; None if all hands are open."""
    spoilers: Spoilers = "on"

    @property
    def url(self) -> str:
        """Return the address, relative to the deal's."""
        view = "open" if self.viewer is None else self.viewer
        return f"?step={self.step}&view={view}{'&spoilers=off' if self.spoilers == 'off' else ''}"

    def step_url(self, step: int) -> str:
        """Return the address of another step."""
        return replace(self, step=step).url

    def seat_url(self, seat: int | None) -> str:
        """Return the address of a seat's view; with None, of the view with all hands open."""
        return replace(self, viewer=seat).url

    @property
    def spoilers_url(self) -> str:
        """Return the address at which later steps are hidden, or shown again."""
        return replace(self, spoilers="on" if self.spoilers == "off" else "off").url

    def caption(self, step: Step) -> Words:
        """Return what happened in a step, as far as the viewer may know."""
        return words_for(step, self.viewer)


@dataclass(frozen=True, slots=True)
class Urls:
    """The links of a deal's page."""

    record: str
    file: str
    name: str
    """The name of files made from the deal, without an extension."""
    before: str | None
    """The previous deal of the session."""
    after: str | None
    session_before: str | None
    """The first deal of the previous session."""
    session_after: str | None
    together: str | None
    """The same deal at all tables of a duplicate round."""


def _urls(deal: DealInSession) -> Urls:
    record: Mapping[str, Any] = deal.record
    place = (record["tournament"], record["round"], record["table"], record["session"])
    number = record["deal"]
    here = deal_url(*place, number)
    match = f"{match_url(*place[:3])}/sessions/{place[3]}"

    def session_url(number: int) -> str | None:
        return deal_url(*place[:3], number, 1) if number in deal.sessions else None

    return Urls(
        record=f"/api/v1{match}/deals/{number}",
        file=f"{here}/replay.html",
        name="-".join(map(str, (*place, number))),
        before=deal_url(*place, number - 1) if number > 1 else None,
        after=deal_url(*place, number + 1) if number < deal.deals else None,
        session_before=session_url(place[3] - 1),
        session_after=session_url(place[3] + 1),
        together=together_url(*place[:2], place[3], number) if deal.shared else None,
    )


@lru_cache(KEPT)
def _replay(record: str) -> Replay:
    return make_replay(json.loads(record))


def replay_of(record: Mapping[str, Any]) -> Replay:
    """Return the deal of a record, step by step."""
    return _replay(json.dumps(record))


def _check(view: Shown, replay: Replay) -> None:
    """Raise SpecError for a step or a seat that does not exist."""
    if view.step > replay.last:
        raise SpecError("step", f"must be a whole number from 0 to {replay.last}, not {view.step}")
    if view.viewer is not None and view.viewer >= len(replay.seats):
        last = len(replay.seats) - 1
        raise SpecError("view", f"must be open, or a seat from 0 to {last}, not {view.viewer}")


@dataclass(frozen=True, slots=True)
class CostShown:
    """A decision that cost points, by an estimate."""

    step: int
    decision: Costly


def _costs(replay: Replay, estimates: Sequence[Estimate]) -> Mapping[int, Sequence[CostShown]]:
    """Return by seat what was estimated to have cost points, the costliest first."""
    steps = steps_of_actions(replay)
    return {
        estimate.seat: [CostShown(steps[costly.turn - 1], costly) for costly in estimate.costly]
        for estimate in estimates
    }


def deal_values(deal: DealInSession, view: Shown, estimates: Sequence[Estimate] = ()) -> dict[str, Any]:
    """Return the values for a deal's template. Raise SpecError for a step or a seat out of range."""
    replay = replay_of(deal.record)
    _check(view, replay)
    costs = _costs(replay, estimates)
    captions = {
        cost.step: f"{signed(-cost.decision.cost, 1)}: {replay.short[seat]}"
        for seat, costly in costs.items()
        for cost in costly
    }
    return {
        "replay": replay,
        "shown": view,
        "now": table_at(replay, view.step, view.viewer),
        "tricks": around(replay, view.step),
        "moments": moments(replay, captions),
        "estimates": estimates,
        "costs": costs,
        "left": (),
        "luck": None,
        "data": replay_data(replay),
        "slowest": slowest(replay),
        "urls": _urls(deal),
    }


@router.get(DEAL)
def deal(
    page: Page,
    web: Shared,
    tournament: str,
    round: Number,
    table: Number,
    session: Number,
    deal: Number,
    step: Annotated[int, Query(ge=0)] = 0,
    view: Annotated[str, Query(pattern="^(open|[0-7])$")] = "open",
    spoilers: Spoilers = "on",
) -> HTMLResponse:
    """Return the page of a deal at one of its steps."""
    place = Place(tournament, round, table, session, deal)
    position = Shown(step, None if view == "open" else int(view), spoilers)
    return page("deal.html", **_values(web, page.actor, place, position))


def _values(web: Web, actor: Actor, place: Place, position: Shown) -> dict[str, Any]:
    deal = deal_in_session(web.storage, *place)
    values = deal_values(deal, position, estimates_of(web.storage, place))
    left = _left(values, actor) if actor.account_id is not None else ()
    format = overview.status(web.storage, place.tournament).format
    return {
        **values,
        "place": place,
        "left": left,
        "luck": deal_luck(web.storage, *place),
        "format": format,
        "decisive": criteria_of(format),
    }


def _left(values: Mapping[str, Any], actor: Actor) -> Sequence[tuple[int, str]]:
    """Return the seats without an estimate with their bots, the reader's own first."""
    replay: Replay = values["replay"]
    seats = [*enumerate(replay.short)]
    return sorted(
        [seat for seat in seats if seat[0] not in values["costs"]],
        key=lambda seat: owner_of(replay.seats[seat[0]]) not in actor.owners,
    )


PLAIN = "/matches/{tournament}/{round}/{table}/{session}/{deal}"


def _place_of(visit: Visit) -> Place:
    tournament, *numbers = visit.request.path_params.values()
    if not all(map(is_number, numbers)):
        raise UnknownError("no such deal")
    return Place(tournament, *map(int, numbers))


asking = Forms(
    *(router, PLAIN, "deal.html"),
    lambda visit: _values(visit.web, visit.actor, _place_of(visit), _position_of(visit)),
)


def _position_of(visit: Visit) -> Shown:
    """Return what was shown when the form was sent; the first step if that is not clear."""
    step, view, spoilers = (visit.sent[name] for name in ("step", "view", "spoilers"))
    return Shown(
        int(step) if is_number(step) else 0,
        int(view) if view in [*"01234567"] else None,
        "off" if spoilers == "off" else "on",
    )


def _lead_back(visit: Visit, _: object) -> Response:
    """Lead back to what was shown of the deal."""
    position = _position_of(visit)
    query = {
        "step": position.step or None,
        "view": position.viewer,
        "spoilers": None if position.spoilers == "on" else "off",
    }
    return RedirectResponse(f"{with_query(deal_url(*_place_of(visit)), query)}#costs", SEE_OTHER)


asking.add(f"{PLAIN}/estimate", results.ask_for_estimate, _lead_back)


@router.get(f"{DEAL}/replay.html")
def deal_file(
    web: Shared, tournament: str, round: Number, table: Number, session: Number, deal: Number
) -> Response:
    """Return a deal as one file that needs nothing else."""
    record = deal_in_session(web.storage, tournament, round, table, session, deal)
    name = quote(f"{_urls(record).name}.html")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return HTMLResponse(offline_file(deal_values(record, Shown())), headers=headers)


MOST = 12
"""Number of tables on a page."""
LISTED = 200
"""Number of tables whose results are on a page, those of the page among them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table as it is drawn."""

    at: AtTable
    replay: Replay
    step: Step
    """The last step of the trick."""
    plays: tuple[Step, ...]
    """The plays of the trick."""
    is_over: bool
    """Whether the deal was over with it."""


@dataclass(frozen=True, slots=True)
class TableUrls:
    """The links of the page."""

    before: str | None
    after: str | None
    tables: Sequence[tuple[int, str]]
    """The first table of each page of tables, with its address; empty if one page has all."""


def _table_urls(deal: SameDeal) -> TableUrls:
    place = (deal.tournament, deal.round, deal.session)
    here = together_url(*place, deal.deal)
    firsts = [table.table for table in deal.tables[::MOST]]
    return TableUrls(
        before=_beside(deal, -1),
        after=_beside(deal, 1),
        tables=[(first, f"{here}?first={first}") for first in firsts] if len(firsts) > 1 else (),
    )


def _beside(shared: SameDeal, way: int) -> str | None:
    """Return the address of the next deal, or for -1 of the one before; None if there is none.

    What comes before the first deal of a session is the first of the session before it, whose last is not
    known here.
    """
    place, deal = (shared.tournament, shared.round), shared.deal + way
    if 1 <= deal <= shared.deals:
        return together_url(*place, shared.session, deal)
    at = shared.sessions.index(shared.session) + way
    return together_url(*place, shared.sessions[at], 1) if 0 <= at < len(shared.sessions) else None


@router.get("/tournaments/{tournament}/rounds/{round}/sessions/{session}/deals/{deal}")
def deal_at_all_tables(
    page: Page,
    web: Shared,
    tournament: str,
    round: Number,
    session: Number,
    deal: Number,
    trick: Annotated[int | None, Query(ge=0)] = None,
    first: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    spoilers: Spoilers = "on",
) -> HTMLResponse:
    """Return the page of a deal at all tables after a trick, by default at the beginning."""
    shared = same_deal(web.storage, tournament, round, session, deal, first, MOST)
    replays = [(table, replay_of(table.record)) for table in shared.tables if table.record is not None]
    last = max((tricks_of(replay) for _, replay in replays), default=0)
    if trick is not None and trick > last:
        raise SpecError("trick", f"must be a whole number from 0 to {last}, not {trick}")
    tricks = trick or 0
    drawn = [
        Drawn(
            table, replay, after_trick(replay, tricks), plays_in(replay, tricks), tricks >= tricks_of(replay)
        )
        for table, replay in replays
    ]
    begin = (
        next((at for at, table in enumerate(shared.tables) if table.record is not None), 0) // LISTED * LISTED
    )
    return page(
        "together.html",
        found=shared,
        results=shared.tables[begin : begin + LISTED],
        drawn=drawn,
        trick=tricks,
        last=last,
        urls=_table_urls(shared),
        spoilers=spoilers,
    )
