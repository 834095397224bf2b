"""Routers of the API, whose routes applications use unchanged (see ``arena.web.pages.routing``)."""

from enum import Enum

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from arena.web.problems import RESPONSES, only_known
from arena.web.storable import only_text

PREFIX = "/api/v1"


def name_of(route: APIRoute) -> str:
    """Return a route's name for clients: that of its handler."""
    return route.name


def api_router(*tags: str | Enum, prefix: str = "") -> APIRouter:
    """Return a router for routes of the API below ``prefix``, with the errors that all may answer."""
    return APIRouter(
        prefix=PREFIX + prefix,
        tags=[*tags],
        responses=RESPONSES,
        dependencies=[Depends(only_known), Depends(only_text)],
        generate_unique_id_function=name_of,
    )
