"""Command options generated from the fields of a tournament's file, with the same descriptions."""

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo

from arena.core.specs import TournamentSpec, described

REPEATED = {"entrants": ("--entrant", "OWNER/BOT"), "options": ("--option", "NAME=VALUE")}
"""Fields with several values, whose options can be repeated, and the form of each value."""


def with_fields(command: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """Give a command an option for each field of a tournament, in place of its ``**fields``."""
    own = inspect.signature(command)
    before = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    fields = TournamentSpec.model_fields.items()
    added = [_parameter(name, field) for name, field in fields if name not in without]
    command.__signature__ = own.replace(parameters=[*before, *added])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in (*before, *added)} | {"return": None}
    return command


def given_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the options that were given, in the form of a tournament's file."""
    options = {name: value for name, value in fields.items() if value is not None and value != []}
    if "options" in options:
        options["options"] = _options(options["options"])
    return options


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    flag, takes = REPEATED.get(name, (f"--{name.replace('_', '-')}", None))
    if field.annotation is bool:
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
    default = _default_shown(flag, field.default) if type(field.default) in (int, bool) else False
    option = typer.Option(flag, help=described(TournamentSpec, name), metavar=takes, show_default=default)
    kind: Any = _kind(name, field) | None
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _default_shown(flag: str, default: Any) -> str:
    """Return how a default is shown: a number, or the one of two flags that has the same effect."""
    return flag.split("/")[not default] if type(default) is bool else str(default)


def _kind(name: str, field: FieldInfo) -> Any:
    if name in REPEATED:
        return list[str]
    if field.annotation is bool:
        return bool
    return int if field.annotation in (int, int | None) else str


def _options(texts: Any) -> dict[str, int | str]:
    pairs = [text.partition("=") for text in texts]
    if not all(name and value for name, _, value in pairs):
        raise typer.BadParameter("must be NAME=VALUE, such as advance=2", param_hint="'--option'")
    return {name: int(value) if value.isdecimal() else value for name, _, value in pairs}
