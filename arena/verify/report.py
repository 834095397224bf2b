"""What came of checking exports, and what one of them takes from another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.exports.lines import is_close

Where = tuple[str, int, int, str]
"""Tournament, round, table and bot: where a rating changed."""


@dataclass(frozen=True, slots=True)
class Link:
    """A rating that an export takes from another tournament."""

    line: int
    where: Where
    rating: float


@dataclass(slots=True)
class Report:
    """What came of checking an export."""

    tournament: str = ""
    """Empty if not even that could be read."""
    state: str = ""
    commitment: str = ""
    """Digest of the head, to be compared with what was noted before the tournament."""
    beacon: str | None = None
    """The public value that had a share in the luck; None: the organiser alone drew it."""
    entrants: int = 0
    rounds: int = 0
    matches: int = 0
    deals: int = 0
    problem: str | None = None
    """The first difference, with where it is; None: there is none."""
    links: list[Link] = field(default_factory=list)
    """What can only be checked with the exports of other tournaments."""
    ratings: dict[Where, float] = field(default_factory=dict)
    """Ratings after each match, for other exports' links."""


def check_links(reports: Sequence[Report]) -> str | None:
    """Return the first rating that one export takes from another in which it differs; None: there is none."""
    after: dict[Where, float] = {}
    known = {report.tournament for report in reports}
    for report in reports:
        after |= report.ratings
    for report in reports:
        for link in report.links:
            tournament, round, table, bot = link.where
            if tournament not in known:
                continue
            place = f"{report.tournament}: line {link.line}: pool: the rating of {bot}"
            source = f"round {round}, table {table} of {tournament}"
            if link.where not in after:
                return f"{place} is said to come from {source}, where it was not rated"
            if not is_close(after[link.where], link.rating):
                return f"{place}: is {link.rating:g}, should be {after[link.where]:g} as after {source}"
    return None
