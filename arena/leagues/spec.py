"""A league as an organiser asks for it: a validated, frozen value, from one TOML file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path

from arena.errors import SpecError
from arena.formats import FORMATS, MOST_ENTRANTS, Setup
from arena.leagues.divisions import Level
from arena.specs import LONGEST_NAME, NAME, TournamentSpec, check_name, make_spec, read_ruleset
from referee.errors import RulesetError, TomlError
from referee.ruleset import load_ruleset
from referee.toml import read_toml

QUALIFICATION = "qualification"
"""Name of the level below the divisions, where there is one."""

MOST_SEASONS = 9_999

MOST_DIVISIONS = 100


@dataclass(frozen=True, slots=True)
class Division:
    """A level of a league."""

    name: str
    """Unique in the league."""
    size: int | None = None
    """Places; None: it takes everyone who has no place above."""
    promoted: int = 0
    """How many go up after each season, and as many come down for them."""
    tournament: Mapping[str, object] = field(default_factory=dict)
    """Fields of its tournaments that are other than the league's."""

    @property
    def level(self) -> Level:
        """What counts of it in promotion and relegation."""
        return Level(self.size, self.promoted)


@dataclass(frozen=True, slots=True)
class LeagueSpec:
    """A league as it is asked for."""

    name: str
    """Unique in the arena; the names of its tournaments begin with it."""
    start: datetime
    """When the first season starts."""
    interval_hours: float
    """Hours from one start to the next."""
    tournament: Mapping[str, object]
    """Fields of the tournaments of all divisions: as in a tournament's file, but for what the league sets."""
    divisions: tuple[Division, ...]
    """From the highest to the lowest."""
    qualification: Division | None = None
    """What is played by those who have no place in a division; None: the lowest division takes them."""
    seasons: int | None = None
    """Seasons in all; None: no end."""
    versions_per_owner: int | None = None
    """How many bot versions of one owner can play; None: any number."""
    allow_same_owner: bool = False
    """Whether two bots of an owner may sit at one table; so for the tournaments of all divisions."""

    @property
    def levels(self) -> tuple[Division, ...]:
        """The divisions, and below them the qualification, if there is one."""
        return (*self.divisions, self.qualification) if self.qualification else self.divisions

    @property
    def interval(self) -> timedelta:
        """Time from one start to the next."""
        return timedelta(hours=self.interval_hours)

    def tournament_of(self, level: Division, season: int, entrants: Sequence[str]) -> TournamentSpec:
        """The tournament that a division plays in a season. SpecError for wrong fields."""
        name = f"{self.name}-{season}-{level.name}"
        set_here = {"name": name, "entrants": tuple(entrants), "allow_same_owner": self.allow_same_owner}
        return make_spec({**self.tournament, **level.tournament, **set_here})

    def to_object(self) -> dict[str, object]:
        """The league as a JSON object, which ``make_league`` reads."""
        lowest = {"divisions": [_division_object(one) for one in self.divisions]}
        if self.qualification:
            found = _division_object(self.qualification)
            del found["name"]
            lowest |= {QUALIFICATION: found}  # type: ignore[dict-item]
        limits = {"seasons": self.seasons, "versions_per_owner": self.versions_per_owner}
        return {
            "name": self.name,
            "start": self.start.isoformat(),
            "interval_hours": self.interval_hours,
            **{key: value for key, value in limits.items() if value is not None},
            "allow_same_owner": self.allow_same_owner,
            "tournament": dict(self.tournament),
            **lowest,
        }


def _division_object(division: Division) -> dict[str, object]:
    rest = {"size": division.size, "promoted": division.promoted, "tournament": dict(division.tournament)}
    return {"name": division.name} | {key: value for key, value in rest.items() if value}


def load_league(path: Path) -> LeagueSpec:
    """The league in a TOML file; SpecError names the file, the table and the field that is wrong."""
    try:
        return make_league(read_toml(path), path.parent)
    except TomlError as error:
        raise SpecError(str(path), error.reason) from None
    except SpecError as error:
        raise SpecError(f"{path}: {error.field}", error.reason) from None


def make_league(values: Mapping[str, object], folder: Path | None = None) -> LeagueSpec:
    """The league that these values make; SpecError names the table and the field that is wrong.

    Rulesets that are files are looked for in ``folder`` and become part of it.
    """
    _check_keys("", values, _FIELDS, needed=("name", "start", "interval_hours", "tournament", "divisions"))
    name = check_name("name", values["name"])
    folder = folder or Path()
    common = _tournament_fields("tournament", values["tournament"], folder)
    spec = LeagueSpec(
        name=name,
        start=_moment("start", values["start"]),
        interval_hours=_hours("interval_hours", values["interval_hours"]),
        tournament=common,
        divisions=_divisions(values["divisions"], QUALIFICATION in values, folder),
        qualification=_qualification(values.get(QUALIFICATION), folder),
        seasons=_optional("seasons", values, 1, MOST_SEASONS),
        versions_per_owner=_optional("versions_per_owner", values, 1, MOST_ENTRANTS),
        allow_same_owner=_yes_or_no("allow_same_owner", values),
    )
    _check_promotions(spec)
    for at, level in enumerate(spec.levels):
        _check_tournament(spec, level, _table(spec, at))
        _check_owners(spec, level)
    return spec


_FIELDS = (
    *("name", "start", "interval_hours", "seasons", "versions_per_owner", "allow_same_owner"),
    *("tournament", "divisions", QUALIFICATION),
)
_SET_BY_LEAGUE = ("name", "entrants", "allow_same_owner")


def _table(spec: LeagueSpec, at: int) -> str:
    return f"divisions.{spec.levels[at].name}" if at < len(spec.divisions) else QUALIFICATION


def _divisions(given: object, qualified: bool, folder: Path) -> tuple[Division, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_DIVISIONS:
        raise SpecError("divisions", f"no list of 1 to {MOST_DIVISIONS} tables [[divisions]]")
    found: list[Division] = []
    for number, values in enumerate(given, start=1):
        where = f"divisions.{number}"
        if not isinstance(values, Mapping):
            raise SpecError(where, "no table")
        name = check_name(f"{where}.name", values.get("name"))
        where = f"divisions.{name}"
        _check_keys(where, values, ("name", "size", "promoted", "tournament"), needed=())
        if name == QUALIFICATION or any(name == other.name for other in found):
            taken = "is the name of what comes below" if name == QUALIFICATION else "stands there twice"
            raise SpecError(f"{where}.name", f"{name!r} {taken}")
        lowest = number == len(given)
        if number == 1 and "promoted" in values:
            raise SpecError(f"{where}.promoted", "there is nothing above the highest division")
        if lowest and not qualified and "size" in values:
            raise SpecError(
                f"{where}.size", "the lowest division takes everyone, unless there is a [qualification]"
            )
        if (not lowest or qualified) and "size" not in values:
            raise SpecError(f"{where}.size", "missing: how many places it has")
        found.append(
            Division(
                name=name,
                size=_optional("size", values, 2, MOST_ENTRANTS, where),
                promoted=_optional("promoted", values, 0, MOST_ENTRANTS, where) or 0,
                tournament=_tournament_fields(f"{where}.tournament", values.get("tournament", {}), folder),
            )
        )
    return tuple(found)


def _qualification(given: object, folder: Path) -> Division | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise SpecError(QUALIFICATION, "no table")
    _check_keys(QUALIFICATION, given, ("promoted", "tournament"), needed=("promoted",))
    promoted = _optional("promoted", given, 1, MOST_ENTRANTS, QUALIFICATION) or 1
    fields = _tournament_fields(f"{QUALIFICATION}.tournament", given.get("tournament", {}), folder)
    return Division(QUALIFICATION, None, promoted, fields)


def _check_promotions(spec: LeagueSpec) -> None:
    for at, level in enumerate(spec.levels[:-1]):
        up, down = level.promoted, spec.levels[at + 1].promoted
        if level.size is not None and up + down > level.size:
            reason = f"{down} come up and {up} go up, and {level.name} has {level.size} places"
            raise SpecError(f"{_table(spec, at + 1)}.promoted", reason)


def _check_tournament(spec: LeagueSpec, level: Division, where: str) -> None:
    longest = f"{spec.name}-{MOST_SEASONS}-{level.name}"
    if not NAME.fullmatch(longest):
        over = len(longest) - LONGEST_NAME
        raise SpecError(
            f"{where}.name" if level is not spec.qualification else "name",
            f"too long by {over}: {longest} would be a tournament, and names have {LONGEST_NAME} characters",
        )
    try:
        tournament = spec.tournament_of(level, 1, ())
        players = load_ruleset(tournament.ruleset).players
        most = level.size or max(players, spec.divisions[0].size or 0)
        format = FORMATS[tournament.format]
        format.check(Setup(players, tournament.rounds, tournament.options), most)
        if format.in_batches and tournament.rounds is None:
            raise SpecError(
                "rounds", f"missing: a {format.name} tournament has to end before the next season"
            )
    except SpecError as error:
        first = error.field.partition(".")[0]
        table = f"{where}.tournament" if first in level.tournament else "tournament"
        raise SpecError(f"{table}.{error.field}", error.reason) from None
    except RulesetError as error:
        table = f"{where}.tournament" if "ruleset" in level.tournament else "tournament"
        raise SpecError(f"{table}.ruleset", str(error)) from None
    if level.size is not None and level.size < players:
        raise SpecError(f"{where}.size", f"{level.size} are too few for a table of {players}")


def _check_owners(spec: LeagueSpec, level: Division) -> None:
    format = spec.tournament_of(level, 1, ()).format
    if not FORMATS[format].owners_part and not spec.allow_same_owner and spec.versions_per_owner != 1:
        raise SpecError(
            "allow_same_owner",
            f"it is false, and in a {format}, as {level.name} plays it, bots of one owner would meet; "
            "set it to true, or versions_per_owner to 1",
        )


def _tournament_fields(where: str, given: object, folder: Path) -> dict[str, object]:
    """Fields of a tournament, checked later; a ruleset that is a file is read."""
    if not isinstance(given, Mapping):
        raise SpecError(where, "no table")
    for key in _SET_BY_LEAGUE:
        if key in given:
            raise SpecError(f"{where}.{key}", "the league sets it")
    fields = dict(given)
    if "ruleset" in fields:
        try:
            fields["ruleset"] = read_ruleset(fields["ruleset"], folder)
        except RulesetError as error:
            raise SpecError(f"{where}.ruleset", str(error)) from None
        except SpecError as error:
            raise SpecError(f"{where}.ruleset", error.reason) from None
    return fields


def _check_keys(
    where: str, values: Mapping[str, object], known: Sequence[str], needed: Sequence[str]
) -> None:
    prefix = f"{where}." if where else ""
    for key in values:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there is only {', '.join(known)}"
            raise SpecError(f"{prefix}{key}", f"no such field; {hint}")
    for key in needed:
        if key not in values:
            raise SpecError(f"{prefix}{key}", "missing")


def _moment(name: str, given: object) -> datetime:
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        found = None
    if not isinstance(found, datetime):
        raise SpecError(name, f"{given!r} is no time, as 2026-12-01T18:00:00Z")
    if found.tzinfo is None:
        raise SpecError(name, f"{found.isoformat()} has no zone; for UTC write {found.isoformat()}Z")
    try:
        return found.astimezone(UTC)
    except (OverflowError, ValueError):
        raise SpecError(name, f"{found.isoformat()} is out of range") from None


def _hours(name: str, given: object) -> float:
    if type(given) not in (int, float) or not 0.01 <= given <= 100_000:  # type: ignore[operator]
        raise SpecError(name, f"{given!r} is no number of hours from 0.01 to 100000")
    return given  # type: ignore[return-value]


def _optional(name: str, values: Mapping[str, object], least: int, most: int, where: str = "") -> int | None:
    given = values.get(name)
    if given is None:
        return None
    if type(given) is not int or not least <= given <= most:
        field = f"{where}.{name}" if where else name
        raise SpecError(field, f"{given!r} is no whole number from {least} to {most}")
    return given


def _yes_or_no(name: str, values: Mapping[str, object]) -> bool:
    given = values.get(name, False)
    if type(given) is not bool:
        raise SpecError(name, f"{given!r} is neither true nor false")
    return given
