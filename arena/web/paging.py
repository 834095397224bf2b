"""How lists are asked for in pages."""

from typing import Annotated

from fastapi import Query

LARGEST_PAGE = 200

Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Most lines of the page.")]
Cursor = Annotated[
    str | None,
    Query(max_length=400, description="`next` of the page before this one; all else has to stay the same."),
]
