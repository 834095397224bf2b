"""Tournaments as specified by an organiser: each field defined once, validated, from TOML or from options."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from arena.core.formats import FORMATS
from arena.errors import SpecError
from referee.errors import FieldsWrong, Problem, RulesetError, TomlError
from referee.matches.match import LIMITS, MAX_SESSIONS, Limits
from referee.reading.docstrings import FormField, field_docstrings, tell_fields
from referee.reading.names import NAME, NAME_RULE
from referee.reading.toml import problems_in, read_toml
from referee.reading.validation import Refused, Wording, problems, short, suggestion
from referee.ruleset import load_ruleset, load_ruleset_file
from referee.ruleset.axes.session import MAX_DEALS

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


Entries = Literal["open", "invited", "approved"]
"""Who may enter bots."""

WHO_MAY_ENTER = (
    ("open", "open: every author"),
    ("invited", "invited: those whom you invite"),
    ("approved", "approved: others may ask, and you decide"),
)
"""Who may enter bots, in words."""

PLAYED, ENTERING, START, RESULT = "What is played", "Who may enter", "The start", "The result"
GROUPS = (PLAYED, ENTERING, LIMITS, START, RESULT)
"""The titles of the settings in forms, in order."""

OPTIONS = FormField(PLAYED, "Options of the format", rare=True)

LEAST_RATED: Mapping[str, int] = {"decision_ms": 100, "credit_ms": 100, "join_seconds": 10, "faults": 3}
"""What a rated tournament grants bots at least: no organiser can make them lose by distance, or by a moment's
absence."""

BANK_MS, DECISIONS, MATCH_SECONDS = 1_000, 10, 2
"""What it grants for each deal at least: milliseconds of a bank, if there is one, less the increments of so
many decisions; for each seat too, seconds of a match, if its time is limited: a deal of four has up to 65
decisions, which may take ``decision_ms`` each."""

USUAL_DEALS = 10
"""Deals of a session that goes on until a score is reached."""


class Plan(BaseModel):
    """How much is played, and how."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    rounds: Annotated[int | None, FormField(PLAYED)] = Field(default=None, ge=1, le=10_000)
    """Rounds; by default as many as the format needs. Required for Swiss, and for a round-robin of more than
    400 entrants; not allowed for a knockout."""
    sessions: Annotated[int, FormField(PLAYED, "Sessions in a match")] = Field(
        default=4, ge=1, le=MAX_SESSIONS
    )
    """Sessions in a match."""
    deals: Annotated[int | None, FormField(PLAYED, "Deals in a session")] = Field(
        default=None, ge=1, le=MAX_DEALS
    )
    """Deals in a session; by default as many as the ruleset says."""
    duplicate: Annotated[bool, FormField(PLAYED, "Duplicate: the same deals at all tables", rare=True)] = (
        False
    )
    """Whether all tables of a round play the same deals. Unless the dealer rotates and no cards are
    exchanged, a session is then one deal: leave ``deals`` out, and set ``sessions``."""
    rated: Annotated[bool, FormField(RESULT)] = True
    """Whether it changes ratings."""
    allow_same_owner: Annotated[bool, FormField(ENTERING, "Bots of one owner may meet", rare=True)] = False
    """Whether two bots of one owner may sit at the same table."""
    options: Annotated[dict[str, object], OPTIONS] = Field(default_factory=dict)
    """Options of the format."""


class Entry(BaseModel):
    """What is required before a tournament starts."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    require_check: Annotated[bool, FormField(ENTERING, "Require the check", rare=True)] = False
    """Whether every entrant must have passed ``arena bot check``, as its author reports."""
    beacon: Annotated[str | None, FormField(START, rare=True)] = Field(
        default=None, max_length=200, pattern=BEACON
    )
    """A public value that nobody can know in advance, named by its source and time, as
    ``drand round 4829341``: it is mixed into the seed when the tournament starts. By default the organiser
    alone draws the seed."""
    beacon_form: Annotated[str, FormField(START, rare=True)] = Field(default="hex:64", pattern=BEACON_FORM)
    """How the beacon's value is spelled: ``hex:N``, exactly N hexadecimal digits in lower case, or
    ``digits:N``, exactly N decimal digits; nothing else is in it."""


def _moment(given: object) -> datetime:
    try:
        moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        moment = None
    if not isinstance(moment, datetime):
        raise ValueError(f"must be a time with its zone, as 2026-12-01T18:00:00Z, not {short(given)}")
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no zone; for UTC write {moment.isoformat()}Z")
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):
        raise ValueError(f"{moment.isoformat()} is out of range") from None


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone. Raise ValueError if there is none of this name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"must be a time zone, such as Europe/Berlin, not {short(name)}") from None


def _zone(name: str) -> str:
    return zone_of(name).key


Zone: TypeAlias = Annotated[str, AfterValidator(_zone)]
"""The name of a time zone, as ``Europe/Berlin``."""

Moment: TypeAlias = Annotated[datetime, BeforeValidator(_moment)]
"""A time with its zone, in UTC."""


class Discretion(BaseModel):
    """Settings for the organiser's decisions during and after a tournament; they are not part of the head."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    entries: Annotated[Entries, FormField(ENTERING, "Entries", choices=WHO_MAY_ENTER)] = "open"
    """Who may enter bots once it is created. ``open``: every author. ``invited``: those whom the organiser
    has invited. ``approved``: these too, and others may ask, and play if the organiser approves. The
    organiser may enter any bot if it is not rated, and otherwise those that are open to it."""
    owner_limit: Annotated[int | None, FormField(ENTERING, "Most bots of an owner", rare=True)] = Field(
        default=None, ge=1, le=10_000
    )
    """Maximum number of bots of one owner; by default as many as the format allows."""
    confirm: Annotated[bool, FormField(RESULT, "Provisional until confirmed")] = False
    """Whether its results are provisional until the organiser confirms them."""
    start_at: Annotated[Moment | None, FormField(START, "Starts by itself")] = None
    """When it starts by itself, a time with its zone, as 2026-12-01T18:00:00Z; by default the organiser
    starts it. Not with a beacon."""
    description: Annotated[str, FormField(START)] = Field(default="", max_length=2000)
    """What it is about, for readers, in a few sentences."""


class TournamentFields(Limits, Plan, Entry, Discretion):
    """Everything that can be set for a tournament except ruleset, entrants and format."""

    model_config = ConfigDict(frozen=False, extra="ignore")  # rows have these fields, and change

    @property
    def limits(self) -> Limits:
        """The limits alone."""
        return Limits(**{name: getattr(self, name) for name in Limits.model_fields})


def described(model: type[BaseModel], field: str) -> str:
    """Return the description of a model's field as a paragraph."""
    text = model.model_fields[field].description or field_docstrings(model).get(field, "")
    return " ".join(text.replace("``", "`").split())


WORDING = Wording("a tournament", table="a table")


def check_name(field: str, name: object) -> str:
    """Return ``name`` if it is a valid name; raise SpecError otherwise."""
    try:
        return _name(name)
    except ValueError as error:
        raise SpecError(field, str(error)) from None


def _name(given: object) -> str:
    if not isinstance(given, str) or not NAME.fullmatch(given):
        raise ValueError(f"{short(given)} is not a name: {NAME_RULE}")
    return given


def _format(given: object) -> str:
    if not isinstance(given, str) or given not in FORMATS:
        hint = suggestion(given, list(FORMATS)) if isinstance(given, str) else ""
        raise ValueError(f"must be one of {', '.join(FORMATS)}, not {short(given)}{hint}")
    return given


def read_ruleset(given: object, folder: Path | None) -> object:
    """Return a spec's ruleset unchanged, or the fields of the file in ``folder`` that it names.

    Without a folder, as for requests over the network, no file is read. Raise RulesetError for an invalid
    file, ValueError for one that cannot be found.
    """
    if not isinstance(given, str) or not given.endswith(".toml"):
        return given
    if folder is None:
        raise ValueError(f"must be a preset's name or a table of fields, not a file: {short(given)}")
    try:
        file = folder / Path(given).expanduser()
    except RuntimeError:
        raise ValueError(f"{given}: home folder not found") from None
    return load_ruleset_file(file).to_object()


def _ruleset(given: object, info: ValidationInfo) -> object:
    ruleset = read_ruleset(given, info.context)
    if not isinstance(ruleset, str | Mapping):
        raise ValueError(f"must be a preset's name, a TOML file or a table of fields, not {short(given)}")
    try:
        load_ruleset(ruleset)
    except RulesetError as error:
        inside = "." if isinstance(ruleset, Mapping) else None
        raise Refused(
            *(problem.within(inside) if inside else Problem("", problem.reason) for problem in error.problems)
        ) from None
    return ruleset


def _distinct(entrants: tuple[str, ...]) -> tuple[str, ...]:
    name, times = next(iter(Counter(entrants).most_common(1)), ("", 0))
    if times > 1:
        raise ValueError(f"{name} is listed {times} times")
    return entrants


def _plain(options: dict[str, object]) -> dict[str, object]:
    try:
        json.dumps(options, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("may contain only text, numbers, lists and tables") from None
    return options


Name = Annotated[
    str, PlainValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{NAME.pattern}$"})
]


_FORMATS = tuple((name, f"{name}: {format.summary}") for name, format in FORMATS.items())
_SUMMARIES = "; ".join(f"``{name}``: {format.summary}" for name, format in FORMATS.items())

TournamentName = Annotated[Name, FormField(PLAYED)]

Format = Annotated[
    str,
    PlainValidator(_format),
    WithJsonSchema({"enum": list(FORMATS)}),
    FormField(PLAYED, choices=_FORMATS),
    Field(description=f"How rounds are paired. {_SUMMARIES}."),
]

RulesetGiven = Annotated[
    str | dict[str, Any],
    PlainValidator(_ruleset),
    WithJsonSchema({"type": ["string", "object"]}),
    FormField(PLAYED),
]


class Outline(BaseModel):
    """Who plays what, and in which format."""

    model_config = ConfigDict(defer_build=True, json_schema_extra=tell_fields)

    name: TournamentName
    """Its name: 1 to 39 of a-z, 0-9 and -, unique in the arena."""
    format: Format
    ruleset: RulesetGiven
    """The ruleset: a preset, a TOML file, or a ruleset's fields. It determines the table size."""
    entrants: Annotated[
        tuple[str, ...], Field(strict=False), AfterValidator(_distinct), FormField(ENTERING)
    ] = ()
    """Up to 10,000 bots in the order of seeding: ``owner/bot@version``, or ``owner/bot`` for the newest.
    Others can enter until the tournament is locked or started, which takes enough for a table."""


class _Strict(TournamentFields, Outline):
    """The fields of a tournament as they are specified: of the right types, and no others."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    options: Annotated[dict[str, object], AfterValidator(_plain), OPTIONS] = Field(default_factory=dict)
    """Options of the format."""


class TournamentChanges(_Strict):
    """Fields of a tournament that are to be changed: those that are set; the others stay."""

    name: TournamentName = Field(default_factory=str)
    format: Format = Field(default_factory=str)
    ruleset: RulesetGiven = Field(default_factory=str)


class TournamentSpec(_Strict):
    """A tournament as specified."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if wrong := [*self._contradictions()]:
            raise Refused(*wrong)
        return self

    def _contradictions(self) -> Iterator[Problem]:
        """Yield what is wrong between one field and another."""
        if 0 < self.match_seconds <= self.join_seconds:
            text = f"must be more than join_seconds ({self.join_seconds}), or 0"
            yield Problem("match_seconds", f"{text}, not {self.match_seconds}")
        elif self.rated:
            yield from self._too_little()
        if self.start_at is not None and self.beacon is not None:
            yield Problem("start_at", "whoever knows the beacon's value starts it: leave one of them out")
        if self.increment_ms and not self.bank_ms:
            yield Problem("increment_ms", "there is no bank to add it to: bank_ms is 0")

    def _too_little(self) -> Iterator[Problem]:
        """Yield what a rated tournament grants too little of."""
        ruleset = load_ruleset(self.ruleset)
        deals = self.deals or (1 if self.duplicate else ruleset.session.deals or USUAL_DEALS)
        least = {
            **LEAST_RATED,
            "bank_ms": max(LEAST_RATED["decision_ms"], (BANK_MS - DECISIONS * self.increment_ms) * deals),
            "match_seconds": self.join_seconds + MATCH_SECONDS * ruleset.players * self.sessions * deals,
        }
        for field, value in least.items():
            unlimited = field in ("bank_ms", "match_seconds") and getattr(self, field) == 0
            if getattr(self, field) < value and not unlimited:
                text = f"must be at least {value} in a rated tournament, not {getattr(self, field)}"
                yield Problem(field, f"{text} (or set rated = false)")

    def as_changes(self) -> TournamentChanges:
        """Return all fields but the entrants as changes of another tournament."""
        return TournamentChanges.model_construct(
            **{name: value for name, value in self if name != "entrants"}
        )

    def changed(self, changes: TournamentChanges) -> Self:
        """Return the tournament with these changes. Raise SpecError for what then contradicts the rest."""
        update = {name: getattr(changes, name) for name in changes.model_fields_set}
        spec = self.model_copy(update=update)
        if wrong := [*spec._contradictions()]:
            raise SpecError.of(wrong)
        return spec


Specified = TypeVar("Specified", TournamentSpec, TournamentChanges)


def make_spec(values: Mapping[str, object], folder: Path | None = None) -> TournamentSpec:
    """Return the spec with these values, and defaults for those that are missing.

    A ``ruleset`` that ends in ``.toml`` is a file, relative to ``folder``; without one it is wrong.
    Raise SpecError for all unknown, missing and wrong values, and RulesetError for a wrong ruleset file.
    """
    return _validated(TournamentSpec, values, folder)


def make_changes(values: Mapping[str, object], folder: Path | None = None) -> TournamentChanges:
    """Return the changes that set these values. Raise as ``make_spec`` does."""
    return _validated(TournamentChanges, values, folder)


def _validated(model: type[Specified], values: Mapping[str, object], folder: Path | None) -> Specified:
    try:
        return model.model_validate(dict(values), context=folder)
    except ValidationError as error:
        raise SpecError.of(problems(error, tournament_schema(), WORDING)) from None


@cache
def tournament_schema() -> dict[str, Any]:
    """Return the JSON Schema of a tournament."""
    return TournamentSpec.model_json_schema()


def load_spec(path: Path, given: Mapping[str, object] | None = None) -> TournamentSpec:
    """Return the spec in a TOML file, in which ``given`` fields replace those of the file.

    A ruleset file is relative to the file that names it, or to the current folder if it is given. Raise
    SpecError, which names each wrong field, and the file if the field is in it.
    """
    own, in_file = dict(given or {}), _in_file(path)
    try:
        return make_spec(in_file | own, Path() if "ruleset" in own else path.parent)
    except SpecError as error:
        raise located(path, own, error) from None


def _in_file(path: Path) -> dict[str, object]:
    try:
        return read_toml(path)
    except TomlError as error:
        raise SpecError(str(path), error.reason) from None


def located(path: Path, given: Mapping[str, object], error: FieldsWrong) -> SpecError:
    """Return an error about fields with their lines in the file, except for ``given`` fields."""
    own_wrong = [problem for problem in error.problems if re.split(r"[.[]", problem.field)[0] in given]
    in_file = [problem for problem in error.problems if problem not in own_wrong]
    return SpecError.of([*own_wrong, *problems_in(path, in_file)])


def entrants_asked_for(path: Path | None, given: Mapping[str, object]) -> list[str]:
    """Return the names of the entrants that are given or in a file, as far as it is readable."""
    with suppress(SpecError):
        values = (_in_file(path) if path else {}) | dict(given)
        names = values.get("entrants")
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return []
