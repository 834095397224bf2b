"""The forms of operations as they are drawn: a field for each parameter, by its type and description.

``draw`` prepares a form, and the macro ``form`` of ``forms.html`` draws it::

    {% import "forms.html" as forms %}
    {{ forms.form(create) }}

The form needs a handler at its address: ``Forms.add``. After a refusal it comes back with what was typed,
and with each reason beside the field that it names; the page also shows all reasons on top (``m.troubles``),
as a field may be missing from it by then.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import quote, unquote

from arena.operations.checking import schema_of
from arena.operations.operation import Operation, Parameter
from arena.web.pages.forms import Visit
from referee.errors import Problem
from referee.reading.docstrings import FormField
from referee.reading.validation import Node

Kind = Literal[
    "text", "password", "number", "datetime-local", "date", "long", "lines", "check", "choice", "several"
]
"""A type of ``<input>``, or: a long text, a list with an item a line, a box to tick, one of some, some."""

LONG = 500
"""A text that may have more characters gets several lines, as does an object, which is typed as JSON."""

Choices = Sequence[str] | Mapping[str, str]
"""Values to choose from; a mapping has the words for each. Those for an empty one stand for no choice."""

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form."""

    id: str
    name: str
    label: str
    help: str
    """May have text in backticks; empty if there is none."""
    kind: Kind
    required: bool
    values: tuple[str, ...]
    """What is in it, or chosen; empty for nothing."""
    placeholder: str
    """The default; empty if there is none."""
    limits: Mapping[str, object]
    """Attributes of the element that limit what can be typed."""
    choices: Sequence[tuple[str, str]]
    """Values and their words, if there are only these."""
    wrong: tuple[str, ...]
    """Why it was refused."""

    @property
    def value(self) -> str:
        """Return the only value, or an empty text."""
        return next(iter(self.values), "")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A form."""

    id: str
    action: str
    button: str
    sure: str
    """What cannot be undone, which is shown before the button can be pressed; empty to show that at once."""
    username: str
    """Whose password it sets; empty if that is in a field, or it sets none."""
    fields: Sequence[Field]
    hidden: Mapping[str, object]
    refused: bool
    """Whether it was sent, and comes back."""


def draw(
    visit: Visit,
    operation: Operation[..., Any],
    action: str,
    button: str,
    *,
    fixed: Mapping[str, str] = NOTHING,
    only: Collection[str] = (),
    without: Collection[str] = (),
    values: Mapping[str, str | Sequence[str]] = NOTHING,
    choices: Mapping[str, Choices] = NOTHING,
    labels: Mapping[str, str] = NOTHING,
    sure: str = "",
    username: str = "",
) -> Drawn:
    """Return the form that does an operation.

    ``action`` is its address, with parameters in braces, which are ``fixed`` or in the page's own address.
    What else is ``fixed`` is sent without being shown. There is a field for each other parameter, for
    ``only`` some or for all ``without`` some. ``values`` are in the fields at first; otherwise the defaults
    apply. ``choices`` are offered for a text or a list, ``labels`` replace names; otherwise both are those of
    a parameter's ``FormField``. With ``sure``, what cannot
    be undone, the button is reached only after reading that. Browsers store a password for ``username``.
    """
    named = {**visit.request.path_params, **fixed}
    for parameter in operation.parameters.values():
        if parameter.parts is not None and parameter.name in fixed:
            named |= parameter.parts.split(fixed[parameter.name])
    place = action.format_map({name: quote(str(value), safe="@") for name, value in named.items()})
    in_place = {parameter.name for parameter in operation.parameters.values() if _is_in(action, parameter)}
    parameters = [
        parameter
        for parameter in operation.parameters.values()
        if parameter.name not in {*in_place, *fixed, *without} and (not only or parameter.name in only)
    ]
    hidden = {name: value for name, value in fixed.items() if name not in in_place}
    return draw_fields(
        *(visit, parameters, place, button),
        hidden=hidden,
        values=values,
        choices=choices,
        labels=labels,
        sure=sure,
        username=username,
    )


def draw_fields(
    visit: Visit,
    parameters: Iterable[Parameter],
    action: str,
    button: str,
    *,
    hidden: Mapping[str, str] = NOTHING,
    values: Mapping[str, str | Sequence[str]] = NOTHING,
    choices: Mapping[str, Choices] = NOTHING,
    labels: Mapping[str, str] = NOTHING,
    sure: str = "",
    username: str = "",
) -> Drawn:
    """Return a form with these fields, for what is not one operation; otherwise as ``draw``."""
    id = action.strip("/").replace("/", "-")
    refused = visit.request.method == "POST" and visit.request.scope["path"] == unquote(action)
    problems: Sequence[Problem] = getattr(visit.trouble, "problems", ()) if refused else ()
    fields = []
    for parameter in parameters:
        texts = visit.sent.all(parameter.name) if refused else _several(values.get(parameter.name, ()))
        wrong = tuple(
            problem.reason for problem in problems if parameter.name in (problem.field, _field_of(problem))
        )
        form = form_field(parameter)
        offered = choices.get(parameter.name, dict(form.choices) or None)
        label = labels.get(parameter.name, form.label)
        fields.append(_field(f"{id}-{parameter.name}", parameter, label, offered, texts, wrong, refused))
    return Drawn(id, action, button, sure, username, fields, hidden, refused)


def form_field(parameter: Parameter) -> FormField:
    """Return how forms show a parameter, as its type says; by default in no group."""
    notes = get_args(parameter.kind)[1:] if get_origin(parameter.kind) is Annotated else ()
    return next((note for note in notes if isinstance(note, FormField)), FormField(""))


def _is_in(action: str, parameter: Parameter) -> bool:
    """Return whether a parameter stands in the address."""
    names = (parameter.name,) if parameter.parts is None else parameter.parts.names
    return all(f"{{{name}}}" in action for name in names)


def _several(value: str | Sequence[str]) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def _field_of(problem: Problem) -> str:
    """Return the field that a problem is about; an item of a list has none of its own."""
    return problem.field.partition("[")[0].partition(".")[0]


def _field(
    id: str,
    parameter: Parameter,
    label: str,
    offered: Choices | None,
    texts: Sequence[str],
    wrong: tuple[str, ...],
    refused: bool,
) -> Field:
    node = schema_of(parameter.kind)
    kind = _kind(parameter, offered)
    default = "" if parameter.required else _text(parameter.default)
    if not texts and not refused and kind in ("check", "choice"):
        texts = (default,)
    return Field(
        id=id,
        name=parameter.name,
        label=label or parameter.name.rpartition(".")[2].replace("_", " ").capitalize(),
        help=parameter.description,
        kind=kind,
        required=parameter.required,
        values=tuple(texts) if kind in ("several", "lines") else tuple(texts[-1:]),
        placeholder=default,
        # browsers cut pasted text without a word, while a refusal keeps it and says how long it may be
        limits={name: limit for name, limit in _limits(node) if kind != "long" or name != "maxlength"},
        choices=tuple(_choices(kind, parameter, offered)),
        wrong=wrong,
    )


def _text(value: object) -> str:
    """Return a default as a form sends it."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value == () or value == []:
        return ""
    return str(value.value if isinstance(value, Enum) else value)


def _kind(parameter: Parameter, offered: Choices | None) -> Kind:
    node = schema_of(parameter.kind)
    kind, format = node.get("type"), node.get("format")
    if kind == "array":
        return "lines" if offered is None and "enum" not in schema_of(parameter.kind, 0) else "several"
    if kind == "boolean":
        return "choice" if parameter.default is None or parameter.required else "check"
    if offered is not None or "enum" in node or "const" in node:
        return "choice"
    if kind in ("integer", "number"):
        return "number"
    if format in ("date", "date-time"):
        return "date" if format == "date" else "datetime-local"
    if parameter.name.endswith("password"):
        return "password"
    longest = node.get("maxLength")
    return "long" if kind == "object" or (isinstance(longest, int) and longest > LONG) else "text"


_ATTRIBUTES = {"minimum": "min", "maximum": "max", "minLength": "minlength", "maxLength": "maxlength"}


def _limits(node: Node) -> Iterator[tuple[str, object]]:
    """Yield the attributes for the limits in a JSON Schema."""
    for name, attribute in _ATTRIBUTES.items():
        if name in node:
            yield attribute, node[name]
    if node.get("type") == "number":
        yield "step", "any"


def _choices(kind: Kind, parameter: Parameter, offered: Choices | None) -> Iterator[tuple[str, str]]:
    """Yield the values that can be chosen, with their words; first none, if that is possible."""
    if kind not in ("choice", "several"):
        return
    if offered is None:
        among = schema_of(parameter.kind, *((0,) if kind == "several" else ()))
        options: Any = among.get("enum", [among["const"]] if "const" in among else [])
        offered = {"true": "yes", "false": "no"} if among.get("type") == "boolean" else [*map(str, options)]
    words = dict(offered) if isinstance(offered, Mapping) else {choice: choice for choice in offered}
    none = words.pop("", "—")
    if kind == "choice" and parameter.default is None:
        yield "", none
    yield from words.items()
