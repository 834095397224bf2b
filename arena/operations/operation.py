"""What an operation is: one thing that can be asked of an arena, said once.

An operation is a function with a name, a docstring, typed parameters and a value as answer; the decorator
adds how it is reached and which scopes let a key do it. The doors are made from it: the HTTP route
(``arena.web.doors``), the call of the clients (``arena.client.call``), the command (``arena.cli.doors``).
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from arena.actors import Actor, KeyScope

if TYPE_CHECKING:
    from arena.host.settings import Settings
    from arena.queries.scoreboard import Scoreboard
    from arena.store.storage import Storage
    from arena.tournaments.overview import TournamentStatus
    from arena.tournaments.referees import Ask

P = ParamSpec("P")
T = TypeVar("T")

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Context:
    """What an operation works with, and who asks for it."""

    storage: "Storage"
    settings: "Settings"
    actor: Actor
    now: datetime
    ask: "Ask"
    """Asks the referees who is connected."""
    wake: Callable[[int], None]
    """Asks a worker to advance a tournament at once. Raise BrokerError."""
    standings: Callable[["TournamentStatus"], "Scoreboard"]
    """Returns the standings of a tournament with this status, or slightly older ones."""
    tell: Callable[[str], None] = lambda _: None
    """Is told now and then, in words, how far an operation is that takes long."""


@dataclass(frozen=True, slots=True)
class Parts:
    """How the name of a bot or a version stands in a path: as several parts."""

    names: tuple[str, ...]
    """The names of its parts in the path: the owner, the bot, the number of the version."""
    versions: bool = False
    """Whether the bot may have ``@number`` behind it."""
    query: str = ""
    """The query parameter that has the number, which may be left out; empty if there is none."""

    def split(self, value: str) -> dict[str, str]:
        """Return the parts of a name, by their own names; without the number if it has none."""
        owner, _, rest = value.partition("/")
        bot, _, number = (rest, "", "") if self.versions else rest.partition("@")
        names = (*self.names, self.query) if self.query else self.names
        parts = dict(zip(names, (owner, bot, number), strict=False))
        return {name: part for name, part in parts.items() if part or name != self.query}

    def join(self, parts: Mapping[str, str]) -> str:
        """Return the name that has these parts: the opposite of ``split``."""
        names = (*self.names, self.query) if self.query in parts else self.names
        owner, bot, *number = (parts[name] for name in names)
        return "@".join([f"{owner}/{bot}", *number])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation."""

    name: str
    kind: Any
    """Its type, with its limits as annotations."""
    default: Any
    """``REQUIRED`` if there is none."""
    description: str
    parts: Parts | None = None
    """How it stands in the path, if that is not under its own name."""

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is REQUIRED


REQUIRED: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Operation(Generic[P, T]):
    """An operation; it is called with the context and its parameters."""

    function: Callable[Concatenate[Context, P], T]
    method: Method
    path: str
    """As in the OpenAPI document, with its parameters in braces."""
    scopes: tuple[KeyScope, ...]
    """The scopes of which a key needs one; empty: anybody may ask."""
    tag: str
    """The group of operations in the OpenAPI document."""
    status: int
    """The HTTP status of a success."""
    made: str
    """The path of what was made, with fields of the answer and parameters in braces; empty for nothing."""
    lines: str
    """The field of the answer whose lines ``limit`` counts; empty if there is none."""
    body: str
    """The parameter that is the whole body; empty if the body has a field for each."""

    def __call__(self, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Do it, and return the answer. Raise ArenaError."""
        return self.function(context, *args, **kwargs)

    @property
    def name(self) -> str:
        """Its name everywhere."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """What it does, in sentences."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @property
    def answer(self) -> Any:
        """The type of its answer."""
        return self._hints["return"]

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its parameters by name, in order, without the context."""
        _, *own = inspect.signature(self.function).parameters.values()
        return {
            parameter.name: _parameter(parameter.name, self._hints[parameter.name], parameter.default)
            for parameter in own
        }

    @property
    def has_body(self) -> bool:
        """Whether what does not stand in the path is sent in the body, not in the query."""
        return self.method not in ("GET", "DELETE")

    def in_path(self, parameter: Parameter) -> bool:
        """Return whether a parameter stands in the path."""
        return parameter.parts is not None or f"{{{parameter.name}}}" in self.path

    def bind(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        """Return all parameters by name, those with defaults too."""
        bound = inspect.signature(self.function).bind(None, *args, **kwargs)
        bound.apply_defaults()
        return {name: bound.arguments[name] for name in self.parameters}


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    if get_origin(hint) is not Annotated:
        return Parameter(name, hint, default, "")
    kind, *notes = get_args(hint)
    texts = [note for note in notes if isinstance(note, str)]
    parts = [note for note in notes if isinstance(note, Parts)]
    limits = tuple(note for note in notes if not isinstance(note, str | Parts))
    return Parameter(
        name,
        Annotated[(kind, *limits)] if limits else kind,
        default,
        texts[-1] if texts else "",
        parts[0] if parts else None,
    )


def operation(
    method: Method,
    path: str,
    *scopes: KeyScope,
    tag: str,
    status: int = 200,
    made: str = "",
    lines: str = "",
    body: str = "",
) -> Callable[[Callable[Concatenate[Context, P], T]], Operation[P, T]]:
    """Make an operation of a function.

    The annotations of its parameters have their limits and, as text, their descriptions.
    """

    def wrap(function: Callable[Concatenate[Context, P], T]) -> Operation[P, T]:
        return Operation(function, method, path, scopes, tag, status, made, lines, body)

    return wrap
