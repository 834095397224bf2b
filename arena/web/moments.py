"""Times in requests."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator


def _in_utc(given: datetime) -> datetime:
    """Return a time in UTC, as databases compare times; one without a zone is taken as UTC."""
    try:
        return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except OverflowError:
        raise ValueError("no such time") from None


Moment = Annotated[datetime, AfterValidator(_in_utc)]
