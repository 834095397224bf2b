"""A ruleset as a value: one variant of Big Two, with a field for each of its dimensions.

The fields are those of the published ruleset object (docs/rulesets.md), with the same names, values and
meanings. Only values of this class returned by ``referee.ruleset.load`` are sure to be valid.
"""

import json
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, ClassVar

from referee.reading.validation import short
from referee.ruleset.annotations import ALIASES, CONFIG, Fields, Positive, Step
from referee.ruleset.axes import AXES, bombs, dealing, kinds, leads, pack, scoring, sequences, session, turns
from referee.ruleset.axes.scoring import Bonuses, Bracket, Honour
from referee.ruleset.axes.session import SessionEnd


def _name(value: object, _: Fields) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {short(value)}")
    if not value.isprintable() or value != value.strip() or not 1 <= len(value) <= 80 or {*";@"} & {*value}:
        form = "1 to 80 printable characters, none of them ; or @, without blanks at the ends"
        raise ValueError(f"must be {form}, not {short(value)}")
    return value


_NAME = {"type": "string", "minLength": 1, "maxLength": 80, "pattern": "^[^;@]+$"}


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Variant:
    """The fields that name a variant."""

    __slots__ = ()

    name: Annotated[str, Step(_name, "instead", _NAME)]
    """The variant's name."""
    version: Positive
    """The version of the variant under this name, from 1."""


@dataclass(frozen=True, slots=True)
class Ruleset(
    session.Session,
    scoring.Scoring,
    turns.Turns,
    bombs.Bombs,
    sequences.Sequences,
    kinds.Kinds,
    leads.Leads,
    dealing.Dealing,
    pack.Pack,
    Variant,
):  # the last has the first fields
    """One variant of Big Two."""

    __pydantic_config__: ClassVar = CONFIG

    def to_object(self) -> dict[str, object]:
        """Return the resolved ruleset object: every field, as JSON values."""
        return {
            name: _WRITTEN[name](self) if name in _WRITTEN else _plain(getattr(self, name))
            for name in FIELD_NAMES
        }

    @property
    def hash(self) -> str:
        """The SHA-256, in hex, of what sets it apart from the default preset (docs/formats.md).

        So a field that is added later, with the value in the default preset that it had unsaid, changes none.
        """
        return _content_hash(self)

    @property
    def label(self) -> str:
        """Name and version, such as ``hong-kong@1``."""
        return f"{self.name}@{self.version}"


FIELD_NAMES = tuple(field.name for field in fields(Ruleset))
"""Every field of a ruleset, in the order of the object."""

_WRITTEN = {name: axis.written for name, axis in AXES.items() if axis.written}


def _plain(value: object) -> object:
    """Return a field's value as JSON values."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if not isinstance(value, Bracket | Honour | Bonuses | SessionEnd):
        return value
    parts = {ALIASES.get(field.name, field.name): getattr(value, field.name) for field in fields(value)}
    either = isinstance(value, Bracket | Honour)  # of times and points the other is None
    return {name: part for name, part in parts.items() if part is not None or not either}


@lru_cache(maxsize=256)
def _content_hash(ruleset: Ruleset) -> str:
    from referee.ruleset.load import DEFAULT, load_ruleset  # which make rulesets of this module

    default = load_ruleset(DEFAULT).to_object()
    fields = ruleset.to_object()
    content = {name: value for name, value in fields.items() if name == "name" or value != default[name]}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
