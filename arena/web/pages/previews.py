"""The pictures in previews of links, and the badges of checks."""

from fastapi.responses import Response

from arena.core.formats import FORMATS
from arena.core.specs import Name
from arena.queries.board import LeaderboardLine
from arena.queries.deals import deal_in_session
from arena.queries.profiles import newest_check, newest_lines
from arena.queries.replays.steps import Replay
from arena.queries.scoreboard import Scoreboard
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus
from arena.web.badges import check_badge
from arena.web.context import Shared
from arena.web.naming import BotOrVersion
from arena.web.pages.deals import DEAL, Number, replay_of
from arena.web.pages.figures import counted, number, thousands
from arena.web.pages.routing import page_router
from arena.web.pages.tournaments import CRITERIA
from arena.web.pictures import (
    BotSeen,
    DealSeen,
    TournamentSeen,
    arena_picture,
    bot_picture,
    deal_picture,
    tournament_picture,
)

router = page_router()

FOR_A_DAY, FOR_MINUTES = "public, max-age=86400", "public, max-age=300"
LINES = 6
"""Lines of the standings in a picture."""


def _sent(picture: bytes, kept: str) -> Response:
    return Response(picture, media_type="image/png", headers={"Cache-Control": kept})


@router.get("/picture.png")
def picture_of_arena() -> Response:
    """Return the picture of pages that have none of their own."""
    return _sent(arena_picture(), FOR_A_DAY)


@router.get(f"{DEAL}/picture.png")
def picture_of_deal(
    web: Shared, tournament: str, round: Number, table: Number, session: Number, deal: Number
) -> Response:
    """Return a picture of the cards as they were dealt, which gives nothing else away."""
    found = deal_in_session(web.storage, tournament, round, table, session, deal)
    return _sent(deal_picture(deal_seen(replay_of(found.record))), FOR_A_DAY)


@router.get("/bots/{owner}/{bot}/picture.png")
def picture_of_bot(web: Shared, name: BotOrVersion) -> Response:
    """Return a picture of a bot's standing."""
    lines = newest_lines(web.storage, name)
    return _sent(bot_picture(bot_seen(name, lines[0] if lines else None)), FOR_MINUTES)


@router.get("/bots/{owner}/{bot}/check.svg")
def badge_of_check(web: Shared, name: BotOrVersion) -> Response:
    """Return a badge that says how the check of a bot's newest version went, or of one version."""
    picture = check_badge(newest_check(web.storage, name))
    return Response(picture, media_type="image/svg+xml", headers={"Cache-Control": FOR_MINUTES})


@router.get("/tournaments/{tournament}/picture.png")
def picture_of_tournament(web: Shared, tournament: Name) -> Response:
    """Return a picture of a tournament's state."""
    status = overview.status(web.storage, tournament)
    return _sent(tournament_picture(tournament_seen(status, web.readings.standings(status))), FOR_MINUTES)


def deal_seen(replay: Replay) -> DealSeen:
    """Return the contents of a deal's picture."""
    place = replay.record
    about = f"{place['tournament']}, round {place['round']}, table {place['table']}; {replay.ruleset}"
    return DealSeen(f"Deal {place['deal']}", about, replay.short, replay.steps[0].hands)


def bot_seen(name: str, line: LeaderboardLine | None) -> BotSeen:
    """Return the contents of a bot's picture from its line in a pool; ``line`` is None if it is in none."""
    if line is None:
        return BotSeen(name, "not rated yet", (), None, 0.0, 0.0)
    figures = [("Elo", thousands(line.rating)), ("Deals", thousands(line.deals))]
    one = line.strength
    if one is None:
        return BotSeen(name, line.ruleset, tuple(figures), None, 0.0, 0.0)
    rank = f"{one.best}" if one.best == one.worst else f"{one.best}–{one.worst}"
    figures = [("Rank", rank), ("Strength", thousands(one.figure)), *figures]
    about = f"{line.ruleset}, {line.table_size} at a table"
    return BotSeen(name, about, tuple(figures), one.figure_low, one.figure, one.figure_high)


def tournament_seen(status: TournamentStatus, board: Scoreboard) -> TournamentSeen:
    """Return the contents of a tournament's picture."""
    about = f"{status.format.capitalize()} under {status.ruleset}: {counted(status.entrants, 'bot')}"
    state = status.state.value
    if not status.ended and status.round:
        state += f", round {status.round}" + (f" of {status.rounds}" if status.rounds else "")
    key = next(iter(FORMATS[status.format].criteria.decisive))
    word = CRITERIA[key][0].lower()
    lines = [
        (f"{line.rank}", line.bot, f"{word} {number(getattr(line, key))}") for line in board.standings[:LINES]
    ]
    done = status.sessions_done / status.sessions_total if status.sessions_total else 0.0
    return TournamentSeen(
        status.tournament, f"{about} at tables of {status.table_size}", state, done, tuple(lines)
    )
