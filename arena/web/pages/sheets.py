"""The sheets of the standings: each bot's place at its table in every round, in a line."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from arena.queries.sheets import RoundResult, Sheets
from arena.web.pages.figures import signed
from arena.web.pages.links import match_url

SHOWN = 10
"""How many of the latest rounds are in a sheet."""


def rounds_shown(round: int) -> range:
    """Return the rounds that sheets show while a tournament is in this one."""
    return range(max(1, round - SHOWN + 1), round + 1)


def lines_of(tournament: str, size: int, sheets: Sheets, rounds: Sequence[int]) -> Mapping[int, Markup]:
    """Return the sheets of a tournament with tables of this size, by the entrant's number.

    They are built here because a page has a thousand such links, for which templates are too slow.
    """
    begin = match_url(tournament, 1, 1).removesuffix("1/1")
    return {
        entrant: Markup("").join(_cell(begin, size, round, by_round.get(round)) for round in rounds)
        for entrant, by_round in sheets.items()
    }


def _cell(begin: str, size: int, round: int, result: RoundResult | None) -> Markup:
    if result is None:
        return Markup("<span>–</span>")
    table, place, points = result
    kind = ' class="first"' if place == 1 else ' class="last"' if place == size else ""
    told = f"Round {round}: place {place}, {signed(points)}"
    return Markup(f'<a href="{begin}{round}/{table}"{kind} title="{told}">{place}</a>')  # noqa: S704 quoted
