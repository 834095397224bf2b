"""What a table says to its seats and to spectators; ``referee.wire`` makes messages of these values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from referee.deal import Deal, Stage
from referee.match import Limits
from referee.plays import Rules

if TYPE_CHECKING:
    from referee.table import Table


class FaultKind(StrEnum):
    """What a bot did wrong, as it stands in deal records."""

    ILLEGAL = "illegal"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    DISCONNECT = "disconnect"
    STALL = "stall"
    FLOOD = "flood"


class SessionEnd(StrEnum):
    """Why a session ended."""

    PLAYED = "played"
    FORFEIT = "forfeit"
    VOID = "void"


class NoticeCode(StrEnum):
    """What a notice is about."""

    STALE_MOVE = "stale_move"
    UNKNOWN_SESSION = "unknown_session"
    UNEXPECTED = "unexpected"
    CLOSING = "closing"
    REPEATED_MOVE = "repeated_move"
    UNKNOWN_TURN = "unknown_turn"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True, eq=False)
class SessionInfo:
    """What stays the same for a whole session. Two are never equal."""

    handle: int
    """Small number that names the session on this referee's streams."""
    session_id: str
    """Public name, ``match/number``."""
    number: int
    """Counts the sessions of the match from 1."""
    tournament: str
    ruleset: str
    """The resolved ruleset as one JSON object."""
    rules: Rules
    seats: tuple[str, ...]
    """Names of the bot versions, seat 0 first."""
    deals: int
    """How many deals the session has at most."""
    commitment: str
    """SHA-256 of the tournament's seed, hexadecimal."""
    limits: Limits


def log_length(deal: Deal) -> int:
    """Length of a deal's log: its actions, and before them the two steps of an exchange."""
    exchange = deal.exchange
    return len(deal.log) + (0 if exchange is None else 1 + (exchange.returned != 0))


class SessionStarted(NamedTuple):
    info: SessionInfo
    seat: int
    scores: tuple[int, ...]
    resumed: bool


class DealStarted(NamedTuple):
    info: SessionInfo
    seat: int
    """-1 for spectators."""
    deal: Deal
    hands: tuple[int, ...]
    """Masks by seat, after leftover cards were taken and before an exchange."""


class TurnDue(NamedTuple):
    """A turn that is to be built when it is sent: it may be over by then."""

    table: "Table"
    seat: int
    sequence: int


class Turn(NamedTuple):
    info: SessionInfo
    seat: int
    sequence: int
    stage: Stage
    deal: Deal
    since: int
    """How much of the deal's log the seat was told before; see ``log_length``."""
    time_ms: int
    """How long the seat may take, without the credit."""
    bank_ms: int
    credit_ms: int
    encoded: list[bytes] | None = None
    """For the encoder: the deal's log as far as it was encoded; one list for all seats."""


class DealEnded(NamedTuple):
    info: SessionInfo
    seat: int
    """-1 for spectators."""
    deal: Deal
    since: int
    scores: tuple[int, ...]
    encoded: list[bytes] | None = None
    """As in ``Turn``."""


class SessionEnded(NamedTuple):
    info: SessionInfo
    scores: tuple[int, ...]
    reason: SessionEnd
    forfeited_by: int
    """Seat; -1 where nobody forfeited."""


class Fault(NamedTuple):
    info: SessionInfo
    seat: int
    sequence: int
    kind: FaultKind
    reason: str
    deal: int
    """Counts the deals of the session from 1."""
    action: int
    """How many actions the deal had before."""
    stage: Stage
    hand: int
    to_beat: int
    """Mask of the play that was to beat; 0 when leading."""
    answered: int
    default: int
    """Mask of what was played for the seat; 0 for a pass."""
    faults: int
    elapsed_ms: int
    """From when the turn was handed to the stream; 0 where it was not."""
    credit_ms: int


class Notice(NamedTuple):
    code: NoticeCode
    text: str
    handle: int = 0
    sequence: int = 0


class Seen(NamedTuple):
    """An action, for spectators."""

    info: SessionInfo
    deal: Deal
    at: int
    """Index of the action in the deal."""


Event = SessionStarted | DealStarted | TurnDue | DealEnded | SessionEnded | Fault | Notice
"""What goes to a bot."""

Sight = SessionStarted | DealStarted | Seen | DealEnded | SessionEnded | Notice
"""What goes to a spectator."""
