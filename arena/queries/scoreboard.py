"""Standings and crosstables for display, with the result of each round."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, or_
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import col, func, select

from arena.core.corrections import Correction
from arena.core.elo import spread
from arena.core.formats import FORMATS
from arena.core.luck import LuckLine
from arena.core.ranking import Standing, Sum
from arena.queries.luck import entrants_luck
from arena.queries.versus import Mean, VerdictKind, lead_of
from arena.results.standings.outcomes import corrections_of
from arena.results.standings.stored import current_standings, pairs_among
from arena.store.models import Entrant, Match, MatchState, Round, Seat, Tournament, TournamentState
from arena.store.storage import Storage
from arena.tabular import Column
from arena.tournaments.overview import find_tournament
from arena.tournaments.roster import forfeited_sessions, list_entrants


class RoundResult(NamedTuple):
    """What an entrant made of its match in a round."""

    table: int
    place: int
    """1 where nobody at the table was ahead."""
    points: float
    """Those that count."""


Sheets = Mapping[int, Mapping[int, RoundResult]]
"""By the entrant's number, and by round."""


def sheets(storage: Storage, tournament_id: int, entrants: Sequence[int], after: int = 0) -> Sheets:
    """Return what entrants, by their numbers, made of the matches that are done in the rounds after one.

    Those of a duplicate tournament count once their rounds are over.
    """
    parameters = {"tournament": tournament_id, "entrants": [*entrants], "after": after}
    results: dict[int, dict[int, RoundResult]] = defaultdict(dict)
    with storage.read() as tx:
        for entrant, round, *result in tx.connection().execute(_results(), parameters):
            results[entrant][round] = RoundResult(*result)
    return results


@cache
def _results() -> Select[Any]:
    other = aliased(Seat)
    ahead = (
        select_columns(func.count())
        .where(other.match_id == Seat.match_id, other.points > Seat.points)  # type: ignore[arg-type]
        .correlate(Seat)
        .scalar_subquery()
    )
    place, points = func.coalesce(Seat.place, 1 + ahead), func.coalesce(Seat.score, Seat.points)
    columns: tuple[Any, ...] = (Entrant.number, Round.number, Match.table_number, place, points)
    return (
        select_columns(*columns)
        .select_from(Entrant)
        .join(Tournament, col(Tournament.id) == Entrant.tournament_id)
        .join(Seat, col(Seat.entrant_id) == Entrant.id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(
            col(Entrant.tournament_id) == bindparam("tournament"),
            or_(col(Tournament.duplicate).is_(False), col(Seat.place).is_not(None)),
            col(Entrant.number).in_(bindparam("entrants", expanding=True)),
            col(Match.state) == MatchState.DONE,
            col(Round.number) > bindparam("after"),
        )
    )


CROSSED = 50
"""Lines of a crosstable by default."""


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A line of the standings."""

    rank: int
    """Place, from 1; shared only by those who are equal in everything that decides."""
    bot: str
    """``owner/bot@version``."""
    entrant: int
    """Number of the entrant."""
    score: float
    """Sum of its match scores: of k bots at a table the first has k - 1, the last 0."""
    points: float
    """Points of all deals; in a duplicate tournament compared with the same seat elsewhere."""
    wins: int
    """Matches in which everyone else had fewer points."""
    opponents: float
    """Mean of the opponents' scores, each as often as met; per match where ``mean`` decides."""
    opponents_cut: float
    """The same without the lowest."""
    mean: float
    """Mean score of its matches."""
    matches: int
    """Matches finished."""
    reached: int
    """Rounds played or sat out; in a knockout, the round that was reached."""
    last: float
    """Score of its last match."""
    raw: int
    """Points as they were played."""
    deals: int
    """Deals played."""
    plus_minus: float | None
    """Margin of ``points`` in 95 of 100 cases; None for fewer than two deals."""
    disqualified: bool
    """Whether its organiser disqualified it, so that it ranks behind all others."""
    forfeits: int
    """Sessions that it forfeited, by absence or by too many faults."""
    luck: LuckLine | None
    """What its cards were worth, and what it made of them, which decides nothing; None as long as that is not
    known."""


CRITERIA: Mapping[str, Column[StandingLine]] = {
    "score": Column(
        "score",
        lambda line: line.score,
        "number",
        "in each match one for each bot with fewer points, half for one with equal points",
    ),
    "points": Column(
        "points", lambda line: (line.points, line.plus_minus), "sum", "of all deals, ± in 95 of 100 cases"
    ),
    "wins": Column("wins", lambda line: line.wins, about="matches in which everybody else was behind"),
    "opponents": Column("opponents", lambda line: line.opponents, "number", "their mean score"),
    "opponents_cut": Column(
        "cut",
        lambda line: line.opponents_cut,
        "number",
        "the mean score of its opponents without the weakest",
    ),
    "mean": Column("mean", lambda line: line.mean, "number", "score in a match"),
    "reached": Column("round", lambda line: line.reached, about="the one that it reached"),
    "last": Column("last match", lambda line: line.last, "number", "its score there"),
}
"""The columns of what decides standings."""


def criteria_of(format: str) -> list[Column[StandingLine]]:
    """Return the columns of what decides the standings of a format, in the order in which they count."""
    criteria = FORMATS[format].criteria
    columns = [CRITERIA[name] for name in criteria.decisive]
    if criteria.per_match:
        columns = [
            replace(column, about="their mean score in a match") if column.head == "opponents" else column
            for column in columns
        ]
    # points are always shown, of the others the first, and more of them the wider the screen
    return [
        replace(column, page="" if not at or column.form == "sum" else "p2" if at == 1 else "p3")
        for at, column in enumerate(columns)
    ]


def standing_columns(board: "Scoreboard") -> list[Column[StandingLine]]:
    """Return the columns of standings: what decides them, and whatever else there is to say."""
    lines, columns = board.standings, [*BOTS]
    compared = any(line.raw != line.points for line in lines)  # which only duplicate deals lead to
    for column in criteria_of(board.format):
        columns += [column, RAW] if compared and column.form == "sum" else [column]
    if any(line.luck for line in lines):
        columns += LUCK
    if any(line.forfeits for line in lines):
        columns.append(FORFEITED)
    return [*columns, *PLAYED]


BOTS: Sequence[Column[StandingLine]] = (
    Column("", lambda line: line.rank),
    Column(
        "bot version",
        lambda line: line.bot,
        "bot",
        mark=lambda line: " (disqualified)" if line.disqualified else "",
    ),
)
RAW: Column[StandingLine] = Column("raw", lambda line: line.raw, about="points as played", page="p2")
LUCK: Sequence[Column[StandingLine]] = (
    Column(
        "expected",
        lambda line: line.luck and line.luck.expected,
        "signed",
        "points a deal above the mean of the table that the cards made likely; a reference played them",
        page="p2",
    ),
    Column(
        "made",
        lambda line: line.luck and (line.luck.made, line.luck.made_plus_minus),
        "mean",
        "points a deal beyond what was expected from the cards, ± in 95 of 100 cases; this decides nothing",
        page="p2",
    ),
)
FORFEITED: Column[StandingLine] = Column(
    "forfeited",
    lambda line: line.forfeits or None,
    about="sessions that the bot lost by absence or by too many faults",
    page=None,
)
PLAYED: Sequence[Column[StandingLine]] = (
    Column("matches", lambda line: line.matches, terminal=False, page="p2"),
    Column("deals", lambda line: line.deals, terminal=False, page="p3"),
)


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Who stands where in a tournament."""

    tournament: str
    state: TournamentState
    """The standings are final if it is finished or cancelled and they are not provisional."""
    format: str
    """Its criteria order the standings."""
    provisional: bool
    """Whether its organiser still has to confirm them."""
    corrections: tuple[Correction, ...]
    """What its organiser decided about them, in order."""
    standings: tuple[StandingLine, ...]
    """The best first."""


@dataclass(frozen=True, slots=True)
class CrosstableMatrix:
    """A crosstable whose rows and columns are in the order of ``bots``."""

    bots: tuple[str, ...]
    """Its rows and its columns."""
    before: tuple[tuple[int | None, ...], ...]
    """How many deals the row finished before the column; None if both are the same bot."""
    deals: tuple[tuple[int | None, ...], ...]
    """How many deals both played; None if both are the same bot."""
    offset: int
    """Places left out before the first row."""
    entrants: int
    """Places in all."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """A crosstable of a tournament."""

    tournament: str
    crosstable: CrosstableMatrix
    next: str | None
    """Cursor of the next places; None if there are none."""


def scoreboard(storage: Storage, name: str, also: Sequence[Correction] = ()) -> Scoreboard:
    """Return who stands where after all finished matches; raise UnknownError.

    With ``also`` some corrections, as if they were made.
    """
    lines = standings(storage, name, also)
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        decided = (*corrections_of(tx, tournament), *also)
    provisional = tournament.confirm and tournament.confirmed_at is None
    return Scoreboard(name, tournament.state, tournament.format, provisional, decided, tuple(lines))


def certainty(first: StandingLine, second: StandingLine) -> str | None:
    """Return in words how certain it is that the first of a tournament's standings is better than the second.

    By the points of all their deals; None if one of them played fewer than two.
    """
    mine, its = _mean_of(first), _mean_of(second)
    if mine is None or its is None:
        return None
    lead = lead_of(mine, its)
    by = f"{abs(lead.points):.2f} ± {lead.plus_minus:.2f} points a deal"
    if lead.points < 0:
        sentence = f"{second.bot}, the second, made {by} more, which is not what decides here"
    else:
        sentence = f"The lead over {second.bot}, the second, is {by}"
    if lead.kind is VerdictKind.APART:
        return f"{sentence}: more than the luck of the cards."
    settle = "" if lead.more is None else f" About {lead.more:,} more deals of each would tell."
    return f"{sentence}: with other cards it might have been the other way round.{settle}"


def _mean_of(line: StandingLine) -> Mean | None:
    if line.plus_minus is None:
        return None
    return Mean(line.points / line.deals, line.plus_minus / line.deals, line.deals)


def corrections(storage: Storage, name: str) -> list[Correction]:
    """Return what the organiser decided about the standings, in order; raise UnknownError."""
    with storage.read() as tx:
        return corrections_of(tx, find_tournament(tx, name))


def standings(storage: Storage, name: str, also: Sequence[Correction] = ()) -> list[StandingLine]:
    """Return the standings after all finished matches, best first; raise UnknownError.

    They follow from sums: no closed round is read, unless the organiser has adjusted the points of a match.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        current = current_standings(tx, tournament, entrants, also)
        names = {entrant.number: entrant.name for entrant in entrants}
        forfeited = forfeited_sessions(tx, tournament)
        luck = entrants_luck(tx, tournament)
        ids = {entrant.number: entrant.entrant_id for entrant in entrants}
        # Points as played are whole numbers, but clients read fractions: both print the same.
        return [
            StandingLine(
                **{field.name: getattr(line, field.name) for field in fields(Standing)}
                | {"points": float(line.points)},
                bot=names[line.entrant],
                raw=sum_of.raw,
                deals=sum_of.deals,
                plus_minus=spread(sum_of.deals, sum_of.total, sum_of.squares),
                disqualified=line.entrant in current.disqualified,
                forfeits=forfeited[line.entrant],
                luck=luck.get(line.entrant),
            )
            for line in current.lines
            for sum_of in [current.sums.entrants.get(ids[line.entrant], Sum())]
        ]


def crosstable(
    storage: Storage, name: str, limit: int = CROSSED, offset: int = 0, board: Scoreboard | None = None
) -> CrosstableMatrix:
    """Return how often each bot finished before each other one, in the deals of all finished matches.

    Cover ``limit`` lines of the standings after the first ``offset``; ``board`` are the standings, if they
    are known already. Raise UnknownError if there is no such tournament.
    """
    lines = (scoreboard(storage, name) if board is None else board).standings
    page = lines[offset : offset + limit]
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        numbers = [line.entrant for line in page]
        there = (Entrant.tournament_id == tournament.id, col(Entrant.number).in_(numbers))
        ids = dict(tx.exec(select(Entrant.id, Entrant.number).where(*there)).all())
        place = {entrant_id: numbers.index(number) for entrant_id, number in ids.items()}
        before, deals = ([[None if a == b else 0 for a in numbers] for b in numbers] for _ in range(2))
        for (one, other), pair in pairs_among(tx, tournament, place).items():
            row, column = place[one], place[other]
            before[row][column], before[column][row] = pair.ahead, pair.behind
            deals[row][column] = deals[column][row] = pair.deals
    bots = tuple(line.bot for line in page)
    return CrosstableMatrix(bots, tuple(map(tuple, before)), tuple(map(tuple, deals)), offset, len(lines))
