"""Routers of pages.

What all routes have in common is set when a router is created, and applications use its routes unchanged:
FastAPI would analyse the routes of included routers again for each application.
"""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse


def page_router(prefix: str = "") -> APIRouter:
    """Return a router for pages below ``prefix``, which the API's document leaves out."""
    return APIRouter(prefix=prefix, include_in_schema=False, default_response_class=HTMLResponse)
