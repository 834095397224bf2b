"""Matches as values: what a worker asks a referee to run, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from referee.deals.forfeit import Forfeit, OnForfeit
from referee.ruleset.limits import MAX_DEALS

if TYPE_CHECKING:
    from referee.deals.succession import Legacy

MAX_SESSIONS = 10_000
"""Sessions in a match at most."""


class Rated(NamedTuple):
    """How a bot version is rated in a pool."""

    value: int
    """Elo, rounded."""
    matches: int
    """Matches that it comes from."""


@dataclass(frozen=True, slots=True)
class MatchBot:
    """A bot version of a match."""

    version_id: int
    name: str
    """``owner/bot@version``."""
    rated: Rated | None = None
    """Its rating as the match was handed out; None: the match is not rated."""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """A session that is to be played."""

    number: int
    """Counts the sessions of the match from 1."""
    seating: tuple[int, ...]
    """For each seat the index of its bot in the match's bots."""
    seed: bytes
    """32 bytes."""
    attempt: int = 1
    """Counts the attempts at the session from 1: each deals other cards."""
    after: "Finished | None" = None
    """The deals that earlier attempts finished, after which the session goes on; None: it begins anew."""


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
    """Of these deals, as all seats were shown them."""
    forfeits: tuple[Forfeit, ...] = ()
    """The seats that are played for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What bots are held to."""

    decision_ms: int = 1000
    """How long a decision may take."""
    join_ms: int = 30_000
    """How long absent bots are waited for when the match starts."""
    faults: int = 10
    """Number of faults at which a bot forfeits the session."""
    on_forfeit: OnForfeit = "default_action"
    """What happens to a session when one of its bots forfeits it."""
    bank_ms: int = 0
    """Thinking time of each seat for all decisions of a session; 0: no bank."""
    increment_ms: int = 0
    """What each decision adds to the bank."""
    credit_ms: int = 100
    """The most that is credited to a decision for the network."""
    ask_forced: bool = False
    """Whether a bot is asked even where it has no choice."""
    match_ms: int = 0
    """How long the match may take; 0: as long as it takes."""
    min_sessions: int = 1
    """Sessions at once that a bot must take at the referee, or it counts as absent."""


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
    """Deals in a session at most; 0: as many as the ruleset says, and no more than ``MAX_DEALS``."""
    commitment: str
    """Digest of the tournament's head, hexadecimal."""
    limits: Limits = Limits()
    shared_deals: bool = False
    """Whether other tables play the same deals: then watching needs an organiser's or a spectator's token."""
    pool: str = ""
    """Name of the pool in which it is rated, for people; empty: it is not rated."""


class Signed(NamedTuple):
    """The digest of a session's result, signed by a referee; all in hexadecimal digits."""

    digest: str
    """32 bytes."""
    signature: str
    """64 bytes, of Ed25519."""
    key: str
    """The referee's public key, 32 bytes."""


@dataclass(frozen=True, slots=True)
class SessionResult:
    """A session that was played to its end."""

    number: int
    points: tuple[int, ...]
    """Final score by seat, of all its deals."""
    forfeit: int | None
    """Seat whose forfeit ended the session; None: it was played to its end."""
    records: tuple[str, ...]
    """Lean records of the deals of this attempt, one JSON object a deal."""
    faults: tuple[int, ...]
    """Faults by seat, in all its deals."""
    signed: Signed | None = None
    """None: no referee has signed it."""
    forfeits: tuple[int, ...] = ()
    """All seats whose bots forfeited the session, in order."""


@dataclass(frozen=True, slots=True)
class DealsFinished:
    """Deals of a session that is not finished, or has come to nothing: they count all the same."""

    number: int
    """Of the session."""
    records: tuple[str, ...]
    """Lean deal records that were not told before, in order."""
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
    """How a bot version stands at a referee."""

    connected: bool
    max_sessions: int
    """Sessions at once that the referee will give it; 0 when it is not connected."""
    sessions: int
    """Sessions that it plays there."""
    lacks: tuple[str, ...] = ()
    """What a ruleset that was asked about asks of it that it cannot do, in words."""
    thinking_seconds: int = 0
    """Whole seconds that the decision has taken that it has owed for the longest."""
    bounds: tuple[str, ...] = ()
    """What it says that it plays at most, in words; empty: it plays everything, or is not connected."""


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
    if spec.limits.decision_ms < 1 or spec.limits.faults < 1 or spec.limits.join_ms < 0:
        return "limits: decision_ms and faults must be at least 1, join_ms at least 0"
    if spec.limits.match_ms < 0 or spec.limits.min_sessions < 1:
        return "limits: match_ms must be at least 0, min_sessions at least 1"
    if min(spec.limits.bank_ms, spec.limits.increment_ms, spec.limits.credit_ms) < 0:
        return "limits: bank_ms, increment_ms and credit_ms must be at least 0"
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
