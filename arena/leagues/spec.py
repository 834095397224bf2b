"""A league as an organiser specifies it: a validated, frozen value, from one TOML file."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from arena.core.formats import FORMATS, MOST_ENTRANTS, Setup
from arena.core.specs import (
    WHO_MAY_ENTER,
    Entries,
    Moment,
    Name,
    TournamentSpec,
    Zone,
    make_spec,
    read_ruleset,
    zone_of,
)
from arena.errors import SpecError
from arena.leagues.divisions import Level
from referee.errors import Problem, RulesetError, TomlError
from referee.reading.docstrings import FormField, tell_fields
from referee.reading.names import LONGEST_NAME, NAME
from referee.reading.toml import problems_in, read_toml
from referee.reading.validation import Path as Steps
from referee.reading.validation import Refused, Wording, path_text, problems, short
from referee.ruleset import load_ruleset

QUALIFICATION = "qualification"
"""Name of the level below the divisions, if there is one."""

MOST_SEASONS = 9_999

MOST_DIVISIONS = 100

LEAGUE, DIVISION_FIELDS = "The league", "Its divisions"
"""The titles of a league's settings in forms."""

SET_BY_LEAGUE = (
    *("name", "entrants", "allow_same_owner", "owner_limit", "confirm", "beacon", "beacon_form"),
    *("start_at", "description"),
)
"""Fields of a tournament that its league sets; its tournaments start by themselves, so without a beacon."""


def _hours(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.01 <= value <= 100_000:
        raise ValueError(f"must be a number of hours from 0.01 to 100000, not {short(value)}")
    return value


def _tournament(fields: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Return fields of a tournament, which are checked as a whole later; read a ruleset that is a file."""
    set_here = [Problem(f".{key}", "the league sets it") for key in SET_BY_LEAGUE if key in fields]
    if set_here:
        raise Refused(*set_here)
    if "ruleset" not in fields:
        return fields
    try:
        return {**fields, "ruleset": read_ruleset(fields["ruleset"], info.context)}
    except (RulesetError, ValueError) as error:
        raise Refused(Problem(".ruleset", str(error))) from None


Tournament = Annotated[dict[str, Any], AfterValidator(_tournament)]
"""Some fields of a tournament."""


class _Table(BaseModel):
    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", defer_build=True, json_schema_extra=tell_fields
    )


class Qualification(_Table):
    """The level below the divisions, for bots without a place in one."""

    promoted: int = Field(ge=1, le=MOST_ENTRANTS)
    """Bots promoted after each season, with as many relegated to make room."""
    tournament: Tournament = Field(default_factory=dict)
    """Fields of its tournaments that differ from the league's."""


class Division(_Table):
    """A level of a league."""

    name: Name
    """The division's name, unique in the league; the places in a division belong to its name."""
    size: int | None = Field(default=None, ge=2, le=MOST_ENTRANTS)
    """Number of places, at least the seats of a table. Required, except for the lowest division if there is
    no qualification: leave it out there, as that division takes everyone without a place above."""
    promoted: int = Field(default=0, ge=0, le=MOST_ENTRANTS)
    """Bots promoted after each season, with as many relegated to make room; 0 for the highest division."""
    tournament: Tournament = Field(default_factory=dict)
    """Fields of its tournaments that differ from the league's."""

    @property
    def level(self) -> Level:
        """The settings on which promotion and relegation depend."""
        return Level(self.size, self.promoted)


class LeagueSpec(_Table):
    """A league as specified."""

    name: Annotated[Name, FormField(LEAGUE)]
    """Unique in the arena; the names of its tournaments begin with it."""
    start: Annotated[Moment, FormField(LEAGUE, "First season starts")]
    """When the first season starts: a time with its offset, as ``2026-12-01T18:00:00Z``, or without one if
    ``zone`` is set."""
    zone: Annotated[Zone, FormField(LEAGUE, "Time zone")] = "UTC"
    """The time zone of the league, as ``Europe/Berlin``. If the interval is a number of whole days, all
    seasons start at the same time of day there, also when summer time begins or ends."""
    interval_hours: Annotated[
        float,
        PlainValidator(_hours),
        WithJsonSchema({"type": "number", "minimum": 0.01, "maximum": 100_000}),
        FormField(LEAGUE, "Hours from one season to the next"),
    ]
    """Hours from one start to the next, 0.01 to 100000."""
    seasons: Annotated[int | None, FormField(LEAGUE)] = Field(default=None, ge=1, le=MOST_SEASONS)
    """Number of seasons; by default unlimited."""
    versions_per_owner: Annotated[int | None, FormField(LEAGUE, "Most bots of an owner", rare=True)] = Field(
        default=None, ge=1, le=MOST_ENTRANTS
    )
    """Maximum number of bot versions of one owner in a season; by default unlimited."""
    allow_same_owner: Annotated[bool, FormField(LEAGUE, "Bots of one owner may meet", rare=True)] = False
    """Whether two bots of one owner may sit at the same table, in the tournaments of all divisions."""
    entries: Annotated[Entries, FormField(LEAGUE, choices=WHO_MAY_ENTER)] = "open"
    """Which bots may join. ``open``: everybody's. ``invited``: those that the organiser has invited, singly
    or by owner. ``approved``: these too, and others that the organiser has approved."""
    tournament: Tournament
    """Fields for the tournaments of all divisions: those of a tournament's file, except ``name``,
    ``entrants``, ``allow_same_owner``, ``owner_limit``, ``confirm``, ``beacon``, ``beacon_form``,
    ``start_at`` and ``description``. A
    ruleset file is copied into the league."""
    divisions: Annotated[tuple[Division, ...], Field(strict=False, min_length=1, max_length=MOST_DIVISIONS)]
    """The divisions, from the highest to the lowest."""
    qualification: Qualification | None = None
    """The level for bots without a place in a division; without it the lowest division takes them."""

    @model_validator(mode="before")
    @classmethod
    def _in_zone(cls, fields: Any) -> Any:
        """Return the fields with a start that has the offset of the league's zone, if it has none itself."""
        start = fields.get("start") if isinstance(fields, Mapping) else None
        try:
            local = datetime.fromisoformat(start) if isinstance(start, str) else start
            if isinstance(local, datetime) and local.tzinfo is None and "zone" in fields:
                return {**fields, "start": local.replace(tzinfo=zone_of(fields["zone"]))}
        except (ValueError, TypeError):
            pass  # each field is checked by itself
        return fields

    @property
    def levels(self) -> tuple[Division, ...]:
        """The divisions, and below them the qualification, if there is one."""
        if self.qualification is None:
            return self.divisions
        lowest = Division(
            name=QUALIFICATION,
            promoted=self.qualification.promoted,
            tournament=self.qualification.tournament,
        )
        return (*self.divisions, lowest)

    @property
    def interval(self) -> timedelta:
        """Time from one start to the next."""
        return timedelta(hours=self.interval_hours)

    def next_start(self, after: datetime) -> datetime:
        """Return the first of the times ``start``, ``start + interval``, … that lies after ``after``."""
        number = max(0, (after - self.start) // self.interval - 1)  # clocks may have changed since
        while (start := self._start(number)) <= after:
            number += 1
        return start

    def _start(self, number: int) -> datetime:
        """Return the start of the season after ``number`` intervals: in whole days, at one time of day."""
        if self.interval % timedelta(days=1):
            return self.start + number * self.interval
        return (self.start.astimezone(zone_of(self.zone)) + number * self.interval).astimezone(UTC)

    def first_starts(self, after: datetime, most: int) -> list[datetime]:
        """Return the next starts after a time, in the league's zone."""
        starts: list[datetime] = []
        while len(starts) < most:
            starts.append(self.next_start(starts[-1] if starts else after))
        return [start.astimezone(zone_of(self.zone)) for start in starts]

    @cached_property
    def tournaments(self) -> tuple[TournamentSpec, ...]:
        """What the levels play: their tournaments in the first season, before anybody has entered.

        Raise SpecError, which names each table and field that is wrong.
        """
        made, wrong = [], dict[Problem, None]()
        for at, level in enumerate(self.levels):
            own = {"name": f"{self.name}-1-{level.name}", "allow_same_owner": self.allow_same_owner}
            try:
                made.append(make_spec({**self.tournament, **level.tournament, **own}))
            except SpecError as error:
                wrong |= {_placed(problem, level, _table(self, at)): None for problem in error.problems}
        if wrong:
            raise SpecError.of([*wrong])
        return tuple(made)

    @property
    def rated(self) -> bool:
        """Whether it changes ratings in one of its levels."""
        return any(tournament.rated for tournament in self.tournaments)

    def tournament_of(self, at: int, season: int, entrants: Sequence[str]) -> TournamentSpec:
        """Return the tournament that level ``at`` plays in a season."""
        own = {"name": f"{self.name}-{season}-{self.levels[at].name}", "entrants": tuple(entrants)}
        return self.tournaments[at].model_copy(update=own)

    def to_object(self) -> dict[str, object]:
        """Return the league as a JSON object that ``make_league`` reads; absent fields have defaults."""
        fields = self.model_dump(mode="json", exclude_defaults=True, exclude={"start"})
        fields["start"] = self.start.isoformat()
        fields["allow_same_owner"] = self.allow_same_owner
        return {name: fields[name] for name in LeagueSpec.model_fields if name in fields}


def load_league(path: Path) -> LeagueSpec:
    """Return the league in a TOML file; SpecError names the file, and each table and field that is wrong."""
    try:
        return make_league(read_toml(path), path.parent)
    except TomlError as error:
        raise SpecError(str(path), error.reason) from None
    except SpecError as error:
        raise SpecError.of(problems_in(path, error.problems)) from None


def make_league(values: Mapping[str, object], folder: Path | None = None) -> LeagueSpec:
    """Return the league that these values specify; SpecError names each table and field that is wrong.

    Ruleset files are looked for in ``folder`` and become part of the league; without a folder they are wrong.
    """
    try:
        spec = LeagueSpec.model_validate(dict(values), context=folder)
    except ValidationError as error:
        wording = Wording("a league", table="a table", path=lambda path: path_text(_named(path, values)))
        by_field: dict[str, Problem] = {}
        for problem in (
            *problems(error, league_schema(), wording),
            *_shared_fields(values, folder),
            *_between_divisions(values),
        ):
            by_field.setdefault(problem.field, problem)
        raise SpecError.of([*by_field.values()]) from None
    wrong = [*dict.fromkeys([*_divisions(spec), *_tournaments(spec)])] or [*_owners(spec)]
    if wrong:
        raise SpecError.of(wrong)
    return spec


def _shared_fields(values: Mapping[str, object], folder: Path | None) -> Iterator[Problem]:
    """Yield what is wrong with the fields for all tournaments, of a league that is wrong elsewhere too.

    What is missing may be given by the divisions.
    """
    shared = values.get("tournament")
    if isinstance(shared, Mapping):
        try:
            make_spec({**shared, "name": "any", "entrants": []}, folder)
        except SpecError as error:
            missing = [field for field in ("format", "ruleset") if field not in shared]
            yield from (
                problem.within("tournament.") for problem in error.problems if problem.field not in missing
            )
        except RulesetError:
            pass  # an error in a file, which the league has reported as well


def _between_divisions(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong between divisions that are valid by themselves, of a league that is not."""
    tables, name = values.get("divisions"), values.get("name")
    if not isinstance(tables, Sequence) or not tables:
        return
    try:
        divisions = tuple([Division.model_validate(_without_tournament(table)) for table in tables])
        lowest = values.get("qualification")
        below = None if lowest is None else Qualification.model_validate(_without_tournament(lowest))
    except ValidationError:
        return
    league = name if isinstance(name, str) else ""
    yield from _divisions(LeagueSpec.model_construct(name=league, divisions=divisions, qualification=below))


def _without_tournament(table: object) -> object:
    if not isinstance(table, Mapping):
        return table
    return {key: value for key, value in table.items() if key != "tournament"}


@cache
def league_schema() -> dict[str, Any]:
    """Return the JSON Schema of a league."""
    return LeagueSpec.model_json_schema()


def _named(path: Steps, values: Mapping[str, Any]) -> Steps:
    """Return a path with a division's name, if it can be one, in place of its index."""
    match path:
        case ("divisions", int(index), *rest):
            division = values["divisions"][index]
            name = division.get("name") if isinstance(division, Mapping) else None
            if isinstance(name, str) and NAME.fullmatch(name):
                return ("divisions", name, *rest)
    return path


def _table(spec: LeagueSpec, at: int) -> str:
    return f"divisions.{spec.levels[at].name}" if at < len(spec.divisions) else QUALIFICATION


def _divisions(spec: LeagueSpec) -> Iterator[Problem]:
    """Yield what is wrong between one division and another."""
    yield from _names(spec)
    yield from _places(spec)
    for at, level in enumerate(spec.levels[:-1]):
        up, down = level.promoted, spec.levels[at + 1].promoted
        if level.size is not None and up + down > level.size:
            reason = f"{down} are promoted to {level.name} and {up} from it, but it has {level.size} places"
            yield Problem(f"{_table(spec, at + 1)}.promoted", reason)


def _names(spec: LeagueSpec) -> Iterator[Problem]:
    seen: set[str] = set()
    for division in spec.divisions:
        if division.name == QUALIFICATION:
            yield Problem(f"divisions.{division.name}.name", "is the name of the level below the divisions")
        elif division.name in seen:
            yield Problem(f"divisions.{division.name}.name", "is the name of two divisions")
        seen.add(division.name)
    for at, level in enumerate(spec.levels):
        longest = f"{spec.name}-{MOST_SEASONS}-{level.name}"
        over = len(longest) - LONGEST_NAME
        if over > 0:
            field = f"{_table(spec, at)}.name" if at < len(spec.divisions) else "name"
            reason = f"{longest} would be a tournament, and names have {LONGEST_NAME} characters"
            yield Problem(field, f"too long by {over}: {reason}")


def _places(spec: LeagueSpec) -> Iterator[Problem]:
    if "promoted" in spec.divisions[0].model_fields_set:
        yield Problem(f"{_table(spec, 0)}.promoted", "no division is above the highest one")
    for at, division in enumerate(spec.divisions):
        open_below = at == len(spec.divisions) - 1 and spec.qualification is None
        if open_below and division.size is not None:
            reason = (
                "the lowest division takes everyone without a place above: leave its size out, or add a "
                "[qualification] that takes them"
            )
            yield Problem(f"{_table(spec, at)}.size", reason)
        elif not open_below and division.size is None:
            yield Problem(f"{_table(spec, at)}.size", "is missing: how many places it has")


def _tournaments(spec: LeagueSpec) -> Iterator[Problem]:
    """Yield what is wrong with the tournaments of the divisions."""
    try:
        tournaments = spec.tournaments
    except SpecError as error:
        yield from error.problems
        return
    for at, (level, tournament) in enumerate(zip(spec.levels, tournaments, strict=True)):
        try:
            yield from _season(spec, level, _table(spec, at), tournament)
        except SpecError as error:
            yield from (_placed(problem, level, _table(spec, at)) for problem in error.problems)


def _placed(problem: Problem, level: Division, table: str) -> Problem:
    """Return a tournament's problem as one of the table that gave the field."""
    own = problem.field.partition(".")[0].partition("[")[0] in level.tournament
    return problem.within(f"{table}.tournament." if own else "tournament.")


def _season(spec: LeagueSpec, level: Division, table: str, tournament: TournamentSpec) -> Iterator[Problem]:
    players = load_ruleset(tournament.ruleset).players
    most = level.size or max(players, spec.divisions[0].size or 0)
    format = FORMATS[tournament.format]
    format.check(Setup(players, tournament.rounds, tournament.options), most)
    if format.in_batches and tournament.rounds is None:
        reason = f"is missing: a {format.name} tournament has to end before the next season"
        raise SpecError("rounds", reason)
    if level.size is not None and level.size < players:
        yield Problem(f"{table}.size", f"{level.size} are too few for a table of {players}")


def _owners(spec: LeagueSpec) -> Iterator[Problem]:
    """Yield what is wrong if bots of one owner would meet and may not."""
    if spec.allow_same_owner or spec.versions_per_owner == 1:
        return
    for level, tournament in zip(spec.levels, spec.tournaments, strict=True):
        format = FORMATS[tournament.format]
        if not format.owners_part:
            reason = (
                f"it is false, and in a {format.name}, as {level.name} plays it, bots of one owner would meet"
            )
            yield Problem("allow_same_owner", f"{reason}; set it to true, or versions_per_owner to 1")
            return
