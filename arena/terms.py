"""What a tournament is played under: each field once, for files, options, the database and exports."""

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from referee.matches.match import MAX_SESSIONS
from referee.ruleset.limits import MAX_DEALS

BEACON = r"^[ -~]+$"
"""A beacon and its value: printable ASCII."""


class Limits(BaseModel):
    """What bots are held to in a session."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    decision_ms: int = Field(default=1000, ge=1, le=3_600_000)
    """Milliseconds that a decision may take."""
    join_seconds: int = Field(default=30, ge=1, le=3_600)
    """Seconds that absent bots are waited for when a match starts."""
    faults: int = Field(default=10, ge=1, le=1_000_000)
    """Number of faults at which a session is forfeit."""
    bank_ms: int = Field(default=0, ge=0, le=86_400_000)
    """Milliseconds of thinking time that each seat has for all decisions of a session; 0: no bank."""
    increment_ms: int = Field(default=0, ge=0, le=3_600_000)
    """Milliseconds that each decision adds to the bank."""
    credit_ms: int = Field(default=100, ge=0, le=60_000)
    """Milliseconds that are credited to a decision for the network at most."""
    ask_forced: bool = False
    """Whether bots are asked even where they have no choice."""
    match_seconds: int = Field(default=0, ge=0, le=604_800)
    """Seconds that a match may take, with the wait for absent bots, so more than ``join_seconds``; then the
    bot that has thought longest in it forfeits the sessions that are not finished. 0: as many as it takes."""
    min_sessions: int = Field(default=1, ge=1, le=256)
    """Sessions at once that a bot must take at the referee of its match; one that takes fewer is told so when
    it enters, and counts as absent."""


class Plan(BaseModel):
    """How much is played, and how."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    rounds: int | None = Field(default=None, ge=1, le=10_000)
    """Rounds; by default as many as the format takes. Swiss needs a number, as does a round-robin of more
    than 400 entrants; a knockout takes none."""
    sessions: int = Field(default=4, ge=1, le=MAX_SESSIONS)
    """Sessions in a match."""
    deals: int | None = Field(default=None, ge=1, le=MAX_DEALS)
    """Deals in a session; by default as many as the ruleset says."""
    duplicate: bool = False
    """Whether all tables of a round play the same deals."""
    allow_same_owner: bool = False
    """Whether two bots of an owner may sit at one table."""
    options: dict[str, object] = Field(default_factory=dict)
    """Options of the format alone."""


class Entry(BaseModel):
    """What has to be there before a tournament starts."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    require_check: bool = False
    """Whether every entrant must have passed ``arena bot check``."""
    beacon: str | None = Field(default=None, max_length=200, pattern=BEACON)
    """A public value that nobody can know before, named by its source and hour, as ``drand round 4829341``:
    it is mixed into the seed when the tournament starts. By default the organiser alone draws the luck."""


class Terms(Limits, Plan, Entry):
    """Everything that can be set for a tournament but who plays what, and in which format."""


def described(field: FieldInfo) -> str:
    """Return a field's description as a paragraph."""
    return " ".join((field.description or "").replace("``", "`").split())
