"""Leagues for display, with their seasons, divisions and places."""

from dataclasses import dataclass, fields
from datetime import datetime
from itertools import groupby

from sqlmodel import col, select

from arena.core.specs import Entries
from arena.errors import UnknownError
from arena.leagues.membership import active_members, find_league
from arena.leagues.seasons import (
    arrival,
    contestants,
    draw_up,
    in_order,
    latest_season,
    places_of,
    standing_of,
)
from arena.leagues.spec import LeagueSpec, make_league
from arena.store.models import (
    Arrival,
    BotVersion,
    League,
    LeagueMember,
    Season,
    SeasonDivision,
    SeasonPlace,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction
from referee.ruleset import load_ruleset


@dataclass(frozen=True, slots=True)
class LeagueInfo:
    """A league."""

    league: str
    divisions: tuple[str, ...]
    """From the highest to the lowest, the qualification last, if there is one."""
    formats: tuple[str, ...]
    """Formats of the divisions' tournaments, each once, that of the highest first."""
    rulesets: tuple[str, ...]
    """Their rulesets likewise, as ``hong-kong@1``."""
    interval_hours: float
    """Hours from the start of one season to the next."""
    members: int
    """How many bots are in it."""
    season: int
    """The latest season that has started; 0 if none has."""
    running: bool
    """Whether it is still being played."""
    entries: Entries
    """Who may join: ``open``, ``invited`` or ``approved``."""
    next_at: datetime | None
    """When the next season is due; None if there is none left."""
    problem: str | None
    """What keeps a season that is due from starting; None if nothing does."""


@dataclass(frozen=True, slots=True)
class PlaceLine:
    """A line of a division's table."""

    rank: int
    """Place in the final standings, or else in the current ones, or else in the seeding."""
    bot: str
    """``owner/bot@version``."""
    member: str
    """The member that joined: ``owner/bot``, or a version of it."""
    score: float | None
    """Its score; None if the division does not play because it is too small."""
    points: float | None
    came: Arrival
    """How it came into the division."""
    goes: str
    """What comes next by this table: ``stayed``, ``promoted``, ``relegated``, ``out``; empty if unknown."""


@dataclass(frozen=True, slots=True)
class DivisionShown:
    """A division in a season."""

    division: str
    tournament: str | None
    """The name of its tournament; None if it is too small for a table."""
    state: TournamentState | None
    """That of the tournament; None if there is none."""
    lines: tuple[PlaceLine, ...]
    """In order."""


@dataclass(frozen=True, slots=True)
class SeasonShown:
    """A season of a league."""

    season: int
    due_at: datetime
    started_at: datetime
    finished_at: datetime | None
    """When it finished; None if it is still being played."""
    divisions: tuple[DivisionShown, ...]


@dataclass(frozen=True, slots=True)
class SeasonOrder:
    """Who had which place in a season."""

    number: int
    divisions: tuple[tuple[str, ...], ...]
    """From the highest to the lowest, its members in order."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A member without a place in the latest season."""

    bot: str
    problem: str | None
    """Why it would not get one now; None if it gets one in the next season."""


@dataclass(frozen=True, slots=True)
class LeagueShown(LeagueInfo):
    """A league and its standing."""

    seasons: list[SeasonShown]
    """The season that is shown; empty if none has started."""
    outside: tuple[Outside, ...]
    """Members without a place in the latest season."""


def list_leagues(storage: Storage) -> list[LeagueInfo]:
    """Return all leagues, by name."""
    with storage.read() as tx:
        leagues = tx.exec(select(League).order_by(col(League.name))).all()
        return [_info(tx, league, make_league(league.spec)) for league in leagues]


def _info(tx: Transaction, league: League, spec: LeagueSpec) -> LeagueInfo:
    latest = latest_season(tx, league)
    return LeagueInfo(
        league=league.name,
        divisions=tuple(level.name for level in spec.levels),
        formats=tuple(dict.fromkeys(tournament.format for tournament in spec.tournaments)),
        rulesets=tuple(
            dict.fromkeys(load_ruleset(tournament.ruleset).label for tournament in spec.tournaments)
        ),
        interval_hours=spec.interval_hours,
        members=len(active_members(tx, league)),
        season=league.seasons,
        running=latest is not None and latest.finished_at is None,
        entries=league.entries,
        next_at=league.next_at,
        problem=league.problem,
    )


def show(storage: Storage, name: str, now: datetime, number: int | None = None) -> LeagueShown:
    """Return a league with its latest season, or with season ``number``; raise UnknownError."""
    with storage.read() as tx:
        league = find_league(tx, name)
        season = _season(tx, league, number)
        spec = make_league(league.spec)
        members = active_members(tx, league)
        able, problems = contestants(tx, spec, members, now)
        latest = latest_season(tx, league)
        problems |= draw_up(tx, spec, latest, able).left_out
        placed = {place.member_id for _, places in places_of(tx, latest) for place in places}
        outside = [
            Outside(member.name, problems.get(member.id))
            for member in members
            if member.id not in placed or member.id in problems
        ]
        seasons = [_describe_season(tx, league, spec, season, now)] if season else []
        info = _info(tx, league, spec)
        of_league = {field.name: getattr(info, field.name) for field in fields(info)}
        return LeagueShown(**of_league, seasons=seasons, outside=tuple(outside))


def history(storage: Storage, name: str, now: datetime, limit: int | None = None) -> list[SeasonShown]:
    """Return the seasons of a league, the latest first, up to ``limit`` or all; raise UnknownError."""
    with storage.read() as tx:
        league = find_league(tx, name)
        seasons = (
            select(Season)
            .where(Season.league_id == league.id)
            .order_by(col(Season.number).desc())
            .limit(limit)
        )
        spec = make_league(league.spec)
        return [_describe_season(tx, league, spec, season, now) for season in tx.exec(seasons).all()]


def orders(storage: Storage, name: str, limit: int) -> list[SeasonOrder]:
    """Return who had which place in the latest seasons of a league, latest first; raise UnknownError."""
    with storage.read() as tx:
        league = find_league(tx, name)
        placed = (
            select(Season.number, SeasonDivision, SeasonPlace, LeagueMember.name)
            .join(SeasonDivision, col(SeasonDivision.season_id) == Season.id)
            .join(SeasonPlace, col(SeasonPlace.division_id) == SeasonDivision.id)
            .join(LeagueMember, col(LeagueMember.id) == SeasonPlace.member_id)
            .where(Season.league_id == league.id, Season.number > league.seasons - limit)
            .order_by(col(Season.number).desc(), col(SeasonDivision.level), col(SeasonPlace.number))
        )
        divisions_of: dict[int, list[tuple[str, ...]]] = {}
        for (number, _), rows in groupby(tx.exec(placed), key=lambda row: (row[0], row[1].id)):
            group = [*rows]
            names = {place.id: member for _, _, place, member in group}
            ordered = in_order(tx, group[0][1], [place for _, _, place, _ in group])
            divisions_of.setdefault(number, []).append(tuple(names[place.id] for place in ordered))
        return [SeasonOrder(number, tuple(divisions)) for number, divisions in divisions_of.items()]


def _season(tx: Transaction, league: League, number: int | None) -> Season | None:
    if number is None:
        return latest_season(tx, league)
    season = tx.exec(select(Season).where(Season.league_id == league.id, Season.number == number)).first()
    if season is None:
        raise UnknownError(f"no season {number} in {league.name}: {league.seasons} have started")
    return season


def _describe_season(
    tx: Transaction, league: League, spec: LeagueSpec, season: Season, now: datetime
) -> SeasonShown:
    after = _arrivals_after(tx, league, spec, season, now)
    return SeasonShown(
        season=season.number,
        due_at=season.due_at,
        started_at=season.started_at,
        finished_at=season.finished_at,
        divisions=tuple(_division(tx, *divided, after) for divided in places_of(tx, season)),
    )


def _arrivals_after(
    tx: Transaction, league: League, spec: LeagueSpec, season: Season, now: datetime
) -> dict[int, Arrival] | None:
    """Return by member how it enters the next season, as if the latest one ended now.

    Return None if there will be no other.
    """
    following = select(Season).where(Season.league_id == league.id, Season.number == season.number + 1)
    next_season = tx.exec(following).first()
    if next_season is not None:
        return {
            place.member_id: place.arrival for _, places in places_of(tx, next_season) for place in places
        }
    if league.next_at is None:
        return None
    able, _ = contestants(tx, spec, active_members(tx, league), now)
    drawn = draw_up(tx, spec, season, able)
    before = {member: level for level, group in enumerate(drawn.groups) for member in group}
    return {
        member: arrival(before.get(member), level)
        for level, group in enumerate(drawn.levels)
        for member in group
    }


def _division(
    tx: Transaction,
    division: SeasonDivision,
    places: list[SeasonPlace],
    after: dict[int, Arrival] | None,
) -> DivisionShown:
    tournament = tx.get_one(Tournament, division.tournament_id) if division.tournament_id else None
    standing = standing_of(tx, division)
    named = (
        select(SeasonPlace.id, BotVersion.name, LeagueMember.name)
        .join(BotVersion, col(BotVersion.id) == SeasonPlace.version_id)
        .join(LeagueMember, col(LeagueMember.id) == SeasonPlace.member_id)
        .where(SeasonPlace.division_id == division.id)
    )
    names = {place: (version, member) for place, version, member in tx.exec(named)}
    lines = []
    for rank, place in enumerate(in_order(tx, division, places, standing), start=1):
        line = standing.get(place.version_id)
        version, member = names[place.id]
        arrives = None if after is None else after.get(place.member_id)
        lines.append(
            PlaceLine(
                rank=rank,
                bot=version,
                member=member,
                score=float(line.score) if line else None,
                points=float(line.points) if line else None,
                came=place.arrival,
                goes="" if after is None else arrives.value if arrives not in (None, Arrival.NEW) else "out",
            )
        )
    return DivisionShown(
        division=division.name,
        tournament=tournament.name if tournament else None,
        state=tournament.state if tournament else None,
        lines=tuple(lines),
    )
