"""Parameters that several operations have, with their limits and descriptions."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated

from annotated_types import Interval, MaxLen
from pydantic import AfterValidator, ValidatorFunctionWrapHandler, WrapValidator

from arena.operations.operation import Parts

LARGEST_PAGE = 200
"""Maximum number of lines in a page over the network."""

MOST = 2**31 - 1
"""The largest number of a round, a table or the like."""

LARGEST_ID = 2**53 - 1
"""The largest id; all readers of JSON have it exactly."""

LARGEST_VERSION = 999_999_999


def read_by(make: Callable[[Mapping[str, object]], object]) -> WrapValidator:
    """Have objects made into values by a function, whose errors say more; what is such a value stays."""

    def read(value: object, validate: ValidatorFunctionWrapHandler) -> object:
        return make(value) if isinstance(value, Mapping) else validate(value)

    return WrapValidator(read)


def in_utc(moment: datetime) -> datetime:
    """Return a time in UTC, as databases compare times; one without a zone is taken as UTC."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("no such time") from None


Moment = Annotated[datetime, AfterValidator(in_utc)]

Limit = Annotated[int, Interval(ge=1, le=LARGEST_PAGE), "Maximum number of lines in the page."]
Cursor = Annotated[
    Annotated[str, MaxLen(400)] | None, "`next` of the previous page; repeat the other parameters."
]
Number = Annotated[int, Interval(ge=1, le=MOST)]
"""A round, a table, a session, a deal or a season, from 1."""

RulesetName = Annotated[str | None, "Name, `name@version`, or the beginning of its hash."]
TableSize = Annotated[Annotated[int, Interval(ge=2, le=8)] | None, "Only tables of this size."]

BOT = Parts(("owner", "bot"))
ENTRANT = Parts(("owner", "bot"), versions=True)
VERSION = Parts(("owner", "bot", "number"))
BOT_OR_VERSION = Parts(("owner", "bot"), query="version")

BotName = Annotated[str, BOT, "`owner/bot`."]
Entrant = Annotated[str, ENTRANT, "`owner/bot`, or `owner/bot@number`."]
VersionName = Annotated[str, VERSION, "`owner/bot@number`."]
BotOrVersion = Annotated[
    str, BOT_OR_VERSION, "`owner/bot` with all its versions, or one of them as `owner/bot@number`."
]
