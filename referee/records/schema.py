"""The fields of a deal record (docs/formats.md): for reading it, and for its JSON Schema."""

import re
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from referee.reading.docstrings import tell_fields
from referee.reading.validation import short

LEAST_PLAYERS, MOST_PLAYERS = 2, 8

OPTIONAL = (
    *("attempt", "exchange", "played_for", "forfeit", "absent", "used_ms"),
    *("faults", "ms", "credit_ms", "answers"),
)
"""Fields that are absent, rather than null, if there is nothing to say."""

_CONFIG = ConfigDict(strict=True, json_schema_extra=tell_fields)
_TIMES = re.compile(r"((-|[0-9]{1,9})( (-|[0-9]{1,9}))*)?")
_SEED = re.compile(r"[0-9a-fA-F]{64}")


class Reader:
    """Reads records of one number of players."""

    def __init__(self, least: int, most: int) -> None:
        self.adapter: TypeAdapter[Any] = TypeAdapter(_record(least, most))

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of such a record."""
        return self.adapter.json_schema()


@lru_cache(maxsize=MOST_PLAYERS)
def reader(players: int) -> Reader:
    """Return the reader for records of this number of players."""
    return Reader(players, players)


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of a record of any number of players."""
    return Reader(LEAST_PLAYERS, MOST_PLAYERS).schema


def _seed(text: str) -> str:
    if not _SEED.fullmatch(text):
        raise ValueError(f"must be 64 hexadecimal digits, not {short(text)}")
    return text


def _times(text: str) -> str:
    if not _TIMES.fullmatch(text):
        raise ValueError(f"must be numbers of milliseconds and -, not {short(text)}")
    return text


def _record(least: int, most: int) -> type:
    """Return the type of records of ``least`` to ``most`` players."""
    Count = Annotated[int, Field(ge=1)]
    Seat = Annotated[int, Field(ge=0, le=most - 1)]
    Texts = Annotated[list[str], Field(min_length=least, max_length=most)]
    Points = Annotated[list[int], Field(min_length=least, max_length=most)]
    Time = Annotated[int, Field(ge=0)]
    Times = Annotated[
        str, AfterValidator(_times), Field(json_schema_extra={"pattern": f"^{_TIMES.pattern}$"})
    ]
    Seed = Annotated[str, AfterValidator(_seed), Field(json_schema_extra={"pattern": "^[0-9a-fA-F]{64}$"})]

    @with_config(_CONFIG)
    class Exchange(TypedDict):
        """The exchange before the first trick."""

        loser: Seat
        """The seat that gave its highest card."""
        winner: Seat
        """The seat that received it, and gave back a card of its choice."""
        given: str
        """The loser's card."""
        returned: str
        """The winner's card."""

    @with_config(_CONFIG)
    class Fault(TypedDict):
        """A decision that the referee made for a seat."""

        action: Annotated[int, Field(ge=0)]
        """The index in ``actions``."""
        seat: Seat
        """Whose decision it was."""
        kind: Literal["illegal", "timeout", "malformed", "disconnect", "stall", "flood", "exception"]
        """Why."""
        turn: NotRequired[Literal["exchange", "bomb"]]
        """What the decision was about, if it was not a turn to play."""
        ms: NotRequired[Time]
        """The milliseconds that the seat took."""
        credit_ms: NotRequired[Time]
        """What was credited for the network."""

    @with_config(_CONFIG)
    class PlayedFor(TypedDict):
        """A seat whose bot forfeited the session, which went on without it."""

        seat: Seat
        """The seat."""
        deal: Count
        """The deal of the session in which it forfeited: this one or an earlier one."""
        action: Annotated[int, Field(ge=0)]
        """How many actions that deal had had by then; the seat's later actions, and those in later deals, are
        not its bot's own."""
        why: Literal["absent", "faults"]
        """Why it forfeited."""
        by: Literal["default_action", "stand_in"]
        """How the seat is played for since then."""

    @with_config(_CONFIG)
    class Answer(TypedDict):
        """A decision that is not among the actions."""

        action: Annotated[int, Field(ge=0)]
        """How many actions came before."""
        seat: Seat
        """Whose decision it was."""
        turn: Literal["exchange", "bomb"]
        """What was asked: which card to return, or whether to bomb out of turn."""
        ms: Time
        """The milliseconds that the seat took."""
        credit_ms: Time
        """What was credited for the network."""

    @with_config(_CONFIG)
    class DealRecord(TypedDict):
        """A finished deal, from which everything about it can be derived again."""

        format: Literal["bigtwo-deal/1"]
        """The version of this format."""
        ruleset: dict[str, Any]
        """All fields of the ruleset; it extends nothing."""
        tournament: str
        """The tournament's name."""
        round: Count
        """The round, from 1."""
        table: Count
        """The table in the round, from 1."""
        session: Count
        """The session of the match, from 1."""
        deal: Count
        """The deal of the session, from 1."""
        attempt: NotRequired[Annotated[int, Field(ge=2)]]
        """The attempt at the session that dealt it; absent for the first."""
        seats: Texts
        """The bots by seat, as ``owner/bot@version``."""
        seed: Seed
        """The deal's seed: 32 bytes in hexadecimal digits."""
        dealer: Seat
        """The seat that deals."""
        direction: Literal["clockwise", "anticlockwise"]
        """The order of play."""
        hands: Texts
        """The hands by seat as dealt: before leftover cards are taken and before an exchange."""
        leftover: str
        """The cards not dealt, in the order of the stock."""
        exchange: NotRequired[Exchange]
        """The exchange; absent if there was none."""
        leader: Seat | None
        """The seat that leads; null if a forfeit came before."""
        actions: list[str]
        """In order: ``seat:cards``, ``seat:-`` for a pass, ``seat:- +cards`` for a pass and the cards drawn,
        ``seat!cards`` for a bomb out of turn."""
        out: list[int]
        """Seats without cards, in the order of going out."""
        left: Texts
        """The hands by seat at the end."""
        points: Points
        """The result by seat; higher is better."""
        end: str
        """How the deal ended: ``out``, ``dragon``, ``instant_win``, ``last_top_card`` or ``forfeit``."""
        played_for: NotRequired[Annotated[list[PlayedFor], Field(min_length=1, max_length=most)]]
        """The seats whose bots have forfeited the session, which goes on, in that order; absent if there are
        none."""
        forfeit: NotRequired[Seat]
        """The seat whose forfeit ended the session; absent if none did."""
        absent: NotRequired[Annotated[list[Seat], Field(min_length=1, max_length=most)]]
        """The seats whose bots could not be given the session, which one of them forfeited; else absent. With
        ``used_ms``, the seat that forfeits: the time of the match was up before the session began."""
        used_ms: NotRequired[Annotated[list[Time], Field(min_length=least, max_length=most)]]
        """By seat, the milliseconds that each bot had thought in the match when the match's time was up: the
        bot that had used the most forfeited. Absent if the deal was not forfeited for that."""
        faults: NotRequired[list[Fault]]
        """Where the referee acted for a seat; absent if it never did."""
        ms: NotRequired[Times]
        """For each action, the milliseconds that the seat took, or ``-`` if it was not asked; absent if there
        were no clocks."""
        credit_ms: NotRequired[Times]
        """For each action, what was credited for the network; absent if that was always nothing."""
        answers: NotRequired[list[Answer]]
        """Decisions that are not actions of their own; absent if there were none."""

    return DealRecord
