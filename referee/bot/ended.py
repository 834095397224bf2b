"""What a bot is told when a deal or a session has ended, to record it or to learn from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from referee.bot.view import Action, SessionView, hand_text
from referee.v1 import bots_pb2

DEAL_ENDS = {
    bots_pb2.DEAL_END_OUT: "out",
    bots_pb2.DEAL_END_DRAGON: "dragon",
    bots_pb2.DEAL_END_LAST_TOP_CARD: "last_top_card",
    bots_pb2.DEAL_END_FORFEIT: "forfeit",
    bots_pb2.DEAL_END_INSTANT_WIN: "instant_win",
}
"""How a deal ended, as deal records name it."""
SESSION_ENDS = {
    bots_pb2.SESSION_END_PLAYED: "played",
    bots_pb2.SESSION_END_FORFEIT: "forfeit",
    bots_pb2.SESSION_END_VOID: "void",
}
"""How a session ended."""
UNKNOWN = "unknown"
"""An end that only a later version of the protocol has."""


@dataclass(frozen=True, slots=True)
class EndedDeal:
    """A deal that has ended, with everything that its seats were shown."""

    session: str
    """The session's public name."""
    seats: tuple[str, ...]
    """Names of the bots, seat 0 first."""
    seat: int
    """The bot's own seat."""
    ruleset: str
    """The name of the ruleset."""
    deal: int
    """Counts the deals of the session from 1."""
    dealer: int
    clockwise: bool
    """Whether seat s is followed by seat s + 1; else by s - 1."""
    hands: tuple[tuple[str, ...], ...]
    """The hands as dealt, seat 0 first: before leftover cards were taken and before an exchange."""
    actions: tuple[Action, ...]
    """Everything that happened, oldest first."""
    left: tuple[tuple[str, ...], ...]
    """The hands at the end, seat 0 first."""
    out: tuple[int, ...]
    """The seats without cards, in the order of going out."""
    end: str
    """``out``, ``dragon``, ``instant_win``, ``last_top_card`` or ``forfeit``."""
    points: tuple[int, ...]
    """The deal's result, seat 0 first; higher is better."""
    scores: tuple[int, ...]
    """The session's running score with this deal, seat 0 first."""


@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session that has ended."""

    session: str
    """The session's public name."""
    tournament: str
    seats: tuple[str, ...]
    """Names of the bots, seat 0 first."""
    seat: int
    """The bot's own seat."""
    ruleset: str
    """The name of the ruleset."""
    end: str
    """``played``, ``forfeit`` or ``void``; a void session may be continued later, with new cards."""
    points: tuple[int, ...]
    """The session's result, seat 0 first; empty if it is void."""
    faults: tuple[int, ...]
    """How many faults each seat has made, seat 0 first; empty if it is void."""
    forfeits: tuple[int, ...]
    """The seats whose bots forfeited it, in order, whether it went on without them or not."""


def ended_deal(
    view: SessionView,
    *,
    hands: Iterable[str],
    left: Iterable[str],
    out: Iterable[int],
    end: str,
    points: Iterable[int],
) -> EndedDeal:
    """Return a deal that a view has followed to its end; ``hands`` and ``left`` are texts, by seat."""
    return EndedDeal(
        session=view.session_id,
        seats=view.seats,
        seat=view.seat,
        ruleset=view.rules.ruleset.name,
        deal=view.deal,
        dealer=view.dealer,
        clockwise=view.clockwise,
        hands=tuple(tuple(hand.split()) for hand in hands),
        actions=tuple(view.actions),
        left=tuple(tuple(hand.split()) for hand in left),
        out=tuple(out),
        end=end,
        points=tuple(points),
        scores=view.scores,
    )


def ended_session(
    view: SessionView, end: str, points: Iterable[int], faults: Iterable[int], forfeits: Iterable[int]
) -> EndedSession:
    """Return a session that a view has followed to its end."""
    return EndedSession(
        session=view.session_id,
        tournament=view.tournament,
        seats=view.seats,
        seat=view.seat,
        ruleset=view.rules.ruleset.name,
        end=end,
        points=tuple(points),
        faults=tuple(faults),
        forfeits=tuple(forfeits),
    )


def read_ended_deal(view: SessionView, ended: Any) -> EndedDeal:
    """Return the deal in a lazy message and the view of its session, which must have taken it in already."""
    text = hand_text(view.rules)
    return ended_deal(
        view,
        hands=map(text, ended.hands),
        left=map(text, ended.left),
        out=ended.out,
        end=DEAL_ENDS.get(ended.end, UNKNOWN),
        points=ended.points,
    )


def read_ended_session(view: SessionView, ended: bots_pb2.SessionEnded) -> EndedSession:
    """Return the session in a message and the view of the session."""
    end = SESSION_ENDS.get(ended.reason, UNKNOWN)
    return ended_session(view, end, ended.scores, ended.faults, ended.forfeits)
