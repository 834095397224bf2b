"""Routers of pages.

What all routes have in common is said where a router is made, and applications have its routes as they are:
FastAPI analyses the routes of included routers once more, for each application that is asked something.
"""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse


def page_router(prefix: str = "") -> APIRouter:
    """Return a router for pages below ``prefix``, which no document of the API names."""
    return APIRouter(prefix=prefix, include_in_schema=False, default_response_class=HTMLResponse)
