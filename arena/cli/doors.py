"""Commands made from operations, and their answers as JSON, CSV and pages; a command adds the sentences."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from annotated_types import Interval

from arena.cli.context import Yes, ask, confirm
from arena.jsonvalues import to_json
from arena.operations.operation import Operation, Parameter
from arena.operations.parameters import BOT, BOT_OR_VERSION, ENTRANT, VERSION
from arena.tabular import Column, Line, write_lines
from referee.cli.output import AsJson, change, moment, number, print_json, say

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from referee.cli.tables import FittedTable

AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values, with a header line.")]

Cursor = Annotated[
    str | None,
    typer.Option(help="Continue after the page that ended with this cursor; repeat the other options."),
]

LARGEST_PAGE = 10_000
"""Maximum number of lines in a page."""


def check_form(as_json: bool, as_csv: bool) -> None:
    """Raise BadParameter if both forms are requested."""
    if as_json and as_csv:
        raise typer.BadParameter("JSON or CSV, not both", param_hint="'--csv'")


def say_next(next: str | None) -> None:
    """Say how to get the next page, if there is one."""
    if next is not None:
        say(f"more: --cursor {next}")


def more_of(answer: Any) -> Iterator[str]:
    """Yield how to go on after a page, or after the beginnings of several lists that were cut."""
    for part in getattr(answer, "cut", ()):
        of_which = "" if answer.next else f" of {part.ruleset}, tables of {part.table_size}"
        yield f"more{of_which}: --cursor {part.next}"
    if not hasattr(answer, "cut") and getattr(answer, "next", None) is not None:
        yield f"more: --cursor {answer.next}"


TEXTS: Mapping[str, Callable[[Any], str]] = {
    "whole": lambda value: f"{value:.0f}",
    "number": number,
    "signed": lambda value: f"{value:+.2f}",
    "share": lambda value: f"{value:.0%}",
    "date": moment,
    "change": lambda pair: "new" if pair[1] is None else change(pair[0] - pair[1]),
}
"""How values of a form are written on terminals; others as they are."""

MARGINS = {"sum": ("number", "whole"), "mean": ("signed", "number")}
"""The forms with a margin, which has a column of its own, and those of the two."""


def table_of(columns: Sequence[Column[Line]], lines: Sequence[Line], none: str = "") -> "FittedTable":
    """Return lines as a table; ``none`` stands for values that are None."""
    from referee.cli.tables import table  # which brings more of Rich than a line of text needs

    columns = [column for column in columns if column.terminal]
    heads = [head for column in columns for head in _heads(column)]
    rows = [[cell for column in columns for cell in _cells(column, line, none)] for line in lines]
    return table(heads, rows)


def _heads(column: Column[Line]) -> list[str]:
    head = f">{column.head}" if column.numeric else column.head
    return [head, ">±"] if column.form in MARGINS else [head]


def _cells(column: Column[Line], line: Line, none: str) -> list[str]:
    value, margin = column.value(line), MARGINS.get(column.form)
    if margin:
        return [_written(form, part, none) for form, part in zip(margin, value or (None, None), strict=True)]
    return [_written(column.form, value, none) + column.mark(line)]


def _written(form: str, value: object, none: str) -> str:
    if value is None:
        return none
    return str(value) if isinstance(value, str) else TEXTS.get(form, str)(value)


def print_csv(
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    without: Collection[str] = (),
) -> None:
    """Print lines of one kind as comma-separated values (``arena.tabular``)."""
    write_lines(sys.stdout, kind, lines, without)


def moment_of(moment_text: str, option: str) -> datetime:
    """Parse a time: a date, which means its beginning, or a time in ISO 8601.

    Without a zone it is in UTC. Raise BadParameter for anything else.
    """
    try:
        moment = datetime.fromisoformat(moment_text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        text = f"{moment_text[:40]!r} is not a date: write 2026-01-31, or 2026-01-31T18:00 (UTC)"
        raise typer.BadParameter(text, param_hint=f"'{option}'") from None


P = ParamSpec("P")
T = TypeVar("T")

METAVARS = {
    BOT: "OWNER/BOT",
    ENTRANT: "OWNER/BOT[@VERSION]",
    VERSION: "OWNER/BOT[@VERSION]",
    BOT_OR_VERSION: "OWNER/BOT[@VERSION]",
}
"""What stands for names of bots in the help."""


def command_of(
    operation: Operation[Any, Any],
    *,
    arguments: Collection[str] = (),
    options: Collection[str] = (),
    flags: Mapping[str, str] = {},
    metavars: Mapping[str, str] = {},
    csv: bool | str = False,
    sure: str = "",
    first: Callable[[typer.Context, Mapping[str, Any]], Any] = lambda *_: None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of an operation and of a function that shows its answer to people.

    Required parameters become arguments, except for ``options``; the others become options, except for
    ``arguments``. ``flags`` and ``metavars`` name them otherwise than the operation does. The function gets
    the answer, and those of the parameters (and ``ctx``) that it has parameters for. With ``csv``, the lines
    of the answer, or of the field of that name, can be had as comma-separated values. ``first`` is called
    with the parameters, and may return the answer without doing the operation. Then ``sure`` is asked, with
    parameters in braces.
    """

    def wrap(show: Callable[..., None]) -> Callable[..., None]:
        needed = [*inspect.signature(show).parameters][1:]

        def command(ctx: typer.Context, **values: Any) -> None:
            as_json, as_csv = values.pop("as_json"), values.pop("as_csv", False)
            yes = values.pop("yes", False)
            check_form(as_json, as_csv)
            _parse_moments(operation, values, flags)
            answer = first(ctx, values)
            if sure:
                confirm(sure.format_map(values), yes)
            answer = answer or ask(ctx, operation, **values)
            if answer is None and as_json:
                print_json(_named(operation, values))
            elif not print_answer(operation, answer, as_json, as_csv, csv if isinstance(csv, str) else ""):
                show(answer, **{name: ctx if name == "ctx" else values[name] for name in needed})
                say(*more_of(answer))

        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter("ctx", keyword, annotation=typer.Context)]
        parameters += [
            parameter_of(
                operation,
                parameter,
                argument=parameter.name in arguments
                or (parameter.required and parameter.name not in options),
                flag=flags.get(parameter.name),
                metavar=metavars.get(parameter.name),
            )
            for parameter in operation.parameters.values()
        ]
        if sure:
            parameters.append(inspect.Parameter("yes", keyword, default=False, annotation=Yes))
        parameters.append(inspect.Parameter("as_json", keyword, default=False, annotation=AsJson))
        if csv:
            parameters.append(inspect.Parameter("as_csv", keyword, default=False, annotation=AsCsv))
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.operation = operation  # type: ignore[attr-defined]
        command.__name__ = show.__name__
        command.__doc__ = inspect.getdoc(show) or operation.description
        return command

    return wrap


def parameter_of(
    operation: Operation[Any, Any],
    parameter: Parameter,
    *,
    argument: bool,
    flag: str | None = None,
    metavar: str | None = None,
) -> inspect.Parameter:
    """Return the argument or the option of a command for a parameter."""
    kind, limits = _plain(parameter.kind)
    most = None if limits is None else limits.le
    if parameter.name == "limit" and operation.lines:
        most = LARGEST_PAGE
    info: dict[str, Any] = {"help": parameter.description.replace("`", "") or None}
    if limits is not None:
        info |= {"min": limits.ge, "max": most}
    if metavar or parameter.parts is not None:
        info["metavar"] = metavar or METAVARS[parameter.parts]  # type: ignore[index]
    if kind in (datetime, datetime | None):
        kind, info["metavar"] = str if parameter.required else str | None, "DATE"
    default = inspect.Parameter.empty if parameter.required else parameter.default
    if argument:
        info.setdefault("metavar", parameter.name.upper())
        declared: Any = typer.Argument(**info)
    else:
        names = [flag] if flag else []
        if kind is bool and not flag:
            names = [f"--{parameter.name.replace('_', '-')}"]
        declared = typer.Option(*names, **info)
    if isinstance(default, tuple | list):
        kind, default = kind | None, None
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, declared],
    )


def _plain(kind: Any) -> tuple[Any, Interval | None]:
    """Return a type as commands have it, and the limits of its numbers."""
    limits: Interval | None = None
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        limits = next((note for note in notes if isinstance(note, Interval)), None)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        [only] = [note for note in inner if note is not NoneType]
        kind, within = _plain(only)
        return kind | None, limits or within
    if origin in (list, tuple):
        return list[_plain(inner[0])[0]], limits  # type: ignore[misc]
    return kind, limits


def _parse_moments(operation: Operation[Any, Any], values: dict[str, Any], flags: Mapping[str, str]) -> None:
    """Replace the texts of times by the times, and lists that were not given by the defaults."""
    for name, parameter in operation.parameters.items():
        value = values[name]
        if value is None:
            values[name] = parameter.default
        elif isinstance(value, str) and _plain(parameter.kind)[0] in (datetime, datetime | None):
            values[name] = moment_of(value, flags.get(name) or f"--{name.replace('_', '-')}")


def _named(operation: Operation[Any, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an operation without an answer was about."""
    return {
        name: values[name] for name, parameter in operation.parameters.items() if operation.in_path(parameter)
    }


def print_answer(
    operation: Operation[P, T], answer: T, as_json: bool, as_csv: bool = False, lines: str = ""
) -> bool:
    """Print an answer as JSON, or its lines as comma-separated values, if asked for; return whether it was.

    ``lines`` names the field with the lines if they are not those that ``limit`` counts.
    """
    if as_json:
        print_json(to_json(answer))
    elif as_csv:
        listed = lines or operation.lines
        [kind] = get_args(get_type_hints(operation.answer)[listed])[:1]
        print_csv(kind, getattr(answer, listed))
        for line in more_of(answer):
            print(line, file=sys.stderr)
    return as_json or as_csv
