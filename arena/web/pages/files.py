"""Tournaments and leagues as files and as forms: the same fields, written in TOML or typed into fields.

A page that takes both has two tabs in one form, so that both keep what was typed.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from annotated_types import Len
from pydantic import BaseModel

from arena.core.specs import PLAYED, described, zone_of
from arena.errors import SpecError
from arena.operations.checking import schema_of
from arena.operations.operation import REQUIRED, Parameter
from arena.queries.rulesets import find_ruleset, list_rulesets
from arena.store.storage import Storage
from arena.web.pages.drawing import Choices, Field, form_field
from arena.web.pages.page import Typed
from referee.reading.docstrings import FormField
from referee.reading.names import is_number
from referee.reading.validation import Node
from referee.ruleset import Ruleset, load_ruleset, preset_names

Tab = Literal["form", "file"]

ZONE = "zone"
"""The field with the time zone of the times in a form."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FRACTION = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")


def read_toml(text: str, field: str = "file") -> dict[str, Any]:
    """Return the fields in a file, which a form has in a ``field``. Raise SpecError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(field, f"is not TOML: {' '.join(str(error).split())}") from None


def write_toml(values: Mapping[str, Any]) -> str:
    """Return fields as a file, which ``read_toml`` reads; those that are None are left out."""
    return "".join(f"{line}\n" for line in _lines(values, "")).strip("\n") + "\n"


def _lines(values: Mapping[str, Any], within: str) -> Iterator[str]:
    """Yield the lines of a table: its own fields, and then the tables in it."""
    inner: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping) or _is_tables(value):
            inner.append((f"{within}{_key(name)}", value))
        elif value is not None:
            yield f"{_key(name)} = {_value(value)}"
    for path, value in inner:
        for table in value if _is_tables(value) else [value]:
            yield ""
            yield f"[[{path}]]" if _is_tables(value) else f"[{path}]"
            yield from _lines(table, f"{path}.")


def _is_tables(value: object) -> bool:
    listed = isinstance(value, list | tuple) and bool(value)
    return listed and all(isinstance(item, Mapping) for item in value)  # type: ignore[attr-defined]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return _text(value)
        case datetime():
            return value.isoformat()
        case list() | tuple():
            items = [_value(item) for item in value]
            apart = ",\n    " if len(value) > 1 and sum(map(len, items)) > 80 else ", "
            return f"[\n    {apart.join(items)},\n]" if "\n" in apart else f"[{apart.join(items)}]"
        case Mapping():
            return "{" + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + "}"
    return str(value)


@dataclass(frozen=True, slots=True)
class Group:
    """Fields of a form that belong together."""

    title: str
    first: Sequence[Field]
    """The most needed."""
    more: Sequence[Field]
    """Those that are folded away at first."""

    @property
    def unfolded(self) -> bool:
        """Whether one of the folded fields is wrong, or differs from its default."""
        return any(
            field.wrong or field.values not in ((), ("",), (field.placeholder,)) for field in self.more
        )


def grouped(titles: Iterable[str], parameters: Sequence[Parameter], drawn: Sequence[Field]) -> list[Group]:
    """Return fields in the groups with these titles, as the parameters' ``FormField`` says."""
    places = {
        parameter.name: (field.group, field.rare)
        for parameter in parameters
        for field in [form_field(parameter)]
    }

    def members(title: str, *, rare: bool) -> list[Field]:
        return [field for field in drawn if (title, rare) == places.get(field.name)]

    return [Group(title, members(title, rare=False), members(title, rare=True)) for title in titles]


def parameters_of(
    model: type[BaseModel], *, without: Collection[str] = (), optional: Collection[str] = (), within: str = ""
) -> list[Parameter]:
    """Return the fields of a model as parameters, which ``draw_fields`` draws.

    Tables of settings are drawn as lists with ``name = value`` in each line. All names begin with ``within``.
    """
    parameters = []
    for name, field in model.model_fields.items():
        if name in without:
            continue
        kind = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        required = field.is_required() and name not in optional
        default: Any = REQUIRED if required else None
        if not field.is_required():
            default = field.get_default(call_default_factory=True)
        if schema_of(kind).get("type") == "object":
            kind, default = Annotated[(list[str], *field.metadata)], ()
        parameters.append(Parameter(f"{within}{name}", kind, default, described(model, name)))
    return parameters


def read_form(sent: Typed, parameters: Sequence[Parameter], within: str = "") -> dict[str, Any]:
    """Return the fields that a form sent as a file would have them; those that are empty are left out.

    What is not of the right type stays a text, which is then refused like any other wrong value.
    """
    fields: dict[str, Any] = {}
    for parameter in parameters:
        texts = sent.all(parameter.name)
        name = parameter.name.removeprefix(within)
        if not texts:
            continue
        if schema_of(parameter.kind).get("format") == "date-time":
            fields[name] = _with_offset(texts[-1].strip(), sent[f"{within}{ZONE}"].strip() or "UTC")
        elif name == "options":
            fields[name] = dict(_setting(line) for text in texts for line in _items(text))
        elif schema_of(parameter.kind).get("type") == "array":
            fields[name] = [line for text in texts for line in _items(text)]
        else:
            fields[name] = _parse_text(schema_of(parameter.kind), texts[-1])
    return fields


def _with_offset(text: str, zone: str) -> str:
    """Return a time of a form with the offset that it has in a zone: browsers send none. Raise SpecError."""
    try:
        there = zone_of(zone)
    except ValueError as error:
        raise SpecError(ZONE, str(error)) from None
    try:
        moment = datetime.fromisoformat(text)
        return (moment.replace(tzinfo=there) if moment.tzinfo is None else moment).isoformat()
    except ValueError:
        return text


def _items(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())


def _setting(line: str) -> tuple[str, object]:
    name, is_one, value = (part.strip() for part in line.partition("="))
    if not is_one:
        raise SpecError("options", f"{line}: write name = value, one in each line")
    return name, _parse_text({"type": "integer"}, value.strip("\"'"))


def _parse_text(node: Node, text: str) -> object:
    text, kind = text.strip(), node.get("type")
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind == "integer" and is_number(text.removeprefix("-"), 18):
        return int(text)
    return float(text) if kind == "number" and _FRACTION.fullmatch(text) else text


def as_texts(values: Mapping[str, Any], within: str = "") -> dict[str, str | Sequence[str]]:
    """Return fields as ``draw_fields`` takes them."""
    return {f"{within}{name}": _texts(value) for name, value in values.items() if value is not None}


def _texts(value: Any) -> str | Sequence[str]:
    if isinstance(value, Mapping):
        return [f"{name} = {item}" for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()  # as browsers take it
    return str(value).lower() if isinstance(value, bool) else str(value)


FIELD = "ruleset"
FILE = "ruleset_file"

MOST = 100
"""How many rulesets are offered at most: the presets, then those that were used first."""


def file_parameter(within: str = "") -> Parameter:
    """Return the field for a ruleset's file."""
    help = (
        "The fields of its file, as `arena rules check` takes them, such as "
        '`name = "house"` and `extends = "hong-kong"`; it counts instead of the one chosen above.'
    )
    field = FormField(PLAYED, "A ruleset of your own", rare=True)
    return Parameter(f"{within}{FILE}", Annotated[str, Len(max_length=50_000), field], None, help)


@dataclass(frozen=True, slots=True)
class Offered:
    """The rulesets that are offered."""

    choices: Choices
    """By name if they are presets, else by hash."""
    chosen: str
    """The present one; empty if there is none."""


def offered(storage: Storage, present: Mapping[str, Any] | str | None) -> Offered:
    """Return the rulesets to choose from; ``present`` is always among them."""
    presets = {load_ruleset(name).hash: name for name in preset_names()}
    labelled = {line.hash: (line.ruleset, line.players) for line in list_rulesets(storage, MOST).rulesets}
    chosen = ""
    if present is not None:
        ruleset: Ruleset = load_ruleset(present)
        labelled.setdefault(ruleset.hash, (ruleset.label, ruleset.players))
        chosen = presets.get(ruleset.hash, ruleset.hash)
    labels = [label for label, _ in labelled.values()]
    choices = {
        presets.get(hash, hash): f"{presets.get(hash, label)}, {players} at a table"
        + (f" ({hash[:8]})" if labels.count(label) > 1 else "")
        for hash, (label, players) in labelled.items()
    }
    return Offered(choices, chosen)


def put_ruleset(storage: Storage, fields: dict[str, Any], present: Mapping[str, Any] | str | None) -> None:
    """Put the ruleset that a form chose, or has as a file, into the fields that it sent.

    Raise SpecError for what is not TOML, and UnknownError.
    """
    file, chosen = fields.pop(FILE, None), fields.get(FIELD)
    if file is not None:
        fields[FIELD] = read_toml(file, FILE)
    elif present is not None and chosen == load_ruleset(present).hash:
        fields[FIELD] = present
    elif chosen is not None and chosen not in preset_names():
        fields[FIELD] = find_ruleset(storage, chosen).ruleset
