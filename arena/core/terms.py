"""The terms of a tournament: each field is defined once, for files, options, the database and exports."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.deals.forfeit import OnForfeit
from referee.docstrings import field_docstrings, tell_fields
from referee.matches.match import MAX_SESSIONS
from referee.ruleset.limits import MAX_DEALS

BEACON = r"^[ -~]+$"
"""A beacon: printable ASCII."""

BEACON_FORM = r"^(hex|digits):[1-9][0-9]{0,2}$"
"""The form of a beacon's value: which signs it has, and how many."""

_SIGNS = {"hex": ("[0-9a-f]", "hexadecimal digits in lower case"), "digits": ("[0-9]", "decimal digits")}


def is_in_form(value: str, form: str) -> bool:
    """Return whether a beacon's value is spelled as its form says, in the one way that there is."""
    signs, _, count = form.partition(":")
    return re.fullmatch(f"{_SIGNS[signs][0]}{{{count}}}", value) is not None


def form_text(form: str) -> str:
    """Return the form of a beacon's value in words."""
    signs, _, count = form.partition(":")
    return f"{count} {_SIGNS[signs][1]} and nothing else"


LEAST_RATED_MS = 100
"""The least ``decision_ms`` of a rated tournament: no organiser can make anybody's bots lose by distance."""


class Limits(BaseModel):
    """The limits for bots in a session."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    decision_ms: int = Field(default=1000, ge=1, le=3_600_000)
    """Milliseconds allowed for a decision; at least 100 in a rated tournament, as its organiser may enter
    any bot."""
    join_seconds: int = Field(default=30, ge=1, le=3_600)
    """Seconds to wait for absent bots when a match starts."""
    faults: int = Field(default=10, ge=1, le=1_000_000)
    """Number of faults at which a bot forfeits the session."""
    on_forfeit: OnForfeit = "default_action"
    """What happens to a session when one of its bots forfeits it. ``default_action``: it goes on, and the
    default action is taken for the bot. ``stand_in``: it goes on, and the weakest legal play is made for it.
    ``end_session``: it ends."""
    bank_ms: int = Field(default=0, ge=0, le=86_400_000)
    """Milliseconds of thinking time for all of a seat's decisions in a session; 0 means no bank."""
    increment_ms: int = Field(default=0, ge=0, le=3_600_000)
    """Milliseconds added to the bank after each decision."""
    credit_ms: int = Field(default=100, ge=0, le=60_000)
    """Maximum milliseconds credited to a decision for network delay."""
    ask_forced: bool = False
    """Whether bots are asked even if they have no choice."""
    match_seconds: int = Field(default=0, ge=0, le=604_800)
    """Seconds allowed for a match, including the wait for absent bots, so more than ``join_seconds``. After
    that, the bot that has thought longest in it forfeits the unfinished sessions; 0 means no limit."""
    min_sessions: int = Field(default=1, ge=1, le=256)
    """Concurrent sessions that a bot must accept at the referee of its match; one that accepts fewer is
    refused when it enters, and counts as absent later."""


class Plan(BaseModel):
    """How much is played, and how."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    rounds: int | None = Field(default=None, ge=1, le=10_000)
    """Rounds; by default as many as the format needs. Required for Swiss, and for a round-robin of more than
    400 entrants; not allowed for a knockout."""
    sessions: int = Field(default=4, ge=1, le=MAX_SESSIONS)
    """Sessions in a match."""
    deals: int | None = Field(default=None, ge=1, le=MAX_DEALS)
    """Deals in a session; by default as many as the ruleset says."""
    duplicate: bool = False
    """Whether all tables of a round play the same deals. Unless the dealer rotates and no cards are
    exchanged, a session is then one deal: leave ``deals`` out, and set ``sessions``."""
    rated: bool = True
    """Whether it changes ratings."""
    allow_same_owner: bool = False
    """Whether two bots of one owner may sit at the same table."""
    options: dict[str, object] = Field(default_factory=dict)
    """Options of the format."""


class Entry(BaseModel):
    """What is required before a tournament starts."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    require_check: bool = False
    """Whether every entrant must have passed ``arena bot check``."""
    beacon: str | None = Field(default=None, max_length=200, pattern=BEACON)
    """A public value that nobody can know in advance, named by its source and time, as
    ``drand round 4829341``: it is mixed into the seed when the tournament starts. By default the organiser
    alone draws the seed."""
    beacon_form: str = Field(default="hex:64", pattern=BEACON_FORM)
    """How the beacon's value is spelled: ``hex:N``, exactly N hexadecimal digits in lower case, or
    ``digits:N``, exactly N decimal digits; nothing else is in it."""


class Discretion(BaseModel):
    """Settings for the organiser's decisions during and after a tournament; they are not part of the head."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    entries: Literal["open", "invited", "approved"] = "open"
    """Who may enter bots once it is created. ``open``: every author. ``invited``: those whom the organiser
    has invited. ``approved``: these too, and others may ask, and play if the organiser approves. The
    organiser may enter any bot."""
    owner_limit: int | None = Field(default=None, ge=1, le=10_000)
    """Maximum number of bots of one owner; by default as many as the format allows."""
    confirm: bool = False
    """Whether its results are provisional until the organiser confirms them."""


class Terms(Limits, Plan, Entry, Discretion):
    """Everything that can be set for a tournament except ruleset, entrants and format."""


def described(model: type[BaseModel], field: str) -> str:
    """Return the description of a model's field as a paragraph."""
    text = model.model_fields[field].description or field_docstrings(model).get(field, "")
    return " ".join(text.replace("``", "`").split())
