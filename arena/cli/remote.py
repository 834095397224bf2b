"""Converting answers of an arena on the network into the values that commands show."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import arena.client as api
from arena.leagues.answers import LeagueWhole
from arena.leagues.overview import LeagueInfo, LeagueShown
from arena.matches.overview import MatchView, SessionView
from arena.models import utc_now
from arena.queries.authors import LogLine, OwnDeal
from arena.standings.ranking import Standing
from arena.standings.scoreboard import Crosstable, CrosstableMatrix, Placed, StandingLine
from arena.tournaments.overview import TournamentStatus
from referee.cli.output import MOST
from referee.matches.journal import BotDeal, LogEntry

if TYPE_CHECKING:
    from arena.bots.versions import VersionInfo
    from arena.client import Client

T = TypeVar("T")

PAGE = 200


def version_of(arena: "Client", name: str, *, unexpired: bool = False) -> str:
    """Return the version that a name means: a bot's newest one whose token is not revoked.

    With ``unexpired``, versions with a valid token come first. Raise UnknownError.
    """
    if "@" in name:
        return name
    pages = arena.pages(api.bots.list_bots(name.partition("/")[0], limit=PAGE))
    found = [one for page in pages for one in page.bots if one.name.partition("@")[0] == name]
    if not found:
        arena.send(api.bots.show_bot(name, limit=1))  # which tells what there is instead
    return max(found, key=lambda one: _goodness(one, unexpired)).name


def _goodness(version: "VersionInfo", unexpired: bool) -> tuple[bool, bool, int]:
    good = version.revoked_at is None
    expired = version.expires_at is not None and version.expires_at <= utc_now()
    return good and not (unexpired and expired), good, int(version.name.partition("@")[2])


def match_view(arena: "Client", tournament: str, round: int, table: int) -> MatchView:
    """Return a match with the deals of all its sessions."""
    found = arena.send(api.results.show_match(tournament, round, table))
    deals: dict[int, tuple[Mapping[str, Any], ...]] = {}
    for one in () if found.withheld else found.sessions:
        asked = api.results.list_deals(tournament, round, table, one.number, limit=MOST)
        deals[one.number] = arena.send(asked).deals
    sessions = tuple(
        SessionView(**_fields_of(one), records=deals.get(one.number, ())) for one in found.sessions
    )
    return MatchView(**{**_fields_of(found), "sessions": sessions})


def standing_lines(placed: Sequence[Placed]) -> list[StandingLine]:
    """Return the lines of standings."""
    return [
        StandingLine(
            standing=_only(Standing, one),
            name=one.name,
            raw=one.raw,
            deals=one.deals,
            plus_minus=one.plus_minus,
            disqualified=one.disqualified,
            forfeits=one.forfeits,
        )
        for one in placed
    ]


def crosstable_of(matrix: CrosstableMatrix) -> Crosstable:
    """Return a crosstable from its rows and columns."""
    places = range(len(matrix.bots))
    before = {
        (a, b): (matrix.before[a][b] or 0, matrix.deals[a][b] or 0) for a in places for b in places if a != b
    }
    return Crosstable(matrix.bots, before, matrix.offset, matrix.entrants)


def league_shown(found: LeagueWhole) -> LeagueShown:
    """Return a league with the season that is shown."""
    return LeagueShown(_only(LeagueInfo, found), next(iter(found.seasons), None), found.outside)


def status_in(found: TournamentStatus) -> TournamentStatus:
    """Return a tournament's status, without the rest of its description."""
    return _only(TournamentStatus, found)


def log_entry(line: LogLine) -> LogEntry:
    """Return an entry of a log; entries over the network have no number."""
    return LogEntry(id=0, **_fields_of(line))


def bot_deal(deal: OwnDeal) -> BotDeal:
    """Return a deal of a bot."""
    return _only(BotDeal, deal)


def _fields_of(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _only(kind: type[T], value: Any) -> T:
    """Return an instance of a dataclass with the fields of another value."""
    names: Any = fields(kind)  # type: ignore[arg-type]
    return kind(**{field.name: getattr(value, field.name) for field in names})
