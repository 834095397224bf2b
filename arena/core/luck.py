"""Luck: what the cards of deals were worth, what was expected from them, and what bots made of them.

The reference (``referee.reference``) says what the cards of a deal were worth to each seat, in parts of a
point. A part of that, beta, is expected from a bot: as much as earlier deals of the pool show that points go
along with the cards. What it made of them is the rest of its points. All are whole numbers, so that sums do
not depend on their order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from arena.core.duplicate import PlayedSession
from arena.core.elo import TWO_SIDED

UNIT = 64
"""What was expected, what was made, and beta are counted in parts of a point: as many make one."""

FEW = 50
"""Beta does not follow from fewer deals than these."""

AT_FIRST = UNIT // 2
"""Beta until there are so many deals."""

MUCH_LEFT = 0.5
"""Where a larger share of the variance of points is left, pages say so."""

MOST = 2 * UNIT
"""The largest beta."""


BEGINNING = ("seed", "deal", "dealer", "leader", "exchange")
"""The fields of a deal record from which it follows what the cards were worth."""


def beginning(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return as much of a deal record as the reference takes."""
    return {name: record[name] for name in BEGINNING if name in record}


def expected(worth: Sequence[int], parts: int, beta: int) -> tuple[int, ...]:
    """Return what was expected of each seat from the cards of a deal, in 64ths of a point.

    That is ``beta`` of what they were ``worth``, in as many ``parts`` of a point, relative to the mean of the
    table; rounded to the nearest, from the middle to the even one, so that it is not too much on average.
    """
    size, total, whole = len(worth), sum(worth), parts * len(worth)
    return tuple(_nearest(beta * (size * own - total), whole) for own in worth)


def _nearest(value: int, whole: int) -> int:
    """Return the whole number nearest to ``value / whole``, the even one if two are."""
    up, rest = divmod(2 * value + whole, 2 * whole)
    return up - (rest == 0 and up % 2)


def made(points: Sequence[int], expected: Sequence[int]) -> tuple[int, ...]:
    """Return what each seat made of its cards beyond what was expected, in 64ths of a point."""
    return tuple(UNIT * own - share for own, share in zip(points, expected, strict=True))


def above_mean(points: Sequence[int]) -> tuple[int, ...]:
    """Return how far each seat's points are above the mean of the table, in 64ths of a point.

    Under many rulesets the points of a deal do not add up to nothing, and what is expected does.
    """
    return expected(points, 1, UNIT)


def made_above_mean(points: Sequence[int], expected: Sequence[int]) -> tuple[int, ...]:
    """Return what each seat made of its cards, as ``made`` does, but of its points above the table's mean."""
    return tuple(own - share for own, share in zip(above_mean(points), expected, strict=True))


def counted_deals(
    played: PlayedSession, worth: Sequence[Sequence[int]]
) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
    """Yield the deals of a session that all bots played to the end, as far as it is known what their cards
    were worth: number, points and that, by seat. ``worth`` is by deal and seat."""
    return _deals(played, worth, range(played.clean))


def luck_in(
    played: PlayedSession, worth: Sequence[Sequence[int]], parts: int, beta: int
) -> Iterator[tuple[int, int, int]]:
    """Yield for each deal of a session and seat for which it counts the seat, its points above the mean of
    the table, and what was expected; the latter two in 64ths of a point."""
    for _, points, cards in counted_deals(played, worth):
        yield from zip(range(len(points)), above_mean(points), expected(cards, parts, beta), strict=True)
    seat = played.leaver
    for _, points, cards in _deals(played, worth, played.forfeited):
        if seat is not None:
            yield seat, above_mean(points)[seat], expected(cards, parts, beta)[seat]


def _deals(
    played: PlayedSession, worth: Sequence[Sequence[int]], which: range
) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
    return ((at + 1, played.points[at], worth[at]) for at in which if at < len(worth))


@dataclass(slots=True)
class Slope:
    """How far points go along with the cards; the fields are those of ``PoolSlope``."""

    deals: int = 0
    cards: int = 0
    product: int = 0

    def add(self, worth: Sequence[int], parts: int, points: Sequence[int]) -> None:
        """Add a deal: what the cards were worth, in as many ``parts`` of a point, and the points, by seat."""
        cards = [UNIT * own // parts for own in worth]
        size, total = len(cards), sum(cards)
        self.deals += 1
        self.cards += size * sum(own * own for own in cards) - total * total
        both = sum(own * scored for own, scored in zip(cards, points, strict=True))
        self.product += size * both - total * sum(points)

    def beta(self) -> int:
        """Return the share of the cards' worth that explains most of the points, in 64ths.

        It is from 0 to ``MOST``, and ``AT_FIRST`` as long as there are few deals.
        """
        if self.deals < FEW or not self.cards:
            return AT_FIRST
        nearest = (2 * UNIT * UNIT * self.product + self.cards) // (2 * self.cards)
        return min(max(nearest, 0), MOST)


@dataclass(frozen=True, slots=True)
class LuckLine:
    """How lucky a bot was: means of points a deal, each with its margin, None for fewer than two deals."""

    deals: int
    """Those that all bots played to the end, or that it was the first to forfeit, if it is known what the
    cards were worth."""
    points: float
    """Points, as they were played, above the mean of the table."""
    points_plus_minus: float | None
    """Half the width of the 95 % interval around that."""
    expected: float
    """Expected from the cards: how much better than average they were."""
    expected_plus_minus: float | None
    """Likewise."""
    made: float
    """Made of them: the points beyond what was expected."""
    made_plus_minus: float | None
    """Likewise."""


def luck_told(line: LuckLine) -> str:
    """Return a bot's luck in words: what it made of its cards, and how good these were."""
    spread = "" if line.made_plus_minus is None else f" ± {line.made_plus_minus:.2f}"
    beyond, dealt = ("above" if value >= 0 else "below" for value in (line.made, line.expected))
    return (
        f"{abs(line.made):.2f}{spread} points a deal {beyond} what its cards were worth; "
        f"it was dealt {abs(line.expected):.2f} {dealt} average"
    )


def share_left(lines: Iterable[LuckLine]) -> float | None:
    """Return the share of the variance of points that is left in what was made of the cards.

    1 or more means that the reference says nothing about these deals; None for few deals.
    """
    known = [line for line in lines if line.points_plus_minus and line.made_plus_minus is not None]
    if sum(line.deals for line in known) < FEW:
        return None
    whole = sum((line.deals * (line.points_plus_minus or 0)) ** 2 for line in known)
    left = sum((line.deals * (line.made_plus_minus or 0)) ** 2 for line in known)
    return left / whole


def share_told(lines: Iterable[LuckLine]) -> str | None:
    """Return in words that the reference says little about these deals; None if it does say much, or if they
    are few."""
    left = share_left(lines)
    if left is None or left <= MUCH_LEFT:
        return None
    explained = f"{100 * max(0.0, 1 - left):.0f} %"
    return f"The cards, as the reference values them, explain only {explained} of how much points vary here."


@dataclass(slots=True)
class Luck:
    """Sums over deals of one bot; the fields are those of ``LuckSums``."""

    deals: int = 0
    points: int = 0
    squares: int = 0
    expected: int = 0
    expected_squares: int = 0
    product: int = 0

    def add(self, points: int, expected: int) -> None:
        """Add a deal: its points above the table's mean, and what was expected, in 64ths of a point."""
        self.deals += 1
        self.points += points
        self.squares += points * points
        self.expected += expected
        self.expected_squares += expected * expected
        self.product += points * expected

    def line(self) -> LuckLine:
        """Return the means a deal. There must be a deal."""
        made = self.points - self.expected
        made_squares = self.squares - 2 * self.product + self.expected_squares
        return LuckLine(
            self.deals,
            self.points / self.deals / UNIT,
            _plus_minus(self.deals, self.points, self.squares),
            self.expected / self.deals / UNIT,
            _plus_minus(self.deals, self.expected, self.expected_squares),
            made / self.deals / UNIT,
            _plus_minus(self.deals, made, made_squares),
        )


def _plus_minus(deals: int, total: int, squares: int) -> float | None:
    """Return half the width of a mean's 95 % interval in points, from sums in 64ths.

    They are whole numbers, which lose nothing by subtraction.
    """
    if deals < 2:
        return None
    return TWO_SIDED * sqrt((deals * squares - total * total) / (deals - 1)) / deals / UNIT
