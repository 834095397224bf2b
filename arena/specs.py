"""What an organiser asks for: tournaments as validated, frozen values, from TOML or from options."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path

from arena.errors import SpecError
from arena.formats import FORMATS
from referee.errors import TomlError
from referee.matches.match import MAX_SESSIONS
from referee.ruleset import load_ruleset_file
from referee.ruleset.limits import MAX_DEALS
from referee.toml import read_toml

LONGEST_NAME = 39
"""Characters in a name at most."""

NAME = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_NAME - 1}}}")
"""Names of owners, bots and tournaments."""


def check_name(field: str, name: object) -> str:
    """``name`` if it can be a name, else SpecError."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        rule = f"1 to {LONGEST_NAME} of a-z, 0-9 and -, not beginning with -"
        raise SpecError(field, f"{name!r} is no name: {rule}")
    return name


@dataclass(frozen=True, slots=True)
class TournamentSpec:
    """A tournament as it is asked for; SpecError names the field that is wrong."""

    name: str
    """Unique in the arena."""
    format: str
    """``round-robin``, ``swiss``, ``gauntlet``, ``knockout`` or ``continuous``."""
    ruleset: str | Mapping[str, object]
    """A preset's name, or the fields of a ruleset."""
    entrants: tuple[str, ...]
    """``owner/bot@number``, or ``owner/bot`` for its newest version; in the order of seeding."""
    rounds: int | None = None
    """Rounds; None: as many as the format takes. Swiss has to say (``arena.formats``)."""
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
    bank_ms: int = 0
    """Thinking time of each seat for all decisions of a session; 0: no bank."""
    increment_ms: int = 0
    """What each decision adds to the bank."""
    credit_ms: int = 100
    """The most that is credited to a decision for the network."""
    ask_forced: bool = False
    """Whether bots are asked even where they have no choice."""
    require_check: bool = False
    """Whether every entrant must have passed ``arena bot check``."""
    duplicate: bool = False
    """Whether all tables of a round play the same deals."""
    allow_same_owner: bool = False
    """Whether two bots of an owner may sit at one table."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Options of the format alone."""

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if self.format not in FORMATS:
            raise SpecError("format", f"{self.format!r} is none of {', '.join(FORMATS)}")
        if not isinstance(self.ruleset, str | Mapping):
            raise SpecError("ruleset", "neither a preset's name, nor a file, nor a ruleset")
        _check_entrants(self.entrants)
        for name, (least, most) in _NUMBERS.items():
            _check_number(name, getattr(self, name), least, most)
        for name in _YES_OR_NO:
            if type(getattr(self, name)) is not bool:
                raise SpecError(name, f"{getattr(self, name)!r} is neither true nor false")
        if self.increment_ms and not self.bank_ms:
            raise SpecError("increment_ms", "there is no bank to add it to: bank_ms is 0")
        _check_options(self.options)


_NUMBERS = {
    "rounds": (1, 10_000),
    "sessions": (1, MAX_SESSIONS),
    "deals": (1, MAX_DEALS),
    "decision_ms": (1, 3_600_000),
    "join_seconds": (1, 3_600),
    "faults": (1, 1_000_000),
    "bank_ms": (0, 86_400_000),
    "increment_ms": (0, 3_600_000),
    "credit_ms": (0, 60_000),
}
"""The whole numbers of a spec, with the least and the largest value of each."""

_YES_OR_NO = ("ask_forced", "require_check", "duplicate", "allow_same_owner")
_MAY_BE_NONE = ("rounds", "deals")
_FIELDS = tuple(one.name for one in fields(TournamentSpec))
_NEEDED = ("name", "format", "ruleset", "entrants")


def _check_number(name: str, value: object, least: int, most: int) -> None:
    if value is None and name in _MAY_BE_NONE:
        return
    if type(value) is not int or not least <= value <= most:
        raise SpecError(name, f"{value!r} is no whole number from {least} to {most}")


def _check_options(options: object) -> None:
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise SpecError("options", "no table of names and values")
    try:
        json.dumps(dict(options), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise SpecError("options", "a value is no text, number, list or table") from None


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
    prepared["ruleset"] = read_ruleset(prepared["ruleset"], folder or Path())
    return TournamentSpec(**prepared)  # type: ignore[arg-type]  # __post_init__ checks them


def read_ruleset(source: object, folder: Path) -> object:
    """A spec's ruleset as it is given, or the fields of the file in ``folder`` that it names.

    RulesetError for a file that is wrong, SpecError for one that cannot be found.
    """
    if not isinstance(source, str) or not source.endswith(".toml"):
        return source
    try:
        file = folder / Path(source).expanduser()
    except RuntimeError:
        raise SpecError("ruleset", f"{source}: there is no such home folder") from None
    return load_ruleset_file(file).to_object()


def load_spec(path: Path) -> TournamentSpec:
    """The spec in a TOML file; SpecError names the file and the field that is wrong."""
    try:
        return make_spec(read_toml(path), path.parent)
    except TomlError as error:
        raise SpecError(str(path), error.reason) from None
    except SpecError as error:
        raise SpecError(f"{path}: {error.field}", error.reason) from None
