"""What an organiser asks for: tournaments as validated, frozen values, from TOML or from options."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path

from arena.errors import SpecError
from referee.match import MAX_DEALS, MAX_SESSIONS
from referee.ruleset import load_ruleset_file

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,38}")
"""Names of owners, bots and tournaments."""

FORMATS = ("round-robin", "swiss")


def check_name(field: str, name: object) -> str:
    """``name`` if it can be a name, else SpecError."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise SpecError(field, f"{name!r} is no name: 1 to 39 of a-z, 0-9 and -, not beginning with -")
    return name


@dataclass(frozen=True, slots=True)
class TournamentSpec:
    """A tournament as it is asked for; SpecError names the field that is wrong."""

    name: str
    """Unique in the arena."""
    format: str
    """``round-robin`` or ``swiss``."""
    ruleset: str | Mapping[str, object]
    """A preset's name, or the fields of a ruleset."""
    entrants: tuple[str, ...]
    """``owner/bot@number``, or ``owner/bot`` for its newest version; in the order of seeding."""
    rounds: int | None = None
    """Rounds; None: as many as a round-robin needs. Swiss has to say."""
    sessions: int = 4
    """Sessions in a match."""
    deals: int | None = None
    """Deals in a session; None: as the ruleset says."""
    decision_ms: int = 1000
    """How long a decision may take."""
    join_seconds: int = 30
    """How long absent bots are waited for when a match starts."""
    faults: int = 10
    """Number of faults at which a session is forfeit."""

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if self.format not in FORMATS:
            raise SpecError("format", f"{self.format!r} is none of {', '.join(FORMATS)}")
        if not isinstance(self.ruleset, str | Mapping):
            raise SpecError("ruleset", "neither a preset's name, nor a file, nor a ruleset")
        _check_entrants(self.entrants)
        if self.format == "swiss" and self.rounds is None:
            raise SpecError("rounds", "a Swiss tournament needs a number of rounds")
        for field, most in _NUMBERS.items():
            _check_number(field, getattr(self, field), most)


_NUMBERS = {
    "rounds": 10_000,
    "sessions": MAX_SESSIONS,
    "deals": MAX_DEALS,
    "decision_ms": 3_600_000,
    "join_seconds": 3_600,
    "faults": 1_000_000,
}
"""The whole numbers of a spec, each from 1 to its largest value."""

_MAY_BE_NONE = ("rounds", "deals")
_FIELDS = tuple(field.name for field in fields(TournamentSpec))
_NEEDED = ("name", "format", "ruleset", "entrants")


def _check_number(field: str, value: object, most: int) -> None:
    if value is None and field in _MAY_BE_NONE:
        return
    if type(value) is not int or not 1 <= value <= most:
        raise SpecError(field, f"{value!r} is no whole number from 1 to {most}")


def _check_entrants(entrants: object) -> None:
    if not isinstance(entrants, tuple) or not all(isinstance(name, str) for name in entrants):
        raise SpecError("entrants", "not a list of names")
    name, times = next(iter(Counter(entrants).most_common(1)), ("", 0))
    if times > 1:
        raise SpecError("entrants", f"{name} stands there {times} times")


def make_spec(values: Mapping[str, object], folder: Path | None = None) -> TournamentSpec:
    """The spec that these values make; what is left out has its default.

    A ``ruleset`` that ends in ``.toml`` is a file, relative to ``folder``. Raises SpecError for unknown,
    missing and wrong values, and RulesetError for a wrong ruleset file.
    """
    for key in values:
        if key not in _FIELDS:
            near = get_close_matches(key, _FIELDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there is only {', '.join(_FIELDS)}"
            raise SpecError(key, f"no such field; {hint}")
    for key in _NEEDED:
        if key not in values:
            raise SpecError(key, "missing")
    prepared = dict(values)
    if isinstance(prepared["entrants"], list):
        prepared["entrants"] = tuple(prepared["entrants"])
    prepared["ruleset"] = _ruleset(prepared["ruleset"], folder or Path())
    return TournamentSpec(**prepared)  # type: ignore[arg-type]  # __post_init__ checks them


def _ruleset(source: object, folder: Path) -> object:
    if not isinstance(source, str) or not source.endswith(".toml"):
        return source
    return load_ruleset_file(folder / Path(source).expanduser()).to_object()


def load_spec(path: Path) -> TournamentSpec:
    """The spec in a TOML file; SpecError names the file and the field that is wrong."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        return make_spec(values, path.parent)
    except OSError as error:
        raise SpecError(str(path), f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SpecError(str(path), f"is no TOML: {' '.join(str(error).split())}") from None
    except SpecError as error:
        raise SpecError(f"{path}: {error.field}", error.reason) from None
