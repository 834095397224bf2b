"""The query parameters of lists that come in pages."""

from typing import Annotated

from fastapi import Query

LARGEST_PAGE = 200

Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="Maximum number of lines in the page.")]
Cursor = Annotated[
    str | None,
    Query(max_length=400, description="`next` of the previous page; repeat the other parameters."),
]
