"""The details of events in exports (docs/formats.md, "Exports"), by the kind of event."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, ValidationError

from arena.core.corrections import Kind
from arena.core.parts import EventKind, EventPart, PartError, SignedLine, Value
from referee.validation import Wording, problems

Number = Annotated[int, Field(ge=1)]


class Nothing(Value):
    """No details."""


class Started(Value):
    """It was started, or started again after it had failed."""

    beacon_value: str | None = None
    """The value of the beacon; absent where there is none, and when it was started again."""


class Entered(Value):
    """A bot entered late, or again."""

    entrant: Number
    bot: str
    first_round: Number


class Withdrew(Value):
    """A bot withdrew."""

    entrant: Number
    bot: str
    last_round: Annotated[int, Field(ge=0)]


class Void(Value):
    """Attempts came to nothing."""

    round: Number
    table: Number
    attempts: dict[str, Number]


class Lost(Value):
    """Finished deals could not be read any more."""

    round: Number
    table: Number
    after: dict[str, Annotated[int, Field(ge=0)]]


class NotTaken(Value):
    """A referee did not take a match."""

    round: Number
    table: Number
    problem: str


class Restored(Value):
    """The database went back to an earlier state."""

    attempts_above: Number


class Rounds(Value):
    """It was stopped, or finished, after this number of rounds."""

    rounds: Annotated[int, Field(ge=0)]


class KeyAdded(Value):
    """A referee was added later, or has a new key."""

    referee: str
    key: str


class Corrected(Value):
    """The organiser corrected the standings."""

    correction: Kind
    entrant: Number
    bot: str
    reason: str
    by: str
    signed: SignedLine
    round: Number = 1
    table: Number = 1
    points: int = 0


class Confirmed(Value):
    """The organiser confirmed the results."""

    by: str
    signed: SignedLine


DETAILS: Mapping[EventKind, type[Value]] = {
    "started": Started,
    "entered": Entered,
    "withdrew": Withdrew,
    "paused": Nothing,
    "resumed": Nothing,
    "void": Void,
    "lost": Lost,
    "refused": NotTaken,
    "restored": Restored,
    "stopped": Rounds,
    "key_added": KeyAdded,
    "finished": Rounds,
    "cancelled": Nothing,
    "corrected": Corrected,
    "confirmed": Confirmed,
}
"""What the details of each kind of event are."""

_WORDING = Wording("these details")


def check_details(event: EventPart) -> None:
    """Raise PartError if the details of an event are not those of its kind."""
    kind = DETAILS[event.event]
    try:
        kind.model_validate(event.details)
    except ValidationError as error:
        first = problems(error, kind.model_json_schema(), _WORDING)[0]
        raise PartError(f"details.{first}") from None
