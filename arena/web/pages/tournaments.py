"""The pages of tournaments: standings, rounds with the reasons for the pairings, and crosstables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from arena.actors import Actor
from arena.core.corrections import correction_text
from arena.core.formats import FORMATS
from arena.core.luck import luck_told
from arena.core.specs import Name
from arena.operations import entries
from arena.operations import tournaments as operations
from arena.play.rounds.overview import RoundNamed
from arena.queries import matches, scoreboard
from arena.queries.matches import MatchLine
from arena.queries.scoreboard import RoundResult, Sheets, sheets
from arena.queries.tournaments import round_tables
from arena.store.models import TournamentState
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.steering import own_entries, steers
from arena.web.context import Shared, Web
from arena.web.pages.figures import signed
from arena.web.pages.forms import AnyVisit, Forms, FromForm
from arena.web.pages.links import match_url, round_url
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router
from arena.web.readings import Why

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
    table, place, score = result
    kind = ' class="first"' if place == 1 else ' class="last"' if place == size else ""
    text = f"Round {round}: place {place}, {signed(score, 0 if score == int(score) else 1)}"
    return Markup(f'<a href="{begin}{round}/{table}"{kind} title="{text}">{place}</a>')  # noqa: S704 quoted


router = page_router()

LISTED = 50
PLACES = 100
"""Number of lines of the standings on a page."""
TABLES = 100
"""Number of tables of a round on a page."""
CROSSED = 30
OWN = 10
"""Number of the reader's own bots on a page, beside those that have entered."""
RIVER = 20
"""How many of the latest matches are shown for a tournament whose rounds mean little."""
BRACKET = 200
"""How many tables of a knockout, in its latest rounds, its bracket shows."""
LARGEST = 2**31 - 1

Offset = Annotated[int, Query(ge=0, le=LARGEST)]


class StandingsAsked(FromForm):
    """The query parameters that choose a part of the standings."""

    offset: Offset = 0
    around: Annotated[str | None, Query(max_length=200)] = None
    """Show the part around this bot instead."""
    own: Offset = 0
    """How many of the reader's own bots precede those that are shown."""

    def begin(self, board: scoreboard.Scoreboard, most: int) -> tuple[int, str | None]:
        """Return the offset of the lines to show, and what was wrong with the bot."""
        if self.around is None:
            return self.offset, None
        place = place_of(board, self.around)
        if place is None:
            return self.offset, f"no {self.around} among the entrants"
        return max(0, min(place - most // 2, len(board.standings) - most)), None

    def is_asked(self, name: str) -> bool:
        """Return whether a version belongs to the bot that is asked for."""
        return self.around is not None and is_called(name, self.around)


@dataclass(frozen=True, slots=True)
class TableShown:
    """A table of a round."""

    number: int
    names: Sequence[str]
    match: MatchLine | None
    """The match; None if it is not done."""

    @property
    def results(self) -> Sequence[tuple[str, float | None]]:
        """Return the bots with what counts, the first first; before that is known, in order of seats."""
        if self.match is None or self.match.places is None or self.match.scores is None:
            return [(name, None) for name in self.names]
        by_place = sorted(zip(self.match.places, self.names, self.match.scores, strict=True))
        return [(name, score) for _, name, score in by_place]


@dataclass(frozen=True, slots=True)
class BracketRound:
    """A round of a knockout."""

    number: int
    tables: Sequence[TableShown]
    byes: Sequence[str]
    on: frozenset[str]
    """The bots that advanced."""


@router.get("/tournaments")
def list_tournaments(visit: AnyVisit) -> HTMLResponse:
    """Show tournaments, the newest first."""
    operation = operations.list_tournaments
    page, query = visit.do(operation, limit=LISTED), visit.query_of(operation)
    return visit.page("tournaments.html", found=page, asked=query, states=TournamentState)


@router.get("/tournaments/{tournament}")
def show_tournament(
    page: Page, web: Shared, tournament: Name, query: Annotated[StandingsAsked, Query()]
) -> HTMLResponse:
    """Show a tournament's state and standings."""
    return page("tournament.html", **_context(web, page.actor, tournament, query))


def _context(web: Web, actor: Actor, tournament: str, query: StandingsAsked) -> dict[str, object]:
    status = overview.status(web.storage, tournament)
    board = web.readings.standings(status)
    offset, not_found = query.begin(board, PLACES)
    duplicate = overview.terms(web.storage, tournament).duplicate
    river: Sequence[MatchLine] = ()
    form = FORMATS[status.format]
    if form.in_batches:
        river = matches.find_matches(web.storage, matches.MatchQuery(tournament=tournament), RIVER).matches
    lines = board.standings[offset : offset + PLACES]
    rounds = rounds_shown(status.round)
    results: Sheets = {}
    if not (form.in_batches or form.eliminates) and len(rounds) > 1:
        results = sheets(web.storage, status.id, [line.entrant for line in lines], rounds[0] - 1)
    return {
        "status": status,
        "at": web.clock(),
        "duplicate": duplicate,
        "desk": steers(web.storage, actor, tournament),
        "own": own_entries(web.storage, actor, tournament, web.clock(), web.ask, OWN, query.own),
        "own_offset": query.own,
        "own_most": OWN,
        "board": board,
        "decided": [correction_text(correction) for correction in board.corrections],
        "lines": lines,
        "rounds": rounds,
        "sheets": lines_of(
            *(status.tournament, status.table_size),
            {line.entrant: results[line.entrant] for line in lines if line.entrant in results},
            rounds,
        ),
        "offset": offset,
        "entrants": len(board.standings),
        "places": PLACES,
        "luck": [line.luck for line in board.standings if line.luck],
        "columns": [column for column in scoreboard.standing_columns(board) if column.page is not None],
        "decisive": scoreboard.criteria_of(status.format),
        "asked": query,
        "not_found": not_found,
        "river": river,
        "win": win_of(status, board),
        "telling": () if offset else web.readings.deals_of_tournament(status),
        "bracket": bracket(web, status, board) if form.eliminates else (),
    }


forms = Forms(
    router,
    "/tournaments/{tournament}",
    "tournament.html",
    lambda visit: _context(visit.web, visit.actor, visit.request.path_params["tournament"], StandingsAsked()),
)
forms.add("/tournaments/{tournament}/enter", entries.enter_bot, "/tournaments/{tournament}#enter")
forms.add("/tournaments/{tournament}/withdraw", entries.withdraw_bot, "/tournaments/{tournament}#enter")


def winners(status: TournamentStatus, board: scoreboard.Scoreboard) -> Sequence[scoreboard.StandingLine]:
    """Return the winners of a tournament; empty as long as its organiser has to confirm the results."""
    if status.state is not TournamentState.FINISHED or board.provisional:
        return ()
    return [*takewhile(lambda line: line.rank == 1, board.standings)]


@dataclass(frozen=True, slots=True)
class Win:
    """Who won a tournament, and how sure that is."""

    lines: Sequence[scoreboard.StandingLine]
    """Several if they are equal in everything that decides."""
    certainty: str | None
    """In words; None if nothing can be said."""
    luck: str | None
    """How lucky a single winner was, in words; None as long as that is not known."""


def win_of(status: TournamentStatus, board: scoreboard.Scoreboard) -> Win | None:
    """Return who won a tournament; None if nobody has yet."""
    won = winners(status, board)
    after = board.standings[len(won) : len(won) + 1]
    certainty = scoreboard.certainty(won[0], after[0]) if len(won) == 1 and after else None
    luck = luck_told(won[0].luck) if len(won) == 1 and won[0].luck else None
    return Win(won, certainty, luck) if won else None


def place_of(board: scoreboard.Scoreboard, bot: str) -> int | None:
    """Return the place, from 0, of a bot or of one version in the standings; None if it has none."""
    sought = bot.strip().lower()
    of_any_version = f"{sought}@"
    names = (line.bot.lower() for line in board.standings)
    places = (at for at, name in enumerate(names) if name == sought or name.startswith(of_any_version))
    return next(places, None)


def is_called(name: str, bot: str) -> bool:
    """Return whether a version is the one that is named, or belongs to the bot that is named."""
    return bot.strip().lower() in (name.lower(), name.lower().partition("@")[0])


@router.get("/tournaments/{tournament}/rounds")
def lead_to_round(tournament: Name, round: Annotated[int, Query(ge=1, le=LARGEST)]) -> RedirectResponse:
    """Lead to the page of a round."""
    return RedirectResponse(round_url(tournament, round), SEE_OTHER)


@router.get("/tournaments/{tournament}/rounds/{round}")
def show_round(
    page: Page,
    web: Shared,
    tournament: Name,
    round: Annotated[int, Path(ge=1, le=LARGEST)],
    offset: Offset = 0,
    why: bool = False,
) -> HTMLResponse:
    """Show the tables of a round, their results, and with ``why`` the reasons for the pairing."""
    status = overview.status(web.storage, tournament)
    tables = round_tables(web.storage, tournament, round, TABLES, offset)
    explained = web.readings.reasons(status, round) if why else Why({}, only=False)
    return page(
        "round.html",
        status=status,
        round=tables,
        reasons=explained.lines,
        only=explained.only,
        offset=offset,
        most=TABLES,
        why=why,
        schedule=FORMATS[status.format].schedule,
    )


@router.get("/tournaments/{tournament}/crosstable")
def show_crosstable(
    page: Page, web: Shared, tournament: Name, query: Annotated[StandingsAsked, Query()]
) -> HTMLResponse:
    """Show how often bots that are neighbours in the standings finished ahead of each other."""
    status = overview.status(web.storage, tournament)
    board = web.readings.standings(status)
    offset, not_found = query.begin(board, CROSSED)
    crossed = scoreboard.crosstable(web.storage, tournament, CROSSED, offset, board)
    return page(
        "crosstable.html", status=status, crossed=crossed, most=CROSSED, asked=query, not_found=not_found
    )


def tables_of(round: RoundNamed, played: Mapping[tuple[int, int], MatchLine]) -> Sequence[TableShown]:
    """Return the tables of a round with their results."""
    return [
        TableShown(number, seated, played.get((round.round, number)))
        for number, seated in enumerate(round.tables, start=1)
    ]


def bracket(web: Web, status: TournamentStatus, board: scoreboard.Scoreboard) -> Sequence[BracketRound]:
    """Return the rounds of a knockout; if there are many tables, only the last rounds."""
    newest = matches.find_matches(web.storage, matches.MatchQuery(tournament=status.tournament), BRACKET)
    played = {(match.round, match.table): match for match in newest.matches}
    rounds: list[BracketRound] = []
    on = frozenset(line.bot for line in winners(status, board))
    for round in reversed(web.readings.last_rounds(status, BRACKET)):
        of_it = tables_of(round, played)
        rounds.append(BracketRound(round.round, of_it, round.byes, on))
        on = frozenset(round.byes).union(*(table.names for table in of_it))
    return rounds[::-1]
