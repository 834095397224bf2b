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

from arena.exports.digests import digest
from arena.standings.ranking import Standing
from arena.terms import Entry, Limits, Plan
from referee.docstrings import tell_fields
from referee.errors import Problem
from referee.validation import Refused, Wording, problems

FORMAT = "bigtwo-export/2"
"""What every part says of itself; deal records say ``bigtwo-deal/1``."""

RESTORED_ABOVE = 1_000_000_000
"""After a backup was restored, attempts count from the time in seconds, and from here at least: no session
comes to such a number otherwise, so that a bot that was in such an attempt knows of the restore."""

Count = Field(ge=1)


class Value(BaseModel):
    """An object in an export: no field is missing, none is unknown, none of another type."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, defer_build=True, json_schema_extra=tell_fields
    )


class Complete(Value):
    """An object with fields that an organiser may leave out: here they are there."""

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
    """Place in the list of entrants, from 1; rounds name entrants by it."""
    bot: str
    """``owner/bot@version``."""
    owner: str
    """The account behind the bot."""
    withdrawn: bool
    """Whether it had withdrawn, and plays in no round."""


class EntrantLine(Value):
    """An entrant, those that came late among them."""

    number: int = Count
    """Place in the list of entrants, from 1."""
    bot: str
    """``owner/bot@version``."""
    owner: str
    """The account behind the bot."""
    entered_at_round: int = Count
    """The first round that it plays."""
    withdrawn_after: int | None
    """The last round that it plays; None: it stays."""
    absences: tuple[tuple[int, int], ...]
    """Rounds that it missed between withdrawing and entering again: the first and the last of each time."""

    def plays_in(self, round: int) -> bool:
        """Return whether it plays in a round, or sits out there: it has come, and not withdrawn."""
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
    """The table of another tournament where it last changed; None: the bot is new in the pool."""


class SignedLine(Value):
    """The result of a session, as a referee signed it; all in hexadecimal digits."""

    digest: str
    """SHA-256 of the result."""
    signature: str
    """The referee's Ed25519 signature of the digest's 32 bytes."""
    key: str
    """The referee's public key; it stands in the head, or in an event."""


class SessionLine(Value):
    """A finished session."""

    session: int = Count
    """The session of the match, from 1."""
    seating: tuple[int, ...]
    """For each seat the place in the table's list of entrants."""
    points: tuple[int, ...]
    """By seat."""
    faults: tuple[int, ...]
    """By seat."""
    forfeit: int | None
    """The seat whose forfeit ended it; None: it was played to its end."""
    forfeits: tuple[int, ...]
    """The seats whose bots forfeited it, in order."""
    attempts: int = Count
    """Number of the attempt that played it to its end. They count from 1, and from a higher number after a
    backup was restored."""
    deals: int = Count
    """Deal records that follow."""
    digest: str
    """Of these records."""
    signed: SignedLine | None
    """The result; None: no referee has signed it."""


class Change(Value):
    """What a match did to a rating."""

    before: float
    """The rating that the bot brought."""
    after: float
    """The rating that it left with."""


class Part(Value):
    """What all parts have."""

    PART: ClassVar[str]

    format: Literal["bigtwo-export/2"]
    """The version of this format."""
    digest: str
    """SHA-256 of the part without this field, as ``digest`` makes it."""


class HeadReferee(Value):
    """A referee that had been started when the tournament was locked."""

    referee: str
    """Its name."""
    key: str
    """The public key with which it signs results of sessions: 32 bytes in hexadecimal digits."""


class HeadPart(Plan, Entry, Complete, Part):
    """The first line: all that was settled before the first round. Its digest is the commitment."""

    PART: ClassVar[str] = "head"

    part: Literal["head"]
    """Which part this is."""
    tournament: str
    """The tournament's name."""
    pairing: str
    """The format by which rounds are paired."""
    pairing_version: int = Count
    """The version of what draws pairings."""
    ruleset: dict[str, Any]
    """Resolved."""
    ruleset_hash: str
    """SHA-256, as hex, of the ruleset as JSON with sorted keys and no blanks."""
    table_size: int = Count
    """Bots at a table."""
    limits: LimitsLine
    """What bots are held to."""
    entrants: tuple[HeadEntrant, ...]
    """In the order of seeding."""
    referees: tuple[HeadReferee, ...]
    """By name; those that came later are events."""
    seed_hash: str
    """SHA-256 of the seed, as hex."""
    locked_at: str | None
    """When this was settled, in ISO 8601 with its zone; so are the other times. None: it is not yet."""


class TournamentPart(Part):
    """The second line: where the tournament stands, who plays, and what the deals follow from."""

    PART: ClassVar[str] = "tournament"

    part: Literal["tournament"]
    """Which part this is."""
    state: Literal["created", "running", "paused", "failed", "finished", "cancelled"]
    """Where the tournament stands."""
    rounds: int | None
    """Rounds in all; None: not known yet."""
    entrants: tuple[EntrantLine, ...]
    """In the order of seeding; those that came late are the last."""
    seed: str | None
    """None before the tournament has ended."""
    beacon_value: str | None
    """What the beacon said; None: there is none, or the tournament has not been started."""
    created_at: str
    """When it was created."""
    started_at: str | None
    """When it was started; None: not yet."""
    finished_at: str | None
    """When it finished or was cancelled; None: not yet."""
    confirm: bool = False
    """Whether its results are provisional until its organiser has confirmed them; absent: they are not."""


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
    """Something that happened after the tournament was locked. Each part names the one before: a chain."""

    PART: ClassVar[str] = "event"

    part: Literal["event"]
    """Which part this is."""
    number: int = Count
    """The event, from 1."""
    event: EventKind
    """What happened."""
    at: str
    """When."""
    details: dict[str, Any]
    """What else there is to know: who entered or withdrew, which attempts came to nothing …"""
    previous: str
    """The digest of the event before; of the first, that of the head."""


class Free(Value):
    """A bot that could be seated in a batch of a continuous tournament."""

    entrant: int = Count
    """Its number."""
    rating: float
    """Its rating then."""
    weight: float = Field(ge=0)
    """What the matches that the rating came from weigh together."""


class RoundPart(Part):
    """Who meets whom; the round's matches follow."""

    PART: ClassVar[str] = "round"

    part: Literal["round"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    state: Literal["open", "closed", "cancelled"]
    """Where it stands; a closed round of a tournament that is rated has changed ratings."""
    tables: tuple[tuple[int, ...], ...]
    """Numbers of the entrants at each table."""
    byes: tuple[int, ...]
    """Numbers of those who sit out."""
    free: tuple[Free, ...] | None
    """In a continuous tournament who could be seated; None in others."""
    pool: tuple[PoolLine, ...]
    """Where the round is rated: ratings that did not come from its tournament's earlier rounds."""


class MatchPart(Part):
    """How a match ended or how far it is; its deal records follow, session by session."""

    PART: ClassVar[str] = "match"

    part: Literal["match"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    table: int = Count
    """The table in the round, from 1."""
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    """Where the match stands."""
    bots: tuple[str, ...]
    """By place at the table, as all that follows."""
    points: tuple[int, ...]
    """Of all its sessions, by place."""
    faults: tuple[int, ...]
    """Of all its sessions, by place."""
    sessions: tuple[SessionLine, ...]
    """Those that are finished, by number."""


class RoundEndPart(Part):
    """After the matches of a closed round: what it made of scores and ratings."""

    PART: ClassVar[str] = "round_end"

    part: Literal["round_end"]
    """Which part this is."""
    round: int = Count
    """The round, from 1."""
    rated_after: int | None = Field(ge=0)
    """Matches rated under the ruleset, in all tournaments, before those of this round; None in a tournament
    that is not rated."""
    scores: tuple[tuple[float, ...], ...] | None
    """In a duplicate tournament by table and place: points relative to the same seat elsewhere. Else None."""
    ratings: tuple[tuple[Change, ...], ...] | None
    """By table and place; None in a tournament that is not rated."""


class EndPart(Part):
    """The last line: the standings, and a digest over all parts."""

    PART: ClassVar[str] = "end"

    part: Literal["end"]
    """Which part this is."""
    standings: tuple[dict[str, Any], ...]
    """Best first: ``bot``, ``rank``, and what decides."""
    parts: str
    """SHA-256 of the digests of all parts before, one after the other."""


_WORDING = Wording("this part")

PARTS: tuple[type[Part], ...] = (
    *(HeadPart, TournamentPart, EventPart),
    *(RoundPart, MatchPart, RoundEndPart, EndPart),
)


P = TypeVar("P", bound=Part)


class PartError(ValueError):
    """A line is not a part of an export; the message names the field."""


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
    """Return which part a line says it is; None: it may be a deal record. Raise PartError for others."""
    if not isinstance(given, dict):
        raise PartError("the line is not a JSON object")
    if given.get("format") != FORMAT and "part" not in given:
        return None
    if given.get("format") != FORMAT:
        raise PartError(f"format: is {_shown(given.get('format'))}, should be {FORMAT!r}")
    for kind in PARTS:
        if given.get("part") == kind.PART:
            return kind
    raise PartError(f"part: {_shown(given.get('part'))} is none of {', '.join(kind.PART for kind in PARTS)}")


def read_part(kind: type[P], text: bytes) -> P:
    """Return the part that a line holds. Raise PartError."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise PartError(str(problems(error, kind.model_json_schema(), _WORDING)[0])) from None


def check_digest(part: Part, given: Mapping[str, object]) -> None:
    """Raise PartError if the part is not as it was when it was written."""
    plain = {name: value for name, value in given.items() if name != "digest"}
    if part.digest != digest(plain):
        raise PartError("digest: is not that of the line: one of its fields was changed")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
