"""What entrants made of each round, for those who read the standings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import col, func

from arena.store.models import Entrant, Match, MatchState, Round, Seat, Tournament
from arena.store.storage import Storage


class RoundResult(NamedTuple):
    """What an entrant made of its match in a round."""

    table: int
    place: int
    """1 where nobody at the table had more points."""
    points: int


Sheets = Mapping[int, Mapping[int, RoundResult]]
"""By the entrant's number, and by round."""


def sheets(storage: Storage, tournament_id: int, entrants: Sequence[int], after: int = 0) -> Sheets:
    """Return what entrants, by their numbers, made of the matches that are done in the rounds after one.

    Duplicate tournaments have none: there, points count against those of the same seat at other tables.
    """
    wanted = {"tournament": tournament_id, "entrants": [*entrants], "after": after}
    found: dict[int, dict[int, RoundResult]] = defaultdict(dict)
    with storage.read() as tx:
        for entrant, round, table, ahead, points in tx.connection().execute(_results(), wanted):
            found[entrant][round] = RoundResult(table, ahead + 1, points)
    return found


@cache
def _results() -> Select[Any]:
    other = aliased(Seat)
    ahead = (
        select_columns(func.count())
        .where(other.match_id == Seat.match_id, other.points > Seat.points)  # type: ignore[arg-type]
        .correlate(Seat)
        .scalar_subquery()
    )
    columns: tuple[Any, ...] = (Entrant.number, Round.number, Match.table_number, ahead, Seat.points)
    return (
        select_columns(*columns)
        .select_from(Entrant)
        .join(Tournament, col(Tournament.id) == Entrant.tournament_id)
        .join(Seat, col(Seat.entrant_id) == Entrant.id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(
            col(Entrant.tournament_id) == bindparam("tournament"),
            col(Tournament.duplicate).is_(False),
            col(Entrant.number).in_(bindparam("entrants", expanding=True)),
            col(Match.state) == MatchState.DONE,
            col(Round.number) > bindparam("after"),
        )
    )
