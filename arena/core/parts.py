"""The lines of an export (docs/formats.md, "Exports") between its deal records, as checked values.

Every line is one JSON object. A part carries the digest of its own content; the match part carries one of
the deals of each session.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema

from arena.core.canonical import digest
from arena.core.luck import MOST
from arena.core.ranking import Standing
from arena.core.specs import Entry, Plan
from referee.errors import Problem
from referee.matches.match import Limits
from referee.reading.docstrings import tell_fields
from referee.reading.validation import Refused, Wording, problems

FORMAT = "bigtwo-export/2"
"""The ``format`` of every part; that of deal records is ``bigtwo-deal/1``."""

RESTORED_ABOVE = 1_000_000_000
"""After the database went back, attempts are numbered from the Unix time in seconds, and from here at least:
no session gets so high a number otherwise, so a bot that sees one knows of it."""

Count = Field(ge=1)


class Value(BaseModel):
    """An object in an export: no field is missing or unknown, and none has another type."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, defer_build=True, json_schema_extra=tell_fields
    )


class Complete(Value):
    """An object with fields that an organiser may leave out, but an export does not."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        missing = [name for name in type(self).model_fields if name not in self.model_fields_set]
        if missing:
            raise Refused(*(Problem(f".{name}", "is missing") for name in missing))
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler(core)
        schema = handler.resolve_ref_schema(made)
        schema["required"] = list(schema["properties"])
        for field in schema["properties"].values():
            field.pop("default", None)
        return made


class LimitsLine(Limits, Complete):
    """What bots were held to."""


class HeadEntrant(Value):
    """An entrant when the tournament was locked."""

    number: int = Count
    """Place in the list of entrants, from 1; rounds refer to entrants by it."""
    bot: str
    """``owner/bot@version``."""
    owner: str
    """The account behind the bot."""
    withdrawn: bool
    """Whether it had withdrawn and plays in no round."""


class EntrantLine(Value):
    """An entrant, which may have entered late."""

    number: int = Count
    """Place in the list of entrants, from 1."""
    bot: str
    """``owner/bot@version``."""
    owner: str
    """The account behind the bot."""
    entered_at_round: int = Count
    """The first round that it plays."""
    withdrawn_after: int | None
    """The last round that it plays; None if it stays."""
    absences: tuple[tuple[int, int], ...]
    """Rounds that it missed between withdrawing and entering again: the first and the last of
    each absence."""

    def plays_in(self, round: int) -> bool:
        """Return whether it has entered by a round and not withdrawn; it plays there or sits out."""
        gone = self.withdrawn_after is not None and round > self.withdrawn_after
        away = any(first <= round <= last for first, last in self.absences)
        return self.entered_at_round <= round and not gone and not away


class Place(Value):
    """A table in a round of a tournament."""

    tournament: str
    """The tournament's name."""
    round: int = Count
    """The round, from 1."""
    table: int = Count
    """The table in the round, from 1."""


class PoolLine(Value):
    """A rating that a bot brought to a round."""

    bot: str
    """``owner/bot@version``."""
    rating: float
    """The rating."""
    since: Place | None
    """The table of another tournament where it last changed; None if the bot is new in the pool."""


class SignedLine(Value):
    """The result of a session as a referee signed it; all values are hexadecimal."""

    digest: str
    """SHA-256 of the result."""
    signature: str
    """The referee's Ed25519 signature of the digest's 32 bytes."""
    key: str
    """The referee's public key, which is in the head or in an event."""


class SessionLine(Value):
    """A finished session."""

    session: int = Count
    """The session of the match, from 1."""
    seating: tuple[int, ...]
    """For each seat, the place of its bot in the table's list of entrants."""
    points: tuple[int, ...]
    """Points by seat."""
    faults: tuple[int, ...]
    """Faults by seat."""
    forfeit: int | None
    """The seat whose forfeit ended it; None if it was played to its end."""
    forfeits: tuple[int, ...]
    """The seats whose bots forfeited it, by number."""
    attempts: int = Count
    """Number of the attempt that played it to its end: from 1, or from a higher number after a backup was
    restored."""
    deals: int = Count
    """Number of deal records that follow."""
    digest: str
    """Digest of these records."""
    signed: SignedLine | None
    """The signed result; None if no referee signed it."""


class Change(Value):
    """What a match did to a rating."""

    before: float
    """The rating that the bot brought."""
    after: float
    """The rating that it had afterwards."""


class Part(Value):
    """The fields of all parts."""

    PART: ClassVar[str]

    format: Literal["bigtwo-export/2"]
    """The version of this format."""
    digest: str
    """SHA-256 of the part without this field, as computed by ``digest``."""


class HeadReferee(Value):
    """A referee that had been started when the tournament was locked."""

    referee: str
    """Its name."""
    key: str
    """The public key with which it signs results of sessions: 32 bytes in hexadecimal digits."""


class HeadPart(Plan, Entry, Complete, Part):
    """The first line: everything that was settled before the first round. Its digest is the commitment."""

    PART: ClassVar[str] = "head"

    part: Literal["head"]
    """Which part this is."""
    tournament: str
    """The tournament's name."""
    pairing: str
    """The tournament format, which says how rounds are paired."""
    pairing_version: int = Count
    """The version of the algorithm that draws pairings."""
    ruleset: dict[str, Any]
    """The ruleset with all of its fields."""
    ruleset_hash: str
    """Its hash (docs/formats.md, "What follows from what"), as hex."""
    table_size: int = Count
    """Bots at a table."""
    limits: LimitsLine
    """What bots are held to."""
    entrants: tuple[HeadEntrant, ...]
    """The entrants in the order of seeding."""
    referees: tuple[HeadReferee, ...]
    """The referees in the order of their names; later ones are in events."""
    decision_key: str | None
    """The arena's public key, with which it signs decisions after the end: 32 bytes in hexadecimal digits.
    None if it had none, so that there can be no decisions."""
    seed_hash: str
    """SHA-256 of the seed, as hex."""
    locked_at: str | None
    """When this was settled; None if it is not yet. All times are in ISO 8601 with their zone."""


class TournamentPart(Part):
    """The second line: the state of the tournament, who plays, and what the deals are derived from."""

    PART: ClassVar[str] = "tournament"

    part: Literal["tournament"]
    """Which part this is."""
    state: Literal["created", "running", "paused", "failed", "finished", "cancelled"]
    """The state of the tournament."""
    rounds: int | None
    """Rounds in all; None if not known yet."""
    entrants: tuple[EntrantLine, ...]
    """The entrants in the order of seeding; late ones come last."""
    seed: str | None
    """The seed, as hex; None before the tournament has ended."""
    beacon_value: str | None
    """The value of the beacon; None if there is none, or the tournament has not been started."""
    created_at: str
    """When it was created."""
    started_at: str | None
    """When it was started; None if not yet."""
    finished_at: str | None
    """When it finished or was cancelled; None if not yet."""
    confirm: bool = False
    """Whether its results are provisional until its organiser has confirmed them; absent if they are not."""


EventKind = Literal[
    "started",
    "entered",
    "withdrew",
    "paused",
    "resumed",
    "void",
    "lost",
    "refused",
    "restored",
    "stopped",
    "key_added",
    "finished",
    "cancelled",
    "corrected",
    "confirmed",
]
"""What can happen to a tournament after it was locked."""


class EventPart(Part):
    """Something that happened after the tournament was locked. Each event names the one before: a chain."""

    PART: ClassVar[str] = "event"

    part: Literal["event"]
    """Which part this is."""
    number: int = Count
    """The event, from 1."""
    event: EventKind
    """The kind of event."""
    at: str
    """When it happened."""
    details: dict[str, Any]
    """Further details: who entered or withdrew, which attempts failed …"""
    previous: str
    """The digest of the event before; for the first event, that of the head."""


class Free(Value):
    """A bot that could be seated in a batch of a continuous tournament."""

    entrant: int = Count
    """Its number."""
    rating: float
    """Its rating then."""
    weight: float = Field(ge=0)
    """The total weight of the matches behind the rating."""


class RoundPart(Part):
    """The pairings of a round; its matches follow."""

    PART: ClassVar[str] = "round"

    part: Literal["round"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    state: Literal["open", "closed", "cancelled"]
    """Its state. ``cancelled``: it ended with its tournament, before all of its matches were finished."""
    tables: tuple[tuple[int, ...], ...]
    """For each table, the numbers of its entrants."""
    byes: tuple[int, ...]
    """The numbers of the entrants that sit out."""
    free: tuple[Free, ...] | None
    """In a continuous tournament, the bots that could be seated; None in others."""
    pool: tuple[PoolLine, ...]
    """If the round is rated, the ratings that do not come from earlier rounds of its tournament."""


class MatchPart(Part):
    """The result of a match, or how far it has got; its deal records follow, session by session."""

    PART: ClassVar[str] = "match"

    part: Literal["match"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    table: int = Count
    """The table in the round, from 1."""
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    """The state of the match."""
    bots: tuple[str, ...]
    """The bots by place at the table, like all that follows."""
    points: tuple[int, ...]
    """Points in all its sessions, by place."""
    faults: tuple[int, ...]
    """Faults in all its sessions, by place."""
    sessions: tuple[SessionLine, ...]
    """Its finished sessions, by number."""


class SessionWorth(Value):
    """What the cards of a session were worth by the reference."""

    session: int = Count
    """The session of the match, from 1."""
    worth: tuple[tuple[int, ...], ...]
    """For each of its deals, what the cards were worth to each seat, in parts of a point."""


class ReferencePart(Part):
    """What the cards of a match were worth, as computed from its deals after it; it follows these.

    It is there once that was computed, and no other part depends on it: the digest in the last part leaves it
    out, so that an export is the same before and after but for these parts.
    """

    PART: ClassVar[str] = "reference"

    part: Literal["reference"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    table: int = Count
    """The table in the round, from 1."""
    reference: str
    """The name of the reference, with its version."""
    hash: str
    """SHA-256 of the reference's test vectors, as hex."""
    plays: int = Count
    """How often the reference plays each deal."""
    parts: int = Count
    """In how many parts of a point it says what cards are worth."""
    beta: int | None = Field(ge=0, le=MOST)
    """The share of that which was expected from the cards of the round, in 64ths; None while that is not
    known."""
    beta_after: int | None = Field(ge=0)
    """The number of deals of the pool from which ``beta`` follows; None if there is none."""
    sessions: tuple[SessionWorth, ...]
    """The sessions of which it was computed, by number."""


class RoundEndPart(Part):
    """The scores and rating changes of a round that was closed or cancelled, after its matches.

    Those of a cancelled round are of its finished matches; for its other tables there is None.
    """

    PART: ClassVar[str] = "round_end"

    part: Literal["round_end"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    rated_after: int | None = Field(ge=0)
    """Matches rated under the ruleset, in all tournaments, before those of this round; None if none of its
    matches is rated."""
    scores: tuple[tuple[float, ...] | None, ...] | None
    """In a duplicate tournament, points relative to the same seat elsewhere, by table and
    place; else None."""
    ratings: tuple[tuple[Change, ...] | None, ...] | None
    """The rating changes by table and place; None in a tournament that is not rated."""


class EndPart(Part):
    """The last line: the standings, and a digest over all parts."""

    PART: ClassVar[str] = "end"

    part: Literal["end"]
    """Which part this is."""
    standings: tuple[dict[str, Any], ...]
    """The standings, best first: ``bot``, ``rank``, and the values that decide."""
    parts: str
    """SHA-256 of the concatenated digests of all earlier parts but ``reference``."""


_WORDING = Wording("this part")

PARTS: tuple[type[Part], ...] = (
    *(HeadPart, TournamentPart, EventPart),
    *(RoundPart, MatchPart, ReferencePart, RoundEndPart, EndPart),
)


P = TypeVar("P", bound=Part)


class PartError(ValueError):
    """Raised if a line is not a part of an export; the message names the field."""


def make_part(kind: type[Part], **content: object) -> dict[str, object]:
    """Return a part ready to be written."""
    plain = {"format": FORMAT, "part": kind.PART, **content}
    return {**plain, "digest": digest(plain)}


def standing_object(standing: Standing, bot: str) -> dict[str, Any]:
    """Return a line of the standings as the last part has it."""
    fields = {name: value for name, value in asdict(standing).items() if name != "entrant"}
    plain: dict[str, Any] = json.loads(json.dumps({"bot": bot, **fields}))
    return plain


def kind_of(given: object) -> type[Part] | None:
    """Return the part that a line claims to be; None if it may be a deal record. Raise PartError."""
    if not isinstance(given, dict):
        raise PartError("the line is not a JSON object")
    if given.get("format") != FORMAT and "part" not in given:
        return None
    if given.get("format") != FORMAT:
        raise PartError(f"format: is {_shown(given.get('format'))}, should be {FORMAT!r}")
    for kind in PARTS:
        if given.get("part") == kind.PART:
            return kind
    raise PartError(
        f"part: {_shown(given.get('part'))} is not one of {', '.join(kind.PART for kind in PARTS)}"
    )


def read_part(kind: type[P], text: bytes) -> P:
    """Parse a line as a part of this kind. Raise PartError."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise PartError(str(problems(error, kind.model_json_schema(), _WORDING)[0])) from None


def check_digest(part: Part, given: Mapping[str, object]) -> None:
    """Raise PartError if the part was changed after it was written."""
    plain = {name: value for name, value in given.items() if name != "digest"}
    if part.digest != digest(plain):
        raise PartError("digest: is not that of the line: one of its fields was changed")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
