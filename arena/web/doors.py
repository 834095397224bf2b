"""The routes of the API, made from operations."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, NoneType
from typing import Annotated, Any, NewType, Optional
from urllib.parse import quote

from fastapi import APIRouter, Body, Depends, Path, Query, Response
from pydantic import ConfigDict, Field, create_model

from arena.operations.operation import REQUIRED, Context, Operation, Parameter
from arena.operations.parameters import BOT, BOT_OR_VERSION, ENTRANT, VERSION
from arena.web.asking import allowed
from arena.web.naming import BotName, BotOrVersion, EntrantName, VersionName
from arena.web.routes.exports import place
from arena.web.routing import PREFIX, api_router, described

NAMES = {BOT: BotName, ENTRANT: EntrantName, VERSION: VersionName, BOT_OR_VERSION: BotOrVersion}
"""The dependencies that read the names of bots in paths."""

ONLY_THESE = ConfigDict(extra="forbid")


def operations_in(module: ModuleType) -> Iterator[Operation[Any, Any]]:
    """Yield the operations of a module, in their order."""
    return (value for value in vars(module).values() if isinstance(value, Operation))


def router_of(module: ModuleType) -> APIRouter:
    """Return a router with a route for each operation of a module."""
    router = api_router()
    for operation in operations_in(module):
        router.add_api_route(
            operation.path,
            _endpoint(operation),
            methods=[operation.method],
            status_code=operation.status,
            response_model=_model(operation.answer),
            tags=[operation.tag],
            name=operation.name,
            description=operation.description,
            dependencies=[Depends(place)] if operation.path.endswith("/export") else [],
        )
    return router


def _model(answer: Any) -> Any:
    """Return the model of an answer in the OpenAPI document."""
    if answer in (None, NoneType):
        return None
    return described(answer)


def _endpoint(operation: Operation[Any, Any]) -> Callable[..., Any]:
    """Return the handler of an operation's route, whose signature tells FastAPI what to read where."""
    in_body = [parameter for parameter in operation.parameters.values() if _is_in_body(operation, parameter)]
    model = _body(operation, in_body)

    def handle(context: Context, response: Response, **values: Any) -> Any:
        sent = values.pop("sent", None)
        if operation.body:
            values[operation.body] = sent
        else:
            values |= (
                {parameter.name: getattr(sent, parameter.name) for parameter in in_body}
                if sent is not None
                else {}
            )
        answer = operation(context, **values)
        if operation.made:
            response.headers["Location"] = PREFIX + _place(operation.made, answer, values)
        return answer

    keyword = inspect.Parameter.KEYWORD_ONLY
    context = Annotated[Context, Depends(allowed(*operation.scopes))]
    signature = [
        inspect.Parameter("context", keyword, annotation=context),
        inspect.Parameter("response", keyword, annotation=Response),
        *(
            inspect.Parameter(
                parameter.name,
                keyword,
                default=parameter.default,
                annotation=_annotation(operation, parameter),
            )
            for parameter in operation.parameters.values()
            if parameter not in in_body
        ),
    ]
    if model is not None:
        needed = any(parameter.required for parameter in in_body)
        sent = Annotated[model if needed else Optional[model], Body()]  # type: ignore[valid-type]  # noqa: UP045
        default = REQUIRED if needed else None
        signature.append(inspect.Parameter("sent", keyword, default=default, annotation=sent))
    handle.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    handle.__name__, handle.__doc__ = operation.name, operation.description
    return handle


def _is_in_body(operation: Operation[Any, Any], parameter: Parameter) -> bool:
    return operation.has_body and not operation.in_path(parameter)


def _annotation(operation: Operation[Any, Any], parameter: Parameter) -> Any:
    """Return how FastAPI reads a parameter that is not in the body."""
    if parameter.parts is not None:
        return NAMES[parameter.parts]
    place = Path if operation.in_path(parameter) else Query
    return Annotated[parameter.kind, place(description=parameter.description or None)]


def _body(operation: Operation[Any, Any], parameters: list[Parameter]) -> Any:
    """Return the type of an operation's body; None if it has none."""
    if operation.body:
        [whole] = parameters
        # A new type, since pydantic builds a model later, and then warns of the alias that FastAPI adds.
        kind: Any = NewType(whole.name, whole.kind)  # type: ignore[misc,name-defined]
        return Annotated[kind, Body(description=whole.description or None)]
    if not parameters:
        return None
    fields: dict[str, Any] = {
        parameter.name: (
            parameter.kind,
            Field(
                ... if parameter.required else parameter.default, description=parameter.description or None
            ),
        )
        for parameter in parameters
    }
    name = operation.name.title().replace("_", "")
    return create_model(name, __config__=ONLY_THESE, __doc__=operation.description, **fields)


def _place(path: str, answer: Any, values: Mapping[str, Any]) -> str:
    """Return the path of what was made."""
    named = {**{name: getattr(answer, name) for name in dir(answer) if not name.startswith("_")}, **values}
    return path.format_map({name: quote(str(value), safe="/@") for name, value in named.items()})
