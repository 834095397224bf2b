"""Duplicate deals: all tables of a round play the same cards, and a bot is scored against its seat elsewhere.

What a seat gets from the cards alone is the same at every table, so it cancels out: what is left is what the
bot made of them (as in duplicate bridge). Seats at the tables are fixed throughout the match, so nobody sees
a deal twice. A table is compared only with clean ones: those with the same cards at which all bots played the
whole deal themselves. A deal that cannot be compared is what bridge players call a fouled board.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from arena.errors import SpecError
from referee.ruleset import Ruleset

Deals = Sequence[Sequence[int]]
"""For each deal of a session the points of each seat."""


Attempts = Sequence[int] | None
"""For each deal of a session the attempt that dealt it; None if the first dealt all."""


class PlayedSession(NamedTuple):
    """A session of a finished match."""

    number: int
    seating: Sequence[int]
    """For each seat the position at the table."""
    points: Deals
    attempts: Attempts
    forfeits: Sequence[int] = ()
    """The seats whose bots forfeited it."""
    forfeit: int | None = None
    """The seat whose forfeit ended it, in its last deal; None if it was played to its end."""
    forfeited_from: Sequence[int] = ()
    """For each of ``forfeits`` the index of the first deal that its bot did not play to the end itself."""
    faults: Sequence[int] = ()
    """The number of faults by seat."""
    leaver: int | None = None
    """See ``leaver_of``."""

    @property
    def clean(self) -> int:
        """How many deals, the first ones, all bots played to the end themselves."""
        return min(self.forfeited_from, default=len(self.points))

    @property
    def forfeited(self) -> range:
        """The indexes of the deals that count for ``leaver`` alone, as they stand; empty if nobody left."""
        return range(len(self.points) if self.leaver is None else self.clean, len(self.points))


def forfeited_from(forfeits: Sequence[int], records: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return ``PlayedSession.forfeited_from`` of a session; ``records`` are those of its deals.

    For a forfeit that no record shows, it is the number of deals.
    """
    first_deals: dict[int, int] = {}
    for at, record in enumerate(records):
        gone = [forfeit["seat"] for forfeit in record.get("played_for", ())]
        if "forfeit" in record:
            gone += [record["forfeit"], *record.get("absent", ())]
        for seat in gone:
            first_deals.setdefault(seat, at)
    return [first_deals.get(seat, len(records)) for seat in forfeits]


def leaver_of(records: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the seat whose bot was the first to forfeit a session; None if nobody forfeited it.

    None, too, if that bot was absent before the first card, or its match out of time: it has seen nothing
    that it could leave. A bot that forfeits later leaves deals that no longer count for it, and is none the
    better or worse for that.
    ``records`` are those of all deals.
    """
    last = records[-1]
    for forfeit in last.get("played_for", ()):
        absent = forfeit["why"] == "absent" and forfeit["deal"] == 1
        return None if absent else int(forfeit["seat"])
    return None if "absent" in last and len(records) == 1 else last.get("forfeit")


class DealScore(NamedTuple):
    """What a deal counts at one table."""

    by_seat: tuple[float, ...]
    fouled: bool
    """Whether it could not be compared: it then says nothing about how well anybody played."""


def scores(tables: Sequence[Sequence[PlayedSession]]) -> list[tuple[float, ...]]:
    """Return for each table the score of each seat: the sum of ``deal_scores``, rounded once at the end.

    ``tables`` has the sessions of each table; tables may have different sessions and deals.
    """
    sums: list[list[Counter[int]]] = [[] for _ in tables]
    for deal in _deals(tables):
        seats = sums[deal.table] = sums[deal.table] or [Counter() for _ in deal.multiples]
        for seat, multiple in enumerate(deal.multiples):
            seats[seat][deal.divisor] += multiple
    return [tuple(float(_sum(counts)) for counts in seats) for seats in sums]


def deal_scores(tables: Sequence[Sequence[PlayedSession]]) -> list[list[list[DealScore]]]:
    """Return for each table, for each of its sessions, what each deal counts.

    The score of a seat is its points minus the mean of the same seat's at the other clean tables: those that
    played the deal with the same cards, all bots to the end. If there is none, the deal is fouled, and 0 for
    every seat. It is fouled, too, at a table that is not clean itself; a seat whose bot had forfeited then
    has the score that a comparison with the clean tables gives (its points, if there are none), but never
    more than 0. If no other table had the deal to play, the score is the seat's points.
    """
    by_table: list[dict[int, list[DealScore]]] = [{one.number: [] for one in sessions} for sessions in tables]
    for one in _deals(tables):
        by_table[one.table][one.session].append(_deal_score(one))
    return [list(sessions.values()) for sessions in by_table]


class _Scored(NamedTuple):
    """A deal at a table; the score of each seat is its multiple divided by the divisor."""

    table: int
    session: int
    multiples: Sequence[int]
    divisor: int = 1
    fouled: bool = False


def _deals(tables: Sequence[Sequence[PlayedSession]]) -> Iterator[_Scored]:
    """Yield all deals, those of a table in order."""
    together: dict[int, list[tuple[int, PlayedSession]]] = {}
    for table, sessions in enumerate(tables):
        for session in sessions:
            together.setdefault(session.number, []).append((table, session))
    for number in sorted(together):
        for deal in range(max(len(session.points) for _, session in together[number])):
            yield from _same_deal(together[number], deal)


def _same_deal(together: Sequence[tuple[int, PlayedSession]], deal: int) -> Iterator[_Scored]:
    """Yield a deal of a session at all tables that played it."""
    beside = _beside([session for _, session in together], deal)
    return (_score(table, one, deal, beside) for table, one in together if deal < len(one.points))


class Beside(NamedTuple):
    """What the tables of a round made of a deal of a session, as far as a comparison takes it."""

    alone: bool
    """Whether only one table had it to play."""
    clean: Mapping[int, tuple[int, Sequence[int]]]
    """By attempt, how many clean tables played it, and the sums of their points by seat."""


RoundBeside = Mapping[tuple[int, int], Beside]
"""By the number of a session and the index of a deal."""


def all_beside(tables: Sequence[Sequence[PlayedSession]]) -> RoundBeside:
    """Return what the deals of a table are compared with; ``tables`` has the sessions of each table."""
    together: dict[int, list[PlayedSession]] = {}
    for session in chain.from_iterable(tables):
        together.setdefault(session.number, []).append(session)
    return {
        (number, deal): _beside(sessions, deal)
        for number, sessions in together.items()
        for deal in range(max(len(session.points) for session in sessions))
    }


def scores_at(sessions: Sequence[PlayedSession], beside: RoundBeside) -> list[list[DealScore]]:
    """Return what each deal of each session of a table counts, as ``deal_scores`` does."""
    return [
        [_deal_score(_score(0, one, deal, beside[one.number, deal])) for deal in range(len(one.points))]
        for one in sessions
    ]


def _deal_score(one: _Scored) -> DealScore:
    return DealScore(tuple(multiple / one.divisor for multiple in one.multiples), one.fouled)


def _beside(together: Sequence[PlayedSession], deal: int) -> Beside:
    # A forfeit that ended a session earlier is no reason to count the points of those who played on.
    reached = sum(deal < len(played.points) or played.forfeit is not None for played in together)
    clean: dict[int, list[Sequence[int]]] = {}
    for session in together:
        if deal < session.clean:
            clean.setdefault(_attempt(session, deal), []).append(session.points[deal])
    sums = {
        attempt: (len(rows), [sum(column) for column in zip(*rows, strict=True)])
        for attempt, rows in clean.items()
    }
    return Beside(reached == 1, sums)


def _score(table: int, session: PlayedSession, deal: int, others: Beside) -> _Scored:
    """Return a deal of a session at a table that played it."""
    points = session.points[deal]
    count, total = others.clean.get(_attempt(session, deal), (0, [0] * len(points)))
    beside = [(count or 1) * own - of_all for own, of_all in zip(points, total, strict=True)]
    if others.alone:
        return _Scored(table, session.number, points)
    if deal >= session.clean:
        since = dict(zip(session.forfeits, session.forfeited_from, strict=True))
        lost = [min(0, own) if since.get(seat, deal + 1) <= deal else 0 for seat, own in enumerate(beside)]
        return _Scored(table, session.number, lost, count or 1, fouled=True)
    if count > 1:
        return _Scored(table, session.number, beside, count - 1)
    return _Scored(table, session.number, [0] * len(points), fouled=True)


def _attempt(session: PlayedSession, deal: int) -> int:
    return session.attempts[deal] if session.attempts else 1


def _sum(counts: Mapping[int, int]) -> Fraction:
    return sum((Fraction(total, divisor) for divisor, total in counts.items()), Fraction())


def session_deals(ruleset: Ruleset, deals: int | None) -> int | None:
    """Return the deals of a duplicate tournament's session if ``deals`` are asked for (None: the ruleset's).

    If a seat's cards depend on how the previous deal ended, they would differ from table to table; under such
    rulesets a session is one deal. Raise SpecError if more are asked for.
    """
    if ruleset.dealer != "rotate":
        reason = f"the {ruleset.dealer} of a deal deals the next"
    elif ruleset.exchange != "none":
        reason = "cards are exchanged after a deal"
    else:
        return deals
    if deals not in (None, 1):
        needed = f"duplicate under {ruleset.label} needs sessions of 1 deal, as {reason}"
        raise SpecError("deals", f"{needed}: leave deals out, and set sessions")
    return 1
