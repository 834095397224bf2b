"""Tournaments: their state and standings, and steering them."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Body, Query
from pydantic import Field

from arena.errors import BrokerError
from arena.keys import arena_key
from arena.models import TournamentState
from arena.queries import tournaments as queries
from arena.rounds import closing, showing
from arena.rounds import overview as rounds
from arena.rounds import preview as previews
from arena.specs import Name, make_spec
from arena.standings import scoreboard
from arena.standings.corrections import MOST_POINTS, Correction, Kind
from arena.tournaments import corrections, creation, following, lifecycle, overview
from arena.tournaments.admission import LONGEST_REASON
from arena.tournaments.answers import Changed
from arena.tournaments.doubts import list_doubts
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.roster import absence, roster
from arena.web.asking import Organiser
from arena.web.context import Shared, Web
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape

router = api_router("tournaments")

StatusShape = shape(TournamentStatus)
ChangedShape = shape(Changed)
ShownShape = shape(showing.TournamentShown)
PageShape = shape(queries.TournamentPage)
ScoreboardShape = shape(scoreboard.Scoreboard)
CrossedShape = shape(scoreboard.Crossed)
PairingsShape = shape(rounds.PairingsNamed)
HeadShape = shape(following.HeadShown)
PreviewShape = shape(previews.Preview)
CorrectionShape = shape(Correction)


class Start(Sent):
    """How a tournament is started."""

    beacon: str | None = None
    """The beacon's value, published after the tournament was locked; null: it has no beacon."""


class Correcting(Sent):
    """A correction of standings."""

    bot: str
    """``owner/bot@version``, or ``owner/bot`` if one version of it is in the tournament."""
    correction: Kind
    """``disqualified``: it is ranked behind all others. ``reinstated``: it no longer is. ``points``: its
    points in a match are changed."""
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    """One line, which everybody reads."""
    round: Annotated[int | None, Field(ge=1, le=2**31 - 1)] = None
    """The round of the match, if ``correction`` is ``points``."""
    table: Annotated[int | None, Field(ge=1, le=2**31 - 1)] = None
    """The table of the match, likewise."""
    points: Annotated[int | None, Field(ge=-MOST_POINTS, le=MOST_POINTS)] = None
    """The points to add; negative to subtract."""


Given = Annotated[
    dict[str, Any],
    Body(description="The fields of a tournament, as its file has them; its ruleset by name or in full."),
]

Round = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only this round.")]


@router.get("/tournaments", response_model=PageShape)
def list_tournaments(
    web: Shared, state: TournamentState | None = None, limit: Limit = 100, cursor: Cursor = None
) -> queries.TournamentPage:
    """List tournaments, the newest first."""
    return queries.list_tournaments(web.storage, queries.Asked(state), limit, cursor)


@router.get("/tournaments/{tournament}", response_model=ShownShape)
def show_tournament(web: Shared, tournament: Name) -> showing.TournamentShown:
    """Return a tournament: settings, progress, entrants, who is missing, and what it waits for."""
    return showing.show(web.storage, tournament, web.clock(), web.ask)


@router.get("/tournaments/{tournament}/standings", response_model=ScoreboardShape)
def tournament_standings(web: Shared, tournament: Name) -> scoreboard.Scoreboard:
    """Return the standings after all finished matches."""
    return scoreboard.scoreboard(web.storage, tournament)


@router.get("/tournaments/{tournament}/crosstable", response_model=CrossedShape)
def tournament_crosstable(
    web: Shared,
    tournament: Name,
    limit: Annotated[int, Query(ge=1, le=500, description="How many places of the standings to show.")] = 50,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1, description="How many places to skip.")] = 0,
) -> scoreboard.Crossed:
    """Return how often each bot finished ahead of each other."""
    board = web.placings.of(overview.status(web.storage, tournament))
    return scoreboard.Crossed(
        tournament, scoreboard.crosstable(web.storage, tournament, limit, offset, board).matrix
    )


@router.get("/tournaments/{tournament}/pairings", response_model=PairingsShape)
def tournament_pairings(
    web: Shared,
    tournament: Name,
    round: Round = None,
    explain: Annotated[bool, Query(description="Explain the tables of a Swiss round.")] = False,
) -> rounds.PairingsNamed:
    """Return who met whom in each round, and how even the pairings are."""
    return rounds.named(tournament, rounds.pairings(web.storage, tournament, round, explained=explain))


@router.get("/tournaments/{tournament}/head", response_model=HeadShape)
def tournament_head(web: Shared, tournament: Name) -> following.HeadShown:
    """Return a tournament's commitment, which precedes its first round, and its chain of events."""
    return following.head(web.storage, tournament)


@router.post("/tournaments", status_code=201, response_model=ChangedShape)
def create_tournament(web: Shared, actor: Organiser, sent: Given) -> Changed:
    """Create a tournament, which is yours; it is not started yet."""
    status = creation.create(web.storage, actor, make_spec(sent), web.clock())
    return _changed(status, list_doubts(web.storage, status.name))


@router.post("/tournaments/preview", response_model=PreviewShape)
def preview_tournament(web: Shared, actor: Organiser, sent: Given) -> previews.Preview:
    """Return what a tournament would be like: its length, warnings, its first tables. Nothing is stored."""
    return previews.preview(web.storage, actor, make_spec(sent), web.clock())


@router.post("/tournaments/{tournament}/lock", response_model=ChangedShape)
def lock_tournament(web: Shared, actor: Organiser, tournament: Name) -> Changed:
    """Close the entries of a tournament of yours that has not started, and publish its commitment."""
    return _changed(lifecycle.lock(web.storage, actor, tournament, web.clock()))


@router.post("/tournaments/{tournament}/start", response_model=ChangedShape)
def start_tournament(web: Shared, actor: Organiser, tournament: Name, sent: Start | None = None) -> Changed:
    """Start a tournament of yours, or continue one that failed."""
    now, beacon = web.clock(), sent.beacon if sent else None
    status = lifecycle.start(web.storage, actor, tournament, now, web.ask, beacon)
    absent = absence(roster(web.storage, tournament, now, web.ask), web.ask)
    return _changed(status, [*list_doubts(web.storage, tournament), *absent, *_wake(web, status)])


@router.post("/tournaments/{tournament}/pause", response_model=ChangedShape)
def pause_tournament(web: Shared, actor: Organiser, tournament: Name) -> Changed:
    """Pause a running tournament of yours: open sessions finish, and no others start."""
    return _changed(lifecycle.pause(web.storage, actor, tournament, web.clock()))


@router.post("/tournaments/{tournament}/resume", response_model=ChangedShape)
def resume_tournament(web: Shared, actor: Organiser, tournament: Name) -> Changed:
    """Continue a paused tournament of yours."""
    status = lifecycle.resume(web.storage, actor, tournament, web.clock())
    return _changed(status, _wake(web, status))


@router.post("/tournaments/{tournament}/stop", response_model=ChangedShape)
def stop_tournament(web: Shared, actor: Organiser, tournament: Name) -> Changed:
    """Pair no more rounds of a tournament of yours: it finishes when those already paired are played."""
    status = lifecycle.stop(web.storage, actor, tournament, web.clock())
    return _changed(status, _wake(web, status) if status.state == TournamentState.RUNNING else [])


@router.post("/tournaments/{tournament}/confirm", response_model=ChangedShape)
def confirm_tournament(web: Shared, actor: Organiser, tournament: Name) -> Changed:
    """Confirm the results of a tournament of yours that has ended; they are final from then on."""
    key = arena_key(web.settings)
    return _changed(corrections.confirm(web.storage, actor, tournament, web.clock(), key))


@router.post("/tournaments/{tournament}/corrections", status_code=201, response_model=CorrectionShape)
def correct_standings(web: Shared, actor: Organiser, tournament: Name, sent: Correcting) -> Correction:
    """Correct the standings of a tournament of yours that has ended, by an entry that everybody sees.

    Matches and ratings stay as they were. The arena signs the entry.
    """
    wanted = corrections.Wanted(**sent.model_dump())
    return corrections.correct(web.storage, actor, tournament, wanted, web.clock(), arena_key(web.settings))


@router.post("/tournaments/{tournament}/cancel", response_model=ChangedShape)
def cancel_tournament(web: Shared, actor: Organiser, tournament: Name) -> Changed:
    """End a tournament of yours at once and for good: finished matches count, and the others do not."""
    return _changed(closing.cancel(web.storage, actor, tournament, web.clock()))


def _changed(status: TournamentStatus, warnings: Sequence[str] = ()) -> Changed:
    return Changed(**showing.fields_of(status), warnings=warnings)


def _wake(web: Web, status: TournamentStatus) -> list[str]:
    """Wake a worker; if the broker is away, return a warning: the next beat will advance the tournament."""
    try:
        web.wake(status.id)
    except BrokerError as error:
        return [f"no worker could be woken, so it goes on with the next beat: {error}"]
    return []
