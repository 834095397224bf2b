"""What a table says to its seats and to spectators, as values; ``protocol`` makes messages of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from referee.deals.action import Forfeit
from referee.deals.deal import Deal, Stage
from referee.matches.journal import Entry, EntryKind
from referee.matches.kinds import FaultKind, NoticeCode, SessionEnd
from referee.matches.match import Limits, Rated, Signed
from referee.rules.plays import Rules


class Malformed(NamedTuple):
    """Why an answer could not be read; stands in for the answer's cards."""

    reason: str
    kind: FaultKind = FaultKind.MALFORMED
    """The kind of fault that such an answer is: EXCEPTION if the bot's own code failed, as the bot says."""


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
    """Digest of the tournament's head, in hexadecimal."""
    limits: Limits
    attempt: int = 1
    """Counts the attempts at the session from 1."""
    pool: str = ""
    """Name of the pool in which the match is rated; empty if it is not rated."""
    rated: tuple[Rated, ...] = ()
    """Ratings by seat when the match was handed out; empty if they are not known."""


def log_length(deal: Deal) -> int:
    """Return the length of a deal's log: its actions, and before them the two steps of an exchange."""
    exchange = deal.exchange
    return len(deal.log) + (0 if exchange is None else 1 + (exchange.returned != 0))


class Encodings:
    """The encoded parts of a deal, each encoded once for everybody who is told of it.

    All events of a deal share one, which lives as long as the deal. Matches do not look into it.
    """

    __slots__ = ("_parts", "log")

    def __init__(self) -> None:
        self.log: list[bytes] = []
        """The deal's log as far as it was encoded, as everybody sees it; kept by the encoder."""
        self._parts: dict[str, bytes] = {}

    def encoded(self, part: str, encode: Callable[[], bytes]) -> bytes:
        """Return the part of that name, encoded."""
        made = self._parts.get(part)
        if made is None:
            made = self._parts[part] = encode()
        return made


class SessionStarted(NamedTuple):
    info: SessionInfo
    seat: int
    """-1 for spectators."""
    scores: tuple[int, ...]
    resumed: bool
    deals_digest: str = ""
    """Digest of the finished deals of the session."""


class DealStarted(NamedTuple):
    info: SessionInfo
    seat: int
    """-1 for spectators."""
    deal: Deal
    hands: tuple[int, ...]
    """Masks by seat, with leftover cards taken and before an exchange."""
    encodings: Encodings


class Turn:
    """A decision that a seat owes.

    What the bot is told of it is filled in when the turn is handed to the stream, because the turn may be
    over by then. Only from then on are ``since`` and ``time_ms`` set.
    """

    # fmt: off
    __slots__ = (
        "bank_ms", "credit_ms", "deal", "encodings", "info", "seat", "sequence", "since", "time_ms",
    )
    # fmt: on

    since: int
    """How much of the deal's log the seat has been told before; see ``log_length``."""
    time_ms: int
    """How long the seat may take from when the turn is handed to the stream, without the credit."""

    def __init__(self, info: SessionInfo, seat: int, sequence: int, deal: Deal, encodings: Encodings) -> None:
        self.info = info
        self.seat = seat
        self.sequence = sequence
        self.deal = deal
        self.encodings = encodings
        self.bank_ms: int | None = None
        """What is left in the seat's bank; None if the session has no bank."""
        self.credit_ms = 0
        """What is credited for the network."""

    @property
    def stage(self) -> Stage:
        """The stage of the deal, which stays the same as long as the turn is open."""
        return self.deal.stage


class DealEnded(NamedTuple):
    info: SessionInfo
    seat: int
    """-1 for spectators."""
    deal: Deal
    since: int
    scores: tuple[int, ...]
    encodings: Encodings
    measured: str
    """Digest of what the referee measured in the deal."""


class SessionEnded(NamedTuple):
    info: SessionInfo
    scores: tuple[int, ...]
    reason: SessionEnd
    forfeited_by: int
    """Seat whose forfeit ended it; -1 if none did."""
    faults: tuple[int, ...] = ()
    """By seat; empty for a void session."""
    forfeits: tuple[int, ...] = ()
    """All seats whose bots forfeited it, by number; empty for a void session."""
    signed: Signed | None = None
    """The result; None for a void session."""


class SeatForfeited(NamedTuple):
    """A bot has forfeited a session that goes on: its seat is played for."""

    info: SessionInfo
    forfeit: Forfeit


class Fault(NamedTuple):
    info: SessionInfo
    seat: int
    sequence: int
    kind: FaultKind
    reason: str
    deal: int
    """Counts the deals of the session from 1."""
    action: int
    """How many actions the deal had had by then."""
    stage: Stage
    hand: int
    to_beat: int
    """Mask of the play that was to beat; 0 when leading."""
    answered: int
    default: int
    """Mask of what was played for the seat; 0 for a pass."""
    faults: int
    elapsed_ms: int
    """From when the turn was handed to the stream; 0 if it was not."""
    credit_ms: int

    def recorded(self) -> dict[str, object]:
        """Return the fault in the form of the deal's record."""
        fault: dict[str, object] = {"action": self.action, "seat": self.seat, "kind": self.kind.value}
        fault |= {"ms": self.elapsed_ms, "credit_ms": self.credit_ms}
        if self.stage is Stage.EXCHANGE:
            fault["turn"] = "exchange"
        elif self.stage is Stage.BOMBS:
            fault["turn"] = "bomb"
        return fault


class Notice(NamedTuple):
    code: NoticeCode
    text: str
    handle: int | None = None
    """The handle of the session that it is about; None if it is not about one."""
    sequence: int | None = None
    """The sequence in the bot's message; None if it had none."""


class LeftOut(NamedTuple):
    """Stands for the updates that a spectator missed by reading too slowly."""

    updates: int


class Seen(NamedTuple):
    """An action, for spectators."""

    info: SessionInfo
    deal: Deal
    at: int
    """Index of the action in the deal."""


Event = SessionStarted | DealStarted | Turn | DealEnded | SessionEnded | SeatForfeited | Fault | Notice
"""What goes to a bot."""

Sight = SessionStarted | DealStarted | Seen | DealEnded | SessionEnded | SeatForfeited | LeftOut
"""What goes to a spectator."""


def notice_entry(version: int, notice: Notice) -> Entry:
    """Return the log entry for a notice that is not about a session."""
    return Entry(version, EntryKind.NOTICE, notice.code.value, notice.text)


def event_entry(version: int, info: SessionInfo, event: Fault | Notice) -> Entry:
    """Return the log entry for a fault or a notice in a session."""
    if isinstance(event, Notice):
        details: dict[str, object] = {"sequence": event.sequence}
        return Entry(version, EntryKind.NOTICE, event.code.value, event.text, info.session_id, details)
    cards = info.rules.text
    details = {
        "deal": event.deal,
        "action": event.action,
        "sequence": event.sequence,
        "turn": event.stage.value,
        "seat": event.seat,
        "hand": cards(event.hand),
        "to_beat": cards(event.to_beat),
        "answered": cards(event.answered),
        "default": cards(event.default) or "-",
        "faults": event.faults,
        "fault_limit": info.limits.faults,
        "elapsed_ms": event.elapsed_ms,
        "credit_ms": event.credit_ms,
    }
    details |= _attempt(info)
    reason = event.reason
    if event.faults >= info.limits.faults:
        reason += "; with this fault the bot forfeits the session"
    return Entry(version, EntryKind.FAULT, event.kind.value, reason, info.session_id, details)


def forfeit_entry(version: int, info: SessionInfo, code: str, deal: int, reason: str) -> Entry:
    """Return the log entry for a forfeit without a decision, from ``deal`` on."""
    details: dict[str, object] = {"deal": deal} | _attempt(info)
    text = f"{reason}, and forfeits the session"
    return Entry(version, EntryKind.FAULT, code, text, info.session_id, details)


def _attempt(info: SessionInfo) -> dict[str, object]:
    return {"attempt": info.attempt} if info.attempt > 1 else {}
