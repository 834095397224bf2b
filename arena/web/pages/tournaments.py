"""Tournaments: how they stand, their rounds with the reasons of the pairings, and who beat whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import HTMLResponse

from arena.formats import FORMATS
from arena.models import TournamentState
from arena.queries import matches
from arena.queries import tournaments as queries
from arena.queries.matches import MatchLine
from arena.queries.tables import round_tables
from arena.rounds import overview as rounds
from arena.rounds.overview import PairingsShown, RoundShown
from arena.rounds.reasons import reason_lines
from arena.specs import Name
from arena.standings import scoreboard
from arena.standings.corrections import correction_text
from arena.storage import Storage
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus
from arena.web.context import Shared
from arena.web.pages.asked import FromForm
from arena.web.pages.page import Page

router = APIRouter()

LISTED = 50
PLACES = 100
"""Lines of the standings on a page."""
TABLES = 100
"""Of a round on a page."""
CROSSED = 30
RIVER = 20
"""Latest matches of a tournament without rounds to speak of."""
BRACKET = 200
"""Latest matches of a knockout, which its bracket is drawn from."""
LARGEST = 2**31 - 1

CRITERIA = {
    "score": ("Score", "for each opponent beaten at a table 1, for a tie ½"),
    "points": ("Points", "of all deals"),
    "wins": ("Wins", "matches in which everybody else had fewer points"),
    "opponents": ("Opponents", "the mean score of those who were met"),
    "opponents_cut": ("Cut", "the same without the weakest opponent"),
    "mean": ("Mean", "score a match"),
    "reached": ("Round", "that was reached"),
    "last": ("Last match", "the score in the latest match"),
}
"""What standings are decided by: how it is called, and what it is."""


class ListAsked(FromForm):
    """Which tournaments."""

    state: TournamentState | None = None
    cursor: Annotated[str | None, Query(max_length=400)] = None


Offset = Annotated[int, Query(ge=0, le=LARGEST)]


class StandingsAsked(FromForm):
    """Which part of the standings."""

    offset: Offset = 0
    around: Annotated[str | None, Query(max_length=200)] = None
    """Where this bot stands, instead."""


@dataclass(frozen=True, slots=True)
class TableShown:
    """A table of a round."""

    number: int
    names: Sequence[str]
    match: MatchLine | None
    """What came of it; None: it is not done."""

    @property
    def results(self) -> Sequence[tuple[str, int | None]]:
        """Bots with their points, the most first; before the match is done, in the order of the seats."""
        if self.match is None:
            return [(name, None) for name in self.names]
        return sorted(zip(self.match.names, self.match.points, strict=True), key=lambda one: -one[1])


@dataclass(frozen=True, slots=True)
class BracketRound:
    """A round of a knockout."""

    number: int
    tables: Sequence[TableShown]
    byes: Sequence[str]
    on: frozenset[str]
    """Who went on."""


@router.get("/tournaments")
def list_tournaments(page: Page, web: Shared, asked: Annotated[ListAsked, Query()]) -> HTMLResponse:
    """Show tournaments, the newest first."""
    found = queries.list_tournaments(web.storage, queries.Asked(asked.state), LISTED, asked.cursor)
    return page("tournaments.html", found=found, asked=asked, states=TournamentState)


@router.get("/tournaments/{tournament}")
def show_tournament(
    page: Page, web: Shared, tournament: Name, asked: Annotated[StandingsAsked, Query()]
) -> HTMLResponse:
    """Show how a tournament stands."""
    status = overview.status(web.storage, tournament)
    board = web.placings.of(status)
    place = None if asked.around is None else place_of(board, asked.around)
    offset = asked.offset if place is None else max(0, place - PLACES // 2)
    river: Sequence[MatchLine] = ()
    if status.format == "continuous":
        river = matches.find_matches(web.storage, matches.Asked(tournament=tournament), RIVER).lines
    return page(
        "tournament.html",
        one=status,
        board=board,
        decided=[correction_text(one) for one in board.corrections],
        lines=board.standings[offset : offset + PLACES],
        offset=offset,
        entrants=len(board.standings),
        places=PLACES,
        raw=any(line.raw != line.points for line in board.standings),
        decisive=[(key, *CRITERIA[key]) for key in FORMATS[status.format].criteria.decisive],
        asked=asked,
        trouble=f"no {asked.around} among the entrants" if asked.around and place is None else None,
        river=river,
        bracket=bracket(web.storage, status, board) if status.format == "knockout" else (),
    )


def place_of(board: scoreboard.Scoreboard, bot: str) -> int | None:
    """Return the place, from 0, of a bot or of one version in the standings; None: it has none."""
    wanted = bot.strip().lower()
    names = ((at, line.name.lower()) for at, line in enumerate(board.standings))
    return next((at for at, name in names if wanted in (name, name.partition("@")[0])), None)


@router.get("/tournaments/{tournament}/rounds/{round}")
def show_round(
    page: Page,
    web: Shared,
    tournament: Name,
    round: Annotated[int, Path(ge=1, le=LARGEST)],
    offset: Offset = 0,
    why: bool = False,
) -> HTMLResponse:
    """Show the tables of a round, what came of them, and with ``why`` the reasons of the pairing."""
    status = overview.status(web.storage, tournament)
    found = round_tables(web.storage, tournament, round, TABLES, offset)
    explained = rounds.pairings(web.storage, tournament, round, explained=True) if why else None
    reasons = {} if explained is None else reasons_of(explained)
    return page(
        "round.html",
        status=status,
        round=found,
        reasons=reasons,
        only=explained is not None and explained.rounds[0].only,
        offset=offset,
        most=TABLES,
        why=why,
        schedule=FORMATS[status.format].schedule,
    )


def reasons_of(shown: PairingsShown) -> Mapping[int, Sequence[str]]:
    """Return by table of a round why it is as it is."""
    return {
        number: [*reason_lines(one, shown.names)]
        for number, one in enumerate(shown.rounds[0].reasons, start=1)
    }


@router.get("/tournaments/{tournament}/crosstable")
def show_crosstable(page: Page, web: Shared, tournament: Name, offset: Offset = 0) -> HTMLResponse:
    """Show how often each bot finished before each other one."""
    status = overview.status(web.storage, tournament)
    crossed = scoreboard.crosstable(web.storage, tournament, CROSSED, offset)
    return page("crosstable.html", one=status, crossed=crossed, most=CROSSED)


def tables_of(round: RoundShown, names: Mapping[int, str], done: Sequence[MatchLine]) -> Sequence[TableShown]:
    """Return the tables of a round with what came of them."""
    found = {line.table: line for line in done if line.round == round.number}
    return [
        TableShown(number, [names[entrant] for entrant in seated], found.get(number))
        for number, seated in enumerate(round.pairing.tables, start=1)
    ]


def bracket(
    storage: Storage, status: TournamentStatus, board: scoreboard.Scoreboard
) -> Sequence[BracketRound]:
    """Return the rounds of a knockout, the last ones if there are many tables."""
    shown = rounds.pairings(storage, status.name)
    done = matches.find_matches(storage, matches.Asked(tournament=status.name), BRACKET).lines
    winners = frozenset(
        line.name for line in board.standings if status.state is TournamentState.FINISHED and line.rank == 1
    )
    found: list[BracketRound] = []
    on, tables = winners, 0
    for one in reversed(shown.rounds):
        tables += len(one.pairing.tables)
        if tables > BRACKET:
            break
        byes = [shown.names[entrant] for entrant in one.pairing.byes]
        of_it = tables_of(one, shown.names, done)
        found.append(BracketRound(one.number, of_it, byes, on))
        on = frozenset(byes).union(*(table.names for table in of_it))
    return found[::-1]
