"""Matches as values: what a worker asks a referee to run, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from referee.deals.action import Forfeit, OnForfeit
from referee.reading.docstrings import FormField, tell_fields
from referee.ruleset.axes.session import MAX_DEALS

if TYPE_CHECKING:
    from referee.deals.session import Legacy

MAX_SESSIONS = 10_000
"""The most sessions in a match."""


class Rated(NamedTuple):
    """How a bot version is rated in a pool."""

    value: int
    """Elo, rounded."""
    matches: int
    """How many matches it is based on."""


@dataclass(frozen=True, slots=True)
class MatchBot:
    """A bot version of a match."""

    version_id: int
    name: str
    """``owner/bot@version``."""
    rated: Rated | None = None
    """Its rating when the match was handed out; None if the match is not rated."""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """A session to be played."""

    number: int
    """Counts the sessions of the match from 1."""
    seating: tuple[int, ...]
    """For each seat, the index of its bot in the match's bots."""
    seed: bytes
    """32 bytes."""
    attempt: int = 1
    """Counts the attempts at the session from 1; each deals other cards."""
    after: "Finished | None" = None
    """How the session stands after the deals that earlier attempts finished; None if it begins anew."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a session stands after the deals that earlier attempts at it finished."""

    last: "Legacy"
    """What the last of them leaves to the next."""
    scores: tuple[int, ...]
    """By seat."""
    faults: tuple[int, ...]
    """By seat."""
    bank_ms: tuple[int, ...] = ()
    """What was left in the seats' banks; empty without banks."""
    deals_digest: str = ""
    """Digest of these deals as all seats were shown them."""
    forfeits: tuple[Forfeit, ...] = ()
    """The seats that are played for."""


LIMITS = "Limits"
"""The title of these settings in forms."""

AFTER_FORFEIT = (
    ("default_action", "default_action: it goes on, with default actions"),
    ("stand_in", "stand_in: it goes on, with the weakest legal plays"),
    ("end_session", "end_session: it ends"),
)
"""What happens to a session when one of its bots forfeits it, in words."""


class Limits(BaseModel):
    """The limits for bots in a session."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, json_schema_extra=tell_fields)

    decision_ms: Annotated[int, FormField(LIMITS, "Time for a decision, in ms")] = Field(
        default=1000, ge=1, le=3_600_000
    )
    """Milliseconds allowed for a decision; at least 100 in a rated tournament."""
    join_seconds: Annotated[int, FormField(LIMITS, "Wait for absent bots, in seconds", rare=True)] = Field(
        default=30, ge=1, le=3_600
    )
    """Seconds to wait for absent bots when a match starts; at least 10 in a rated tournament."""
    faults: Annotated[int, FormField(LIMITS, "Faults until a session is forfeited", rare=True)] = Field(
        default=10, ge=1, le=1_000_000
    )
    """Number of faults at which a bot forfeits the session; at least 3 in a rated tournament."""
    on_forfeit: Annotated[
        OnForfeit, FormField(LIMITS, "After a forfeit", rare=True, choices=AFTER_FORFEIT)
    ] = "default_action"
    """What happens to a session when one of its bots forfeits it. ``default_action``: it goes on, and the
    default action is taken for the bot. ``stand_in``: it goes on, and the weakest legal play is made for it.
    ``end_session``: it ends."""
    bank_ms: Annotated[int, FormField(LIMITS, "Bank of a seat, in ms")] = Field(
        default=0, ge=0, le=86_400_000
    )
    """Milliseconds of thinking time for all of a seat's decisions in a session; 0 means no bank. In a rated
    tournament at least 100, and 1000 for each deal of the session, less ten times ``increment_ms``."""
    increment_ms: Annotated[int, FormField(LIMITS, "Increment of the bank, in ms")] = Field(
        default=0, ge=0, le=3_600_000
    )
    """Milliseconds added to the bank after each decision."""
    credit_ms: Annotated[int, FormField(LIMITS, "Credit for the network, in ms", rare=True)] = Field(
        default=100, ge=0, le=60_000
    )
    """Maximum milliseconds credited to a decision for network delay; at least 100 in a rated tournament."""
    ask_forced: Annotated[bool, FormField(LIMITS, "Ask without a choice, too", rare=True)] = False
    """Whether bots are asked even if they have no choice."""
    match_seconds: Annotated[int, FormField(LIMITS, "Time for a match, in seconds", rare=True)] = Field(
        default=0, ge=0, le=604_800
    )
    """Seconds allowed for a match, including the wait for absent bots, so more than ``join_seconds``. After
    that, the bot that has thought longest in it forfeits the unfinished sessions; 0 means no limit. In a
    rated tournament at least ``join_seconds`` and 2 for each seat in each deal of the match."""
    min_sessions: Annotated[int, FormField(LIMITS, "Sessions at once", rare=True)] = Field(
        default=1, ge=1, le=256
    )
    """Concurrent sessions that a bot must accept at the referee of its match; one that accepts fewer is
    refused when it enters, and counts as absent later."""


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """A match: the sessions of one table in a round."""

    match_id: str
    tournament: str
    round: int
    table: int
    ruleset: Mapping[str, object]
    """The resolved ruleset object."""
    bots: tuple[MatchBot, ...]
    sessions: tuple[SessionSpec, ...]
    deals: int
    """The most deals in a session; 0 for as many as the ruleset says, but no more than ``MAX_DEALS``."""
    commitment: str
    """Digest of the tournament's head, in hexadecimal."""
    limits: Limits = field(default_factory=Limits)
    shared_deals: bool = False
    """Whether other tables play the same deals: then watching needs an organiser's or a spectator's token."""
    pool: str = ""
    """Name, for people, of the pool in which it is rated; empty if it is not rated."""

    @property
    def attempts(self) -> dict[int, "Attempt"]:
        """The attempts that it begins, by the session's number."""
        return {session.number: Attempt(self._digest(session), session.attempt) for session in self.sessions}

    def _digest(self, session: SessionSpec) -> bytes:
        name = f"{self.match_id}/{session.number}"
        return sha256(session.seed + name.encode()).digest()[:16]


class Attempt(NamedTuple):
    """An attempt at a session, which deals cards of its own."""

    session: bytes
    """Digest of the session's name and its seed, 16 bytes: it says nothing about the cards."""
    number: int


class Signed(NamedTuple):
    """The digest of a session's result, signed by a referee; all in hexadecimal."""

    digest: str
    """32 bytes."""
    signature: str
    """An Ed25519 signature, 64 bytes."""
    key: str
    """The referee's public key, 32 bytes."""


@dataclass(frozen=True, slots=True)
class SessionResult:
    """A session that was played to its end."""

    number: int
    points: tuple[int, ...]
    """Final score by seat, over all deals."""
    forfeit: int | None
    """Seat whose forfeit ended the session; None if it was played to its end."""
    records: tuple[str, ...]
    """Lean records of the deals of this attempt, one JSON object a deal."""
    faults: tuple[int, ...]
    """Faults by seat, in all its deals."""
    signed: Signed | None = None
    """None if no referee has signed it."""
    forfeits: tuple[int, ...] = ()
    """All seats whose bots forfeited the session, by number."""


@dataclass(frozen=True, slots=True)
class DealsFinished:
    """Deals of a session that is not finished, or was void: they count all the same."""

    number: int
    """The number of the session."""
    records: tuple[str, ...]
    """Lean deal records that were not reported before, in order."""
    bank_ms: tuple[int, ...] = ()
    """What was left in the seats' banks after the last of them; empty without banks."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A sign of life of a running match."""

    decisions: int
    """Turns asked so far."""
    sessions_open: int
    waiting_for: tuple[str, ...]
    """Bots that hold sessions back: not connected, taking none here, or unable to play the ruleset."""
    sessions_voided: int = 0
    """Sessions stopped because the referee could not hand out a turn, or failed."""
    sessions_left: tuple[int, ...] = ()
    """Numbers of the sessions that will not begin in this match, and of which nobody was shown a card."""


Update = SessionResult | DealsFinished | Progress
"""What a worker receives from a running match."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What a referee knows about a bot version."""

    connected: bool
    max_sessions: int
    """How many sessions at once the referee will give it; 0 if it is not connected."""
    sessions: int
    """How many sessions it is playing there."""
    lacks: tuple[str, ...] = ()
    """What the ruleset that was asked about requires and the bot cannot do, in words."""
    thinking_seconds: int = 0
    """How long the longest of its open decisions has taken so far, in whole seconds."""
    bounds: tuple[str, ...] = ()
    """The bounds on rulesets that it stated, in words; empty if it has none, or is not connected."""


def check_match(spec: MatchSpec, players: int) -> str:
    """Return why the match cannot be run with a ruleset for ``players``; empty if it can."""
    if len(spec.bots) != players:
        return f"bots: the ruleset is for {players} players, the match has {len(spec.bots)} bots"
    if len({bot.version_id for bot in spec.bots}) != players:
        return "bots: a bot version stands twice at the table"
    if not 1 <= len(spec.sessions) <= MAX_SESSIONS:
        return f"sessions: {len(spec.sessions)} is not between 1 and {MAX_SESSIONS}"
    if len({session.number for session in spec.sessions}) != len(spec.sessions):
        return "sessions: a number stands twice"
    if not 0 <= spec.deals <= MAX_DEALS:
        return f"deals: {spec.deals} is not between 0 and {MAX_DEALS}"
    return _check_sessions(spec, players)


def _check_sessions(spec: MatchSpec, players: int) -> str:
    for session in spec.sessions:
        if sorted(session.seating) != list(range(players)):
            return f"sessions: the seating of session {session.number} is not a permutation of the bots"
        if len(session.seed) != 32:
            return f"sessions: the seed of session {session.number} has {len(session.seed)} bytes, not 32"
        if session.attempt < 1:
            return f"sessions: session {session.number} has no attempt"
        if session.after is not None and not _is_whole(session.after, players):
            return f"sessions: what session {session.number} goes on after is not of {players} seats"
    return ""


def _is_whole(finished: Finished, players: int) -> bool:
    by_seat = (finished.scores, finished.faults, finished.bank_ms or finished.scores)
    last = finished.last
    seats = [seat for seat in (last.dealer, last.winner, last.loser) if seat is not None]
    return all(len(values) == players for values in by_seat) and max(seats) < players and last.number >= 1
