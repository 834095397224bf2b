"""What a bot's log says about its sessions: each of them, or a count if there are too many."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from referee.bot.view import SessionView
from referee.errors import CardError
from referee.v1 import bots_pb2

MOST_LINES = 20
"""How many lines about sessions and faults are logged in one period; further ones are only counted."""
PERIOD_SECONDS = 10.0
"""How often what was only counted is logged, in one line."""

log = logging.getLogger("bot")


class _Rated(NamedTuple):
    """The bot's rating in a pool."""

    value: int
    matches: int
    """How many matches it is based on."""


class Story:
    """Logs sessions and faults on all streams of a bot; any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines = 0
        """How many lines there were in this period."""
        self._untold: Counter[str] = Counter()
        """What was only counted in this period."""
        self._rated: dict[str, _Rated] = {}
        """The bot's latest rating in each pool."""

    def began(self, view: SessionView, *, resumed: bool) -> None:
        """Log that a session began, or that the bot came back to it, and before that a rating that is new."""
        if rating := self._news(view):
            log.info("%s", rating)
        self._tell(logging.INFO, lambda: _beginning(view, resumed), begun=1)

    def ended(self, view: SessionView, ended: bots_pb2.SessionEnded, spent: str = "") -> None:
        """Log how a session ended, and where the time of its turns went."""
        points = ended.scores[view.seat] if ended.scores else 0

        def text() -> str:
            return f"{_ending(view, ended)}; {spent}" if spent else _ending(view, ended)

        self._tell(logging.INFO, text, ended=1, points=points)

    def fault(self, view: SessionView | None, fault: bots_pb2.Fault) -> None:
        """Log a fault; ``view`` is None if the session cannot be read."""
        self._tell(logging.WARNING, lambda: _fault(view, fault), faults=1)

    def forfeited(self, view: SessionView, seat: int) -> None:
        """Log that a bot has forfeited a session that goes on without it."""
        self._tell(logging.INFO, lambda: _forfeit(view, seat), forfeits=1)

    def sum_up(self) -> None:
        """Log in one line what was only counted, and begin the next period."""
        with self._lock:
            untold, self._untold, self._lines = self._untold, Counter(), 0
        if summary := ", ".join(_counts(untold)):
            log.info("not shown one by one: %s", summary)

    def _news(self, view: SessionView) -> str:
        """Return the bot's rating in words; empty if it has none, or no match has been added to it."""
        ratings = view.ratings
        if ratings is None:
            return ""
        now = _Rated(ratings.values[view.seat], ratings.matches[view.seat])
        with self._lock:
            before = self._rated.get(ratings.pool)
            if before is not None and now.matches <= before.matches:  # perhaps of a match handed out earlier
                return ""
            self._rated[ratings.pool] = now
        if not now.matches:
            return f"not rated yet in {ratings.pool}: it begins with {now.value}"
        change = "" if before is None else f" ({now.value - before.value:+d})"
        return f"rated {now.value}{change} in {ratings.pool}"

    def _tell(self, level: int, text: Callable[[], str], **counts: int) -> None:
        with self._lock:
            self._lines += 1
            fits = self._lines <= MOST_LINES
            if not fits:
                self._untold.update(counts)
        if fits and log.isEnabledFor(level):
            log.log(level, "%s", text())


def _counts(untold: Counter[str]) -> Iterator[str]:
    """Yield, in words, what was only counted."""
    if begun := untold["begun"]:
        yield f"{begun:,} sessions begun"
    if ended := untold["ended"]:
        yield f"{ended:,} ended with {untold['points']:+,} points"
    if forfeits := untold["forfeits"]:
        yield f"{forfeits:,} forfeits"
    if faults := untold["faults"]:
        yield f"{faults:,} faults"


def _beginning(view: SessionView, resumed: bool) -> str:
    others = ", ".join(_named(view, seat) for seat in _others(view))
    again = "goes on" if resumed else "begins"
    tournament = f" in {view.tournament}" if view.tournament else ""
    deals = "1 deal" if view.deals == 1 else f"up to {view.deals} deals"
    return (
        f"session {view.session_id}{tournament} {again}: "
        f"in seat {view.seat} against {others}; {view.rules.ruleset.name}, {deals}"
    )


def _named(view: SessionView, seat: int) -> str:
    """Return the name of a seat's bot, with its rating if there is one."""
    rating = ""
    if view.ratings is not None:
        rating = f" ({view.ratings.values[seat]})" if view.ratings.matches[seat] else " (not rated yet)"
    return f"{view.seats[seat]}{rating}"


def _forfeit(view: SessionView, seat: int) -> str:
    who = "this bot" if seat == view.seat else view.seats[seat]
    return f"session {view.session_id} deal {view.deal}: {who} has forfeited the session, and is played for"


def _ending(view: SessionView, ended: bots_pb2.SessionEnded) -> str:
    if not ended.scores:
        return f"session {view.session_id} is void: it may be continued later"
    points = list(ended.scores)
    own = points[view.seat]
    place = f"place {1 + sum(other > own for other in points)} of {len(points)}"
    shared = "shared " if points.count(own) > 1 else ""
    others = ", ".join(f"{view.seats[seat]} {points[seat]:+d}" for seat in _others(view))
    gone = " and ".join(view.seats[seat] for seat in ended.forfeits)
    forfeit = f"; {gone} forfeited it" if gone else ""
    return f"session {view.session_id} has ended: {own:+d} points, {shared}{place} ({others}){forfeit}"


def _fault(view: SessionView | None, fault: bots_pb2.Fault) -> str:
    count = f"fault {fault.faults} of {fault.fault_limit}: {fault.reason}"
    if view is None:
        return count
    default = f"played instead: {_cards(view, fault.default_cards, 'a pass')}"
    if fault.faults >= fault.fault_limit:
        default = "with this fault the bot forfeits the session"
    nothing = "a pass" if fault.kind == bots_pb2.FAULT_KIND_ILLEGAL else "nothing"
    position = f"holding {_cards(view, fault.hand)}, to beat {_cards(view, fault.to_beat)}"
    answer = f"answered {_cards(view, fault.answered, nothing)}"
    return f"session {view.session_id} deal {view.deal}: {count}; {position}; {answer}, {default}"


def _others(view: SessionView) -> list[int]:
    return [seat for seat in range(len(view.seats)) if seat != view.seat]


def _cards(view: SessionView, numbers: Sequence[int], none: str = "nothing") -> str:
    try:
        return view.rules.text(view.mask(numbers)) or none
    except CardError:
        return "cards that are not known here"
